//! Private reads: recorded when an agent takes up an event, and looked up when it speaks.

use std::sync::Arc;

use super::disclosure::Origin;
use crate::commands::context::{Context, Result};
use crate::model::approval::Private;
use crate::model::conversation::{ConversationKind, Visibility};
use crate::model::delivery::Open;
use crate::model::event::Event;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, SessionKey};
use crate::model::limits;
use crate::model::maps::KeySet;
use crate::state::workspace::Whose;

impl Context<'_> {
    /// The caller has accepted or answers the event.
    pub(crate) fn note_told(&mut self, at: EventRef) -> Result<()> {
        self.note_told_to(self.by.member, self.by.session, at)
    }

    /// The caller speaks about the event or in its place. A message in a turn is judged by that
    /// turn, and connected sessions were recorded when they were notified.
    pub(crate) fn note_read(&mut self, at: EventRef) -> Result<()> {
        let connected = self.directory().connected(self.by.member);
        let is_here = self.by.session.is_some_and(|session| connected.contains(&session));
        if self.by.turn.is_some() || is_here {
            return Ok(());
        }
        self.note_told(at)
    }

    /// Whether the caller, who speaks in a private conversation, has evidently read it: another
    /// member spoke in a direct conversation, or the caller owes an answer.
    pub(crate) fn has_read_there(&self, key: ConversationKey) -> bool {
        let (room, me) = (self.room(key), self.by.member);
        if room.conversation().settings.visibility == Visibility::Public {
            return false;
        }
        let of_others = |event: &Arc<Event>| event.actor != me && event.change.message().is_some();
        let others_spoke =
            || room.tail().iter().any(of_others) || (room.tail().len() as u64) < room.head().seq.0;
        let owed =
            |open: &Open| open.delivery(me).is_some_and(|d| d.is_open() && d.is_obligation());
        (room.conversation().kind == ConversationKind::Dm && others_spoke())
            || room.open().values().any(owed)
    }

    /// Records that an agent was shown a private event: for its session, or for no session if that
    /// is not connected and so never ends.
    pub(crate) fn note_told_to(
        &mut self,
        member: MemberKey,
        session: Option<SessionKey>,
        at: EventRef,
    ) -> Result<()> {
        if !self.directory().is_agent(member) || self.directory().is_stand_in(member) {
            return Ok(());
        }
        let Some(room) = self.ws.rooms.get(&at.conversation) else { return Ok(()) };
        let is_open = room.conversation().settings.visibility == Visibility::Public;
        let only = match room.open().get(&at.seq) {
            Some(open) => open.attention.only.clone(),
            None => self.recall(at)?.event.only().cloned(),
        };
        if is_open && only.is_none() {
            return Ok(());
        }
        let connected = self.directory().connected(member);
        let session = session.filter(|session| connected.contains(session));
        if only.is_some() {
            // The entry counts only the members who could read all earlier ones too, so those are
            // loaded first.
            self.recall_told((member, session))?;
        }
        self.ws.private_reads.put(Private { member, session, at, only, when: self.now }, false);
        Ok(())
    }

    /// A session is over and cannot be resumed. Its process may still speak, so for a while its
    /// private reads count as reads without a session.
    pub(crate) fn forget_told(&mut self, member: MemberKey, session: SessionKey) -> Result<()> {
        let entries = self.ws.private_reads.forget(member, session);
        if entries.iter().any(|private| private.only.is_some()) {
            self.recall_told((member, None))?;
        }
        let when = self.now.plus(limits::SESSION_GONE_MS - limits::TOLD_APART_MS);
        for private in entries {
            self.ws.private_reads.put(Private { session: None, when, ..private }, false);
        }
        Ok(())
    }

    /// Everything that the caller was told in private and that still counts, newest first: in its
    /// running sessions, in the session that it acts in, and for a while without a session.
    pub(super) fn told_in_private(&mut self) -> Result<Vec<Origin>> {
        let (me, now) = (self.by.member, self.now);
        let mut sessions = self.directory().connected(me).to_vec();
        sessions.extend(self.sessions_just_gone(me));
        sessions.extend(self.by.session);
        sessions.sort_unstable();
        sessions.dedup();
        let mut told = Vec::new();
        for session in sessions.into_iter().map(Some).chain([None]) {
            let whose = (me, session);
            self.recall_told(whose)?;
            let entries = self.ws.private_reads.of.get(&whose).into_iter().flatten();
            let all = entries.map(|entry| &entry.private);
            told.extend(all.filter(|p| p.counts(now)).cloned());
        }
        told.sort_by_key(|private| std::cmp::Reverse(private.when));
        // Several sessions may know the same place.
        let mut seen = KeySet::default();
        told.retain(|private| seen.insert((private.at.conversation, private.only.clone())));
        Ok(told.into_iter().map(|Private { at, only, .. }| Origin { at, only }).collect())
    }

    /// Sessions that disconnected so recently that they still hold what they accepted.
    fn sessions_just_gone(&mut self, member: MemberKey) -> Vec<SessionKey> {
        let ws = self.ws.loading();
        let (directory, told) = (&ws.directory, &mut ws.private_reads);
        let (now, since) = (self.now, told.since.unwrap_or_default());
        let Some(left) = told.left.get_mut(&member) else { return Vec::new() };
        left.retain(|key| {
            let session = directory.sessions.get(key).filter(|session| !session.connected);
            session.is_some_and(|s| now.since(s.seen_at.max(since)) < limits::SESSION_GONE_MS)
        });
        left.clone()
    }

    /// Loads the rows into memory, once.
    fn recall_told(&mut self, whose: Whose) -> Result<()> {
        if !self.ws.private_reads.read.contains(&whose) {
            let (member, session) = whose;
            let rows = self.facts.told(member, session, limits::TOLD_IN_PRIVATE + 1)?;
            self.ws.loading().private_reads.take_rows(whose, rows);
        }
        Ok(())
    }
}
