//! Examines all stored data and reports inconsistencies. Read-only.
//!
//! Every conversation's log is replayed through the core's own `Room::apply`, and the resulting
//! roster, threads, messages and head are compared with the tables. The hash chain is verified and
//! each content hash recomputed. Data that is not in the log, such as open events and receipts, is
//! checked by its invariants (design section 3, "The log"). Works on a stopped folder and beside a
//! running host.

mod assets;
mod digests;
mod heads;
mod log;
mod open;
mod projection;
pub(crate) mod report;
mod schedules;
mod stimuli;
mod turns;

use chorus_core::model::endpoint::Secret;
use chorus_core::model::ids::{ConversationKey, EventRef, Seq, Timestamp, Uid};
use chorus_core::state::directory::Directory;
pub use heads::{Recorded, check_heads};
pub use report::{Problem, Report};

use crate::db::{Db, Error, Result};
use crate::family::{Family, Whole};
use crate::open_error::OpenError;
use crate::schema::{self, Schema, Since};
use crate::tenant::Tenant;
use crate::{Place, conversation, directory, event, families, inbox, newest, row};

/// Examines the data in a place.
pub fn doctor(place: &Place) -> Result<Report, OpenError> {
    let database = |why| OpenError::Database { place: place.clone(), why };
    place.must_be_there().map_err(database)?;
    let lost = newest::lost(place).map_err(database)?;
    let db = place.examiner().map_err(database)?;
    schema::check(&*db, place.schema()).map_err(|why| match lost.clone() {
        // Possibly nothing is left to check.
        Some(lost) => OpenError::Lost { place: place.clone(), lost },
        None => OpenError::Schema { place: place.clone(), why },
    })?;
    let mut report = examine(&*db, place.schema()).map_err(database)?;
    if let Ok(Some(tenant)) = directory::tenant(&*db, Tenant::OWN) {
        read_ids(&*db, tenant.key, &mut report);
    }
    report.problems.extend(lost.map(|lost| {
        let what = format!(
            "{lost}. Keep a copy of the folder as it is; then restore a backup, or go on with what is there by --repair"
        );
        Problem { conversation: None, seq: None, what }
    }));
    Ok(report)
}

/// Adds the public ids of what the problems concern.
fn read_ids(db: &dyn Db, workspace: i64, report: &mut Report) {
    let places = report.problems.iter().filter_map(|problem| {
        let key = problem.conversation?;
        Some([(key, None), (key, problem.seq)])
    });
    for (key, seq) in places.flatten() {
        let found = match seq {
            Some(seq) => event::uid_of(db, workspace, EventRef { conversation: key, seq }),
            None => {
                let sql = "SELECT uid FROM conversation WHERE workspace = $1 AND conversation = $2";
                db.one(sql, &[workspace.into(), key.0.into()], |row| row::uid(row, 0))
            }
        };
        // An unreadable one is named by its numbers.
        if let Ok(Some(uid)) = found {
            report.ids.insert((key, seq), uid);
        }
    }
}

/// The sealed secrets of endpoints and inboxes. Only the owner of the key can check that they can
/// be decrypted.
#[derive(Clone, Debug)]
pub struct Sealed {
    pub workspace: Uid,
    /// Each with its description.
    pub all: Vec<(String, Secret)>,
}

/// None in an empty place, or in one of a version without sealed secrets.
pub fn sealed(place: &Place) -> Result<Option<Sealed>, OpenError> {
    let database = |why| OpenError::Database { place: place.clone(), why };
    let db = place.examiner().map_err(database)?;
    let version = schema::check(&*db, place.schema())
        .map_err(|why| OpenError::Schema { place: place.clone(), why })?;
    let Some(tenant) = directory::tenant(&*db, Tenant::OWN).map_err(database)? else {
        return Ok(None);
    };
    if !place.schema().has(version, inbox::FAMILY.since) {
        return Ok(None);
    }
    let all = inbox::sealed(&*db, tenant.key).map_err(database)?;
    Ok(Some(Sealed { workspace: tenant.uid, all }))
}

pub(crate) fn examine(db: &dyn Db, schema: &Schema) -> Result<Report> {
    let mut report = Report::default();
    for what in db.check_file()? {
        report.problems.push(Problem { conversation: None, seq: None, what });
    }
    look(db, schema, &mut report)?;
    Ok(report)
}

/// All checks except that of the file itself.
pub(crate) fn look(db: &dyn Db, schema: &Schema, report: &mut Report) -> Result<()> {
    let Some(tenant) = directory::tenant(db, Tenant::OWN)? else { return Ok(()) };
    let everybody = match directory::load(db, &tenant, Timestamp(0)) {
        Ok(everybody) => everybody,
        Err(Error::Corrupt(what)) => {
            report.problems.push(Problem { conversation: None, seq: None, what });
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let keys = match conversation::keys(db, tenant.key) {
        Err(Error::Corrupt(what)) => {
            report.problems.push(Problem { conversation: None, seq: None, what });
            return Ok(());
        }
        keys => keys?,
    };
    let version = schema::check(db, schema).unwrap_or(0);
    let has = |since| schema.has(version, since);
    for key in keys {
        // Each conversation as of one moment, so that a running host cannot cause false findings.
        db.begin_reading()?;
        let looked = Look::at(db, &tenant, &everybody, key, &has, report);
        db.rollback()?;
        match looked {
            Err(Error::Corrupt(what)) => {
                report.problems.push(Problem { conversation: Some(key), seq: None, what });
            }
            other => other?,
        }
    }
    // A folder of an older version lacks some of the tables until a host has opened it.
    let whole = Whole { db, tenant: &tenant, everybody: &everybody };
    for family in families::ALL.iter().filter(|family| has(family.since)) {
        let Some(check) = family.check else { continue };
        db.begin_reading()?;
        let looked = check(&whole, report);
        db.rollback()?;
        looked?;
    }
    Ok(())
}

/// One conversation under examination.
pub(crate) struct Look<'a> {
    pub(crate) db: &'a dyn Db,
    pub(crate) workspace: i64,
    pub(crate) directory: &'a Directory,
    pub(crate) key: ConversationKey,
    /// Whether the database's version has what was added in another one.
    pub(crate) has: &'a dyn Fn(Since) -> bool,
    pub(crate) report: &'a mut Report,
}

impl<'a> Look<'a> {
    fn at(
        db: &'a dyn Db,
        tenant: &Tenant,
        directory: &'a Directory,
        key: ConversationKey,
        has: &'a dyn Fn(Since) -> bool,
        report: &'a mut Report,
    ) -> Result<()> {
        report.conversations += 1;
        let mut look = Self { db, workspace: tenant.key, directory, key, has, report };
        let Some(stored) = conversation::get(db, tenant.key, key)? else {
            look.found(None, "it has a head but no row of its own");
            return Ok(());
        };
        let Some(head) = conversation::head(db, tenant.key, key)? else {
            look.found(None, "it has no head");
            return Ok(());
        };
        let Some(replayed) = look.replay(&stored)? else { return Ok(()) };
        look.compare(&stored, &head, &replayed.room)?;
        look.check_digests(&replayed.room)?;
        look.check_assets(head.base, &replayed.assets)?;
        look.check_schedules()?;
        look.check_stimuli()?;
        let before = look.report.problems.len();
        look.check_open(&head, &replayed.told)?;
        // Comparisons with open events are possible only if those can be read.
        if look.report.problems.len() == before {
            look.check_turns()?;
        }
        Ok(())
    }

    /// A folder of an older version lacks some of the tables.
    fn has(&self, family: &Family) -> bool {
        (self.has)(family.since)
    }

    fn found(&mut self, seq: Option<Seq>, what: impl Into<String>) {
        let problem = Problem { conversation: Some(self.key), seq, what: what.into() };
        self.report.problems.push(problem);
    }
}
