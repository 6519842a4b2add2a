//! Agents' private reads, as long as they count.

use chorus_core::codec;
use chorus_core::model::approval::Private;
use chorus_core::model::ids::{ConversationKey, EventRef, MemberKey, Seq, SessionKey, Timestamp};
use chorus_core::model::limits;
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Result, Row, Table};
use crate::family::Family;
use crate::schema::Since;

pub(crate) static TOLD: Table = Table::new(
    "told",
    5,
    &["workspace", "member", "session", "conversation", "ephemeral", "seq", "at", "shown_to"],
);

pub(crate) static FAMILY: Family =
    Family::of(Since { sqlite: 8, postgres: 3 }, &[&TOLD]).recorded(record);

fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    changes.told.iter().try_for_each(|told| put(db, workspace, told))?;
    changes.sweep_expired.map_or(Ok(()), |now| sweep(db, workspace, now))
}

pub(crate) fn put(db: &dyn Db, workspace: i64, told: &Private) -> Result<()> {
    let only = told.only.as_ref().map(|o| codec::members(&o.iter().copied().collect()));
    db.put(
        &TOLD,
        &[
            workspace.into(),
            told.member.0.into(),
            told.session.map_or(0, |s| s.0).into(),
            told.at.conversation.0.into(),
            only.is_some().into(),
            told.at.seq.0.into(),
            told.when.0.into(),
            only.as_deref().into(),
        ],
    )
}

/// A member's private reads in that session, or without one: the newest, at most `limit`.
pub(crate) fn of(
    db: &dyn Db,
    workspace: i64,
    member: MemberKey,
    session: Option<SessionKey>,
    limit: usize,
) -> Result<Vec<Private>> {
    let sql = format!(
        "{} WHERE workspace = $1 AND member = $2 AND session = $3 ORDER BY at DESC LIMIT $4",
        TOLD.select()
    );
    let session = session.map_or(0, |s| s.0).into();
    let values = [workspace.into(), member.0.into(), session, (limit as u64).into()];
    db.all(&sql, &values, read)
}

/// Drops private reads without a session that no longer count.
pub(crate) fn sweep(db: &dyn Db, workspace: i64, now: Timestamp) -> Result<()> {
    let sql = "DELETE FROM told WHERE workspace = $1 AND session = 0 AND at <= $2";
    let over = now.plus(-limits::TOLD_APART_MS);
    db.execute(sql, &[workspace.into(), over.0.into()]).map(drop)
}

fn read(row: &dyn Row) -> Result<Private> {
    let session: u32 = row.int(2)?;
    Ok(Private {
        member: MemberKey(row.int(1)?),
        session: (session > 0).then_some(SessionKey(session)),
        at: EventRef { conversation: ConversationKey(row.int(3)?), seq: Seq(row.int(5)?) },
        only: match row.maybe_blob(7)? {
            Some(bytes) => Some(codec::read_members(bytes)?.into_iter().collect()),
            None => None,
        },
        when: Timestamp(row.int(6)?),
    })
}
