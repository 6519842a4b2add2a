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

/// Adds what the workspace's sessions say of themselves to its directory.
fn load(db: &dyn Db, workspace: i64, directory: &mut Directory, _: Timestamp) -> Result<()> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY session", REGISTRATION.select());
    let all = db.all(&sql, &[workspace.into()], |row| Ok((SessionKey(row.int(1)?), read(row)?)))?;
    for (key, registration) in all {
        if let Some(session) = directory.sessions.get(&key) {
            let session = registration.add_to(session);
            directory.put_session(session);
        }
    }
    Ok(())
}

/// A session with what it says of itself.
pub(crate) fn complete(db: &dyn Db, workspace: i64, session: Session) -> Result<Session> {
    let found = db.get(&REGISTRATION, &[workspace.into(), session.key.0.into()], read)?;
    Ok(match found {
        Some(registration) => registration.add_to(&session),
        None => session,
    })
}

/// Each row can be read and belongs to a session.
fn check(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let sql = format!("{} WHERE workspace = $1 ORDER BY session", REGISTRATION.select());
    let all = whole.db.all(&sql, &[whole.tenant.key.into()], |row| {
        Ok((SessionKey(row.int(1)?), read(row).is_ok()))
    })?;
    for (key, can_be_read) in all {
        let what = match (can_be_read, whole.everybody.sessions.contains_key(&key)) {
            (false, _) => "cannot be read",
            (true, true) => continue,
            (true, false) => "is of no session",
        };
        report.found(format!("the registration of session {key} {what}"));
    }
    Ok(())
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
