//! Wakes of sleeping agents: the open ones, and the newest that ended. They are part of the
//! directory.

use std::collections::HashSet;
use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::ids::{Prefix, SessionKey, Timestamp, Uid};
use chorus_core::model::wake::Wake;
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Result, Row, Table};
use crate::doctor::report::Report;
use crate::family::{Family, Whole};
use crate::row::uid;
use crate::schema::Since;

pub(crate) static WAKE: Table = Table::new("wake", 2, &["workspace", "uid", "session", "packed"]);

pub(crate) static FAMILY: Family =
    Family::of(Since::shared(1), &[&WAKE]).recorded(record).loaded(load).checked(check);

/// What programs have shown is zeroed when a message is erased that it may repeat.
fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    let mut write = || {
        changes.wakes.iter().try_for_each(|(uid, (_, wake))| match wake {
            Some(wake) => put(db, workspace, wake),
            None => remove(db, workspace, *uid),
        })
    };
    let rests = changes.wakes.is_empty() || changes.erases_nothing();
    if rests { write() } else { db.thoroughly(&mut write) }
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
    for wake in readable(db.all(&sql, &[workspace.into()], each)?) {
        directory.put_wake(wake);
    }
    Ok(())
}

/// A wake that cannot be read keeps no host from starting: what its agent owes waits in its
/// deliveries, and opens another.
fn readable(all: Vec<Found>) -> impl Iterator<Item = Arc<Wake>> {
    all.into_iter().filter_map(|(uid, _, wake)| {
        if wake.is_none() {
            tracing::warn!(wake = uid.show(Prefix::Wake), "a wake cannot be read");
        }
        wake.map(Arc::new)
    })
}

/// Each wake can be read, belongs to a session of its member, and is the only open one there.
fn check(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    for (uid, what) in problems(whole.db, whole.tenant.key, whole.everybody)? {
        report.found(format!("the wake {} {what}", uid.show(Prefix::Wake)));
    }
    Ok(())
}

/// What is wrong with each wake with which anything is.
pub(crate) fn problems(
    db: &dyn Db,
    workspace: i64,
    everybody: &Directory,
) -> Result<Vec<(Uid, &'static str)>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY uid", WAKE.select());
    let (mut open, mut found) = (HashSet::new(), Vec::new());
    for (uid, key, wake) in db.all(&sql, &[workspace.into()], each)? {
        let Some(wake) = wake else {
            found.push((uid, "cannot be read"));
            continue;
        };
        let session = everybody.sessions.get(&key);
        if session.is_none_or(|session| session.member != wake.member) {
            found.push((uid, "is of no session of its member"));
        } else if wake.is_open() && !open.insert(key) {
            found.push((uid, "is open beside another of its session"));
        }
    }
    Ok(found)
}

/// A row: the wake's id and session, and the wake if it can be read and fits them.
type Found = (Uid, SessionKey, Option<Wake>);

fn each(row: &dyn Row) -> Result<Found> {
    let (uid, session) = (uid(row, 1)?, SessionKey(row.int(2)?));
    let wake = codec::read_wake(row.blob(3)?).ok();
    Ok((uid, session, wake.filter(|wake| (wake.uid, wake.session) == (uid, session))))
}
