//! Rebuilds the projections of the log.

use std::collections::{BTreeMap, BTreeSet};

use chorus_core::model::conversation::Conversation;
use chorus_core::model::ids::{EventRef, MemberKey, Seq, ThreadKey, Uid};
use chorus_core::model::message_state::MessageState;
use chorus_core::model::thread::Thread;
use chorus_core::state::room::{Head, Room};

use super::{Mend, Part};
use crate::db::{Error, Result, Table};
use crate::doctor::{Look, Report};
use crate::{asset, conversation, departed, event, message, thread};

impl Mend<'_> {
    /// Makes every projection match the log, and returns the events that notified an agent. None
    /// when the log is damaged or does not end where its head says; then nothing is touched.
    pub(super) fn projections(&mut self) -> Result<Option<BTreeMap<Seq, Uid>>> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let stored = match conversation::get(db, workspace, key) {
            Err(Error::Corrupt(_)) => None,
            stored => match stored? {
                Some(stored) => Some(stored),
                // Its id is stored nowhere else.
                None => return Ok(None),
            },
        };
        let bare = match &stored {
            Some(stored) => stored.clone(),
            None => match conversation::bare(db, workspace, key)? {
                Some(bare) => bare,
                None => return Ok(None),
            },
        };
        let mut report = Report::default();
        let everybody = &self.of.everybody;
        // Only a database of the newest version is repaired.
        let has = &|_| true;
        let mut look = Look { db, workspace, directory: everybody, key, has, report: &mut report };
        let Some(replayed) = look.replay(&bare)? else { return Ok(None) };
        if !report.is_clean() {
            return Ok(None);
        }
        let head = match conversation::head(db, workspace, key) {
            Err(Error::Corrupt(_)) => None,
            head => head?,
        };
        if !self.head(head.as_ref(), &replayed.room)? {
            return Ok(None);
        }
        self.row(stored.as_ref(), &replayed.room.conversation)?;
        self.seats(&replayed.room)?;
        self.threads(&replayed.room)?;
        self.messages(&replayed.room)?;
        self.asset_references(replayed.room.head.base, replayed.assets)?;
        Ok(Some(replayed.told))
    }

    /// Repairs the head from the log, if the head's end of the log was ever true. Otherwise the end
    /// has changed, which is damage to the log: returns false.
    fn head(&mut self, stored: Option<&Head>, room: &Room) -> Result<bool> {
        let (db, workspace) = (self.of.db, self.of.workspace);
        let Some(stored) = stored else {
            let head = Head { version: 1, settled: Seq(0), ..room.head };
            conversation::put_head(db, workspace, self.key, &head)?;
            self.mended(Part::Head, None, "it was missing, or could not be read");
            return Ok(true);
        };
        let same_end = stored.hash == room.head.hash;
        if !same_end {
            let there = event::hash_of(db, workspace, self.at(stored.seq))?;
            if stored.seq >= room.head.seq || there != Some(stored.hash) {
                return Ok(false);
            }
        }
        let head = Head {
            version: stored.version,
            settled: stored.settled.min(room.head.seq),
            ..room.head
        };
        if head != *stored {
            conversation::put_head(db, workspace, self.key, &head)?;
            self.mended(Part::Head, None, "it differed from the log");
        }
        Ok(true)
    }

    fn row(&mut self, stored: Option<&Conversation>, replayed: &Conversation) -> Result<()> {
        if stored != Some(replayed) {
            conversation::put(self.of.db, self.of.workspace, replayed)?;
            self.mended(Part::Conversation, None, "its row differed from the log");
        }
        Ok(())
    }

    fn seats(&mut self, room: &Room) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let stored = conversation::roster(db, workspace, key);
        let stored = self.readable(stored, &conversation::ROSTER)?;
        let stored: BTreeMap<_, _> = stored.into_iter().collect();
        let members: BTreeSet<MemberKey> =
            stored.keys().chain(room.roster.keys()).copied().collect();
        for member in members {
            let seat = room.roster.get(&member);
            if stored.get(&member) != seat {
                conversation::put_seat(db, workspace, key, member, seat.copied())?;
                let what = format!("that of member {member} differed from the log");
                self.mended(Part::Seat, None, what);
            }
        }
        let left: BTreeSet<_> = departed::all(db, workspace, key)?.into_iter().collect();
        for place in left.symmetric_difference(&room.gone) {
            departed::set(db, workspace, key, *place, room.gone.contains(place))?;
            let what = format!("whether member {} has left differed from the log", place.0);
            self.mended(Part::Seat, None, what);
        }
        Ok(())
    }

    fn threads(&mut self, room: &Room) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let stored = self.readable(thread::all(db, workspace, key), &thread::THREAD)?;
        let stored: BTreeMap<ThreadKey, Thread> = stored.into_iter().map(|t| (t.key, t)).collect();
        for surplus in stored.keys().filter(|t| !room.threads.contains_key(t)) {
            thread::remove(db, workspace, key, *surplus)?;
            let what = "it is not in the log".to_owned();
            self.mended(Part::Thread, Some(Seq(surplus.0)), what);
        }
        // Conflicting public ids and roots are removed by now.
        db.flush()?;
        let mut opened: Vec<_> = room.threads.values().collect();
        opened.sort_by_key(|thread| thread.key);
        for thread in opened {
            self.thread(stored.get(&thread.key), thread)?;
        }
        Ok(())
    }

    /// Writes a thread as the log has it, unless it is stored like that.
    pub(super) fn thread(&mut self, stored: Option<&Thread>, replayed: &Thread) -> Result<()> {
        if stored == Some(replayed) {
            return Ok(());
        }
        thread::put(self.of.db, self.of.workspace, self.key, replayed)?;
        let seq = Some(Seq(replayed.key.0));
        match stored {
            None => self.mended(Part::Thread, seq, "it was not there, or could not be read"),
            Some(stored) => {
                let fields = differing(stored, replayed);
                if !fields.is_empty() {
                    let what = format!("its {} differed from the log", fields.join(", "));
                    self.mended(Part::Thread, seq, what);
                }
                let fields = differing_work(stored, replayed);
                if !fields.is_empty() {
                    let what = format!("its {} differed from the log", fields.join(", "));
                    self.mended(Part::Work, seq, what);
                }
            }
        }
        Ok(())
    }

    fn messages(&mut self, room: &Room) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let stored = self.readable(message::all(db, workspace, key), &message::MESSAGE)?;
        let stored: BTreeMap<Seq, MessageState> = stored.into_iter().collect();
        let changed = room.messages.iter().filter(|(_, state)| !state.is_plain());
        let seqs: BTreeSet<Seq> = stored.keys().copied().chain(changed.map(|(s, _)| *s)).collect();
        for seq in seqs {
            let state = room.messages.get(&seq).cloned().unwrap_or_default();
            if stored.get(&seq).cloned().unwrap_or_default() != state
                || (state.is_plain() && stored.contains_key(&seq))
            {
                message::put(db, workspace, EventRef { conversation: key, seq }, &state)?;
                self.mended(Part::Message, Some(seq), "its state differed from the log");
            }
        }
        Ok(())
    }

    fn asset_references(&mut self, base: Seq, mut refs: BTreeSet<(Seq, Uid)>) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        refs.retain(|(seq, _)| asset::is_kept(*seq, base));
        let stored: BTreeSet<_> = asset::refs(db, workspace, key)?.into_iter().collect();
        for (seq, asset) in stored.symmetric_difference(&refs) {
            let refers = refs.contains(&(*seq, *asset));
            asset::set_ref(db, workspace, key, *seq, *asset, refers)?;
            let what = "its references to files differed from the log";
            self.mended(Part::AssetReference, Some(*seq), what);
        }
        Ok(())
    }

    /// Unreadable rows of a projection: all of its rows are dropped and rebuilt.
    fn readable<T>(&mut self, rows: Result<Vec<T>>, table: &'static Table) -> Result<Vec<T>> {
        match rows {
            Err(Error::Corrupt(_)) => {
                let name = table.name;
                let sql = format!("DELETE FROM {name} WHERE workspace = $1 AND conversation = $2");
                self.of.db.execute(&sql, &[self.of.workspace.into(), self.key.0.into()])?;
                Ok(Vec::new())
            }
            rows => rows,
        }
    }
}

/// The fields that differ between two threads, besides their work.
fn differing(stored: &Thread, replayed: &Thread) -> Vec<&'static str> {
    let fields = [
        ("id", stored.uid != replayed.uid),
        ("root", stored.root != replayed.root),
        ("title", stored.title != replayed.title),
        ("kind", stored.kind != replayed.kind),
        ("status", stored.status != replayed.status),
        ("owner", stored.owner != replayed.owner),
        ("count of messages", stored.last_seq != replayed.last_seq),
        ("participants", stored.participants != replayed.participants),
        ("count of unattended messages", stored.unattended != replayed.unattended),
        (
            "time",
            (stored.created_at, stored.updated_at) != (replayed.created_at, replayed.updated_at),
        ),
    ];
    fields.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
}

/// The fields of their work that differ.
fn differing_work(stored: &Thread, replayed: &Thread) -> Vec<&'static str> {
    let (stored, replayed) = (&stored.work, &replayed.work);
    let fields = [
        ("status", stored.status != replayed.status),
        ("topic kind", stored.topic_kind != replayed.topic_kind),
        ("session", stored.owner_session != replayed.owner_session),
        ("initiative key", stored.initiative_key != replayed.initiative_key),
        ("bindings", stored.bindings != replayed.bindings),
        ("progress", stored.progress != replayed.progress),
        ("summary", stored.summary != replayed.summary),
        ("promotions", stored.promoted != replayed.promoted),
        ("stimulus", stored.spur != replayed.spur),
    ];
    fields.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
}
