//! Requests to the writer's thread besides commands: a copy of the database, and new keys for the
//! host.

use std::path::PathBuf;

use crate::db::Error;

/// A requested copy, and the receiver of its outcome.
pub(super) struct CopyOrder {
    pub(super) to: PathBuf,
    pub(super) reply: Box<dyn FnOnce(Result<(), Error>) + Send>,
}

/// New signing keys for the host, and the receiver of the decision.
pub(super) struct RekeyOrder {
    pub(super) fingerprint: Vec<u8>,
    pub(super) reply: Box<dyn FnOnce(Result<bool, Error>) + Send>,
}
