//! Values generated once for a command, so that executing it again gives the same result.

use crate::model::ids::Uid;

/// Random and time-ordered values generated once for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandSeed {
    /// The public id of the one event, conversation, session or stream that the command creates.
    pub uid: Uid,
    /// A second id, for a thread that a command opens besides its event.
    pub second: Uid,
    pub salt: [u8; 16],
}
