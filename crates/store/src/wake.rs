//! Wakes of sleeping agents: the open ones, and the newest that ended. They are part of the
//! directory.

use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::ids::{Prefix, SessionKey, Timestamp, Uid};
use chorus_core::model::wake::Wake;
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Error, Result, Row, Table};
use crate::doctor::report::Report;
use crate::family::{Family, Whole};
use crate::row::uid;
use crate::schema::Since;

pub(crate) static WAKE: Table = Table::new("wake", 2, &["workspace", "uid", "session", "packed"]);

pub(crate) static FAMILY: Family =
    Family::of(Since::shared(1), &[&WAKE]).recorded(record).loaded(load).checked(check);

fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    changes.wakes.iter().try_for_each(|(uid, (_, wake))| match wake {
        Some(wake) => put(db, workspace, wake),
        None => remove(db, workspace, *uid),
    })
}

pub(crate) fn put(db: &dyn Db, workspace: i64, wake: &Wake) -> Result<()> {
    let bytes = codec::wake(wake);
    db.put(
        &WAKE,
        &[
            workspace.into(),
            (&wake.uid.0.to_be_bytes()).into(),
            wake.session.0.into(),
            (&*bytes).into(),
        ],
    )
}

pub(crate) fn remove(db: &dyn Db, workspace: i64, wake: Uid) -> Result<()> {
    db.remove(&WAKE, &[workspace.into(), (&wake.0.to_be_bytes()).into()])
}

/// Loads the wakes of the workspace into its directory.
fn load(db: &dyn Db, workspace: i64, directory: &mut Directory, _: Timestamp) -> Result<()> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY uid", WAKE.select());
    for wake in db.all(&sql, &[workspace.into()], read)? {
        directory.put_wake(Arc::new(wake));
    }
    Ok(())
}

/// The wakes of one session.
pub(crate) fn of(db: &dyn Db, workspace: i64, session: SessionKey) -> Result<Vec<Arc<Wake>>> {
    let sql = format!("{} WHERE workspace = $1 AND session = $2 ORDER BY uid", WAKE.select());
    db.all(&sql, &[workspace.into(), session.0.into()], |row| read(row).map(Arc::new))
}

/// Each wake can be read, belongs to a session of its member, and is the only open one there.
fn check(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    for (uid, what) in problems(whole)? {
        report.found(format!("the wake {} {what}", uid.show(Prefix::Wake)));
    }
    Ok(())
}

/// What is wrong with each wake, as far as anything is.
pub(crate) fn problems(whole: &Whole<'_>) -> Result<Vec<(Uid, &'static str)>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY uid", WAKE.select());
    let all = whole.db.all(&sql, &[whole.tenant.key.into()], |row| {
        Ok((uid(row, 1)?, SessionKey(row.int(2)?), read(row).ok()))
    })?;
    let mut open = std::collections::HashSet::new();
    let mut found = Vec::new();
    for (uid, key, wake) in all {
        let Some(wake) = wake.filter(|wake| wake.uid == uid && wake.session == key) else {
            found.push((uid, "cannot be read"));
            continue;
        };
        let session = whole.everybody.sessions.get(&key);
        if session.is_none_or(|session| session.member != wake.member) {
            found.push((uid, "is of no session of its member"));
        } else if wake.is_open() && !open.insert(key) {
            found.push((uid, "is open beside another of its session"));
        }
    }
    Ok(found)
}

fn read(row: &dyn Row) -> Result<Wake> {
    let uid = uid(row, 1)?;
    codec::read_wake(row.blob(3)?)
        .map_err(|_| Error::corrupt(format!("the wake {} cannot be read", uid.show(Prefix::Wake))))
}
