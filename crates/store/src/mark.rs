//! Read cursors.

use chorus_core::command::Mark;
use chorus_core::ids::{ConversationKey, MemberKey, Seq};

use crate::db::{Db, Result, Table};

pub(crate) static MARK: Table =
    Table::new("mark", 3, &["workspace", "member", "conversation", "read"]);

pub(crate) fn put(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    member: MemberKey,
    mark: Mark,
) -> Result<()> {
    db.put(&MARK, &[workspace.into(), member.0.into(), key.0.into(), mark.read.0.into()])
}

/// Where a member's cursor is; at the start when it was never set.
pub(crate) fn get(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    member: MemberKey,
) -> Result<Mark> {
    let values = [workspace.into(), member.0.into(), key.0.into()];
    let found = db.get(&MARK, &values, |row| Ok(Mark { read: Seq(row.int(3)?) }))?;
    Ok(found.unwrap_or_default())
}

/// The cursors in a conversation.
pub(crate) fn all(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
) -> Result<Vec<(MemberKey, Mark)>> {
    let sql = format!("{} WHERE workspace = $1 AND conversation = $2", MARK.select());
    db.all(&sql, &[workspace.into(), key.0.into()], |row| {
        Ok((MemberKey(row.int(1)?), Mark { read: Seq(row.int(3)?) }))
    })
}
