//! Checks projects: each is valid by itself, and the rosters of channels contain the members that
//! it mirrors.

use chorus_core::model::ids::{Prefix, Timestamp};

use crate::db::{Error, Result};
use crate::doctor::report::{Problem, Report};
use crate::family::Whole;
use crate::{conversation, directory, thread};

pub(super) fn look(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let (db, tenant) = (whole.db, whole.tenant);
    // As of the same moment as the rosters.
    let mut everybody = directory::load(db, tenant, Timestamp(0))?;
    let mut found = |conversation, what| {
        report.problems.push(Problem { conversation, seq: None, what });
    };
    match super::load(db, tenant.key, &mut everybody, Timestamp(0)) {
        Err(Error::Corrupt(what)) => {
            found(None, what);
            return Ok(());
        }
        loaded => loaded?,
    }
    for project in everybody.projects.values() {
        let of = project.uid.show(Prefix::Project);
        for flaw in project.flaws(&everybody) {
            found(None, format!("the project {of}: {flaw}"));
        }
        for link in &project.links {
            let stored = conversation::get(db, tenant.key, link.key)?;
            if stored.is_none_or(|c| c.uid != link.conversation) {
                found(None, format!("the project {of} is linked to a channel that does not exist"));
                continue;
            }
            let roster = conversation::roster(db, tenant.key, link.key)?;
            let mirrored = project.members.iter().filter(|_| link.mirror);
            for member in mirrored.filter(|m| !roster.iter().any(|(seat, _)| *seat == m.member)) {
                let id = project.mirrored_id(member);
                found(Some(link.key), format!("{id} is mirrored there but is not on the roster"));
            }
        }
        for task in project.tasks.values() {
            let Some((key, at, uid)) = task.thread else { continue };
            let threads = thread::all(db, tenant.key, key)?;
            if !threads.iter().any(|t| t.key == at && t.uid == uid) {
                let task = task.uid.show(Prefix::Task);
                found(Some(key), format!("{task} is worked on in a thread that does not exist"));
            }
        }
    }
    Ok(())
}
