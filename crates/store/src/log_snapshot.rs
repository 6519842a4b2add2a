//! Log snapshots: the start of logs whose beginnings were dropped (design section 3, "Archiving
//! keeps the hash at its base").
//!
//! Invariant: the tables contain nothing at or before a conversation's snapshot except its threads,
//! which are looked up long after they are done.

use chorus_core::codec;
use chorus_core::model::event::Hash;
use chorus_core::model::ids::{ConversationKey, Seq, Timestamp};
use chorus_core::model::log_snapshot::LogSnapshot;

use crate::db::{Db, Error, Result, Table};
use crate::family::Family;
use crate::schema::Since;

pub(crate) static LOG_SNAPSHOT: Table =
    Table::new("base", 2, &["workspace", "conversation", "seq", "hash", "at", "packed"]);

/// Recorded last of all.
pub(crate) static FAMILY: Family = Family::of(Since { sqlite: 3, postgres: 1 }, &[&LOG_SNAPSHOT]);

pub(crate) fn put(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    base: &LogSnapshot,
) -> Result<()> {
    let packed = codec::base(base);
    db.put(
        &LOG_SNAPSHOT,
        &[
            workspace.into(),
            key.0.into(),
            base.seq.0.into(),
            (&base.hash).into(),
            base.at.0.into(),
            (&*packed).into(),
        ],
    )
}

pub(crate) fn get(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Option<LogSnapshot>> {
    db.get(&LOG_SNAPSHOT, &[workspace.into(), key.0.into()], |row| {
        let (seq, at) = (Seq(row.int(2)?), Timestamp(row.int(4)?));
        let base = codec::read_base(seq, row.array(3)?, at, row.blob(5)?);
        base.map_err(|_| {
            Error::corrupt(format!("the log snapshot of conversation {key} cannot be read"))
        })
    })
}

/// The start of a log, and the hash that its first event follows from.
pub(crate) fn end(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Option<(Seq, Hash)>> {
    let key = [workspace.into(), key.0.into()];
    db.get(&LOG_SNAPSHOT, &key, |row| Ok((Seq(row.int(2)?), row.array(3)?)))
}

/// The latest time up to which events of any conversation were dropped.
pub(crate) fn newest(db: &dyn Db, workspace: i64) -> Result<Option<Timestamp>> {
    let sql = "SELECT max(at) FROM base WHERE workspace = $1";
    let newest = db.one(sql, &[workspace.into()], |row| row.maybe_int(0))?;
    Ok(newest.flatten().map(Timestamp))
}
