//! Checks endpoints: each can be read and belongs to a present agent. Only the host has the key to
//! check that the strings can be decrypted.

use super::{Check, Problem, Report, Whole};
use crate::db::Result;
use crate::endpoint;
use crate::schema::Since;

pub(super) const CHECK: Check = Check { since: Since { sqlite: 6, postgres: 1 }, look };

fn look(whole: &Whole<'_>, report: &mut Report) -> Result<()> {
    let (db, tenant, everybody) = (whole.db, whole.tenant, whole.everybody);
    for (member, read) in endpoint::each(db, tenant.key)? {
        let found = everybody.member(member).filter(|m| !m.removed);
        let what = match (read, found) {
            (None, _) => "cannot be read",
            (Some(_), Some(member)) if member.is_agent() => continue,
            _ => "is of nobody who is an agent here",
        };
        let what = format!("the endpoint of member {member} {what}");
        report.problems.push(Problem { conversation: None, seq: None, what });
    }
    Ok(())
}
