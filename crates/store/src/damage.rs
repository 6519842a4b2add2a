//! Conversations whose logs were found damaged, as all of this host know them.
//!
//! A room in memory is made of the newest events of its log, and what is damaged before those would be built upon: a
//! post would be chained to a log that no doctor passes. So whoever walks the logs ([`crate::verify`]) notes it here, the
//! writer drops the room, and a command that loads it again finds that it is damaged: nothing is said in it until the
//! host is started on what was mended. What an operator needs to contain the damage is done: erasing, seats, archiving.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chorus_core::model::ids::{ConversationKey, Prefix, Uid};

#[derive(Debug, Default)]
pub(crate) struct Damage {
    /// What is wrong with each.
    found: Mutex<BTreeMap<ConversationKey, String>>,
    /// There is any, so that nobody waits for the lock where there is none.
    any: AtomicBool,
    /// There is some that the writer has not heard of.
    news: AtomicBool,
}

impl Damage {
    /// What is wrong with a conversation; the first that was found.
    pub(crate) fn note(&self, key: ConversationKey, what: String) {
        tracing::error!(%what, conversation = key.0, "a conversation is damaged, and takes no posts");
        self.lock().entry(key).or_insert(what);
        self.any.store(true, Ordering::Release);
        self.news.store(true, Ordering::Release);
    }

    pub(crate) fn is_of(&self, key: ConversationKey) -> bool {
        self.any.load(Ordering::Acquire) && self.lock().contains_key(&key)
    }

    /// What is wrong with a conversation that is damaged, and what there is to do.
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

    /// Those that are damaged, when there are more since it was asked last.
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
