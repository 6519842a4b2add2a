//! Schedules of the conversations.
//!
//! Invariant: a row's `due` is the next time of the packed schedule, or 0 when it has none.

use chorus_core::codec;
use chorus_core::model::ids::{ConversationKey, Prefix, Uid};
use chorus_core::model::schedule::Schedule;
use chorus_core::state::room::{Dirty, Room};

use crate::db::{Db, Error, Result, Row, Table};
use crate::family::Family;
use crate::row::uid;
use crate::schema::Since;

pub(crate) static SCHEDULE: Table =
    Table::new("schedule", 3, &["workspace", "conversation", "uid", "due", "packed"]);

pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 5, postgres: 1 }, &[&SCHEDULE]).recorded_in_rooms(record);

fn record(db: &dyn Db, workspace: i64, room: &Room, dirty: &Dirty) -> Result<()> {
    dirty.schedules.iter().try_for_each(|(uid, schedule)| match schedule {
        Some(schedule) => put(db, workspace, room.key(), schedule),
        None => remove(db, workspace, room.key(), *uid),
    })
}

pub(crate) fn put(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    schedule: &Schedule,
) -> Result<()> {
    let bytes = codec::schedule(schedule);
    let uid = schedule.uid.0.to_be_bytes();
    let due = schedule.next_at.map_or(0, |at| at.0);
    db.put(
        &SCHEDULE,
        &[workspace.into(), key.0.into(), (&uid).into(), due.into(), (&*bytes).into()],
    )
}

pub(crate) fn remove(db: &dyn Db, workspace: i64, key: ConversationKey, uid: Uid) -> Result<()> {
    db.remove(&SCHEDULE, &[workspace.into(), key.0.into(), (&uid.0.to_be_bytes()).into()])
}

/// The schedules of a conversation, in the order of creation.
pub(crate) fn all(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Vec<Schedule>> {
    let sql =
        format!("{} WHERE workspace = $1 AND conversation = $2 ORDER BY uid", SCHEDULE.select());
    db.all(&sql, &[workspace.into(), key.0.into()], read)
}

fn read(row: &dyn Row) -> Result<Schedule> {
    let schedule = codec::read_schedule(row.blob(4)?);
    let (uid, due) = (uid(row, 2)?, row.int(3)?);
    schedule
        .ok()
        .filter(|s| s.uid == uid && s.next_at.map_or(0, |at| at.0) == due)
        .ok_or_else(|| Error::corrupt(format!("{} cannot be read", uid.show(Prefix::Schedule))))
}
