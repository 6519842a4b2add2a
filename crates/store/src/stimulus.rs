//! Stimuli: each conversation's queue, and recently ended ones.
//!
//! Invariant: a row's state is that of the packed stimulus, and at most one of a queue is claimed
//! at a time.

use chorus_core::codec::{self, Coded};
use chorus_core::model::ids::{ConversationKey, Prefix, Uid};
use chorus_core::model::stimulus::{Stimulus, StimulusState};
use chorus_core::state::room::{Dirty, Room};

use crate::db::{Db, Error, Result, Row, Table};
use crate::family::Family;
use crate::row::uid;
use crate::schema::Since;

pub(crate) static STIMULUS: Table =
    Table::new("stimulus", 3, &["workspace", "conversation", "uid", "state", "packed"]);

pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 5, postgres: 1 }, &[&STIMULUS]).recorded_in_rooms(record);

/// An ended stimulus keeps none of its content.
fn record(db: &dyn Db, workspace: i64, room: &Room, dirty: &Dirty) -> Result<()> {
    if dirty.stimuli.is_empty() {
        return Ok(());
    }
    db.thoroughly(&mut || {
        dirty.stimuli.iter().try_for_each(|(uid, stimulus)| match stimulus {
            Some(stimulus) => put(db, workspace, room.key(), stimulus),
            None => remove(db, workspace, room.key(), *uid),
        })
    })
}

pub(crate) fn put(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    stimulus: &Stimulus,
) -> Result<()> {
    let bytes = codec::stimulus(stimulus);
    let uid = stimulus.uid.0.to_be_bytes();
    let state = stimulus.state.code().into();
    db.put(&STIMULUS, &[workspace.into(), key.0.into(), (&uid).into(), state, (&*bytes).into()])
}

pub(crate) fn remove(db: &dyn Db, workspace: i64, key: ConversationKey, uid: Uid) -> Result<()> {
    db.remove(&STIMULUS, &[workspace.into(), key.0.into(), (&uid.0.to_be_bytes()).into()])
}

/// The stimuli of a conversation, in order of arrival.
pub(crate) fn all(db: &dyn Db, workspace: i64, key: ConversationKey) -> Result<Vec<Stimulus>> {
    let sql =
        format!("{} WHERE workspace = $1 AND conversation = $2 ORDER BY uid", STIMULUS.select());
    db.all(&sql, &[workspace.into(), key.0.into()], read)
}

/// Each row read separately: its key, its stored state, and its content as far as it can be read.
#[allow(clippy::type_complexity, reason = "a key and what stands there")]
pub(crate) fn rows(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(Uid, Option<StimulusState>, Option<Stimulus>)>> {
    let sql =
        format!("{} WHERE workspace = $1 AND conversation = $2 ORDER BY uid", STIMULUS.select());
    db.all(&sql, &[workspace.into(), key.0.into()], |row| {
        let state = StimulusState::from_code(row.int(3)?);
        Ok((uid(row, 2)?, state, codec::read_stimulus(row.blob(4)?).ok()))
    })
}

fn read(row: &dyn Row) -> Result<Stimulus> {
    let stimulus = codec::read_stimulus(row.blob(4)?);
    let uid = uid(row, 2)?;
    let state = StimulusState::from_code(row.int(3)?);
    stimulus
        .ok()
        .filter(|s| s.uid == uid && Some(s.state) == state)
        .ok_or_else(|| Error::corrupt(format!("{} cannot be read", uid.show(Prefix::Stimulus))))
}
