//! The state of messages after they were posted. A message without changes has no row.

use chorus_core::codec;
use chorus_core::model::ids::{ConversationKey, EventRef, Seq, Timestamp};
use chorus_core::model::message_state::MessageState;
use chorus_core::state::room::{Dirty, Room};

use crate::db::{Db, Result, Row, Table};
use crate::family::Family;
use crate::schema::Since;

pub(crate) static MESSAGE: Table = Table::new(
    "message",
    3,
    &["workspace", "conversation", "seq", "latest", "edited_at", "deleted_at", "reactions"],
)
.trimmed_where("seq <= $3");

pub(crate) static FAMILY: Family = Family::of(Since::FIRST, &[&MESSAGE]).recorded_in_rooms(record);

fn record(db: &dyn Db, workspace: i64, room: &Room, dirty: &Dirty) -> Result<()> {
    let conversation = room.key();
    for (seq, state) in dirty.messages.iter().filter_map(|s| Some((*s, room.messages().get(s)?))) {
        put(db, workspace, EventRef { conversation, seq }, state)?;
    }
    Ok(())
}

/// Writes the state, or removes the row of one that is back at the default.
pub(crate) fn put(db: &dyn Db, workspace: i64, at: EventRef, state: &MessageState) -> Result<()> {
    let (key, seq) = (at.conversation.0.into(), at.seq.0.into());
    if state.is_plain() {
        return db.remove(&MESSAGE, &[workspace.into(), key, seq]);
    }
    let reactions = codec::reactions(&state.reactions);
    db.put(
        &MESSAGE,
        &[
            workspace.into(),
            key,
            seq,
            state.latest.map(|s| s.0).into(),
            state.edited_at.map(|t| t.0).into(),
            state.deleted_at.map(|t| t.0).into(),
            (&*reactions).into(),
        ],
    )
}

pub(crate) fn get(db: &dyn Db, workspace: i64, at: EventRef) -> Result<MessageState> {
    let values = [workspace.into(), at.conversation.0.into(), at.seq.0.into()];
    Ok(db.get(&MESSAGE, &values, |row| read(row, 3))?.unwrap_or_default())
}

/// All projections of a conversation, in order.
pub(crate) fn all(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(Seq, MessageState)>> {
    let sql =
        format!("{} WHERE workspace = $1 AND conversation = $2 ORDER BY seq", MESSAGE.select());
    db.all(&sql, &[workspace.into(), key.0.into()], |row| Ok((Seq(row.int(2)?), read(row, 3)?)))
}

/// Reads the four columns after the key, beginning at `from`. A missing row is a message without
/// changes.
pub(crate) fn read(row: &dyn Row, from: usize) -> Result<MessageState> {
    let reactions = row.maybe_blob(from + 3)?.map(codec::read_reactions).transpose()?;
    Ok(MessageState {
        latest: row.maybe_int(from)?.map(Seq),
        edited_at: row.maybe_int(from + 1)?.map(Timestamp),
        deleted_at: row.maybe_int(from + 2)?.map(Timestamp),
        reactions: reactions.unwrap_or_default(),
    })
}
