//! Which wakes there are, and who sees what of them.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::model::caller::Authority;
use crate::model::delivery::{Delivery, State};
use crate::model::error::Refusal;
use crate::model::ids::{EventRef, MemberKey, ThreadKey, Timestamp, Uid};
use crate::model::wake::{Attempt, Wake};

/// An event, and until when each member who was told of it had not ended its delivery.
struct Waited {
    at: EventRef,
    thread: Option<ThreadKey>,
    said: Timestamp,
    told: Vec<(MemberKey, Option<Timestamp>)>,
}

impl Waited {
    /// Whether the wake was for this event too: it waited while the wake was open.
    fn concerns(&self, wake: &Wake) -> bool {
        let waited = |(member, until): &(MemberKey, Option<Timestamp>)| {
            *member == wake.member && until.is_none_or(|until| until >= wake.opened_at)
        };
        let was_open = wake.is_open() || self.said <= wake.changed_at;
        was_open && wake.covers(self.at, self.thread) && self.told.iter().any(waited)
    }
}

impl Context<'_> {
    pub(crate) fn wakes(
        &mut self,
        session: Option<Uid>,
        event: Option<Uid>,
    ) -> Result<Vec<Arc<Wake>>> {
        let session = match session {
            Some(uid) => {
                let found = self.directory().session_by_uid(uid);
                Some(found.ok_or_else(|| Refusal::not_found("session"))?.key)
            }
            None => None,
        };
        let event = match event {
            Some(uid) => Some(self.event_to_wake_for(uid)?),
            None => None,
        };
        let (me, authority) = (self.by.member, self.by.authority);
        let sees_words = |wake: &Wake| {
            wake.member == me
                || authority >= Authority::Orchestrator
                || authority == Authority::Auditor
        };
        let directory = self.directory();
        let asked = directory.wakes.values().filter(|wake| {
            session.is_none_or(|session| wake.session == session)
                && event.as_ref().is_none_or(|event| event.concerns(wake))
                && (event.is_some() || wake.asked_by == Some(me) || sees_words(wake))
        });
        let mut found: Vec<Arc<Wake>> = asked.cloned().collect();
        found.sort_by_key(|wake| (!wake.is_open(), std::cmp::Reverse(wake.changed_at)));
        for wake in found.iter_mut().filter(|wake| !sees_words(wake)) {
            *wake = Arc::new(self.without_words(wake));
        }
        Ok(found)
    }

    fn event_to_wake_for(&mut self, uid: Uid) -> Result<Waited> {
        let at = self.event_by_uid(uid, "event")?;
        let recalled = self.recall(at)?;
        let (said, thread) = (recalled.event.at, recalled.event.thread);
        let open = self.room(at.conversation).open().get(&at.seq).or(recalled.receipt.as_ref());
        let until = |delivery: &Delivery| match delivery.state {
            State::Settled { at, .. } | State::Dead { at } => Some(at),
            _ => None,
        };
        let deliveries = open.into_iter().flat_map(|open| &open.deliveries);
        let told = deliveries.map(|delivery| (delivery.member, until(delivery))).collect();
        Ok(Waited { at, thread, said, told })
    }

    /// What anybody may see who can see the event: the lanes, and not what was said or shown.
    fn without_words(&self, wake: &Wake) -> Wake {
        let bare = |attempt: &Attempt| Attempt { why: None, evidence: None, ..attempt.clone() };
        let sees = |key| self.ws.rooms.get(&key).is_some_and(|room| self.may_see(room));
        Wake {
            prompt: None,
            lines: None,
            attempts: wake.attempts.iter().map(bare).collect(),
            threads: wake.threads.iter().filter(|t| sees(t.conversation)).copied().collect(),
            ..wake.clone()
        }
    }
}
