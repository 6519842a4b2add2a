//! What goes back to services that have delivered to an inbox: what their agent says, and how it gets on (webhook spec
//! section 3).
//!
//! What was said is owed: the log has it, a cursor in the database says up to where it was sent, and a lane for each
//! conversation sends one message after the other until it was taken, refused, or is too old. After a crash a message may be
//! sent again, under the same id. All else is soft: sent once, and lost with the host.

mod lane;
mod post;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chorus_core::model::ids::{ConversationKey, Seq, Uid};
use chorus_core::state::effect::{RemoteNews, RemoteRun};
use chorus_wire::webhook::CallbackEvent;
use tokio::sync::{Notify, Semaphore, watch};

use crate::app::App;
use lane::Lane;

/// News that wait in one conversation; of what is beyond, the oldest that is soft goes.
const NEWS: usize = 16;
/// How often a host that shares its database looks for what others have left.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// What is news in one conversation.
#[derive(Debug, PartialEq, Eq)]
enum News {
    Said,
    Began(Seq),
    /// What its agent does meanwhile in the run of that event.
    Does(RemoteRun, Box<CallbackEvent>),
    /// That run still shows life.
    Alive(Seq),
    Ended {
        event: Seq,
        answered: bool,
        failed: bool,
    },
}

/// What waits to be sent back, by conversation.
#[derive(Default)]
pub(crate) struct Backs {
    rooms: Mutex<Rooms>,
    wake: Notify,
}

#[derive(Default)]
struct Rooms {
    waiting: HashMap<ConversationKey, Queue>,
    /// News were lost: the database says what is owed.
    look: bool,
}

#[derive(Default)]
struct Queue {
    news: VecDeque<News>,
    /// A lane is at it, and is woken by this.
    lane: Option<Arc<Notify>>,
}

impl Backs {
    /// Takes what a command caused.
    pub(crate) fn put(&self, conversation: ConversationKey, news: RemoteNews) {
        let news = match news {
            RemoteNews::Said => News::Said,
            RemoteNews::Began(event) => News::Began(event),
            RemoteNews::Ended { event, answered, failed } => {
                News::Ended { event, answered, failed }
            }
        };
        self.add(self.lock(), conversation, news);
    }

    /// A run for another service lives, and says perhaps what it does.
    pub(crate) fn progress(
        &self,
        conversation: ConversationKey,
        run: RemoteRun,
        does: Option<CallbackEvent>,
    ) {
        let rooms = self.lock();
        // One that has answered and goes on is waited for by its lane, unless it is over.
        let is_over = !run.is_open && !rooms.waiting.contains_key(&conversation);
        match does {
            _ if is_over => {}
            Some(does) => self.add(rooms, conversation, News::Does(run, Box::new(does))),
            None if run.is_open => {}
            None => self.add(rooms, conversation, News::Alive(run.event)),
        }
    }

    /// Another host has changed a conversation: it may have sent what was waited for here.
    pub(crate) fn moved(&self, conversation: ConversationKey) {
        let rooms = self.lock();
        let lane = rooms.waiting.get(&conversation).and_then(|queue| queue.lane.as_ref());
        lane.inspect(|lane| lane.notify_one());
    }

    /// News may have been lost.
    pub(crate) fn look_everywhere(&self) {
        self.lock().look = true;
        self.wake.notify_one();
    }

    fn add(&self, mut rooms: MutexGuard<'_, Rooms>, conversation: ConversationKey, news: News) {
        let queue = rooms.waiting.entry(conversation).or_default();
        queue.add(news);
        match &queue.lane {
            Some(lane) => lane.notify_one(),
            None => self.wake.notify_one(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rooms> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Conversations with news and no lane; each has one from here on.
    fn take_idle(&self) -> Vec<(ConversationKey, Arc<Notify>)> {
        let mut rooms = self.lock();
        let idle = rooms.waiting.iter_mut().filter(|(_, queue)| queue.lane.is_none());
        let lanes = idle.map(|(key, queue)| (*key, queue.lane.insert(Arc::default()).clone()));
        lanes.collect()
    }

    /// The next news of a conversation.
    fn next(&self, conversation: ConversationKey) -> Option<News> {
        self.lock().waiting.get_mut(&conversation)?.news.pop_front()
    }

    /// A lane is done; false when there are news after all.
    fn finish(&self, conversation: ConversationKey) -> bool {
        let mut rooms = self.lock();
        let empty = rooms.waiting.get(&conversation).is_none_or(|queue| queue.news.is_empty());
        if empty {
            rooms.waiting.remove(&conversation);
        }
        empty
    }
}

impl Queue {
    fn add(&mut self, news: News) {
        // What was said is read from the log, so that one word of it is enough.
        let once = matches!(news, News::Said | News::Alive(_));
        if once && self.news.contains(&news) {
            return;
        }
        if self.news.len() >= NEWS {
            let soft = self.news.iter().position(|n| *n != News::Said);
            soft.and_then(|at| self.news.remove(at));
        }
        self.news.push_back(news);
    }
}

/// How many lanes of each inbox may post at once: one service that hangs holds up its own inbox.
type Places = HashMap<Uid, Arc<Semaphore>>;

/// Sends back what there is until the host stops.
pub(crate) async fn serve(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let mut places = Places::new();
    // What was owed when the host was last here.
    app.backs.look_everywhere();
    let look_again = app.wait(LOOK_EVERY);
    tokio::pin!(look_again);
    loop {
        let look = std::mem::take(&mut app.backs.lock().look);
        if look {
            match app.owing().await {
                Ok(owing) => {
                    owing.into_iter().for_each(|key| app.backs.put(key, RemoteNews::Said));
                }
                Err(refusal) => tracing::warn!(%refusal, "what is to be sent back is not known"),
            }
        }
        for (key, wake) in app.backs.take_idle() {
            keep_places(&mut places, &app);
            let lane = Lane::of(app.clone(), key, wake, places.clone());
            tokio::spawn(lane.run(stopped.clone()));
        }
        tokio::select! {
            () = app.backs.wake.notified() => {}
            () = &mut look_again => {
                look_again.set(app.wait(LOOK_EVERY));
                // What another host was at when it went.
                app.backs.lock().look |= app.writer.has_company();
            }
            _ = stopped.wait_for(|stop| *stop) => return,
        }
    }
}

fn keep_places(places: &mut Places, app: &App) {
    let directory = app.directory();
    places.retain(|inbox, _| directory.inboxes.contains_key(inbox));
    for inbox in directory.inboxes.keys() {
        let fresh = || Arc::new(Semaphore::new(app.webhooks.concurrency));
        places.entry(*inbox).or_insert_with(fresh);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ROOM: ConversationKey = ConversationKey(1);
    const RUN: RemoteRun = RemoteRun { event: Seq(1), is_open: true };

    fn status(text: &str) -> Option<CallbackEvent> {
        Some(CallbackEvent::Status { status: text.to_owned() })
    }

    #[test]
    fn what_was_said_is_never_crowded_out_and_is_known_once() {
        let backs = Backs::default();
        backs.put(ROOM, RemoteNews::Began(Seq(1)));
        backs.put(ROOM, RemoteNews::Said);
        for n in 0..100 {
            backs.progress(ROOM, RUN, status(&n.to_string()));
            backs.put(ROOM, RemoteNews::Said);
        }
        let all: Vec<News> = std::iter::from_fn(|| backs.next(ROOM)).collect();
        assert_eq!(all.len(), NEWS);
        assert_eq!(all.iter().filter(|n| **n == News::Said).count(), 1);
        assert_eq!(all.last(), Some(&News::Does(RUN, status("99").unwrap().into())));
    }

    #[test]
    fn a_run_that_has_answered_is_news_until_its_lane_is_done() {
        let backs = Backs::default();
        let answered = RemoteRun { is_open: false, ..RUN };
        backs.progress(ROOM, RUN, None);
        backs.progress(ROOM, answered, status("late"));
        assert!(backs.take_idle().is_empty());
        backs.put(ROOM, RemoteNews::Began(Seq(1)));
        let (room, lane) = backs.take_idle().pop().unwrap();
        assert_eq!((room, Arc::strong_count(&lane)), (ROOM, 2));
        assert!(backs.take_idle().is_empty(), "one lane a conversation");
        assert_eq!(backs.next(ROOM), Some(News::Began(Seq(1))));
        backs.put(ROOM, RemoteNews::Ended { event: Seq(1), answered: true, failed: false });
        backs.progress(ROOM, answered, None);
        backs.progress(ROOM, answered, status("half"));
        assert!(!backs.finish(ROOM));
        backs.next(ROOM);
        assert_eq!(backs.next(ROOM), Some(News::Alive(RUN.event)));
        assert_eq!(backs.next(ROOM), Some(News::Does(answered, status("half").unwrap().into())));
        assert!(backs.finish(ROOM));
        backs.progress(ROOM, answered, status("late"));
        assert!(backs.take_idle().is_empty());
    }
}
