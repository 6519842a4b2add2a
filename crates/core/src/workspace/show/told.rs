//! What agents were told in private, by the session that took it up, and apart from any for those who have none.
//!
//! Invariant: what was noted since the host began is in memory, and what was noted before, or by other hosts of the
//! database, is in rows, which are read when a session is first asked about. A row goes along with whatever is written
//! next, so that taking something up forces no commit: after a crash before that it is offered, and taken up, again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::super::{Result, Run};
use super::Origin;
use crate::approval::Private;
use crate::conversation::{ConversationKind, Visibility};
use crate::delivery::Open;
use crate::event::{Event, EventRef};
use crate::ids::{ConversationKey, MemberKey, SessionKey, Timestamp};
use crate::limits;
use crate::member::Session;

/// Whose memory it is; no session: of what was taken up in none that is connected.
type Whose = (MemberKey, Option<SessionKey>);

#[derive(Debug, Default)]
pub(in crate::workspace) struct Told {
    of: HashMap<Whose, Vec<Entry>>,
    /// Those whose rows are in memory.
    read: HashSet<Whose>,
    /// Those who have something without a row.
    unwritten: BTreeSet<Whose>,
    /// Those who had, until the commands of this time.
    taken: BTreeSet<Whose>,
    batch: Option<Timestamp>,
    /// Sessions that were connected and are not, which may still run.
    left: HashMap<MemberKey, Vec<SessionKey>>,
    /// When this host first did anything: whoever was connected before may not be back yet.
    since: Option<Timestamp>,
    /// Nothing waits any longer for what it could go along with.
    pub(in crate::workspace) closing: bool,
}

#[derive(Debug)]
struct Entry {
    private: Private,
    written: bool,
}

impl Told {
    /// Of a workspace that comes back: the newest sessions of each member may have been connected a moment ago.
    pub(in crate::workspace) fn after_start<'a>(
        sessions: impl Iterator<Item = &'a Arc<Session>>,
    ) -> Self {
        let mut told = Self::default();
        for session in sessions {
            told.left.entry(session.member).or_default().push(session.key);
        }
        for left in told.left.values_mut() {
            left.sort_unstable();
            left.drain(..left.len().saturating_sub(limits::SESSIONS_BACK));
        }
        told
    }

    pub(in crate::workspace) fn begin(&mut self, now: Timestamp) {
        self.since.get_or_insert(now);
        // The commands of a batch are of one time.
        if self.batch.replace(now) != Some(now) {
            self.taken.clear();
        }
    }

    /// The session is not connected any more.
    pub(in crate::workspace) fn left(&mut self, member: MemberKey, session: SessionKey) {
        let left = self.left.entry(member).or_default();
        if !left.contains(&session) {
            left.push(session);
        }
    }

    /// The session is known no more; gives what it was told. Its rows stay: after a restart it may be named again.
    fn forget(&mut self, member: MemberKey, session: SessionKey) -> Vec<Private> {
        let whose = (member, Some(session));
        self.unwritten.remove(&whose);
        self.read.remove(&whose);
        if let Some(left) = self.left.get_mut(&member) {
            left.retain(|one| *one != session);
        }
        self.of.remove(&whose).into_iter().flatten().map(|entry| entry.private).collect()
    }

    pub(in crate::workspace) fn drop_expired(&mut self, now: Timestamp) {
        for entries in self.of.values_mut() {
            entries.retain(|entry| entry.private.counts(now));
        }
        self.of.retain(|_, entries| !entries.is_empty());
        self.unwritten.retain(|whose| self.of.contains_key(whose));
    }

    /// A batch came to nothing, and with it what went along.
    pub(in crate::workspace) fn write_again(&mut self) {
        for whose in std::mem::take(&mut self.taken) {
            if let Some(entries) = self.of.get_mut(&whose) {
                entries.iter_mut().for_each(|entry| entry.written = false);
                self.unwritten.insert(whose);
            }
        }
    }

    /// What has no row yet.
    pub(in crate::workspace) fn take_unwritten(&mut self) -> Vec<Private> {
        let mut rows = Vec::new();
        for whose in std::mem::take(&mut self.unwritten) {
            self.taken.insert(whose);
            for entry in self.of.get_mut(&whose).into_iter().flatten().filter(|e| !e.written) {
                entry.written = true;
                rows.push(entry.private.clone());
            }
        }
        rows
    }

    /// Of a room one entry is enough, since all of it has the same readers: the newest. So is one of its ephemeral
    /// messages: whoever reads what may carry any of them has to be shown all of them.
    fn put(&mut self, new: Private, written: bool) {
        let whose = (new.member, new.session);
        let entries = self.of.entry(whose).or_default();
        let known = entries.iter().position(|e| {
            e.private.at.conversation == new.at.conversation
                && e.private.only.is_some() == new.only.is_some()
        });
        let new = match known.map(|n| entries.remove(n).private) {
            Some(old) => Private {
                only: new.only.zip(old.only).map(|(new, old)| {
                    new.iter().copied().filter(|m| old.contains(m)).collect::<Arc<[_]>>()
                }),
                at: new.at.max(old.at),
                when: new.when.max(old.when),
                ..new
            },
            None => new,
        };
        if !written {
            self.unwritten.insert(whose);
        }
        entries.push(Entry { private: new, written });
        // Whoever was told in more places than are looked at is held whatever it was.
        if entries.len() > limits::TOLD_IN_PRIVATE + 1 {
            entries.remove(0);
        }
    }

    /// The rows of one, in place of those known before.
    fn take_rows(&mut self, whose: Whose, mut rows: Vec<Private>) {
        let noted = self.of.remove(&whose).unwrap_or_default();
        rows.sort_by_key(|row| row.when);
        rows.into_iter().for_each(|row| self.put(row, true));
        for entry in noted.into_iter().filter(|entry| !entry.written) {
            self.put(entry.private, false);
        }
        self.read.insert(whose);
    }
}

impl Run<'_> {
    /// The caller has taken the event up, or answers it.
    pub(in crate::workspace) fn note_told(&mut self, at: EventRef) -> Result<()> {
        self.note_told_to(self.by.member, self.by.session, at)
    }

    /// The caller says something of the event, or in the place where it stands. What it says in a turn is judged by that
    /// turn, and whoever is connected was noted when it was told.
    pub(in crate::workspace) fn note_read(&mut self, at: EventRef) -> Result<()> {
        let connected = self.directory().connected(self.by.member);
        let is_here = self.by.session.is_some_and(|session| connected.contains(&session));
        if self.by.turn.is_some() || is_here {
            return Ok(());
        }
        self.note_told(at)
    }

    /// Whether the caller, which speaks in a private conversation, has evidently read there: another spoke in a direct
    /// one, or it owes an answer.
    pub(in crate::workspace) fn has_read_there(&self, key: ConversationKey) -> bool {
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
    pub(in crate::workspace) fn note_told_to(
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
        self.ws.told.put(Private { member, session, at, only, when: self.now }, false);
        Ok(())
    }

    /// A session is over and nobody will take it up again. Its process may still speak: for a while what it was told
    /// counts as told in none.
    pub(in crate::workspace) fn forget_told(
        &mut self,
        member: MemberKey,
        session: SessionKey,
    ) -> Result<()> {
        let entries = self.ws.told.forget(member, session);
        if entries.iter().any(|private| private.only.is_some()) {
            self.recall_told((member, None))?;
        }
        let when = self.now.plus(limits::SESSION_GONE_MS - limits::TOLD_APART_MS);
        for private in entries {
            self.ws.told.put(Private { session: None, when, ..private }, false);
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
            let entries = self.ws.told.of.get(&whose).into_iter().flatten();
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
        let (directory, told) = (&ws.directory, &mut ws.told);
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
        if self.ws.shared || !self.ws.told.read.contains(&whose) {
            let (member, session) = whose;
            let rows = self.facts.told(member, session, limits::TOLD_IN_PRIVATE + 1)?;
            self.ws.loading().told.take_rows(whose, rows);
        }
        Ok(())
    }
}
