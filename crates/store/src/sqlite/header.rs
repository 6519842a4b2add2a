//! A database file as it lies there, before SQLite opens it.
//!
//! SQLite takes an empty file for a database that nobody has written to yet, and deletes the write-ahead log beside it as a
//! leftover: all that was committed and not copied back yet. So a file that cannot be a workspace's is refused unopened.
//!
//! Invariant: it is looked at before this process has it open, since closing a file ends all locks that the process has
//! on it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::db::{Error, Result};

/// The bytes that say what the file is.
const HEADER: usize = 100;
/// Those of them up to how many pages there are.
pub(crate) const SIZES: usize = 32;
/// The smallest page there is, and so the smallest database.
const SMALLEST: u64 = 512;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// There is none, or nothing in it.
    Nothing,
    Database,
}

/// Refuses a file that is no database, or not all of one.
pub(crate) fn look(file: &Path) -> Result<Found> {
    let unfit = |what: &str| {
        Err(Error::corrupt(format!(
            "its file chorus.db {what}. It was not opened and nothing was changed: keep a copy of the folder, and put \
             the file back or restore a backup into another folder"
        )))
    };
    // Before the file, which may grow out of it meanwhile.
    let at_rest = is_at_rest(file);
    let mut opened = match File::open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        opened => opened.map_err(failed)?,
    };
    let length = opened.metadata().map_err(failed)?.len();
    if length == 0 {
        return Ok(Found::Nothing);
    }
    let mut head = [0; HEADER];
    let whole = opened.read_exact(&mut head).is_ok() && length >= SMALLEST;
    if !whole || !head.starts_with(b"SQLite format 3\0") {
        return unfit(&format!(
            "is not a database, or the beginning of one: it has {length} bytes"
        ));
    }
    let says = head.first_chunk().map_or(0, length_said);
    let word = |at: usize| head.get(at..at + 4);
    // Only then is the length right that stands there, and only without a log is it the file's own.
    if at_rest && word(24) == word(92) && length < says {
        return unfit(&format!("is cut: it has {length} bytes and should have {says}"));
    }
    Ok(Found::Database)
}

/// A folder in which a database must be.
pub(crate) fn must_be_there(file: &Path) -> Result<()> {
    match look(file)? {
        Found::Database => Ok(()),
        Found::Nothing => Err(nothing(file)),
    }
}

/// What is said where a database was and is not.
pub(crate) fn nothing(file: &Path) -> Error {
    let what = match file.exists() {
        true => "is empty",
        false => {
            "is gone; if the workspace is in PostgreSQL, name that with --database or CHORUS_DATABASE_URL"
        }
    };
    Error::corrupt(format!(
        "its file chorus.db {what}. Nothing was changed: keep a copy of the folder, and put the file back or restore a \
         backup into another folder"
    ))
}

/// How many bytes a database has, as its first page says.
pub(crate) fn length_said(head: &[u8; SIZES]) -> u64 {
    // 65,536 does not fit into its two bytes and is written as 1.
    let size = match u16::from_be_bytes([head[16], head[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    size * u64::from(u32::from_be_bytes([head[28], head[29], head[30], head[31]]))
}

/// Whether all of a database is in its one file: it has no write-ahead log, or an empty one.
pub(crate) fn is_at_rest(file: &Path) -> bool {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).map_or(true, |log| log.len() == 0)
}

fn failed(error: std::io::Error) -> Error {
    Error::Engine(format!("chorus.db: {error}"))
}
