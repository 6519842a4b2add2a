//! A request to the writer's thread besides commands: a copy of the database.

use std::path::PathBuf;

use crate::db::Error;

/// A requested copy, and the receiver of its outcome.
pub(super) struct CopyOrder {
    pub(super) to: PathBuf,
    pub(super) reply: Box<dyn FnOnce(Result<(), Error>) + Send>,
}
