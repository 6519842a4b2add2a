//! Where the events stand that a connection was lately offered (C2A "Reliability").

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chorus_core::model::conversation::Conversation;
use chorus_core::model::ids::{Seq, Uid};
use chorus_core::model::limits;

/// Events remembered of one connection: many more than may be under way to it at once.
const STANDS: usize = 8 * limits::UNACKED_PER_CONNECTION;

/// Where each event stands: that is where it acknowledges them, and
/// where its progress is shown. The one offered longest ago gives way.
#[derive(Default)]
pub(crate) struct RecentOffers(Mutex<Latest>);

#[derive(Default)]
struct Latest {
    stands: HashMap<Uid, (Arc<Conversation>, Seq)>,
    /// The same events, the one offered last at the end.
    order: VecDeque<Uid>,
}

impl RecentOffers {
    pub(crate) fn put(&self, event: Uid, conversation: Arc<Conversation>, seq: Seq) {
        let mut latest = self.lock();
        if latest.stands.insert(event, (conversation, seq)).is_some() {
            latest.order.retain(|other| *other != event);
        }
        latest.order.push_back(event);
        if latest.order.len() > STANDS
            && let Some(oldest) = latest.order.pop_front()
        {
            latest.stands.remove(&oldest);
        }
    }

    pub(crate) fn get(&self, event: Uid) -> Option<(Arc<Conversation>, Seq)> {
        self.lock().stands.get(&event).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Latest> {
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
