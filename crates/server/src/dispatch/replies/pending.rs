//! What waits to be sent back, by conversation.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chorus_core::model::ids::{ConversationKey, Seq};
use chorus_core::state::effect::{RemoteNews, RemoteRun};
use chorus_wire::webhook::CallbackEvent;
use tokio::sync::Notify;

/// News that wait in one conversation; of what is beyond, the oldest that is soft goes.
const NEWS: usize = 16;
/// What is news in one conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
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
pub(crate) struct Replies {
    rooms: Mutex<Rooms>,
    pub(super) wake: Notify,
}

#[derive(Default)]
pub(super) struct Rooms {
    waiting: HashMap<ConversationKey, Queue>,
    /// News were lost: the database says what is owed.
    pub(super) look: bool,
}

#[derive(Default)]
struct Queue {
    news: VecDeque<News>,
    /// A worker is at it, and is woken by this.
    worker: Option<Arc<Notify>>,
}

impl Replies {
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
        // One that has answered and goes on is waited for by its worker, unless it is over.
        let is_over = !run.is_open && !rooms.waiting.contains_key(&conversation);
        match does {
            _ if is_over => {}
            Some(does) => self.add(rooms, conversation, News::Does(run, Box::new(does))),
            None if run.is_open => {}
            None => self.add(rooms, conversation, News::Alive(run.event)),
        }
    }

    /// News may have been lost.
    pub(crate) fn look_everywhere(&self) {
        self.lock().look = true;
        self.wake.notify_one();
    }

    fn add(&self, mut rooms: MutexGuard<'_, Rooms>, conversation: ConversationKey, news: News) {
        let queue = rooms.waiting.entry(conversation).or_default();
        queue.add(news);
        match &queue.worker {
            Some(worker) => worker.notify_one(),
            None => self.wake.notify_one(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Rooms> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Conversations with news and no worker; each has one from here on.
    pub(super) fn take_idle(&self) -> Vec<(ConversationKey, Arc<Notify>)> {
        let mut rooms = self.lock();
        let idle = rooms.waiting.iter_mut().filter(|(_, queue)| queue.worker.is_none());
        let workers = idle.map(|(key, queue)| (*key, queue.worker.insert(Arc::default()).clone()));
        workers.collect()
    }

    /// The next news of a conversation.
    pub(super) fn next(&self, conversation: ConversationKey) -> Option<News> {
        self.lock().waiting.get_mut(&conversation)?.news.pop_front()
    }

    /// A worker is done; false when there are news after all.
    pub(super) fn finish(&self, conversation: ConversationKey) -> bool {
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
        let replies = Replies::default();
        replies.put(ROOM, RemoteNews::Began(Seq(1)));
        replies.put(ROOM, RemoteNews::Said);
        for n in 0..100 {
            replies.progress(ROOM, RUN, status(&n.to_string()));
            replies.put(ROOM, RemoteNews::Said);
        }
        let all: Vec<News> = std::iter::from_fn(|| replies.next(ROOM)).collect();
        assert_eq!(all.len(), NEWS);
        assert_eq!(all.iter().filter(|n| **n == News::Said).count(), 1);
        assert_eq!(all.last(), Some(&News::Does(RUN, status("99").unwrap().into())));
    }

    #[test]
    fn a_run_that_has_answered_is_news_until_its_lane_is_done() {
        let replies = Replies::default();
        let answered = RemoteRun { is_open: false, ..RUN };
        replies.progress(ROOM, RUN, None);
        replies.progress(ROOM, answered, status("late"));
        assert!(replies.take_idle().is_empty());
        replies.put(ROOM, RemoteNews::Began(Seq(1)));
        let (room, worker) = replies.take_idle().pop().unwrap();
        assert_eq!((room, Arc::strong_count(&worker)), (ROOM, 2));
        assert!(replies.take_idle().is_empty(), "one worker a conversation");
        assert_eq!(replies.next(ROOM), Some(News::Began(Seq(1))));
        replies.put(ROOM, RemoteNews::Ended { event: Seq(1), answered: true, failed: false });
        replies.progress(ROOM, answered, None);
        replies.progress(ROOM, answered, status("half"));
        assert!(!replies.finish(ROOM));
        replies.next(ROOM);
        assert_eq!(replies.next(ROOM), Some(News::Alive(RUN.event)));
        assert_eq!(replies.next(ROOM), Some(News::Does(answered, status("half").unwrap().into())));
        assert!(replies.finish(ROOM));
        replies.progress(ROOM, answered, status("late"));
        assert!(replies.take_idle().is_empty());
    }
}
