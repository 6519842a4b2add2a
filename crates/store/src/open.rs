//! Open events that have a row, and the receipts of closed ones.
//!
//! Invariant: no event has both rows, and every event at or below `head.settled` that notified an
//! agent has one of them (design section 3, "A delivery costs no row until it must").

use std::collections::BTreeSet;

use chorus_core::codec;
use chorus_core::model::delivery::Open;
use chorus_core::model::ids::{ConversationKey, EventRef, Seq};

use crate::db::{Db, Error, Result, Row, Table};
use crate::family::Family;
use crate::schema::Since;

pub(crate) static PENDING: Table =
    Table::new("pending", 3, &["workspace", "conversation", "seq", "due_at", "dead", "packed"]);

pub(crate) static RECEIPT: Table =
    Table::new("receipt", 3, &["workspace", "conversation", "seq", "dead", "packed"])
        .trimmed_where("seq <= $3");

/// Recorded for rooms that are no longer in memory too.
pub(crate) static FAMILY: Family = Family::of(Since::FIRST, &[&PENDING, &RECEIPT]);

pub(crate) fn put_pending(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    open: &Open,
) -> Result<()> {
    let bytes = codec::open(open);
    db.put(
        &PENDING,
        &[
            workspace.into(),
            key.0.into(),
            open.seq.0.into(),
            open.due(key).map(|t| t.0).into(),
            dead(open).into(),
            (&*bytes).into(),
        ],
    )
}

/// The event closed: replaces its row with its receipt.
pub(crate) fn put_receipt(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    open: &Open,
) -> Result<()> {
    let bytes = codec::open(open);
    let (room, seq) = (key.0.into(), open.seq.0.into());
    db.put(&RECEIPT, &[workspace.into(), room, seq, dead(open).into(), (&*bytes).into()])?;
    if open.stored {
        db.remove(&PENDING, &[workspace.into(), room, seq])?;
    }
    Ok(())
}

/// The event was reopened.
pub(crate) fn remove_receipt(db: &dyn Db, workspace: i64, at: EventRef) -> Result<()> {
    db.remove(&RECEIPT, &[workspace.into(), at.conversation.0.into(), at.seq.0.into()])
}

/// The pending rows of a conversation, in order.
pub(crate) fn pending(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Vec<Open>> {
    in_room(db, &PENDING, workspace, key)
}

/// The receipts of a conversation, in order.
pub(crate) fn receipts(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Vec<Open>> {
    in_room(db, &RECEIPT, workspace, key)
}

/// The pending rows, each read separately as far as possible.
pub(crate) fn pending_rows(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(Seq, Option<Open>)>> {
    each_row(db, &PENDING, workspace, key)
}

/// The receipts, each read separately as far as possible.
pub(crate) fn receipt_rows(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(Seq, Option<Open>)>> {
    each_row(db, &RECEIPT, workspace, key)
}

fn each_row(
    db: &dyn Db,
    table: &Table,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(Seq, Option<Open>)>> {
    let sql = format!("{} WHERE workspace = $1 AND conversation = $2 ORDER BY seq", table.select());
    db.all(&sql, &[workspace.into(), key.0.into()], |row| {
        let packed = row.blob(table.columns.len() - 1)?;
        Ok((Seq(row.int(2)?), codec::read_open(packed).ok()))
    })
}

pub(crate) fn remove_pending(db: &dyn Db, workspace: i64, at: EventRef) -> Result<()> {
    db.remove(&PENDING, &[workspace.into(), at.conversation.0.into(), at.seq.0.into()])
}

/// The events after `seq` that have a receipt.
pub(crate) fn receipts_after(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    seq: Seq,
) -> Result<BTreeSet<Seq>> {
    let sql = "SELECT seq FROM receipt WHERE workspace = $1 AND conversation = $2 AND seq > $3";
    let values = [workspace.into(), key.0.into(), seq.0.into()];
    Ok(db.all(sql, &values, |row| Ok(Seq(row.int(0)?)))?.into_iter().collect())
}

pub(crate) fn receipt(db: &dyn Db, workspace: i64, at: EventRef) -> Result<Option<Open>> {
    one(db, &RECEIPT, workspace, at)
}

/// The state of an event's deliveries, from whichever row has it.
pub(crate) fn standing(db: &dyn Db, workspace: i64, at: EventRef) -> Result<Option<Open>> {
    match one(db, &PENDING, workspace, at)? {
        Some(open) => Ok(Some(open)),
        None => receipt(db, workspace, at),
    }
}

/// Every event with a pending row, over all conversations.
pub(crate) fn all_pending(db: &dyn Db, workspace: i64) -> Result<Vec<(ConversationKey, Open)>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY conversation, seq", PENDING.select());
    db.all(&sql, &[workspace.into()], |row| of(&PENDING, row))
}

/// Passes the bytes of every receipt, over all conversations, to a callback.
pub(crate) fn each_receipt(
    db: &dyn Db,
    workspace: i64,
    each: &mut dyn FnMut(EventRef, &[u8]),
) -> Result<()> {
    let sql = "SELECT conversation, seq, packed FROM receipt WHERE workspace = $1";
    db.query(sql, &[workspace.into()], &mut |row| {
        let at = EventRef { conversation: ConversationKey(row.int(0)?), seq: Seq(row.int(1)?) };
        each(at, row.blob(2)?);
        Ok(())
    })
}

/// Every event with a delivery that is out of attempts or overdue.
pub(crate) fn dead_letters(db: &dyn Db, workspace: i64) -> Result<Vec<(ConversationKey, Open)>> {
    let mut found = Vec::new();
    for table in [&PENDING, &RECEIPT] {
        let sql = format!(
            "{} WHERE workspace = $1 AND dead > 0 ORDER BY conversation, seq",
            table.select()
        );
        found.extend(db.all(&sql, &[workspace.into()], |row| of(table, row))?);
    }
    found.sort_by_key(|(key, open)| (*key, open.seq));
    Ok(found)
}

fn in_room(db: &dyn Db, table: &Table, workspace: i64, key: ConversationKey) -> Result<Vec<Open>> {
    let sql = format!("{} WHERE workspace = $1 AND conversation = $2 ORDER BY seq", table.select());
    db.all(&sql, &[workspace.into(), key.0.into()], |row| Ok(of(table, row)?.1))
}

fn one(db: &dyn Db, table: &'static Table, workspace: i64, at: EventRef) -> Result<Option<Open>> {
    let values = [workspace.into(), at.conversation.0.into(), at.seq.0.into()];
    db.get(table, &values, |row| Ok(of(table, row)?.1))
}

fn of(table: &Table, row: &dyn Row) -> Result<(ConversationKey, Open)> {
    read(row.int(1)?, row.int(2)?, row.blob(table.columns.len() - 1)?)
}

fn read(conversation: u64, seq: u64, packed: &[u8]) -> Result<(ConversationKey, Open)> {
    let (conversation, seq) = (ConversationKey(conversation), Seq(seq));
    let open = codec::read_open(packed)?;
    if open.seq != seq {
        let what = format!(
            "the row of event {seq} in conversation {conversation} belongs to another event"
        );
        return Err(Error::corrupt(what));
    }
    Ok((conversation, open))
}

fn dead(open: &Open) -> u64 {
    open.deliveries.iter().filter(|d| d.is_dead()).count() as u64
}
