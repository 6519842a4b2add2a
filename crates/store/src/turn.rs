//! Public turns: who speaks about each subject of a conversation and who waits.

use chorus_core::codec;
use chorus_core::model::ids::{ConversationKey, Seq};
use chorus_core::model::turn::Turn;
use chorus_core::state::room::{Dirty, Room};

use crate::db::{Db, Error, Result, Table};
use crate::family::Family;
use crate::schema::Since;

pub(crate) static TURN: Table =
    Table::new("public_turn", 3, &["workspace", "conversation", "subject", "packed"]);

pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 5, postgres: 1 }, &[&TURN]).recorded_in_rooms(record);

fn record(db: &dyn Db, workspace: i64, room: &Room, dirty: &Dirty) -> Result<()> {
    for subject in &dirty.turns {
        let live = room.turns().get(*subject).filter(|_| room.turns().is_live(*subject));
        put(db, workspace, room.key(), *subject, live)?;
    }
    Ok(())
}

/// Writes the turns of a subject, or removes them when nobody speaks or waits any more.
pub(crate) fn put(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    subject: Seq,
    turn: Option<&Turn>,
) -> Result<()> {
    let (room, subject) = (key.0.into(), subject.0.into());
    match turn {
        Some(turn) => {
            let bytes = codec::turn(turn);
            db.put(&TURN, &[workspace.into(), room, subject, (&*bytes).into()])
        }
        None => db.remove(&TURN, &[workspace.into(), room, subject]),
    }
}

pub(crate) fn all(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Vec<(Seq, Turn)>> {
    let sql = format!("{} WHERE workspace = $1 AND conversation = $2", TURN.select());
    db.all(&sql, &[workspace.into(), key.0.into()], |row| {
        let turn = codec::read_turn(row.blob(3)?).map_err(|e| Error::corrupt(e.to_string()))?;
        Ok((Seq(row.int(2)?), turn))
    })
}

/// Each subject with a row, and whether the row can be read.
pub(crate) fn subjects(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(Seq, bool)>> {
    let sql = format!("{} WHERE workspace = $1 AND conversation = $2", TURN.select());
    db.all(&sql, &[workspace.into(), key.0.into()], |row| {
        Ok((Seq(row.int(2)?), codec::read_turn(row.blob(3)?).is_ok()))
    })
}
