//! Endpoints: that each can be read, and is of an agent that is here. Whether strings can be opened is the host's to say,
//! which has the key.

use chorus_core::state::directory::Directory;

use super::{Problem, Report};
use crate::db::{Db, Result};
use crate::{Tenant, endpoint};

pub(super) fn look(
    db: &dyn Db,
    tenant: &Tenant,
    everybody: &Directory,
    report: &mut Report,
) -> Result<()> {
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
