//! What sessions say of themselves besides what the first version kept: runner, folder, resume id,
//! status and proof. They are part of the directory.

use chorus_core::codec::Coded;
use chorus_core::model::ids::{SessionKey, Timestamp};
use chorus_core::model::member::{Proof, Session, SessionStatus};
use chorus_core::state::directory::Directory;
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Result, Row, Table};
use crate::doctor::report::Report;
use crate::family::{Family, Whole};
use crate::row::code;
use crate::schema::Since;

pub(crate) static REGISTRATION: Table = Table::new(
    "registration",
    2,
    &["workspace", "session", "runner", "folder", "resume_id", "status", "proof"],
);

pub(crate) static FAMILY: Family =
    Family::of(Since::shared(1), &[&REGISTRATION]).recorded(record).loaded(load).checked(check);

/// What a row adds to a session.
#[derive(Clone, Debug)]
struct Registration {
    runner: bool,
    folder: Option<Box<str>>,
    resume_id: Option<Box<str>>,
    status: SessionStatus,
    proof: Proof,
}

impl Registration {
    fn add_to(self, session: &Session) -> Session {
        Session {
            runner: self.runner,
            folder: self.folder.map(Into::into),
            resume_id: self.resume_id.map(Into::into),
            status: self.status,
            proof: self.proof,
            ..session.clone()
        }
    }
}

fn record(db: &dyn Db, workspace: i64, changes: &Changes) -> Result<()> {
    changes.sessions.iter().try_for_each(|session| put(db, workspace, session))
}

fn put(db: &dyn Db, workspace: i64, session: &Session) -> Result<()> {
    db.put(
        &REGISTRATION,
        &[
            workspace.into(),
            session.key.0.into(),
            session.runner.into(),
            session.folder.as_deref().into(),
            session.resume_id.as_deref().into(),
            session.status.code().into(),
            session.proof.code().into(),
        ],
    )
}

/// Adds what the workspace's sessions say of themselves to its directory. A row that cannot be read
/// keeps no host from starting: its session says again who it is when it connects.
fn load(db: &dyn Db, workspace: i64, directory: &mut Directory, _: Timestamp) -> Result<()> {
    for (key, read) in each(db, workspace)? {
        match (read, directory.sessions.get(&key)) {
            (Some(registration), Some(session)) => {
                let session = registration.add_to(session);
                directory.put_session(session);
            }
            (None, _) => tracing::warn!(session = key.0, "what a session says cannot be read"),
            (Some(_), None) => {}
        }
    }
    Ok(())
}

/// Each row as far as it can be read, by session.
fn each(db: &dyn Db, workspace: i64) -> Result<Vec<(SessionKey, Option<Registration>)>> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY session", REGISTRATION.select());
    db.all(&sql, &[workspace.into()], |row| Ok((SessionKey(row.int(1)?), read(row).ok())))
}

/// Each row can be read and belongs to a session.
fn check(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    for (key, what) in problems(whole.db, whole.tenant.key, whole.everybody)? {
        report.found(format!("what session {key} says of itself {what}"));
    }
    Ok(())
}

pub(crate) fn problems(
    db: &dyn Db,
    workspace: i64,
    everybody: &Directory,
) -> Result<Vec<(SessionKey, &'static str)>> {
    let mut found = Vec::new();
    for (key, read) in each(db, workspace)? {
        if read.is_none() {
            found.push((key, "cannot be read"));
        } else if !everybody.sessions.contains_key(&key) {
            found.push((key, "is of no session"));
        }
    }
    Ok(found)
}

pub(crate) fn remove(db: &dyn Db, workspace: i64, session: SessionKey) -> Result<()> {
    db.remove(&REGISTRATION, &[workspace.into(), session.0.into()])
}

fn read(row: &dyn Row) -> Result<Registration> {
    Ok(Registration {
        runner: row.flag(2)?,
        folder: row.maybe_text(3)?.map(Into::into),
        resume_id: row.maybe_text(4)?.map(Into::into),
        status: code(row, 5)?,
        proof: code(row, 6)?,
    })
}
