//! Why a place cannot be opened, examined or repaired.

use std::fmt;

use crate::Place;
use crate::db::Error;
use crate::newest::Lost;
use crate::schema::Mismatch;
use crate::sqlite::FolderError;

/// Why a data folder cannot be used.
#[derive(Debug)]
pub enum OpenError {
    Folder(FolderError),
    Schema {
        place: Place,
        why: Mismatch,
    },
    /// The database ends too early: committed data is lost.
    Lost {
        place: Place,
        lost: Lost,
    },
    Database {
        place: Place,
        why: Error,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(error) => error.fmt(f),
            Self::Schema { place, why } => write!(f, "{place}: {why}"),
            Self::Database { place, why } => write!(f, "{place}: {why}"),
            Self::Lost { place, lost } => write!(
                f,
                "{place}: {lost}. Keep a copy of the folder as it is. Then restore a backup into another folder, or \
                 go on with what is there: chorus doctor --repair --data {place}"
            ),
        }
    }
}

impl std::error::Error for OpenError {}
