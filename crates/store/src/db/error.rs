//! What goes wrong between the store and its engine. It names nothing of the families above.

use std::fmt;

use chorus_core::codec::Corrupt;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::state::facts::Unavailable;

/// What an engine could not do, or what it gave back that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The engine's own words.
    Engine(String),
    /// There is no space left to write in. What was under way is as if it had never begun.
    Full(String),
    /// The connection is gone. What was under way is as if it had never begun; of a commit that was under
    /// way it is unknown until `Db::recover` says.
    Lost(String),
    /// A row that no version of this program writes.
    Corrupt(String),
}

impl Error {
    pub fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt(what.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(why) => write!(f, "the database failed: {why}"),
            Self::Full(why) => write!(f, "the disk is full: {why}"),
            Self::Lost(why) => write!(f, "the database cannot be reached: {why}"),
            Self::Corrupt(what) => write!(f, "the database is damaged: {what}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Corrupt> for Error {
    fn from(corrupt: Corrupt) -> Self {
        Self::Corrupt(corrupt.to_string())
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::new(Code::Unavailable, error.to_string())
    }
}

impl From<Error> for Unavailable {
    fn from(error: Error) -> Self {
        Self { why: error.to_string(), damaged: matches!(error, Error::Corrupt(_)) }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
