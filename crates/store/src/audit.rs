//! The audit log: blocks of entries, each chained to the one before it.
//!
//! Invariant: a block is written in the same transaction as the actions it records, at most one per
//! batch, so that a crash cannot break the chain. A block's hash covers the previous hash, its
//! number, its time and its entries.

mod check;

use chorus_core::codec;
use chorus_core::model::audit::Record;
use chorus_core::model::delivery::Open;
use chorus_core::model::event::Hash;
use chorus_core::model::ids::{ConversationKey, EventRef, Prefix, Seq, Timestamp};
use sha2::{Digest, Sha256};

use crate::db::{Db, Result, Row, Table};
use crate::family::Family;
use crate::schema::Since;
use crate::{event, thread};

pub(crate) static AUDIT: Table =
    Table::new("audit", 2, &["workspace", "block", "at", "hash", "packed"]);

pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 2, postgres: 1 }, &[&AUDIT]).checked(check::look);

/// The version of the hash's input; it is part of the input.
const VERSION: u8 = 1;

/// The end of the audit log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditHead {
    /// The newest block; 0 when there is none.
    pub block: u64,
    pub hash: Hash,
}

/// The position of an entry: its block, and its index in it from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditPlace {
    pub block: u64,
    pub index: u64,
}

impl AuditHead {
    fn next(&self, at: Timestamp, packed: &[u8]) -> Self {
        let block = self.block + 1;
        let mut hasher = Sha256::new();
        hasher.update(self.hash);
        hasher.update([VERSION]);
        hasher.update(block.to_be_bytes());
        hasher.update(at.0.to_be_bytes());
        hasher.update(packed);
        Self { block, hash: hasher.finalize().into() }
    }
}

/// Appends one block after `head`; returns the new head.
pub(crate) fn append(
    db: &dyn Db,
    workspace: i64,
    head: &AuditHead,
    at: Timestamp,
    records: &[Record],
) -> Result<AuditHead> {
    let packed = codec::audit(at, records);
    let next = head.next(at, &packed);
    let values =
        [workspace.into(), next.block.into(), at.0.into(), (&next.hash).into(), (&*packed).into()];
    db.insert(&AUDIT, &values)?;
    Ok(next)
}

/// The hash of a block, when there is one.
pub(crate) fn hash_of(db: &dyn Db, workspace: i64, block: u64) -> Result<Option<Hash>> {
    db.get(&AUDIT, &[workspace.into(), block.into()], |row| row.array(3))
}

pub(crate) fn head(db: &dyn Db, workspace: i64) -> Result<AuditHead> {
    let sql = "SELECT block, hash FROM audit WHERE workspace = $1 ORDER BY block DESC LIMIT 1";
    let found = db.one(sql, &[workspace.into()], |row| {
        Ok(AuditHead { block: row.int(0)?, hash: row.array(1)? })
    })?;
    Ok(found.unwrap_or_default())
}

/// At most `limit` matching entries at or after `from`, each with the position of its event.
pub(crate) fn read(
    db: &dyn Db,
    workspace: i64,
    from: AuditPlace,
    since: Timestamp,
    limit: usize,
    wanted: &dyn Fn(&Record) -> bool,
) -> Result<Vec<(AuditPlace, Record)>> {
    let sql = format!(
        "{} WHERE workspace = $1 AND block >= $2 AND at >= $3 ORDER BY block LIMIT $4",
        AUDIT.select()
    );
    let mut found = Vec::new();
    let mut from = from;
    // A block has at least one entry, so this many blocks are enough unless some entries do not
    // match.
    let page = limit as u64 + 1;
    loop {
        let values = [workspace.into(), from.block.into(), since.0.into(), page.into()];
        let blocks = db.all(&sql, &values, block)?;
        let more = blocks.len() as u64 == page;
        for (number, _, records) in blocks {
            for (index, mut record) in records.into_iter().enumerate() {
                let place = AuditPlace { block: number, index: index as u64 };
                if place < from {
                    continue;
                }
                // The owner of the subject's conversation decides who can see it.
                match (record.subject, record.act.prefix()) {
                    (Some(uid), Prefix::Event) => record.event = event::find(db, workspace, uid)?,
                    (Some(uid), Prefix::Thread) => {
                        let found = thread::by_uid(db, workspace, uid)?;
                        let of = |(conversation, _)| EventRef { conversation, seq: Seq(0) };
                        record.event = found.map(of);
                    }
                    _ => {}
                }
                if wanted(&record) {
                    found.push((place, record));
                }
            }
            from = AuditPlace { block: number + 1, index: 0 };
            if found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
        if !more {
            return Ok(found);
        }
    }
}

/// Passes the entries since a time to a callback, oldest first. Blocks are numbered without gaps,
/// and their times increase unless the clock was set back, so the first one is found by binary
/// search.
pub(crate) fn since(
    db: &dyn Db,
    workspace: i64,
    since: Timestamp,
    each: &mut dyn FnMut(Record),
) -> Result<()> {
    let (mut low, mut high) = (0, head(db, workspace)?.block);
    while low < high {
        let middle = low + (high - low) / 2;
        let at = db.get(&AUDIT, &[workspace.into(), middle.into()], |row| row.int::<i64>(2))?;
        match at.is_none_or(|at| at < since.0) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    let sql = format!("{} WHERE workspace = $1 AND block >= $2 ORDER BY block", AUDIT.select());
    db.query(&sql, &[workspace.into(), low.into()], &mut |row| {
        let (_, _, records) = block(row)?;
        records.into_iter().filter(|record| record.at >= since).for_each(&mut *each);
        Ok(())
    })
}

/// The digest that identifies a receipt, from the bytes of its row.
pub(crate) fn digest(packed: &[u8]) -> [u8; 16] {
    let mut out = [0; 16];
    out.copy_from_slice(&Sha256::digest(packed)[..16]);
    out
}

/// The entry for a receipt that is written.
pub(crate) fn settled(key: ConversationKey, open: &Open, at: Timestamp) -> Record {
    Record::settled(at, EventRef { conversation: key, seq: open.seq }, digest(&codec::open(open)))
}

/// Walks all blocks, passes on each entry, and reports what is wrong with every altered block.
pub(crate) fn walk(
    db: &dyn Db,
    workspace: i64,
    each: &mut dyn FnMut(Record),
    wrong: &mut dyn FnMut(u64, String),
) -> Result<AuditHead> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY block", AUDIT.select());
    let mut head = AuditHead::default();
    db.query(&sql, &[workspace.into()], &mut |row| {
        let (number, at): (u64, _) = (row.int(1)?, Timestamp(row.int(2)?));
        let (hash, packed): (Hash, _) = (row.array(3)?, row.blob(4)?);
        if number != head.block + 1 {
            wrong(head.block + 1, format!("it is missing; the next one is {number}"));
        } else if head.next(at, packed).hash != hash {
            wrong(number, "its hash does not follow from the one before it".to_owned());
        }
        head = AuditHead { block: number, hash };
        match codec::read_audit(at, packed) {
            Ok(records) => records.into_iter().for_each(&mut *each),
            Err(why) => wrong(number, why.to_string()),
        }
        Ok(())
    })?;
    Ok(head)
}

fn block(row: &dyn Row) -> Result<(u64, Timestamp, Vec<Record>)> {
    let at = Timestamp(row.int(2)?);
    Ok((row.int(1)?, at, codec::read_audit(at, row.blob(4)?)?))
}
