//! Errors between the store and its engine. They refer to no table family.

use std::fmt;

use chorus_core::codec::Corrupt;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::state::facts::Unavailable;

/// A failure of an engine, or invalid data from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The engine's own message.
    Engine(String),
    /// There is no space left to write. The transaction was rolled back completely.
    Full(String),
    /// The connection is lost. A transaction in progress was rolled back, except that the fate of a
    /// commit in progress is unknown until `Db::recover` determines it.
    Lost(String),
    /// The changes of a transaction were refused. It was rolled back completely.
    Refused(String),
    /// Another host has taken the workspace. The transaction was rolled back completely.
    Fenced(String),
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
            Self::Engine(why) | Self::Refused(why) => write!(f, "the database failed: {why}"),
            Self::Full(why) => write!(f, "the disk is full: {why}"),
            Self::Lost(why) => write!(f, "the database cannot be reached: {why}"),
            Self::Fenced(why) => write!(f, "another host has taken the workspace: {why}"),
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
