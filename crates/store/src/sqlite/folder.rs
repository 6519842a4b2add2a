//! The data folder: private to its owner, and held by one process at a time.
//!
//! Invariant: while a [`Folder`] lives, no other process has the database open for writing. The
//! lock is the operating system's, so it ends with the process, however that ends.

use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Space for a few batches of posts, in bytes.
const ROOM: usize = 1024 * 1024;
/// The space that a start on a full disk needs for reading: the index of the write-ahead log (32
/// KiB for each 16 MiB of it), `host.json`, and a few pages.
const RESERVE: usize = 2 * 1024 * 1024;
/// Its name in a data folder.
const RESERVE_FILE: &str = "reserve";
const LOCK_FILE: &str = "lock";
/// Attempts to hold a folder that other processes remove meanwhile.
const TRIES: u32 = 100;

/// A data folder that this process holds.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The files of [`MADE`] that this process created and may remove again.
    made: &'static [&'static str],
    was_there: bool,
    _lock: File,
}

/// What a host creates in its folder before it knows that it can start; the lock comes last.
static MADE: [&str; 6] =
    ["chorus.db", "chorus.db-wal", "chorus.db-shm", "newest", RESERVE_FILE, LOCK_FILE];
const RESERVE_AT: usize = 4;
const LOCK_AT: usize = 5;

#[derive(Debug)]
pub enum FolderError {
    /// Another process holds the folder.
    Held(PathBuf),
    /// It has its own database, and another was requested.
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
    /// Creates the folder if needed, and holds it.
    pub fn hold(path: &Path) -> Result<Self, FolderError> {
        for _ in 0..TRIES {
            if let Some(folder) = Self::try_hold(path)? {
                return Ok(folder);
            }
        }
        Err(FolderError::Held(path.to_owned()))
    }

    /// None when its previous holder has removed it meanwhile.
    fn try_hold(path: &Path) -> Result<Option<Self>, FolderError> {
        let io = |error| FolderError::Io { path: path.to_owned(), error };
        let mut dir = DirBuilder::new();
        dir.mode(0o700);
        if let Some(parent) = path.parent() {
            dir.recursive(true).create(parent).map_err(io)?;
        }
        let was_there = match dir.recursive(false).create(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => true,
            made => made.map(|()| false).map_err(io)?,
        };
        let lock_file = path.join(LOCK_FILE);
        let mut open = OpenOptions::new();
        open.read(true).write(true).mode(0o600);
        let new = open.create_new(true).open(&lock_file);
        let had_lock = new.as_ref().is_err_and(|e| e.kind() == ErrorKind::AlreadyExists);
        let lock = match if had_lock { open.create_new(false).open(&lock_file) } else { new } {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            lock => lock.map_err(io)?,
        };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::Held(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        let held = lock.metadata().map_err(io)?;
        if !std::fs::metadata(&lock_file).is_ok_and(|named| named.ino() == held.ino()) {
            return Ok(None);
        }
        let made: &[&str] = match (had_lock, path.join(RESERVE_FILE).exists()) {
            // The lock file may belong to another process that failed to get the lock and leaves
            // it.
            _ if std::fs::read_dir(path).map_err(io)?.count() == 1 => &MADE[..],
            (true, true) => &[],
            (true, false) => &MADE[RESERVE_AT..LOCK_AT],
            (false, true) => &MADE[LOCK_AT..],
            (false, false) => &MADE[RESERVE_AT..],
        };
        Ok(Some(Self { path: path.to_owned(), made, was_there, _lock: lock }))
    }

    /// A host cannot start here: removes what it created, but no database files if there was
    /// anything before. The folder is held until then, so that nothing belongs to another process.
    pub fn take_back(self) {
        // A file that cannot be removed does no harm; the start is refused in any case.
        for name in self.made {
            let _ = std::fs::remove_file(self.path.join(name));
        }
        if !self.was_there {
            let _ = std::fs::remove_dir(&self.path);
        }
    }

    /// The path of the database file; created if it does not exist.
    pub fn database(&self) -> Result<PathBuf, FolderError> {
        let file = Self::database_in(&self.path);
        // The files that SQLite creates next to this one get its mode.
        private_file(&file).map_err(|error| FolderError::Io { path: self.path.clone(), error })?;
        Ok(file)
    }

    /// Refuses a folder with a database, because the database is elsewhere.
    pub fn must_have_no_database(&self) -> Result<(), FolderError> {
        match Self::database_in(&self.path).exists() {
            true => Err(FolderError::HasDatabase(self.path.clone())),
            false => Ok(()),
        }
    }

    /// Whether there is space for more than a row or two: writes as much as a few batches need, and
    /// removes it again. The reserve is filled first.
    pub fn has_space(&self) -> bool {
        if !self.has_reserve() {
            return false;
        }
        let path = self.path.join("space");
        let written = private_file(&path).and_then(|mut file| file.write_all(&[0; ROOM]));
        let removed = std::fs::remove_file(&path);
        written.is_ok() && removed.is_ok()
    }

    /// Whether the reserve exists; it is created if not. With a database elsewhere no reserve is
    /// needed.
    fn has_reserve(&self) -> bool {
        let path = self.path.join(RESERVE_FILE);
        let is_there = |found: std::fs::Metadata| found.len() == RESERVE as u64;
        if std::fs::metadata(&path).is_ok_and(is_there) || !Self::database_in(&self.path).exists() {
            return true;
        }
        let made = private_file(&path).and_then(|mut file| file.write_all(&vec![0; RESERVE]));
        if made.is_err() {
            self.free_reserve();
        }
        made.is_ok()
    }

    /// Frees the reserve, for a start on a full disk.
    pub fn free_reserve(&self) {
        // If it cannot be removed, the code that needs the space reports the error.
        let _ = std::fs::remove_file(self.path.join(RESERVE_FILE));
    }

    /// Whether this process cannot write to a data folder, and no other process uses it.
    pub fn is_read_only(path: &Path) -> bool {
        let kinds = [ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied];
        let lock = OpenOptions::new().write(true).open(path.join(LOCK_FILE));
        lock.is_err_and(|error| kinds.contains(&error.kind()))
    }

    /// The path of a data folder's database.
    pub fn database_in(path: &Path) -> PathBuf {
        path.join("chorus.db")
    }
}

fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}
