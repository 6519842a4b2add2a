//! The turns of a conversation, as far as somebody may see them.

use crate::commands::context::{Context, Result};
use crate::commands::turns::{Subject, Waits};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, ThreadKey, Uid};

impl Context<'_> {
    /// Who speaks about each subject of a channel, and who waits.
    pub(crate) fn turns(&mut self, conversation: Uid) -> Result<Vec<Subject>> {
        let key = self.room_by_uid(conversation)?;
        let viewer = Some(self.by.member).filter(|member| *member != MemberKey::HOST);
        let room = self.room(key);
        let held = room.turns().subjects().filter(|(_, turn)| !turn.is_idle());
        let mut live: Vec<Seq> = held.map(|(s, _)| s).chain(room.turns().with_open()).collect();
        live.sort_unstable();
        live.dedup();
        let mut shown = Vec::new();
        for subject in live {
            let mut turn = self.room(key).turns().get(subject).cloned().unwrap_or_default();
            let candidates = self.candidates(key, subject);
            let waits: Vec<_> =
                candidates.into_iter().filter(|c| !turn.holds(c.member, c.cause)).collect();
            // What is shown to some members only is so here too.
            if !self.is_seen_by(viewer, key, subject)? {
                continue;
            }
            let mut leases = Vec::new();
            for lease in std::mem::take(&mut turn.leases) {
                if self.is_seen_by(viewer, key, lease.cause)? {
                    leases.push(lease);
                }
            }
            turn.leases = leases;
            let mut waiting = Vec::new();
            for c in waits {
                if !self.is_seen_by(viewer, key, c.cause)? {
                    continue;
                }
                let Some(event) = self.uid_of(key, Some(c.cause))? else { continue };
                let (member, since, obligation) = (c.member, c.since, c.obligation);
                waiting.push(Waits { member, event, since, obligation });
            }
            if turn.is_idle() && waiting.is_empty() {
                continue;
            }
            let mut causes = Vec::new();
            for lease in &turn.leases {
                causes.push(self.uid_of(key, Some(lease.cause))?.unwrap_or_default());
            }
            let root = self.uid_of(key, Some(subject))?.unwrap_or_default();
            let room = self.room(key);
            let thread = room.thread_of_root(subject).or(Some(ThreadKey(subject.0)));
            let thread = thread.and_then(|t| room.thread(t)).map(|t| t.uid);
            let budget = turn.budget(&room.turn_rules());
            shown.push(Subject { root, thread, turn, budget, causes, waiting });
        }
        Ok(shown)
    }

    /// Whether this viewer, or without one anybody, is shown an event.
    fn is_seen_by(
        &mut self,
        viewer: Option<MemberKey>,
        key: ConversationKey,
        seq: Seq,
    ) -> Result<bool> {
        let Some(viewer) = viewer else { return Ok(true) };
        let at = EventRef { conversation: key, seq };
        let event = self.recall_kept(at)?;
        Ok(event.is_none_or(|recalled| recalled.event.is_shown_to(viewer)))
    }
}
