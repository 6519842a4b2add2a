//! What agents were told in private, by the session that took it up, and apart from any for those who have none.
//!
//! Invariant: what was noted since the host began is in memory, and what was noted before, or by other hosts of the
//! database, is in rows, which are read when a session is first asked about. A row goes along with whatever is written
//! next, so that taking something up forces no commit: after a crash before that it is offered, and taken up, again.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::model::approval::Private;
use crate::model::ids::{MemberKey, SessionKey, Timestamp};
use crate::model::limits;
use crate::model::member::Session;

/// Whose memory it is; no session: of what was taken up in none that is connected.
pub(crate) type Whose = (MemberKey, Option<SessionKey>);

#[derive(Debug, Default)]
pub(crate) struct PrivateReads {
    pub(crate) of: HashMap<Whose, Vec<Entry>>,
    /// Those whose rows are in memory.
    pub(crate) read: HashSet<Whose>,
    /// Those who have something without a row.
    unwritten: BTreeSet<Whose>,
    /// Those who had, until the commands of this time.
    taken: BTreeSet<Whose>,
    batch: Option<Timestamp>,
    /// Sessions that were connected and are not, which may still run.
    pub(crate) left: HashMap<MemberKey, Vec<SessionKey>>,
    /// When this host first did anything: whoever was connected before may not be back yet.
    pub(crate) since: Option<Timestamp>,
    /// Nothing waits any longer for what it could go along with.
    pub(crate) closing: bool,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) private: Private,
    written: bool,
}

impl PrivateReads {
    /// Of a workspace that comes back: the newest sessions of each member may have been connected a moment ago.
    pub(crate) fn after_start<'a>(sessions: impl Iterator<Item = &'a Arc<Session>>) -> Self {
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

    pub(crate) fn begin(&mut self, now: Timestamp) {
        self.since.get_or_insert(now);
        // The commands of a batch are of one time.
        if self.batch.replace(now) != Some(now) {
            self.taken.clear();
        }
    }

    /// The session is not connected any more.
    pub(crate) fn left(&mut self, member: MemberKey, session: SessionKey) {
        let left = self.left.entry(member).or_default();
        if !left.contains(&session) {
            left.push(session);
        }
    }

    /// The session is known no more; gives what it was told. Its rows stay: after a restart it may be named again.
    pub(crate) fn forget(&mut self, member: MemberKey, session: SessionKey) -> Vec<Private> {
        let whose = (member, Some(session));
        self.unwritten.remove(&whose);
        self.read.remove(&whose);
        if let Some(left) = self.left.get_mut(&member) {
            left.retain(|one| *one != session);
        }
        self.of.remove(&whose).into_iter().flatten().map(|entry| entry.private).collect()
    }

    pub(crate) fn drop_expired(&mut self, now: Timestamp) {
        for entries in self.of.values_mut() {
            entries.retain(|entry| entry.private.counts(now));
        }
        self.of.retain(|_, entries| !entries.is_empty());
        self.unwritten.retain(|whose| self.of.contains_key(whose));
    }

    /// A batch came to nothing, and with it what went along.
    pub(crate) fn write_again(&mut self) {
        for whose in std::mem::take(&mut self.taken) {
            if let Some(entries) = self.of.get_mut(&whose) {
                entries.iter_mut().for_each(|entry| entry.written = false);
                self.unwritten.insert(whose);
            }
        }
    }

    /// What has no row yet.
    pub(crate) fn take_unwritten(&mut self) -> Vec<Private> {
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
    pub(crate) fn put(&mut self, new: Private, written: bool) {
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
    pub(crate) fn take_rows(&mut self, whose: Whose, mut rows: Vec<Private>) {
        let noted = self.of.remove(&whose).unwrap_or_default();
        rows.sort_by_key(|row| row.when);
        rows.into_iter().for_each(|row| self.put(row, true));
        for entry in noted.into_iter().filter(|entry| !entry.written) {
            self.put(entry.private, false);
        }
        self.read.insert(whose);
    }
}
