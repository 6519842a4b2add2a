//! Repairs deliveries: each event that notified an agent has exactly one row.
//!
//! The deliveries of interrupted runs are settled here before turns are arbitrated again. Events
//! that were answered according to the log are answered; events that were settled according to the
//! audit log are not offered again; all others wait to be offered.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chorus_core::model::audit::Record;
use chorus_core::model::delivery::Open;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::{MemberKey, Seq, Timestamp, Uid};
use chorus_core::state::room::Head;

use super::{Mend, Part};
use crate::db::{Error, Result};
use crate::{audit, event, open};

/// When a member answered an event.
type Answered = HashMap<(Seq, MemberKey), Timestamp>;

impl Mend<'_> {
    /// `told` are all events that notified an agent, when the whole log is examined. Otherwise only
    /// events with rows are.
    pub(super) fn deliveries(
        &mut self,
        head: &Head,
        told: Option<&BTreeMap<Seq, Uid>>,
    ) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let mut lost = BTreeSet::new();
        let mut pending = BTreeMap::new();
        for (seq, row) in open::pending_rows(db, workspace, key)? {
            match self.of_this_log(seq, row, told, &mut lost)? {
                Some(row) => drop(pending.insert(seq, row)),
                None => open::remove_pending(db, workspace, self.at(seq))?,
            }
        }
        let mut receipts = BTreeMap::new();
        // Without the log, only inconsistent rows are examined.
        let rows = match told {
            Some(_) => open::receipt_rows(db, workspace, key)?,
            None => Vec::new(),
        };
        for (seq, row) in rows {
            match self.of_this_log(seq, row, told, &mut lost)? {
                Some(row) => drop(receipts.insert(seq, row)),
                None => open::remove_receipt(db, workspace, self.at(seq))?,
            }
        }
        for (seq, row) in &pending {
            self.pending(*seq, row, told.is_some(), &mut receipts)?;
        }
        for (seq, receipt) in receipts.iter().filter(|(_, receipt)| !receipt.is_settled()) {
            open::remove_receipt(db, workspace, self.at(*seq))?;
            open::put_pending(db, workspace, key, receipt)?;
            self.mended(
                Part::Delivery,
                Some(*seq),
                "it was stored as ended, but something of it is open",
            );
        }
        let owed = told.into_iter().flatten().map(|(seq, _)| *seq);
        lost.extend(owed.filter(|seq| *seq <= head.settled));
        lost.retain(|seq| !pending.contains_key(seq) && !receipts.contains_key(seq));
        self.lost(lost)
    }

    /// The readable rows that belong to their event. For the others the state is lost, and so is
    /// that of the event that they claim to belong to.
    fn of_this_log(
        &self,
        seq: Seq,
        row: Option<Open>,
        told: Option<&BTreeMap<Seq, Uid>>,
        lost: &mut BTreeSet<Seq>,
    ) -> Result<Option<Open>> {
        let says = row.as_ref().map(|row| row.seq);
        if let Some(row) = row.filter(|row| row.seq == seq) {
            let uid = match told.and_then(|told| told.get(&seq)) {
                Some(uid) => Some(*uid),
                None => event::uid_of(self.of.db, self.of.workspace, self.at(seq))?,
            };
            if uid == Some(row.uid) {
                return Ok(Some(row));
            }
        }
        lost.insert(seq);
        lost.extend(says);
        Ok(None)
    }

    fn pending(
        &mut self,
        seq: Seq,
        row: &Open,
        all: bool,
        receipts: &mut BTreeMap<Seq, Open>,
    ) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let receipt = match all {
            true => receipts.get(&seq).cloned(),
            false => match open::receipt(db, workspace, self.at(seq)) {
                Err(Error::Corrupt(_)) => None,
                receipt => receipt?,
            },
        };
        if let Some(receipt) = receipt {
            // The audit log tells which of the two is newer.
            if receipt.is_settled() && self.of.settled(self.at(seq))?.is_some() {
                open::remove_pending(db, workspace, self.at(seq))?;
                self.mended(
                    Part::Delivery,
                    Some(seq),
                    "it was settled, but was still stored as open",
                );
                return Ok(());
            }
            open::remove_receipt(db, workspace, self.at(seq))?;
            receipts.remove(&seq);
            self.mended(Part::Delivery, Some(seq), "it is open, but was stored as settled too");
        }
        if row.is_settled() {
            self.close(row)?;
            self.mended(
                Part::Delivery,
                Some(seq),
                "nothing of it is open, but it was stored as open",
            );
            return Ok(());
        }
        let everybody = &self.of.everybody;
        let mut back = row.clone();
        let nobodys = |d: &&mut chorus_core::model::delivery::Delivery| {
            d.session().is_some_and(|session| !everybody.sessions.contains_key(&session))
        };
        let mut taken = 0;
        for delivery in back.deliveries.iter_mut().filter(nobodys) {
            delivery.come_back();
            taken += 1;
        }
        if taken > 0 {
            open::put_pending(db, workspace, key, &back)?;
            let what = "it was held by a session that does not exist, and waits again";
            self.mended(Part::Delivery, Some(seq), what);
        }
        Ok(())
    }

    /// Events whose row is missing or was never right: only the logs are known about them.
    fn lost(&mut self, lost: BTreeSet<Seq>) -> Result<()> {
        if lost.is_empty() {
            return Ok(());
        }
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let answered: Answered = event::answers(db, workspace, key)?;
        for seq in lost {
            if open::receipt(db, workspace, self.at(seq))?.is_some() {
                continue;
            }
            let event = event::get(db, workspace, self.at(seq))?;
            let Some(mut open) = event.and_then(|e| Open::of(&e, &self.of.everybody)) else {
                self.mended(
                    Part::Delivery,
                    Some(seq),
                    "nothing about it is open, but it had a row",
                );
                continue;
            };
            let over = self.of.settled(self.at(seq))?;
            for delivery in &mut open.deliveries {
                delivery.attempt = 1;
                match answered.get(&(seq, delivery.member)) {
                    Some(at) => delivery.settle(Disposition::Responded, *at),
                    None => {
                        if let Some(at) = over {
                            delivery.settle(Disposition::Superseded, at);
                        }
                    }
                }
            }
            if open.deliveries.iter().all(|d| !d.is_open()) {
                open.claim = None;
                self.close(&open)?;
                self.mended(
                    Part::Delivery,
                    Some(seq),
                    "its outcome was lost and was restored from the logs",
                );
            } else {
                open.stored = true;
                open::put_pending(db, workspace, key, &open)?;
                self.mended(
                    Part::Delivery,
                    Some(seq),
                    "its state was lost, and it is offered again",
                );
            }
        }
        Ok(())
    }

    /// Replaces the row with the receipt, also in the audit log.
    fn close(&mut self, row: &Open) -> Result<()> {
        open::put_receipt(self.of.db, self.of.workspace, self.key, row)?;
        let record: Record = audit::settled(self.key, row, self.of.now);
        self.records.push(record);
        Ok(())
    }
}
