//! Checks the audit log: its chain, that each receipt matches its entry, and that members still
//! have their original ids.

use std::collections::HashMap;
use std::sync::Arc;

use chorus_core::model::audit::Action;
use chorus_core::model::ids::{EventRef, MemberKey};

use crate::db::{Error, Result};
use crate::doctor::report::{Problem, Report};
use crate::family::Whole;
use crate::open;

pub(super) fn look(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let (db, workspace, everybody) = (whole.db, whole.tenant.key, whole.everybody);
    let mut came: Vec<(MemberKey, Arc<str>)> = Vec::new();
    let mut settled: HashMap<EventRef, [u8; 16]> = HashMap::new();
    let mut found = Vec::new();
    let walked = super::walk(
        db,
        workspace,
        &mut |record| {
            if let (Some(event), Some(digest)) = (record.event, record.digest) {
                settled.insert(event, digest);
            }
            if let (Action::AddMember, Some(member), Some(id)) =
                (record.act, record.member, record.name)
            {
                came.push((member, id));
            }
        },
        &mut |block, what| found.push(format!("audit block {block}: {what}")),
    );
    match walked {
        Err(Error::Corrupt(what)) => found.push(format!("the audit log: {what}")),
        walked => drop(walked?),
    }
    // An id never changes, and no member is ever deleted.
    found.extend(came.into_iter().filter_map(|(key, id)| match everybody.member(key) {
        None => Some(format!("member {key}: it was added as {id}, and does not exist")),
        Some(member) if member.id != id => {
            Some(format!("member {key}: it was added as {id}, and its id is now {}", member.id))
        }
        Some(_) => None,
    }));
    let problem = |what| Problem { conversation: None, seq: None, what };
    report.problems.extend(found.into_iter().map(problem));
    let mut others = Vec::new();
    open::each_receipt(db, workspace, &mut |at, packed| {
        // A receipt of the first version has no entry.
        if settled.get(&at).is_some_and(|digest| *digest != super::digest(packed)) {
            others.push(at);
        }
    })?;
    report.problems.extend(others.into_iter().map(|at| Problem {
        conversation: Some(at.conversation),
        seq: Some(at.seq),
        what: "its receipt differs from the one in the audit log".to_owned(),
    }));
    Ok(())
}
