//! What an import is written to, and how it stays nobody's until it is whole.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Place;
use crate::backup::{self, BackupError, Result};
use crate::db::Sync;
use crate::db::{self, Db};
use crate::postgres::Postgres;
use crate::sqlite::{Folder, Sqlite};

/// What is incomplete until all is written.
pub(super) enum Target {
    /// A folder beside its place.
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
                (Self::Database, Box::new(Postgres::writer(address, Sync::Full)?))
            }
        })
    }

    /// A thousand rows more: memory holds none of them.
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

    /// All is committed: a folder gets its name.
    pub(super) fn settle(&self) -> Result<()> {
        match self {
            Self::Folder { data, partial } => backup::settle(partial, data),
            Self::Database => Ok(()),
        }
    }

    /// Gone when it was settled; what is left over is removed by the next try too.
    pub(super) fn clear(&self) {
        if let Self::Folder { partial, .. } = self {
            let _ = fs::remove_dir_all(partial);
        }
    }
}

/// A database in a folder beside its place.
fn new_folder(data: &Path) -> Result<(PathBuf, Sqlite)> {
    backup::must_be_empty(data)?;
    let partial = backup::beside(data);
    let io = |error| BackupError::Io { path: partial.clone(), error };
    // What an interrupted one has left is nobody's.
    if partial.exists() {
        fs::remove_dir_all(&partial).map_err(io)?;
    }
    // Made as a host makes it; the lock is let go, since nobody starts on a folder of this name.
    let made = Folder::hold(&partial).and_then(|folder| folder.database());
    let file = made.map_err(|e| BackupError::Open(crate::OpenError::Folder(e)))?;
    let db = Sqlite::writer(&file, None, Sync::Full)?;
    Ok((partial, db))
}
