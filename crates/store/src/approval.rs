//! Approvals that wait for a person. They are part of the directory, which holds all of them in
//! memory.

mod check;

use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::approval::{Approval, Decided, Source};
use chorus_core::model::ids::{ConversationKey, EventRef, MemberKey, Prefix, Seq, Timestamp, Uid};
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Error, Result, Row, Table};
use crate::family::Family;
use crate::row::uid;
use crate::schema::Since;

pub(crate) static APPROVAL: Table = Table::new(
    "approval",
    2,
    &[
        "workspace",
        "uid",
        "at",
        "expires",
        "member",
        "source_conversation",
        "source_seq",
        "source_room",
        "source_event",
        "source_only",
        "approved",
        "decided_by",
        "decided_at",
        "reason",
        "packed",
    ],
);

pub(crate) static FAMILY: Family = Family::of(Since { sqlite: 2, postgres: 1 }, &[&APPROVAL])
    .recorded(record)
    .checked(check::look);

/// A decided approval keeps none of its words; its previous row is zeroed.
fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    if changes.approvals.is_empty() {
        return Ok(());
    }
    db.thoroughly(&mut || {
        changes.approvals.iter().try_for_each(|(uid, approval)| match approval {
            Some(approval) => put(db, workspace, approval),
            None => remove(db, workspace, *uid),
        })
    })
}

pub(crate) fn all(db: &dyn Db, workspace: i64) -> Result<Vec<Arc<Approval>>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY uid", APPROVAL.select());
    db.all(&sql, &[workspace.into()], |row| read(row).map(Arc::new))
}

pub(crate) fn put(db: &dyn Db, workspace: i64, approval: &Approval) -> Result<()> {
    let (source, decided) = (approval.source.as_ref(), approval.decided.as_ref());
    let only = source.and_then(|s| s.only.as_ref());
    let only = only.map(|o| codec::members(&o.iter().copied().collect()));
    let room = source.map(|s| s.conversation.0.to_be_bytes());
    let event = source.map(|s| s.event.0.to_be_bytes());
    let asked = codec::asked(&approval.asked);
    db.put(
        &APPROVAL,
        &[
            workspace.into(),
            (&approval.uid.0.to_be_bytes()).into(),
            approval.at.0.into(),
            approval.expires.0.into(),
            approval.member.0.into(),
            source.map(|s| s.at.conversation.0).into(),
            source.map(|s| s.at.seq.0).into(),
            room.as_ref().into(),
            event.as_ref().into(),
            only.as_deref().into(),
            decided.map(|d| d.approved).into(),
            decided.map(|d| d.by.0).into(),
            decided.map(|d| d.at.0).into(),
            decided.and_then(|d| d.reason.as_deref()).into(),
            (&*asked).into(),
        ],
    )
}

pub(crate) fn remove(db: &dyn Db, workspace: i64, approval: Uid) -> Result<()> {
    db.remove(&APPROVAL, &[workspace.into(), (&approval.0.to_be_bytes()).into()])
}

fn read(row: &dyn Row) -> Result<Approval> {
    let source = match row.maybe_int(5)? {
        Some(conversation) => Some(Source {
            at: EventRef { conversation: ConversationKey(conversation), seq: Seq(row.int(6)?) },
            conversation: uid(row, 7)?,
            event: uid(row, 8)?,
            only: match row.maybe_blob(9)? {
                Some(bytes) => Some(codec::read_members(bytes)?.into_iter().collect()),
                None => None,
            },
        }),
        None => None,
    };
    let decided = match row.maybe_int::<u8>(10)? {
        Some(approved) => Some(Decided {
            by: MemberKey(row.int(11)?),
            at: Timestamp(row.int(12)?),
            approved: approved != 0,
            reason: row.maybe_text(13)?.map(Into::into),
        }),
        None => None,
    };
    let uid = uid(row, 1)?;
    let asked = codec::read_asked(row.blob(14)?).map_err(|_| {
        Error::corrupt(format!("the approval {} cannot be read", uid.show(Prefix::Approval)))
    })?;
    Ok(Approval {
        uid,
        at: Timestamp(row.int(2)?),
        expires: Timestamp(row.int(3)?),
        member: MemberKey(row.int(4)?),
        asked,
        source,
        decided,
    })
}
