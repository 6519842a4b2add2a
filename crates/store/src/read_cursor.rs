//! Read cursors: of conversations, and of threads.

use chorus_core::model::cursor::ReadCursor;
use chorus_core::model::ids::{ConversationKey, MemberKey, Seq, ThreadKey};
use chorus_core::state::room::{Dirty, Room};

use crate::db::{Db, Result, Table};
use crate::family::Family;
use crate::schema::Since;

pub(crate) static READ_CURSOR: Table =
    Table::new("mark", 3, &["workspace", "member", "conversation", "read"]);

pub(crate) static THREAD_READ_CURSOR: Table =
    Table::new("thread_mark", 4, &["workspace", "member", "conversation", "thread", "read"]);

pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 4, postgres: 1 }, &[&READ_CURSOR, &THREAD_READ_CURSOR])
        .recorded_in_rooms(record);

fn record(db: &dyn Db, workspace: i64, room: &Room, dirty: &Dirty) -> Result<()> {
    for (of, cursor) in dirty.cursors.iter().filter_map(|m| Some((*m, *room.cursors().get(m)?))) {
        put(db, workspace, room.key(), of, cursor)?;
    }
    Ok(())
}

/// The member, and the thread if it is a thread's cursor.
pub(crate) type Of = (MemberKey, Option<ThreadKey>);

pub(crate) fn put(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    (member, thread): Of,
    cursor: ReadCursor,
) -> Result<()> {
    let (member, key, read) = (member.0.into(), key.0.into(), cursor.read.0.into());
    match thread {
        None => db.put(&READ_CURSOR, &[workspace.into(), member, key, read]),
        Some(t) => db.put(&THREAD_READ_CURSOR, &[workspace.into(), member, key, t.0.into(), read]),
    }
}

/// A member's cursor; at the start when it was never set.
pub(crate) fn get(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    (member, thread): Of,
) -> Result<ReadCursor> {
    let (member, key) = (member.0.into(), key.0.into());
    let found = match thread {
        None => {
            let values = [workspace.into(), member, key];
            db.get(&READ_CURSOR, &values, |row| Ok(ReadCursor { read: Seq(row.int(3)?) }))?
        }
        Some(t) => {
            let values = [workspace.into(), member, key, t.0.into()];
            db.get(&THREAD_READ_CURSOR, &values, |row| Ok(ReadCursor { read: Seq(row.int(4)?) }))?
        }
    };
    Ok(found.unwrap_or_default())
}

/// The cursors in a conversation.
pub(crate) fn all(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(Of, ReadCursor)>> {
    let here = "WHERE workspace = $1 AND conversation = $2";
    let values = [workspace.into(), key.0.into()];
    let mut cursors = db.all(&format!("{} {here}", READ_CURSOR.select()), &values, |row| {
        Ok(((MemberKey(row.int(1)?), None), ReadCursor { read: Seq(row.int(3)?) }))
    })?;
    cursors.extend(db.all(&format!("{} {here}", THREAD_READ_CURSOR.select()), &values, |row| {
        let of = (MemberKey(row.int(1)?), Some(ThreadKey(row.int(3)?)));
        Ok((of, ReadCursor { read: Seq(row.int(4)?) }))
    })?);
    Ok(cursors)
}
