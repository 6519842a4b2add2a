//! Replays one log and checks the order of events, their hashes and the thread counts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::delivery::Open;
use chorus_core::model::event::{Change, Event, Hash};
use chorus_core::model::ids::{Seq, Timestamp, Uid};
use chorus_core::model::limits;
use chorus_core::state::room::Room;

use super::{Look, assets};
use crate::db::{Error, Result};
use crate::{event, log_snapshot};

/// Events read at a time.
const PAGE: u64 = 1_000;

/// A log replayed to its end.
pub(crate) struct Replayed {
    pub(crate) room: Room,
    /// Events that notified an agent and so need a row.
    pub(crate) told: BTreeMap<Seq, Uid>,
    /// The references of messages to files.
    pub(crate) assets: BTreeSet<(Seq, Uid)>,
}

/// The state of the walk so far.
struct Walk {
    room: Room,
    told: BTreeMap<Seq, Uid>,
    assets: BTreeSet<(Seq, Uid)>,
    hash: Hash,
    keys: HashMap<[u8; 16], Timestamp>,
    /// Events without content, until their erasure is found in the log.
    erased: BTreeSet<Seq>,
}

impl Look<'_> {
    /// None when the log cannot be read to its end; the problem is recorded.
    pub(crate) fn replay(&mut self, stored: &Conversation) -> Result<Option<Replayed>> {
        let room = match log_snapshot::get(self.db, self.workspace, self.key)? {
            Some(base) => Room::at_base(stored.clone(), &base),
            None => Room::new(stored.clone()),
        };
        let (told, keys, hash) = (BTreeMap::new(), HashMap::new(), room.head.hash);
        self.check_below(room.head.base)?;
        let assets = assets::pinned(&room.conversation.settings).collect();
        let mut walk = Walk { room, told, assets, hash, keys, erased: BTreeSet::new() };
        loop {
            let rows = self.page(walk.room.head.seq)?;
            let ended = (rows.len() as u64) < PAGE;
            for (seq, row) in rows {
                match row {
                    Ok(event) => self.step(&mut walk, Arc::new(event)),
                    Err(error) => {
                        self.found(Some(seq), format!("{error}; what follows was not replayed"));
                        return Ok(None);
                    }
                }
            }
            if ended {
                for seq in &walk.erased {
                    self.found(Some(*seq), "its content is missing, and no erasure is logged");
                }
                let Walk { room, told, assets, .. } = walk;
                return Ok(Some(Replayed { room, told, assets }));
            }
        }
    }

    /// Nothing of the dropped events may remain in the tables.
    fn check_below(&mut self, base: Seq) -> Result<()> {
        let sql = "SELECT min(seq) FROM event
            WHERE workspace = $1 AND conversation = $2 AND seq <= $3";
        let values = [self.workspace.into(), self.key.0.into(), base.0.into()];
        let left = self.db.one(sql, &values, |row| row.maybe_int(0))?.flatten();
        if let Some(seq) = left {
            self.found(
                Some(Seq(seq)),
                format!("it still exists, but everything up to {base} was dropped"),
            );
        }
        Ok(())
    }

    /// Reads each event separately: an unreadable one does not hide the others.
    #[allow(clippy::type_complexity, reason = "a seq and what stands there")]
    fn page(&self, after: Seq) -> Result<Vec<(Seq, Result<Event>)>> {
        let sql = format!(
            "{} WHERE workspace = $1 AND conversation = $2 AND seq > $3 ORDER BY seq LIMIT $4",
            event::EVENT.select()
        );
        let values = [self.workspace.into(), self.key.0.into(), after.0.into(), PAGE.into()];
        self.db.all(&sql, &values, |row| {
            let seq = Seq(row.int(2)?);
            match event::read(row) {
                Err(error @ Error::Engine(_)) => Err(error),
                read => Ok((seq, read)),
            }
        })
    }

    fn step(&mut self, walk: &mut Walk, event: Arc<Event>) {
        self.report.events += 1;
        let seq = event.seq;
        let expected = walk.room.head.seq.next();
        if seq != expected {
            self.found(Some(expected), format!("it is missing; the next one is {seq}"));
            walk.room.head.seq = Seq(seq.0 - 1);
        } else if event.chain(&walk.hash) != event.hash {
            self.found(Some(seq), "its hash does not follow from the one before it");
        }
        walk.hash = event.hash;
        self.check_content(walk, &event);
        if event.at < walk.room.head.last_at {
            self.found(Some(seq), "it is older than the one before it");
        }
        self.check_thread(walk, &event);
        self.check_key(walk, &event);
        if Open::of(&event, self.directory).is_some() {
            walk.told.insert(seq, event.uid);
        }
        assets::apply(&mut walk.assets, &event);
        walk.room.apply(&event);
    }

    /// The content must match its hash, or have been erased according to the log.
    fn check_content(&mut self, walk: &mut Walk, event: &Event) {
        match &event.salt {
            Some(salt) => {
                let content = Event::content_hash(salt, &codec::body(&event.change));
                if content != event.content_hash {
                    self.found(Some(event.seq), "its content does not match its hash");
                }
            }
            None if event.change != event.change.blank() => {
                self.found(Some(event.seq), "it has no salt, but it has content");
            }
            None => {
                walk.erased.insert(event.seq);
            }
        }
        if let Change::Erased { events, .. } = &event.change {
            for seq in events.iter().filter(|seq| **seq > walk.room.head.base) {
                if !walk.erased.remove(seq) {
                    self.found(Some(*seq), "its erasure is logged, but it still has content");
                }
            }
        }
    }

    fn check_thread(&mut self, walk: &Walk, event: &Event) {
        let thread = event.thread.and_then(|t| walk.room.threads.get(&t));
        if event.thread.is_some() && thread.is_none() {
            self.found(Some(event.seq), "it is in a thread that was not opened before it");
        }
        let expected = match (&event.change, thread) {
            (Change::Posted(_), Some(thread)) if event.only().is_none() => thread.last_seq + 1,
            _ => 0,
        };
        if event.thread_seq != expected {
            let is = event.thread_seq;
            self.found(Some(event.seq), format!("its thread seq is {is} and not {expected}"));
        }
    }

    fn check_key(&mut self, walk: &mut Walk, event: &Event) {
        let Some(idempotency) = event.idempotency else { return };
        let before = walk.keys.insert(idempotency.key, event.at);
        if before.is_some_and(|before| event.at.since(before) <= limits::IDEMPOTENCY_MS) {
            self.found(Some(event.seq), "its idempotency key was used before");
        }
    }
}
