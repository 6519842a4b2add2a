//! The data folder: private to its owner, and held by one process at a time.
//!
//! Invariant: while a [`Folder`] lives, no other process has the database open for writing. The lock is
//! the operating system's, so that it ends with the process, however that ends.

use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A few batches of posts, in bytes.
const ROOM: usize = 1024 * 1024;

/// A data folder that this process holds.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

#[derive(Debug)]
pub enum FolderError {
    /// Another process holds the folder.
    Held(PathBuf),
    /// It has a database of its own, and another was asked for.
    HasDatabase(PathBuf),
    Io {
        path: PathBuf,
        error: std::io::Error,
    },
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held(path) => write!(
                f,
                "{} is in use by another running host; stop that one, or use another folder",
                path.display()
            ),
            Self::HasDatabase(path) => write!(
                f,
                "{} has a database of its own, chorus.db, and another was asked for; to move what is in it, \
                 export it and import that, and then move chorus.db away",
                path.display()
            ),
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for FolderError {}

impl Folder {
    /// Makes the folder if need be, and holds it.
    pub fn hold(path: &Path) -> Result<Self, FolderError> {
        let io = |error| FolderError::Io { path: path.to_owned(), error };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io)?;
        let lock = private_file(&path.join("lock")).map_err(io)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::Held(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// The file of the database; made when there is none.
    pub fn database(&self) -> Result<PathBuf, FolderError> {
        let file = Self::database_in(&self.path);
        // The files that SQLite makes beside this one get its mode.
        private_file(&file).map_err(|error| FolderError::Io { path: self.path.clone(), error })?;
        Ok(file)
    }

    /// Nobody keeps a database in it: its database is elsewhere.
    pub fn must_have_no_database(&self) -> Result<(), FolderError> {
        match Self::database_in(&self.path).exists() {
            true => Err(FolderError::HasDatabase(self.path.clone())),
            false => Ok(()),
        }
    }

    /// Whether there is space for more than a row or two: as much is written as a few batches need, and
    /// removed again.
    pub fn has_space(&self) -> bool {
        let path = self.path.join("space");
        let written = private_file(&path).and_then(|mut file| file.write_all(&[0; ROOM]));
        let removed = std::fs::remove_file(&path);
        written.is_ok() && removed.is_ok()
    }

    /// Where the database of a data folder is.
    pub fn database_in(path: &Path) -> PathBuf {
        path.join("chorus.db")
    }
}

fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}
