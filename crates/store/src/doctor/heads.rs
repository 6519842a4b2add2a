//! Compares chain ends that were recorded elsewhere with what is stored now.

use chorus_core::model::event::Hash;
use chorus_core::model::ids::{EventRef, Seq, Uid};

use super::Problem;
use crate::db::{Db, Result};
use crate::open_error::OpenError;
use crate::{Place, Tenant, audit, conversation, directory, event, log_snapshot};

/// The end of a chain at the time it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// None for the audit log.
    pub conversation: Option<Uid>,
    /// The seq of the newest event, or the number of the newest block; 0 when there was none.
    pub seq: u64,
    pub hash: Hash,
    /// The time, for the reader of the report.
    pub when: String,
}

/// The recorded ends that are no longer there.
pub fn check_heads(place: &Place, recorded: &[Recorded]) -> Result<Vec<Problem>, OpenError> {
    let database = |why| OpenError::Database { place: place.clone(), why };
    let db = place.examiner().map_err(database)?;
    look(&*db, recorded).map_err(database)
}

fn look(db: &dyn Db, recorded: &[Recorded]) -> Result<Vec<Problem>> {
    let Some(tenant) = directory::tenant(db, Tenant::OWN)? else { return Ok(Vec::new()) };
    let mut problems = Vec::new();
    for end in recorded.iter().filter(|end| end.seq > 0) {
        let (key, hash) = match end.conversation {
            None => (None, audit::hash_of(db, tenant.key, end.seq)?),
            Some(uid) => match conversation::by_uid(db, tenant.key, uid)? {
                None => (None, None),
                Some(found) => {
                    let at = EventRef { conversation: found.key, seq: Seq(end.seq) };
                    let hash = match log_snapshot::get(db, tenant.key, found.key)? {
                        // Dropped events cannot be checked any more; the audit log says that they
                        // were dropped.
                        Some(base) if end.seq < base.seq.0 => continue,
                        Some(base) if end.seq == base.seq.0 => Some(base.hash),
                        _ => event::hash_of(db, tenant.key, at)?,
                    };
                    (Some(found.key), hash)
                }
            },
        };
        if hash != Some(end.hash) {
            let when = &end.when;
            let whose = if end.conversation.is_none() { "the audit log" } else { "the log" };
            problems.push(Problem {
                conversation: key,
                seq: key.map(|_| Seq(end.seq)),
                what: format!(
                    "{whose} as it was signed at {when} is not there: it was cut or written anew"
                ),
            });
        }
    }
    Ok(problems)
}
