//! The index file: SQLite with its full-text module.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chorus_core::model::ids::Uid;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::failed;
use crate::db::{Error, Result};

/// Its name in a data folder.
pub(super) const NAME: &str = "search.db";
/// Increased with every change of the file's content, and of how text is split into words.
const VERSION: i64 = 1;
/// Cache in KiB while the file is written; searches use SQLite's default of 2,000.
const CACHE_KIB: i64 = -4_000;
/// Only a merge that is cut short holds the file for longer than this.
const BUSY: Duration = Duration::from_secs(10);

/// `doc` is what is indexed: a message's words, and in `tags` its conversation and author as words,
/// so that both narrow a search in its word lists. The id consists of the second of the message and
/// a count within it: the index is in order of time, whichever conversation was read first.
const SCHEMA: &str = "
CREATE TABLE made (workspace BLOB NOT NULL);
CREATE TABLE place (
    conversation INTEGER NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    base INTEGER NOT NULL
);
CREATE TABLE doc (
    id INTEGER NOT NULL PRIMARY KEY,
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    tags TEXT NOT NULL,
    words TEXT NOT NULL
);
CREATE UNIQUE INDEX doc_place ON doc (conversation, seq);
CREATE VIRTUAL TABLE ft USING fts5 (
    words, tags, content = 'doc', content_rowid = 'id', columnsize = 0, tokenize = 'ascii'
);
INSERT INTO ft (ft, rank) VALUES ('secure-delete', 1);
";

/// The existing file, if it is of this version and workspace; otherwise a new one, and true.
pub(super) fn writer(file: &Path, workspace: Uid) -> Result<(Connection, bool)> {
    match existing(file, workspace) {
        Ok(Some(connection)) => return Ok((connection, false)),
        Ok(None) => {}
        Err(Error::Corrupt(why)) => tracing::warn!(%why, "the search index will be rebuilt"),
        Err(error) => return Err(error),
    }
    remove(file)?;
    let mut connection = open(file)?;
    let begun = connection.transaction().map_err(failed)?;
    begun.execute_batch(SCHEMA).map_err(failed)?;
    let id = workspace.0.to_be_bytes();
    begun.execute("INSERT INTO made VALUES (?1)", [&id[..]]).map_err(failed)?;
    begun.pragma_update(None, "user_version", VERSION).map_err(failed)?;
    begun.commit().map_err(failed)?;
    Ok((connection, true))
}

/// A connection that can only read.
pub(super) fn reader(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    Ok(connection)
}

/// Whether the engine finds no problem with the file or its word lists.
pub(super) fn is_whole(file: &Path) -> Result<bool> {
    let connection = open(file)?;
    let check = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0));
    if check("PRAGMA integrity_check(1)").map_err(failed)? != "ok" {
        return Ok(false);
    }
    let words = "INSERT INTO ft (ft, rank) VALUES ('integrity-check', 1)";
    match connection.execute(words, []).map_err(failed) {
        Ok(_) => Ok(true),
        // Another program made it, or it does not exist yet: the host handles that.
        Err(Error::Engine(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

fn existing(file: &Path, workspace: Uid) -> Result<Option<Connection>> {
    if !file.exists() {
        return Ok(None);
    }
    let connection = open(file)?;
    let version: i64 =
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
    if version != VERSION {
        return Ok(None);
    }
    let made = "SELECT workspace FROM made";
    let of: Option<Vec<u8>> =
        connection.query_row(made, [], |row| row.get(0)).optional().map_err(failed)?;
    Ok((of.as_deref() == Some(&workspace.0.to_be_bytes()[..])).then_some(connection))
}

fn open(file: &Path) -> Result<Connection> {
    let made = OpenOptions::new().append(true).create(true).mode(0o600).open(file);
    made.map_err(|why| Error::Engine(format!("{}: {why}", file.display())))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    let set = |name, value: &str| connection.pragma_update(None, name, value).map_err(failed);
    set("journal_mode", "WAL")?;
    // Data lost in a power cut is read again from the logs.
    set("synchronous", "NORMAL")?;
    // This includes pages that a merge frees, because they contain words.
    set("secure_delete", "ON")?;
    connection.pragma_update(None, "cache_size", CACHE_KIB).map_err(failed)?;
    Ok(connection)
}

pub(super) fn remove(file: &Path) -> Result<()> {
    for end in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        match std::fs::remove_file(PathBuf::from(name)) {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::Engine(format!("{}: {why}", file.display())));
            }
            _ => {}
        }
    }
    Ok(())
}
