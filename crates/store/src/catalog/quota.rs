//! What one workspace may take, where that is not what the host's settings say.

use super::{Catalog, Entry};
use crate::db::{Result, Row};

/// None is as the settings say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// Requests under way and connections at one time.
    pub connections: Option<u32>,
    /// Requests in a second; 0 is no limit.
    pub requests_per_second: Option<u32>,
    pub requests_burst: Option<u32>,
    /// Of one core, in percent; 0 is no limit.
    pub cpu_percent: Option<u32>,
    /// 0 is no limit.
    pub storage_mib: Option<u64>,
}

pub(super) const COLUMNS: &str =
    "quota_connections, quota_requests, quota_burst, quota_cpu, quota_storage";

/// The quota in the columns from this one on.
pub(super) fn read(row: &dyn Row, from: usize) -> Result<Quota> {
    Ok(Quota {
        connections: row.maybe_int(from)?,
        requests_per_second: row.maybe_int(from + 1)?,
        requests_burst: row.maybe_int(from + 2)?,
        cpu_percent: row.maybe_int(from + 3)?,
        storage_mib: row.maybe_int(from + 4)?,
    })
}

impl Catalog {
    /// Keeps what a workspace may take from when it is opened next.
    pub fn set_quota(&self, entry: &Entry, quota: &Quota) -> Result<()> {
        let sql = "UPDATE workspace_name SET quota_connections = $1, quota_requests = $2, quota_burst = $3,
            quota_cpu = $4, quota_storage = $5 WHERE name = $6";
        let values = [
            quota.connections.into(),
            quota.requests_per_second.into(),
            quota.requests_burst.into(),
            quota.cpu_percent.into(),
            quota.storage_mib.into(),
            (&*entry.name).into(),
        ];
        self.change(sql, &values)
    }
}
