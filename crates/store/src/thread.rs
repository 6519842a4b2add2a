//! Threads, as replayed from their conversation's log.

use std::sync::Arc;

use chorus_core::codec::{self, Coded};
use chorus_core::model::ids::{ConversationKey, MemberKey, Seq, ThreadKey, Timestamp, Uid};
use chorus_core::model::thread::Thread;
use chorus_core::state::room::{Dirty, Room};

use crate::db::{Db, Result, Row, Table};
use crate::family::Family;
use crate::row::{code, uid};
use crate::schema::Since;

pub(crate) static THREAD: Table = Table::new(
    "thread",
    3,
    &[
        "workspace",
        "conversation",
        "thread",
        "uid",
        "root",
        "title",
        "kind",
        "status",
        "owner",
        "last_seq",
        "participants",
        "created_at",
        "updated_at",
        "unattended",
        "work",
    ],
);

pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 5, postgres: 1 }, &[&THREAD]).recorded_in_rooms(record);

fn record(db: &dyn Db, workspace: i64, room: &Room, dirty: &Dirty) -> Result<()> {
    let changed = dirty.threads.iter().filter_map(|key| room.thread(*key));
    changed.into_iter().try_for_each(|thread| put(db, workspace, room.key(), thread))
}

pub(crate) fn put(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    thread: &Thread,
) -> Result<()> {
    let participants = codec::members(&thread.participants);
    let work = codec::work(&thread.work);
    db.put(
        &THREAD,
        &[
            workspace.into(),
            key.0.into(),
            thread.key.0.into(),
            (&thread.uid.0.to_be_bytes()).into(),
            thread.root.map(|s| s.0).into(),
            (&*thread.title).into(),
            thread.kind.code().into(),
            thread.status.code().into(),
            thread.owner.map(|o| o.0).into(),
            thread.last_seq.into(),
            (&*participants).into(),
            thread.created_at.0.into(),
            thread.updated_at.0.into(),
            thread.unattended.into(),
            Some(&*work).filter(|work| !work.is_empty()).into(),
        ],
    )
}

/// The threads of a conversation, oldest first.
pub(crate) fn all(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Vec<Thread>> {
    let sql =
        format!("{} WHERE workspace = $1 AND conversation = $2 ORDER BY thread", THREAD.select());
    db.all(&sql, &[workspace.into(), key.0.into()], read)
}

/// A thread by its public id, with the conversation it is in.
pub(crate) fn by_uid(
    db: &dyn Db,
    workspace: i64,
    uid: Uid,
) -> Result<Option<(ConversationKey, Thread)>> {
    let sql = format!("{} WHERE workspace = $1 AND uid = $2", THREAD.select());
    db.one(&sql, &[workspace.into(), (&uid.0.to_be_bytes()).into()], |row| {
        Ok((ConversationKey(row.int(1)?), read(row)?))
    })
}

pub(crate) fn get(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    thread: ThreadKey,
) -> Result<Option<Thread>> {
    db.get(&THREAD, &[workspace.into(), key.0.into(), thread.0.into()], read)
}

/// The threads of a conversation that are not closed and have stored or logged work.
pub(crate) fn with_work(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<ThreadKey>> {
    let sql = "SELECT thread FROM thread WHERE workspace = $1 AND conversation = $2 AND status <> 4
        AND (work IS NOT NULL OR thread IN (SELECT thread FROM event
            WHERE workspace = $1 AND conversation = $2 AND kind IN (15, 16)))
        ORDER BY thread";
    db.all(sql, &[workspace.into(), key.0.into()], |row| Ok(ThreadKey(row.int(0)?)))
}

pub(crate) fn remove(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    thread: ThreadKey,
) -> Result<()> {
    db.remove(&THREAD, &[workspace.into(), key.0.into(), thread.0.into()])
}

/// The thread that began with this message.
pub(crate) fn by_root(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    root: Seq,
) -> Result<Option<Thread>> {
    let sql =
        format!("{} WHERE workspace = $1 AND conversation = $2 AND root = $3", THREAD.select());
    db.one(&sql, &[workspace.into(), key.0.into(), root.0.into()], read)
}

fn read(row: &dyn Row) -> Result<Thread> {
    Ok(Thread {
        key: ThreadKey(row.int(2)?),
        uid: uid(row, 3)?,
        root: row.maybe_int(4)?.map(Seq),
        title: row.text(5)?.into(),
        kind: code(row, 6)?,
        status: code(row, 7)?,
        owner: row.maybe_int(8)?.map(MemberKey),
        last_seq: row.int(9)?,
        participants: codec::read_members(row.blob(10)?)?,
        created_at: Timestamp(row.int(11)?),
        updated_at: Timestamp(row.int(12)?),
        unattended: row.int(13)?,
        work: Arc::new(codec::read_work(row.maybe_blob(14)?.unwrap_or_default())?),
    })
}
