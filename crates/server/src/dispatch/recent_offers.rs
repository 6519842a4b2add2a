//! Where the events stand that a connection was lately offered (C2A "Reliability").

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chorus_core::model::conversation::Conversation;
use chorus_core::model::ids::{Seq, Uid};
use chorus_core::model::limits;
use hashlink::LruCache;

/// Events remembered of one connection: many more than may be under way to it at once.
const STANDS: usize = 8 * limits::UNACKED_PER_CONNECTION;

/// Where each event stands: that is where it acknowledges them, and
/// where its progress is shown. The one offered longest ago gives way.
pub(crate) struct RecentOffers(Mutex<LruCache<Uid, (Arc<Conversation>, Seq)>>);

impl Default for RecentOffers {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(STANDS)))
    }
}

impl RecentOffers {
    pub(crate) fn put(&self, event: Uid, conversation: Arc<Conversation>, seq: Seq) {
        self.lock().insert(event, (conversation, seq));
    }

    pub(crate) fn get(&self, event: Uid) -> Option<(Arc<Conversation>, Seq)> {
        self.lock().peek(&event).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Uid, (Arc<Conversation>, Seq)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use chorus_core::model::conversation::{ConversationKind, Settings, Visibility};
    use chorus_core::model::ids::{ConversationKey, Timestamp};

    use super::*;

    fn conversation() -> Arc<Conversation> {
        let settings = Settings {
            title: "ops".into(),
            description: "".into(),
            purpose: "".into(),
            visibility: Visibility::Public,
            ..Settings::default()
        };
        Arc::new(Conversation {
            key: ConversationKey(1),
            uid: Uid(1),
            kind: ConversationKind::Channel,
            settings,
            created_at: Timestamp(0),
        })
    }

    // covers: ATT-11
    #[test]
    fn what_is_under_way_is_found_however_much_went_before() {
        let stands = RecentOffers::default();
        let conversation = conversation();
        for n in 1..=10 * STANDS {
            stands.put(Uid(n as u128), conversation.clone(), Seq(n as u64));
            let under_way = n.saturating_sub(limits::UNACKED_PER_CONNECTION) + 1..=n;
            assert!(under_way.into_iter().all(|n| stands.get(Uid(n as u128)).is_some()), "{n}");
        }
        assert_eq!(stands.get(Uid(1)), None, "the memory is bounded");
    }

    #[test]
    fn one_that_is_offered_again_is_the_latest() {
        let stands = RecentOffers::default();
        for n in 0..STANDS as u128 {
            stands.put(Uid(n), conversation(), Seq(1));
        }
        stands.put(Uid(0), conversation(), Seq(1));
        stands.put(Uid(STANDS as u128), conversation(), Seq(1));
        assert!(stands.get(Uid(0)).is_some());
        assert_eq!(stands.get(Uid(1)), None);
    }
}
