//! Why there is no export, and why nothing was imported.

use std::{fmt, io};

use chorus_store::backup::BackupError;
use chorus_store::history::Refused;

/// Why there is no export.
#[derive(Debug)]
pub enum ExportError {
    Store(BackupError),
    /// A message was erased after the moment of which the export is.
    Meanwhile,
    Write(io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Meanwhile => f.write_str("a message was erased meanwhile; export again"),
            Self::Write(error) => write!(f, "the export cannot be written: {error}"),
        }
    }
}

impl std::error::Error for ExportError {}

impl From<BackupError> for ExportError {
    fn from(error: BackupError) -> Self {
        Self::Store(error)
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Why nothing was imported.
#[derive(Debug)]
pub enum Wrong {
    /// The file is not a whole export; lines are counted from 1.
    Line {
        number: u64,
        why: String,
    },
    Store(BackupError),
    Read(io::Error),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { number, why } => write!(f, "line {number}: {why}"),
            Self::Store(error) => error.fmt(f),
            Self::Read(error) => write!(f, "the export cannot be read: {error}"),
        }
    }
}

impl std::error::Error for Wrong {}

/// What is wrong with a line.
pub(super) enum Bad {
    Unfit(String),
    Failed(BackupError),
}

impl From<String> for Bad {
    fn from(why: String) -> Self {
        Self::Unfit(why)
    }
}

impl From<&str> for Bad {
    fn from(why: &str) -> Self {
        Self::Unfit(why.to_owned())
    }
}

impl From<Refused> for Bad {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Unfit(why) => Self::Unfit(why),
            Refused::Failed(error) => Self::Failed(error),
        }
    }
}
