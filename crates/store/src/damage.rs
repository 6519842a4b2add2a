//! Conversations whose logs were found damaged, shared by all parts of this host.
//!
//! A room in memory consists of the newest events of its log. If earlier events are damaged,
//! commands would build upon them: a post would be chained to a log that no doctor accepts. So
//! whoever walks the logs ([`crate::verify`]) records the damage here, the writer drops the room,
//! and a command that loads it again finds it damaged. Nothing can be posted until the host is
//! started on a repaired log. Operations that an operator needs to contain the damage still work:
//! erasing, memberships, archiving.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chorus_core::model::ids::{ConversationKey, Prefix, Uid};

#[derive(Debug, Default)]
pub(crate) struct Damage {
    /// What is wrong with each.
    found: Mutex<BTreeMap<ConversationKey, String>>,
    /// Whether there is any, so that nobody takes the lock without need.
    any: AtomicBool,
    /// Whether there is one that the writer does not know about yet.
    news: AtomicBool,
}

impl Damage {
    /// Records what is wrong with a conversation; the first finding is kept.
    pub(crate) fn note(&self, key: ConversationKey, what: String) {
        tracing::error!(%what, conversation = key.0, "a conversation is damaged, and takes no posts");
        self.lock().entry(key).or_insert(what);
        self.any.store(true, Ordering::Release);
        self.news.store(true, Ordering::Release);
    }

    pub(crate) fn is_of(&self, key: ConversationKey) -> bool {
        self.any.load(Ordering::Acquire) && self.lock().contains_key(&key)
    }

    /// What is wrong with a damaged conversation, and how to fix it.
    pub(crate) fn of(&self, key: ConversationKey, uid: Uid) -> Option<Arc<str>> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let found = self.lock();
        let what = found.get(&key)?;
        let why = format!(
            "the database is damaged: conversation {}, {what}. It takes no posts any more; what is whole can be \
             read, and an operator can erase, archive it and change its seats. `chorus doctor` names all that is \
             damaged, and a backup has what was there",
            uid.show(Prefix::Conversation)
        );
        Some(why.into())
    }

    /// The damaged conversations, if there are more than at the last call.
    pub(crate) fn news(&self) -> Vec<ConversationKey> {
        if !self.news.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        self.lock().keys().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ConversationKey, String>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
