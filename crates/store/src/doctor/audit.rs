//! The audit log: its chain, and that each receipt is the one it names.

use std::collections::HashMap;

use chorus_core::event::EventRef;

use super::{Problem, Report};
use crate::db::{Db, Error, Result};
use crate::{audit, open};

/// As of one moment, so that a host at work is never caught half-way.
pub(super) fn look(db: &dyn Db, workspace: i64, report: &mut Report) -> Result<()> {
    let mut settled: HashMap<EventRef, [u8; 16]> = HashMap::new();
    let mut found = Vec::new();
    let walked = audit::walk(
        db,
        workspace,
        &mut |record| {
            if let (Some(event), Some(digest)) = (record.event, record.digest) {
                settled.insert(event, digest);
            }
        },
        &mut |block, what| found.push(format!("audit block {block}: {what}")),
    );
    match walked {
        Err(Error::Corrupt(what)) => found.push(format!("the audit log: {what}")),
        walked => drop(walked?),
    }
    let problem = |what| Problem { conversation: None, seq: None, what };
    report.problems.extend(found.into_iter().map(problem));
    let mut others = Vec::new();
    open::each_receipt(db, workspace, &mut |at, packed| {
        // One of the first version has no entry.
        if settled.get(&at).is_some_and(|digest| *digest != audit::digest(packed)) {
            others.push(at);
        }
    })?;
    report.problems.extend(others.into_iter().map(|at| Problem {
        conversation: Some(at.conversation),
        seq: Some(at.seq),
        what: "its receipt is not the one that the audit log names".to_owned(),
    }));
    Ok(())
}
