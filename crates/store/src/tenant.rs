//! The workspace that a place holds.

use std::sync::Arc;

use chorus_core::model::ids::{MemberKey, Uid};

/// A workspace of a place. A data folder holds one, a database may hold many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its key in every row.
    pub key: i64,
    pub uid: Uid,
    pub name: Arc<str>,
    /// Increased to end all callback tokens at once.
    pub epoch: u64,
    pub lead: Option<MemberKey>,
}

impl Tenant {
    /// The key of the only workspace of a folder, and of a host's own in a database.
    pub const OWN: i64 = 1;
}
