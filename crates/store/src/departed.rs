//! Members who have left a conversation, or one of its threads, without giving up their membership,
//! as replayed from the log.

use chorus_core::model::ids::{ConversationKey, MemberKey, ThreadKey};
use chorus_core::state::room::{Dirty, Room};

use crate::db::{Db, Result, Table};
use crate::family::Family;
use crate::schema::Since;

pub(crate) static DEPARTED: Table =
    Table::new("gone", 4, &["workspace", "conversation", "member", "thread"]);

pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 2, postgres: 1 }, &[&DEPARTED]).recorded_in_rooms(record);

fn record(db: &dyn Db, workspace: i64, room: &Room, dirty: &Dirty) -> Result<()> {
    dirty
        .gone
        .iter()
        .try_for_each(|place| set(db, workspace, room.key(), *place, room.gone().contains(place)))
}

/// What a member has left: the whole conversation, or one thread.
pub(crate) type Place = (MemberKey, Option<ThreadKey>);

pub(crate) fn set(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    (member, thread): Place,
    on: bool,
) -> Result<()> {
    let thread = thread.map_or(0, |t| t.0);
    let values = [workspace.into(), key.0.into(), member.0.into(), thread.into()];
    if on { db.put(&DEPARTED, &values) } else { db.remove(&DEPARTED, &values) }
}

pub(crate) fn all(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Vec<Place>> {
    let sql = format!("{} WHERE workspace = $1 AND conversation = $2", DEPARTED.select());
    db.all(&sql, &[workspace.into(), key.0.into()], |row| {
        let thread: u64 = row.int(3)?;
        Ok((MemberKey(row.int(2)?), (thread > 0).then_some(ThreadKey(thread))))
    })
}
