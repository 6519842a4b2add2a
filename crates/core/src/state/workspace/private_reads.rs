//! What agents were shown in private, by session, and separately for agents without a session.
//!
//! Invariant: reads since this host started are in memory. Earlier ones are in rows, which are
//! loaded when a session is first asked about. A row is written along with the next write, so that
//! a private read never forces a commit. After a crash before that write, the event is offered and
//! read again.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::approval::Private;
use crate::model::ids::{MemberKey, SessionKey, Timestamp};
use crate::model::limits;
use crate::model::maps::{KeyMap, KeySet};
use crate::model::member::Session;

/// The member and session that a record belongs to. Without a session: reads in no connected
/// session.
pub(crate) type Whose = (MemberKey, Option<SessionKey>);

#[derive(Debug, Default)]
pub(crate) struct PrivateReads {
    pub(crate) of: KeyMap<Whose, Vec<Entry>>,
    /// The records whose rows are in memory.
    pub(crate) read: KeySet<Whose>,
    /// The records with changes that have no row yet.
    unwritten: BTreeSet<Whose>,
    /// Those that had unwritten changes before the commands of this time.
    taken: BTreeSet<Whose>,
    batch: Option<Timestamp>,
    /// Sessions that disconnected and may still be running.
    pub(crate) left: KeyMap<MemberKey, Vec<SessionKey>>,
    /// When this host first did anything. Members who were connected before may not have
    /// reconnected yet.
    pub(crate) since: Option<Timestamp>,
    /// The host is closing, so unwritten rows no longer wait for another write.
    pub(crate) closing: bool,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) private: Private,
    written: bool,
}

impl PrivateReads {
    /// For a restarted workspace: the newest sessions of each member may have been connected a
    /// moment ago.
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
        // All commands of a batch have the same time.
        if self.batch.replace(now) != Some(now) {
            self.taken.clear();
        }
    }

    /// The session is no longer connected.
    pub(crate) fn left(&mut self, member: MemberKey, session: SessionKey) {
        let left = self.left.entry(member).or_default();
        if !left.contains(&session) {
            left.push(session);
        }
    }

    /// Forgets the session and returns what it was shown. Its rows stay, because after a restart
    /// the session may be used again.
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

    /// Marks rows as unwritten again after a failed batch.
    pub(crate) fn write_again(&mut self) {
        for whose in std::mem::take(&mut self.taken) {
            if let Some(entries) = self.of.get_mut(&whose) {
                entries.iter_mut().for_each(|entry| entry.written = false);
                self.unwritten.insert(whose);
            }
        }
    }

    /// Returns the entries that have no row yet.
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

    /// Adds an entry. One entry per room is enough, because everything in a room has the same
    /// readers: the newest. One more stands for its ephemeral messages, with the members who may
    /// see all of them.
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
        // An agent that was told in more places than are tracked has everything it says held for
        // approval.
        if entries.len() > limits::TOLD_IN_PRIVATE + 1 {
            entries.remove(0);
        }
    }

    /// Replaces the known entries of one record with its rows.
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
