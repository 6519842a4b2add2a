//! What goes out: offers to connected harnesses, and the log to whoever follows it (design section 3,
//! "dispatchers").
//!
//! The writer hands its effects to [`Sink`] on its own thread and is never kept waiting: the sink only moves
//! them into a bounded queue. [`Dispatcher`] distributes them from there into bounded queues of their own, one
//! per connection and one per followed conversation, so that a slow reader slows nobody and holds no memory.
//! What does not fit is not lost: an offer is made again when its acknowledgement is overdue, and a follower
//! reads the log.

pub(crate) mod channel_count;
pub(crate) mod connections;
pub(crate) mod erased;
pub(crate) mod feed;
pub(crate) mod frames;
pub(crate) mod hiring;
pub(crate) mod jobs;
pub(crate) mod lists;
pub(crate) mod live;
pub(crate) mod recent_offers;
pub(crate) mod replies;
pub(crate) mod webhook;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use channel_count::ChannelCount;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::digest::Digest;
use chorus_core::model::event::Change;
use chorus_core::model::ids::{ConversationKey, Prefix, Uid};
use chorus_core::model::offer::Offer;
use chorus_core::state::directory::Directory;
use chorus_core::state::effect::Effect;
use chorus_wire::attention::shared::{Shared, delivery_id};
use chorus_wire::attention::{method, notifications};
use chorus_wire::jsonrpc::{Id, Notification};
use connections::{Connections, GIVEN_UP, Note, Outgoing};
use feed::{Everywhere, Feed, Live};
use hiring::{Due, Hiring};
use lists::Lists;
use replies::pending::Replies;
use tokio::sync::{mpsc, watch};

use crate::indexer::Hints;
use crate::telemetry::Metrics;
use crate::traces::Traces;
use crate::view;

/// Batches of effects that may wait. One is at most 256 commands' worth.
const BATCHES: usize = 1024;

/// The writer's end.
pub(crate) struct Sink {
    directory: Arc<ArcSwap<Directory>>,
    connections: Arc<Connections>,
    channels: Arc<ChannelCount>,
    /// To whoever keeps the index of search, which then knows of all that was answered.
    hints: Arc<Hints>,
    batches: mpsc::Sender<Vec<Effect>>,
    overflowed: Arc<AtomicBool>,
    /// Says that there is another directory.
    moved: watch::Sender<()>,
}

/// The distributing end; one task runs it.
pub(crate) struct Dispatcher {
    pub batches: mpsc::Receiver<Vec<Effect>>,
    pub overflowed: Arc<AtomicBool>,
    pub directory: Arc<ArcSwap<Directory>>,
    pub connections: Arc<Connections>,
    pub feed: Arc<Feed>,
    pub metrics: Arc<Metrics>,
    pub traces: Arc<Traces>,
    pub workspace_id: Arc<str>,
    /// To whoever shows digests; what does not fit is only stored.
    pub digests: mpsc::Sender<Made>,
    /// To whoever posts jobs; what does not fit is begun again by the job's timer.
    pub jobs: mpsc::Sender<Due>,
    pub hiring: Arc<Hiring>,
    /// To whoever sends back what is for services elsewhere.
    pub replies: Arc<Replies>,
    /// Says that the list of channels and threads may be another for somebody.
    pub lists: watch::Sender<()>,
}

/// A digest, and where it is of.
pub(crate) type Made = (Arc<Conversation>, Arc<Digest>);

impl Sink {
    pub(crate) fn new(
        directory: Arc<ArcSwap<Directory>>,
        connections: Arc<Connections>,
        channels: Arc<ChannelCount>,
        hints: Arc<Hints>,
    ) -> (Self, mpsc::Receiver<Vec<Effect>>, Arc<AtomicBool>) {
        let (batches, rest) = mpsc::channel(BATCHES);
        let overflowed = Arc::new(AtomicBool::new(false));
        let moved = watch::Sender::new(());
        let sink = Self {
            directory,
            connections,
            channels,
            hints,
            batches,
            overflowed: overflowed.clone(),
            moved,
        };
        (sink, rest, overflowed)
    }

    /// Changes with the directory.
    pub(crate) fn moved(&self) -> watch::Receiver<()> {
        self.moved.subscribe()
    }

    /// Takes what a batch of commands causes; never blocks. The directory is in force when this returns.
    pub(crate) fn put(&self, mut effects: Vec<Effect>) {
        self.channels.look(&effects);
        self.hints.look(effects.iter().filter_map(searched));
        effects.retain_mut(|effect| match effect {
            Effect::Directory(directory) => {
                self.directory.store(directory.clone());
                self.moved.send_replace(());
                false
            }
            // At once, so that it is not the session's next connection that is closed.
            Effect::Ended(session) => {
                if let Some(connection) = self.connections.get(*session) {
                    connection.close(GIVEN_UP);
                }
                false
            }
            _ => true,
        });
        if !effects.is_empty() && self.batches.try_send(effects).is_err() {
            self.overflowed.store(true, Ordering::Relaxed);
        }
    }
}

impl Dispatcher {
    /// Distributes until the writer has gone.
    pub(crate) async fn run(mut self) {
        while let Some(effects) = self.batches.recv().await {
            if self.overflowed.swap(false, Ordering::Relaxed) {
                self.look_everywhere();
            }
            self.distribute(effects);
        }
    }

    /// Followers read their logs, and connections ask for what they are owed.
    fn look_everywhere(&self) {
        self.feed.look_everywhere();
        self.replies.look_everywhere();
        self.lists.send_replace(());
        self.connections.all().iter().for_each(|connection| connection.lag());
    }

    fn distribute(&self, effects: Vec<Effect>) {
        let changed = self.feed.is_followed_everywhere().then(|| changed(&effects));
        let directory = self.directory.load_full();
        // Offers of one event follow each other; it is encoded for the first of them.
        let mut encoded: Option<(Uid, Arc<Shared>)> = None;
        for effect in effects {
            match effect {
                Effect::Logged(entry) => {
                    if let Some(job) = self.hiring.answered_by(&entry.event) {
                        let _ = self.jobs.try_send(Due::Answer(job, entry.event.clone()));
                    }
                    if moves_lists(&entry.event.change) {
                        self.lists.send_replace(());
                    }
                    let key = entry.conversation.key;
                    if self.feed.is_followed(key) {
                        // Before it is shown to anybody.
                        if moves_seats(&entry.event.change) {
                            self.feed.publish_everywhere(Everywhere::Seats(key));
                        }
                        self.feed.publish(key, live::logged(&entry, &directory));
                    }
                }
                Effect::Offer(offer) => self.offer(offer, &directory, &mut encoded),
                Effect::Cancel { event, conversation: _, member: _, session, attempt, reason } => {
                    let params = notifications::Cancelled {
                        request_id: Id::String(delivery_id(event, attempt)),
                        event_id: Some(event.show(Prefix::Event)),
                        reason: Some(reason.to_owned()),
                    };
                    let note = Notification::new(method::CANCELLED, params);
                    if let (Some(to), Ok(text)) =
                        (self.connections.get(session), serde_json::to_string(&note))
                    {
                        to.note(Note { text, withdraws: Some(event), typing: None });
                    }
                }
                Effect::Receipt { entry_uid, conversation, author, open } => {
                    if self.feed.is_followed(conversation.key) {
                        let json = live::receipt(&conversation, entry_uid, &open, &directory);
                        let only = Some([author].into());
                        let live = Live::Activity { name: "receipt", json, only };
                        self.feed.publish(conversation.key, live);
                    }
                }
                Effect::Digest { conversation, digest } => {
                    // Whoever is too slow for them reads what is stored.
                    let _ = self.digests.try_send((conversation, digest));
                }
                Effect::Job(job) => {
                    let _ = self.jobs.try_send(Due::Job(job));
                }
                Effect::Remote { conversation, news } => self.replies.put(conversation, news),
                Effect::Wake(wake) => {
                    let note = Notification::new(method::WAKE, view::wakes::outgoing(&wake));
                    if let (Some(to), Ok(text)) =
                        (self.connections.get(wake.session), serde_json::to_string(&note))
                    {
                        to.note(Note { text, withdraws: None, typing: None });
                    }
                }
                Effect::Anything => self.look_everywhere(),
                // For lists alone.
                Effect::Began { .. } => {}
                // Taken out by the sink.
                Effect::Directory(_) | Effect::Ended(_) => {}
            }
        }
        for (conversation, lists) in changed.into_iter().flatten() {
            self.feed.publish_everywhere(Everywhere::Changed(conversation, lists));
        }
    }

    fn offer(&self, offer: Offer, directory: &Directory, encoded: &mut Option<(Uid, Arc<Shared>)>) {
        let Some(to) = self.connections.get(offer.session) else { return };
        let uid = offer.entry.event.uid;
        let shared = match encoded {
            Some((known, shared)) if *known == uid => shared.clone(),
            _ => {
                let shared = Arc::new(frames::shared(&offer.entry, directory, &self.workspace_id));
                *encoded = Some((uid, shared.clone()));
                shared
            }
        };
        self.metrics.offered(offer.decision.policy, offer.decision.mode);
        let span = self.traces.offer(&offer);
        to.offer(Outgoing { shared, offer, span });
    }
}

/// Where there is something new to search.
fn searched(effect: &Effect) -> Option<ConversationKey> {
    match effect {
        Effect::Logged(entry) => match entry.event.change {
            Change::Posted(_)
            | Change::Edited { .. }
            | Change::Deleted { .. }
            | Change::Erased { .. } => Some(entry.conversation.key),
            _ => None,
        },
        _ => None,
    }
}

/// Which lists they change, once for each conversation.
fn changed(effects: &[Effect]) -> HashMap<Option<ConversationKey>, Lists> {
    let mut changed = HashMap::<_, Lists>::new();
    for (conversation, lists) in effects.iter().filter_map(Lists::of) {
        *changed.entry(conversation).or_default() |= lists;
    }
    changed
}

/// Whether somebody else may see the conversation from it on.
fn moves_seats(change: &Change) -> bool {
    matches!(
        change,
        Change::Created { .. }
            | Change::SettingsChanged(_)
            | Change::Joined { .. }
            | Change::Left { .. }
    )
}

/// Whether somebody may see another list of channels and threads after it.
fn moves_lists(change: &Change) -> bool {
    moves_seats(change) || matches!(change, Change::ThreadOpened(_))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use chorus_core::model::ids::{ConversationKey, MemberKey, SessionKey};

    use super::*;

    fn cancel() -> Effect {
        let (event, conversation) = (Uid(1), Uid(2));
        let (member, session) = (MemberKey(1), SessionKey(9));
        Effect::Cancel { event, conversation, member, session, attempt: 1, reason: "deleted" }
    }

    #[tokio::test]
    async fn what_does_not_fit_sends_everybody_to_what_is_kept() {
        let directory = Arc::new(ArcSwap::from_pointee(Directory::default()));
        let (connections, feed) = (Arc::new(Connections::default()), Arc::new(Feed::default()));
        let (sink, batches, overflowed) =
            Sink::new(directory.clone(), connections.clone(), Arc::default(), Arc::default());
        let (connection, _queues) = connections.open(SessionKey(1), MemberKey(1));
        let mut follower = feed.follow(ConversationKey(1));
        for _ in 0..=BATCHES {
            sink.put(vec![cancel()]);
        }
        drop(sink);
        let (lists, mut listed) = watch::channel(());
        let dispatcher = Dispatcher {
            batches,
            overflowed,
            directory,
            connections,
            feed,
            metrics: Arc::default(),
            traces: Arc::new(Traces::open(&Default::default()).unwrap()),
            workspace_id: "wk_".into(),
            digests: mpsc::channel(1).0,
            jobs: mpsc::channel(1).0,
            hiring: Arc::default(),
            replies: Arc::default(),
            lists,
        };
        dispatcher.run().await;
        assert!(connection.take_lagging());
        assert!(matches!(follower.try_recv().unwrap(), Live::Look));
        assert!(listed.changed().await.is_ok());
    }

    #[test]
    fn a_directory_is_in_force_before_its_command_is_seen() {
        let directory = Arc::new(ArcSwap::from_pointee(Directory::default()));
        let (sink, _batches, _) =
            Sink::new(directory.clone(), Arc::default(), Arc::default(), Arc::default());
        let mut next = Directory::default();
        next.lead = Some(MemberKey(3));
        sink.put(vec![Effect::Directory(Arc::new(next))]);
        assert_eq!(directory.load().lead, Some(MemberKey(3)));
    }
}
