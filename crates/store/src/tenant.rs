//! The workspace that a place holds.

use std::sync::Arc;

use chorus_core::model::ids::{MemberKey, Uid};

/// The workspace a data folder holds.
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
