//! Which wakes there are, and who sees what of them.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::model::caller::Authority;
use crate::model::error::Refusal;
use crate::model::ids::Uid;
use crate::model::wake::{Attempt, Wake};

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
            Some(uid) => {
                let at = self.event_by_uid(uid, "event")?;
                Some((at, self.recall_event(at)?.thread))
            }
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
                && event.is_none_or(|(at, thread)| wake.covers(at, thread))
                && (event.is_some() || wake.asked_by == Some(me) || sees_words(wake))
        });
        let mut found: Vec<Arc<Wake>> = asked.cloned().collect();
        found.sort_by_key(|wake| (!wake.is_open(), std::cmp::Reverse(wake.changed_at)));
        for wake in found.iter_mut().filter(|wake| !sees_words(wake)) {
            *wake = Arc::new(self.without_words(wake));
        }
        Ok(found)
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
