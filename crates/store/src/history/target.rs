//! The target of an import, and how it stays unusable until it is complete.

use std::fs;
use std::path::{Path, PathBuf};

use crate::backup::{self, BackupError, Result};
use crate::db::{self, Db, Sync};
use crate::sqlite::{Folder, Sqlite};
use crate::{Place, membership};

/// The kinds of incomplete targets.
pub(super) enum Target {
    /// A folder next to its place.
    Folder { data: PathBuf, partial: PathBuf },
    /// One transaction.
    Database,
}

impl Target {
    pub(super) fn begin(place: &Place) -> Result<(Self, Box<dyn Db>)> {
        Ok(match place {
            Place::Folder { data, .. } => {
                let (partial, db) = new_folder(data)?;
                (Self::Folder { data: data.clone(), partial }, Box::new(db))
            }
            Place::Postgres(address) => {
                (Self::Database, Box::new(membership::writer(address, Sync::Full)?))
            }
        })
    }

    /// Another thousand rows: none of them stay in memory.
    pub(super) fn rest(&self, db: &dyn Db) -> db::Result<()> {
        match self {
            Self::Folder { .. } => {
                db.commit()?;
                db.housekeep(false)?;
                db.begin()
            }
            Self::Database => db.flush(),
        }
    }

    /// Commits everything; a folder gets its name.
    pub(super) fn settle(&self) -> Result<()> {
        match self {
            Self::Folder { data, partial } => backup::settle(partial, data),
            Self::Database => Ok(()),
        }
    }

    /// After settling there is nothing to remove. The next attempt removes leftovers too.
    pub(super) fn clear(&self) {
        if let Self::Folder { partial, .. } = self {
            let _ = fs::remove_dir_all(partial);
        }
    }
}

/// A database in a folder next to its place.
fn new_folder(data: &Path) -> Result<(PathBuf, Sqlite)> {
    backup::must_be_empty(data)?;
    let partial = backup::beside(data);
    let io = |error| BackupError::Io { path: partial.clone(), error };
    // An interrupted import may have left this behind.
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(io)?;
    }
    // Made as a host makes it. The lock is released, because no host starts on a folder with this
    // name.
    let made = Folder::hold(&partial).and_then(|folder| folder.database());
    let file = made.map_err(|e| BackupError::Open(crate::OpenError::Folder(e)))?;
    let db = Sqlite::writer(&file, None, Sync::Full)?;
    Ok((partial, db))
}
