//! What is asked of the writer's thread beside commands: a copy of the database, other keys for the host.

use std::path::PathBuf;

use crate::db::Error;

/// A copy to be made, and who is told when it is.
pub(super) struct CopyOrder {
    pub(super) to: PathBuf,
    pub(super) reply: Box<dyn FnOnce(Result<(), Error>) + Send>,
}

/// Keys that a host wants to sign with from now on, and who is told whether it may.
pub(super) struct RekeyOrder {
    pub(super) fingerprint: Vec<u8>,
    pub(super) reply: Box<dyn FnOnce(Result<bool, Error>) + Send>,
}
