//! Which agents are paused. It is part of the directory, and of its members.

use chorus_core::model::ids::{MemberKey, Timestamp};
use chorus_core::model::member::{Member, Pause};
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Result, Row, Table};
use crate::doctor::report::Report;
use crate::family::{Family, Whole};
use crate::schema::Since;

pub(crate) static PAUSE: Table =
    Table::new("pause", 2, &["workspace", "member", "paused_by", "since"]);

pub(crate) static FAMILY: Family =
    Family::of(Since::shared(3), &[&PAUSE]).recorded(record).loaded(load).checked(check);

fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    changes.members.iter().try_for_each(|member| put(db, workspace, member))
}

/// Writes whether the member is paused.
pub(crate) fn put(db: &dyn Db, workspace: i64, member: &Member) -> Result<()> {
    match member.pause.filter(|_| !member.removed) {
        Some(Pause { by, since }) => {
            db.put(&PAUSE, &[workspace.into(), member.key.0.into(), by.0.into(), since.0.into()])
        }
        None => remove(db, workspace, member.key),
    }
}

pub(crate) fn remove(db: &dyn Db, workspace: i64, member: MemberKey) -> Result<()> {
    db.remove(&PAUSE, &[workspace.into(), member.0.into()])
}

fn load(db: &dyn Db, workspace: i64, directory: &mut Directory, _: Timestamp) -> Result<()> {
    for (member, pause) in each(db, workspace)? {
        // One of nobody is reported by `doctor`, and pauses nobody.
        let _ = directory.set_pause(member, Some(pause));
    }
    Ok(())
}

fn each(db: &dyn Db, workspace: i64) -> Result<Vec<(MemberKey, Pause)>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY member", PAUSE.select());
    db.all(&sql, &[workspace.into()], read)
}

/// Each row belongs to a present agent.
fn check(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    for member in of_nobody(whole.db, whole.tenant.key, whole.everybody)? {
        report.found(format!("the pause of member {member} is of nobody who is an agent here"));
    }
    Ok(())
}

/// Members with a pause who are no agents of the workspace.
pub(crate) fn of_nobody(
    db: &dyn Db,
    workspace: i64,
    everybody: &Directory,
) -> Result<Vec<MemberKey>> {
    let is_agent = |key| everybody.member(key).is_some_and(|m| m.is_agent() && !m.removed);
    let members = each(db, workspace)?.into_iter().map(|(member, _)| member);
    Ok(members.filter(|member| !is_agent(*member)).collect())
}

fn read(row: &dyn Row) -> Result<(MemberKey, Pause)> {
    let pause = Pause { by: MemberKey(row.int(2)?), since: Timestamp(row.int(3)?) };
    Ok((MemberKey(row.int(1)?), pause))
}
