//! A file layer of SQLite other than the system's. For tests.

use std::fmt::Debug;
use std::path::PathBuf;

use crate::db::SyncLog;

/// A registered layer.
pub trait Vfs: Debug + Send + Sync {
    /// The name under which SQLite knows it.
    fn name(&self) -> &str;
    /// What syncs a file of it.
    fn sync_of(&self, file: PathBuf) -> SyncLog;
}
