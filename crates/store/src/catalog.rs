//! The workspaces that a host has beside its own: which there are, what may be done with each, and when each has to be
//! looked at.
//!
//! Each is a data folder of its own, `workspaces/NAME`, whole in itself. This file, `workspaces.db`, says of one that
//! nobody uses what the host needs to know without opening it. It is made with the first workspace, and a folder that
//! was put there by hand is taken in at the next start.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use chorus_core::model::ids::Timestamp;
use chorus_core::model::workspace_name::WorkspaceName;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::db::{Error, Result};
use crate::sqlite::{Folder, FolderError};

/// Its name in the host's data folder.
const FILE: &str = "workspaces.db";
/// The folder of the workspaces' folders.
const FOLDER: &str = "workspaces";
const VERSION: i64 = 1;

/// `look` is how the name looks, so that none is made that could be taken for another. `due` is when a workspace that is
/// closed has to be opened next. One that is `open` when the host begins was open when it ended. One was `made` when its
/// folder was opened for the first time.
const SCHEMA: &str = "
CREATE TABLE workspace (
    name TEXT NOT NULL PRIMARY KEY,
    look TEXT NOT NULL,
    state INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    removal_at INTEGER,
    due INTEGER,
    open INTEGER NOT NULL DEFAULT 0,
    made INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX workspace_look ON workspace (look);
CREATE INDEX workspace_due ON workspace (due) WHERE due IS NOT NULL;
CREATE INDEX workspace_open ON workspace (open) WHERE open = 1;
CREATE INDEX workspace_removal ON workspace (removal_at) WHERE removal_at IS NOT NULL;
";

/// What may be done with a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Active,
    /// It is kept, and nobody is let in.
    Suspended,
    /// As suspended, until it is removed.
    Deleted,
}

impl State {
    const ALL: [Self; 3] = [Self::Active, Self::Suspended, Self::Deleted];

    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Deleted => "deleted",
        }
    }

    fn code(self) -> i64 {
        self as i64
    }
}

/// What is known of a workspace without opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: WorkspaceName,
    pub state: State,
    pub created_at: Timestamp,
    /// When it is removed, if it was deleted.
    pub removal_at: Option<Timestamp>,
    /// Whether it has had a folder, which must be there then.
    pub is_made: bool,
}

/// The workspaces of a host. Calls block on the disk.
pub struct Catalog {
    data: PathBuf,
    file: Mutex<Option<Connection>>,
}

impl Catalog {
    /// Of the host with this data folder. Folders that it does not know are due at once.
    pub fn open(data: &Path, now: Timestamp) -> Result<Self> {
        let catalog = Self { data: data.to_owned(), file: Mutex::default() };
        let sql = "UPDATE workspace SET due = ?1, open = 0 WHERE open = 1";
        catalog.change(sql, params![now.0])?;
        catalog.take_in(now)?;
        Ok(catalog)
    }

    fn take_in(&self, now: Timestamp) -> Result<()> {
        let folders = match fs::read_dir(self.data.join(FOLDER)) {
            Ok(folders) => folders,
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(why) => return Err(unreadable(&why)),
        };
        let known = self.all_names()?;
        let mut found = Vec::new();
        for folder in folders {
            let folder = folder.map_err(|why| unreadable(&why))?;
            let name = folder.file_name();
            let Some(name) = name.to_str().and_then(|name| WorkspaceName::parse(name).ok()) else {
                continue;
            };
            // A link leads out of the host's folder.
            let is_folder = folder.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !known.contains(&*name) && Folder::database_in(&folder.path()).exists()
            {
                found.push(name);
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        drop(self.made()?);
        // One sync for all of them.
        self.change("BEGIN IMMEDIATE", [])?;
        for name in &found {
            match self.add(name, now)? {
                Added::New => {
                    self.set_made(name)?;
                    tracing::info!(%name, "a workspace was found in its folder");
                }
                Added::Taken(other) => {
                    tracing::warn!(%name, other, "a workspace is left out, whose name looks like another's");
                }
            }
        }
        self.change("COMMIT", [])
    }

    fn all_names(&self) -> Result<HashSet<String>> {
        let there = self.there()?;
        let Some(file) = &*there else { return Ok(HashSet::new()) };
        let mut found = file.prepare("SELECT name FROM workspace").map_err(failed)?;
        let names = found.query_map([], |row| row.get(0)).map_err(failed)?;
        names.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// The data folder of a workspace.
    pub fn folder(&self, name: &WorkspaceName) -> PathBuf {
        folder_of(&self.data, name)
    }

    pub fn find(&self, name: &str) -> Result<Option<Entry>> {
        let there = self.there()?;
        let Some(file) = &*there else { return Ok(None) };
        let sql = "SELECT name, state, created_at, removal_at, made FROM workspace WHERE name = ?1";
        let mut found = file.prepare_cached(sql).map_err(failed)?;
        found.query_row([name], entry).optional().map_err(failed)
    }

    /// Those after a name, in the order of names.
    pub fn list(&self, after: &str, limit: usize) -> Result<Vec<Entry>> {
        let there = self.there()?;
        let Some(file) = &*there else { return Ok(Vec::new()) };
        let sql = "SELECT name, state, created_at, removal_at, made FROM workspace
            WHERE name > ?1 ORDER BY name LIMIT ?2";
        let mut found = file.prepare_cached(sql).map_err(failed)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = found.query_map(params![after, limit], entry).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    /// Adds an active workspace, due at once.
    pub fn add(&self, name: &WorkspaceName, now: Timestamp) -> Result<Added> {
        let made = self.made()?;
        let Some(file) = &*made else { return Err(Error::Engine("no file".to_owned())) };
        let look = name.look();
        let sql = "SELECT name FROM workspace WHERE look = ?1 OR name = ?2";
        let other = file.query_row(sql, params![look, &**name], |row| row.get(0));
        if let Some(other) = other.optional().map_err(failed)? {
            return Ok(Added::Taken(other));
        }
        let sql = "INSERT INTO workspace (name, look, state, created_at, due) VALUES (?1, ?2, ?3, ?4, ?4)";
        let state = State::Active.code();
        file.execute(sql, params![&**name, look, state, now.0]).map_err(failed)?;
        Ok(Added::New)
    }

    /// Changes what may be done with it. One that is not active is never due.
    pub fn set_state(
        &self,
        name: &str,
        state: State,
        removal_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<()> {
        let sql = "UPDATE workspace SET state = ?2, removal_at = ?3, due = ?4 WHERE name = ?1";
        let due = (state == State::Active).then_some(now.0);
        let removal_at = removal_at.map(|at| at.0);
        self.change(sql, params![name, state.code(), removal_at, due])
    }

    /// It was opened.
    pub fn set_open(&self, name: &str) -> Result<()> {
        self.change("UPDATE workspace SET open = 1, due = NULL WHERE name = ?1", params![name])
    }

    /// It has a folder from now on.
    pub fn set_made(&self, name: &str) -> Result<()> {
        self.change("UPDATE workspace SET made = 1 WHERE name = ?1", params![name])
    }

    /// It is closed. Says when it has to be opened next, if it is active.
    pub fn set_due(&self, name: &str, due: Timestamp) -> Result<()> {
        let sql = "UPDATE workspace SET open = 0, due = iif(state = ?3, ?2, NULL) WHERE name = ?1";
        self.change(sql, params![name, due.0, State::Active.code()])
    }

    /// Which are due, the longest first.
    pub fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<WorkspaceName>> {
        self.names("SELECT name FROM workspace WHERE due <= ?1 ORDER BY due LIMIT ?2", now, limit)
    }

    /// Which are to be removed.
    pub fn to_remove(&self, now: Timestamp, limit: usize) -> Result<Vec<WorkspaceName>> {
        let sql = "SELECT name FROM workspace WHERE removal_at <= ?1 ORDER BY removal_at LIMIT ?2";
        self.names(sql, now, limit)
    }

    /// Removes a workspace's folder, and what was known of it.
    ///
    /// # Errors
    /// Another process has the folder, or it cannot be removed; then everything stays.
    pub fn remove(&self, name: &WorkspaceName) -> Result<()> {
        let folder = self.folder(name);
        // A link is removed, and not what it leads to.
        let is_folder = folder.symlink_metadata().is_ok_and(|found| found.is_dir());
        let removed = if is_folder {
            let _held = match Folder::hold(&folder) {
                Err(why @ FolderError::Held(_)) => return Err(Error::Engine(why.to_string())),
                // A full disk is no reason to keep what would free it.
                held => held.ok(),
            };
            fs::remove_dir_all(&folder)
        } else {
            fs::remove_file(&folder)
        };
        match removed {
            Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(unreadable(&why)),
            _ => {}
        }
        self.change("DELETE FROM workspace WHERE name = ?1", params![&**name])
    }

    fn names(&self, sql: &str, now: Timestamp, limit: usize) -> Result<Vec<WorkspaceName>> {
        let there = self.there()?;
        let Some(file) = &*there else { return Ok(Vec::new()) };
        let mut found = file.prepare_cached(sql).map_err(failed)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = found.query_map(params![now.0, limit], |row| name(row.get(0)?));
        rows.map_err(failed)?.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    fn change(&self, sql: &str, values: impl rusqlite::Params) -> Result<()> {
        let there = self.there()?;
        let Some(file) = &*there else { return Ok(()) };
        file.prepare_cached(sql).and_then(|mut change| change.execute(values)).map_err(failed)?;
        Ok(())
    }

    /// The file, if there is one.
    fn there(&self) -> Result<MutexGuard<'_, Option<Connection>>> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_some() || !self.data.join(FILE).exists() {
            return Ok(file);
        }
        drop(file);
        self.made()
    }

    /// The file, made where there is none.
    fn made(&self) -> Result<MutexGuard<'_, Option<Connection>>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = Some(connect(&self.data.join(FILE))?);
        }
        Ok(file)
    }
}

/// The data folder of a workspace, in that of its host.
pub fn folder_of(data: &Path, name: &WorkspaceName) -> PathBuf {
    data.join(FOLDER).join(&**name)
}

/// Whether a workspace was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    New,
    /// There is one of this name, or of one that looks like it.
    Taken(String),
}

fn connect(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file).map_err(failed)?;
    let set = |name, value: &str| connection.pragma_update(None, name, value).map_err(failed);
    set("journal_mode", "WAL")?;
    set("synchronous", "FULL")?;
    let version: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    match version {
        VERSION => Ok(connection),
        0 => {
            let made = format!("BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT");
            connection.execute_batch(&made).map_err(failed)?;
            Ok(connection)
        }
        newer => {
            let why = format!(
                "{} was written by a newer Chorus (version {newer}, and this one knows {VERSION}); start that one",
                file.display()
            );
            Err(Error::Engine(why))
        }
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let code: i64 = row.get(1)?;
    let state = State::ALL.into_iter().find(|state| state.code() == code);
    Ok(Entry {
        name: name(row.get(0)?)?,
        state: state.ok_or(rusqlite::Error::IntegralValueOutOfRange(1, code))?,
        created_at: Timestamp(row.get(2)?),
        removal_at: row.get::<_, Option<i64>>(3)?.map(Timestamp),
        is_made: row.get(4)?,
    })
}

fn name(text: String) -> rusqlite::Result<WorkspaceName> {
    WorkspaceName::parse(&text).map_err(|why| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(why))
    })
}

fn failed(why: rusqlite::Error) -> Error {
    match why.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => Error::Full(why.to_string()),
        Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => {
            let what = format!(
                "{FILE}: {why}; move it and its -wal and -shm away, and the host makes it again from the folders of the \
                 workspaces, of which none is suspended or deleted then"
            );
            Error::Engine(what)
        }
        _ => Error::Engine(format!("{FILE}: {why}")),
    }
}

fn unreadable(why: &io::Error) -> Error {
    Error::Engine(format!("the folder {FOLDER}: {why}"))
}
