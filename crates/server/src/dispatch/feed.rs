//! The live log of conversations that somebody follows.
//!
//! A follower subscribes, reads the log to its head, then takes what comes live, dropping what is at or below
//! it. Sequence numbers are dense, so a gap, a lag or a [`Live::Look`] is answered alike: read the log. The feed
//! is therefore allowed to lose anything but the last word that there is something to read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chorus_core::model::ids::{ConversationKey, MemberKey, Seq};
use tokio::sync::broadcast;

/// Entries a slow follower may be behind before it is sent to the log.
const BACKLOG: usize = 256;

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

#[derive(Default)]
pub(crate) struct Feed(Mutex<HashMap<ConversationKey, broadcast::Sender<Live>>>);

impl Feed {
    pub(crate) fn follow(&self, key: ConversationKey) -> broadcast::Receiver<Live> {
        let mut topics = self.lock();
        topics.retain(|k, topic| *k == key || topic.receiver_count() > 0);
        topics.entry(key).or_insert_with(|| broadcast::channel(BACKLOG).0).subscribe()
    }

    pub(crate) fn is_followed(&self, key: ConversationKey) -> bool {
        self.lock().get(&key).is_some_and(|topic| topic.receiver_count() > 0)
    }

    pub(crate) fn publish(&self, key: ConversationKey, live: Live) {
        if let Some(topic) = self.lock().get(&key) {
            // Nobody follows any more: the topic goes when the next one comes.
            let _ = topic.send(live);
        }
    }

    /// Sends every follower to the log.
    pub(crate) fn look_everywhere(&self) {
        for topic in self.lock().values() {
            let _ = topic.send(Live::Look);
        }
    }

    pub(crate) fn followers(&self) -> usize {
        self.lock().values().map(broadcast::Sender::receiver_count).sum()
    }

    /// Ends every stream; the host is stopping.
    pub(crate) fn close(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ConversationKey, broadcast::Sender<Live>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
