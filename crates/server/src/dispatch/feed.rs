//! The live log of conversations that somebody follows, one by one or all at once.
//!
//! A follower subscribes, reads the log to its head, then takes what comes live, dropping what is at or below
//! it. Sequence numbers are dense, so a gap, a lag or a [`Live::Look`] is answered alike: read the log. The feed
//! is therefore allowed to lose anything but the last word that there is something to read.
//!
//! Who follows everything has one subscription, however many conversations there are, and knows itself which of
//! them it may see. [`Everywhere::Seats`] comes before what it is about, so that nobody is shown what was said
//! after it was shut out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chorus_core::model::ids::{ConversationKey, MemberKey, Seq};
use tokio::sync::broadcast;

use super::lists::Lists;

/// Entries a slow follower may be behind before it is sent to the log.
const BACKLOG: usize = 256;
/// The same for one that follows everything: about a second of a busy host.
const BACKLOG_EVERYWHERE: usize = 4096;

#[derive(Clone, veil::Redact)]
pub(crate) enum Live {
    /// A logged event, encoded once for all followers; `only` is whom it is shown to.
    Event {
        seq: Seq,
        name: &'static str,
        #[redact(fixed = 3)]
        json: Arc<str>,
        only: Option<Arc<[MemberKey]>>,
    },
    /// There is something in the log.
    Look,
    /// Something that is not in the log: progress, typing, receipts. `only` is who may see it.
    Activity {
        name: &'static str,
        #[redact(fixed = 3)]
        json: Arc<str>,
        only: Option<Arc<[MemberKey]>>,
    },
}

/// What who follows everything is sent.
#[derive(Clone, Debug)]
pub(crate) enum Everywhere {
    /// What followers of one conversation are sent.
    In(ConversationKey, Live),
    /// Somebody else may see this conversation from here on.
    Seats(ConversationKey),
    /// These lists changed in what they show of a conversation, or of none.
    Changed(Option<ConversationKey>, Lists),
    /// There may be something in every log, and other conversations to be seen.
    Look,
}

#[derive(Default)]
pub(crate) struct Feed {
    topics: Mutex<HashMap<ConversationKey, broadcast::Sender<Live>>>,
    /// None before anybody follows everything.
    everywhere: Mutex<Option<broadcast::Sender<Everywhere>>>,
}

impl Feed {
    pub(crate) fn follow(&self, key: ConversationKey) -> broadcast::Receiver<Live> {
        let mut topics = self.topics();
        topics.retain(|k, topic| *k == key || topic.receiver_count() > 0);
        topics.entry(key).or_insert_with(|| broadcast::channel(BACKLOG).0).subscribe()
    }

    pub(crate) fn follow_everywhere(&self) -> broadcast::Receiver<Everywhere> {
        let mut everywhere = self.everywhere();
        everywhere.get_or_insert_with(|| broadcast::channel(BACKLOG_EVERYWHERE).0).subscribe()
    }

    pub(crate) fn is_followed(&self, key: ConversationKey) -> bool {
        self.is_followed_everywhere()
            || self.topics().get(&key).is_some_and(|topic| topic.receiver_count() > 0)
    }

    pub(crate) fn is_followed_everywhere(&self) -> bool {
        self.everywhere().as_ref().is_some_and(|topic| topic.receiver_count() > 0)
    }

    pub(crate) fn publish(&self, key: ConversationKey, live: Live) {
        if let Some(topic) = self.topics().get(&key) {
            // Nobody follows any more: the topic goes when the next one comes.
            let _ = topic.send(live.clone());
        }
        self.publish_everywhere(Everywhere::In(key, live));
    }

    /// Tells only those who follow everything.
    pub(crate) fn publish_everywhere(&self, what: Everywhere) {
        if let Some(topic) = &*self.everywhere() {
            let _ = topic.send(what);
        }
    }

    /// Sends every follower to the log.
    pub(crate) fn look_everywhere(&self) {
        for topic in self.topics().values() {
            let _ = topic.send(Live::Look);
        }
        self.publish_everywhere(Everywhere::Look);
    }

    pub(crate) fn followers(&self) -> usize {
        let everywhere = self.everywhere().as_ref().map_or(0, broadcast::Sender::receiver_count);
        everywhere + self.topics().values().map(broadcast::Sender::receiver_count).sum::<usize>()
    }

    /// Ends every stream; the host is stopping.
    pub(crate) fn close(&self) {
        self.topics().clear();
        *self.everywhere() = None;
    }

    fn topics(&self) -> MutexGuard<'_, HashMap<ConversationKey, broadcast::Sender<Live>>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn everywhere(&self) -> MutexGuard<'_, Option<broadcast::Sender<Everywhere>>> {
        self.everywhere.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
