//! What agents were told in private: noted when they take it up, and looked up when they speak.

use std::collections::HashSet;
use std::sync::Arc;

use super::disclosure::Origin;
use crate::commands::context::{Context, Result};
use crate::model::approval::Private;
use crate::model::conversation::{ConversationKind, Visibility};
use crate::model::delivery::Open;
use crate::model::event::Event;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, SessionKey};
use crate::model::limits;
use crate::state::workspace::Whose;

impl Context<'_> {
    /// The caller has taken the event up, or answers it.
    pub(crate) fn note_told(&mut self, at: EventRef) -> Result<()> {
        self.note_told_to(self.by.member, self.by.session, at)
    }

    /// The caller says something of the event, or in the place where it stands. What it says in a turn is judged by that
    /// turn, and whoever is connected was noted when it was told.
    pub(crate) fn note_read(&mut self, at: EventRef) -> Result<()> {
        let connected = self.directory().connected(self.by.member);
        let is_here = self.by.session.is_some_and(|session| connected.contains(&session));
        if self.by.turn.is_some() || is_here {
            return Ok(());
        }
        self.note_told(at)
    }

    /// Whether the caller, which speaks in a private conversation, has evidently read there: another spoke in a direct
    /// one, or it owes an answer.
    pub(crate) fn has_read_there(&self, key: ConversationKey) -> bool {
        let (room, me) = (self.room(key), self.by.member);
        if room.conversation.settings.visibility == Visibility::Public {
            return false;
        }
        let of_others = |event: &Arc<Event>| event.actor != me && event.change.message().is_some();
        let others_spoke =
            || room.tail.iter().any(of_others) || (room.tail.len() as u64) < room.head.seq.0;
        let owed =
            |open: &Open| open.delivery(me).is_some_and(|d| d.is_open() && d.is_obligation());
        (room.conversation.kind == ConversationKind::Dm && others_spoke())
            || room.open.values().any(owed)
    }

    /// An agent was shown the event: if it is private, that is remembered, by the session, or apart from any where the
    /// session is not connected, as that has no end.
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
        let is_open = room.conversation.settings.visibility == Visibility::Public;
        let only = match room.open.get(&at.seq) {
            Some(open) => open.attention.only.clone(),
            None => self.recall(at)?.event.only().cloned(),
        };
        if is_open && only.is_none() {
            return Ok(());
        }
        let connected = self.directory().connected(member);
        let session = session.filter(|session| connected.contains(session));
        if only.is_some() {
            // It is for no more than those whom all before it were for.
            self.recall_told((member, session))?;
        }
        self.ws.private_reads.put(Private { member, session, at, only, when: self.now }, false);
        Ok(())
    }

    /// A session is over and nobody will take it up again. Its process may still speak: for a while what it was told
    /// counts as told in none.
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

    /// All that the caller was told in private and that counts, the newest first: in its sessions that run, in the one
    /// that it acts in, and for a while in none.
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
        // What several sessions know is one place.
        let mut seen = HashSet::new();
        told.retain(|private| seen.insert((private.at.conversation, private.only.clone())));
        Ok(told.into_iter().map(|Private { at, only, .. }| Origin { at, only }).collect())
    }

    /// Sessions that lost their connection so lately that they have what they accepted still.
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

    /// Brings what is in rows into memory: once, or each time where others write them too.
    fn recall_told(&mut self, whose: Whose) -> Result<()> {
        if self.ws.shared || !self.ws.private_reads.read.contains(&whose) {
            let (member, session) = whose;
            let rows = self.facts.told(member, session, limits::TOLD_IN_PRIVATE + 1)?;
            self.ws.loading().private_reads.take_rows(whose, rows);
        }
        Ok(())
    }
}
