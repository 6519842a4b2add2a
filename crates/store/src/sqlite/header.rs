//! Examines a database file before SQLite opens it.
//!
//! SQLite treats an empty file as a new database, and deletes the write-ahead log next to it as a
//! leftover, with everything committed but not checkpointed. So a file that cannot be a workspace's
//! is refused without opening it.
//!
//! Invariant: it is examined before this process opens it, because closing a file releases all
//! locks that the process has on it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::db::{Error, Result};

/// The bytes of the file header.
const HEADER: usize = 100;
/// The part of them up to the number of pages.
pub(crate) const SIZES: usize = 32;
/// The smallest possible page, and so the smallest database.
const SMALLEST: u64 = 512;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No file, or an empty one.
    Nothing,
    Database,
}

/// Refuses a file that is not a database, or is truncated.
pub(crate) fn look(file: &Path) -> Result<Found> {
    let unfit = |what: &str| {
        Err(Error::corrupt(format!(
            "its file chorus.db {what}. It was not opened and nothing was changed: keep a copy of the folder, and put \
             the file back or restore a backup into another folder"
        )))
    };
    // Before the file, which may grow from the log meanwhile.
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
    // Only then is the stated length valid, and only without a log does it describe the file.
    if at_rest && word(24) == word(92) && length < says {
        return unfit(&format!("is truncated: it has {length} bytes and should have {says}"));
    }
    Ok(Found::Database)
}

/// Refuses a folder without a database.
pub(crate) fn must_be_there(file: &Path) -> Result<()> {
    match look(file)? {
        Found::Database => Ok(()),
        Found::Nothing => Err(nothing(file)),
    }
}

/// The error where a database has been lost.
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

/// The length of a database in bytes, as its first page states.
pub(crate) fn length_said(head: &[u8; SIZES]) -> u64 {
    // 65,536 does not fit into two bytes and is written as 1.
    let size = match u16::from_be_bytes([head[16], head[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    size * u64::from(u32::from_be_bytes([head[28], head[29], head[30], head[31]]))
}

/// Whether the whole database is in its one file: the write-ahead log is absent or empty.
pub(crate) fn is_at_rest(file: &Path) -> bool {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).map_or(true, |log| log.len() == 0)
}

fn failed(error: std::io::Error) -> Error {
    Error::Engine(format!("chorus.db: {error}"))
}
