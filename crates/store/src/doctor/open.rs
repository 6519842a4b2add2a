//! Checks the data that is not in the log, open events, receipts and cursors, by its invariants.

use std::collections::{BTreeMap, BTreeSet};

use chorus_core::model::delivery::Open;
use chorus_core::model::ids::{EventRef, Seq, Uid};
use chorus_core::state::room::Head;

use super::Look;
use crate::db::{Error, Result};
use crate::{event, open, read_cursor, thread};

impl Look<'_> {
    pub(super) fn check_open(&mut self, head: &Head, told: &BTreeMap<Seq, Uid>) -> Result<()> {
        let pending = self.rows("pending row", open::pending(self.db, self.workspace, self.key))?;
        let receipts = self.rows("receipt", open::receipts(self.db, self.workspace, self.key))?;
        for open in &pending {
            self.check_row(open, head, told)?;
            if open.is_settled() {
                self.found(Some(open.seq), "it has a pending row but nothing of it is open");
            }
        }
        let waiting: BTreeSet<Seq> = pending.iter().map(|o| o.seq).collect();
        for receipt in &receipts {
            self.check_row(receipt, head, told)?;
            if !receipt.is_settled() {
                self.found(Some(receipt.seq), "it has a receipt but something of it is open");
            }
            if waiting.contains(&receipt.seq) {
                self.found(Some(receipt.seq), "it has both a pending row and a receipt");
            }
        }
        let closed: BTreeSet<Seq> = receipts.iter().map(|o| o.seq).collect();
        let settled = told.keys().filter(|seq| **seq <= head.settled);
        for seq in settled.filter(|seq| !waiting.contains(seq) && !closed.contains(seq)) {
            self.found(
                Some(*seq),
                "it counts as settled but has neither a pending row nor a receipt",
            );
        }
        for ((member, thread), cursor) in read_cursor::all(self.db, self.workspace, self.key)? {
            let end = match thread {
                None => head.seq,
                Some(thread) => {
                    let found = thread::get(self.db, self.workspace, self.key, thread)?;
                    Seq(found.map_or(0, |t| t.last_seq))
                }
            };
            if cursor.read > end {
                self.found(Some(cursor.read), format!("member {member} has read beyond the end"));
            }
        }
        Ok(())
    }

    /// The row must belong to an event of this log.
    fn check_row(&mut self, open: &Open, head: &Head, told: &BTreeMap<Seq, Uid>) -> Result<()> {
        let at = EventRef { conversation: self.key, seq: open.seq };
        let uid = match told.get(&open.seq) {
            Some(uid) => Some(*uid),
            None if open.seq > head.seq => None,
            None => event::get(self.db, self.workspace, at)?.map(|e| e.uid),
        };
        if uid != Some(open.uid) {
            self.found(Some(open.seq), "its deliveries are those of another event");
        }
        Ok(())
    }

    /// Unreadable rows are a problem, and then the table is not examined further.
    fn rows(&mut self, what: &str, rows: Result<Vec<Open>>) -> Result<Vec<Open>> {
        match rows {
            Err(Error::Corrupt(why)) => {
                self.found(None, format!("a {what} cannot be read: {why}"));
                Ok(Vec::new())
            }
            other => other,
        }
    }
}
