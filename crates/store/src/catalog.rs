//! The workspaces that a host has beside its own: which there are, what may be done with each, and when each has to be
//! looked at.
//!
//! Beside a file each is a data folder of its own, `workspaces/NAME`, whole in itself. `workspaces.db` says of one that
//! nobody uses what the host needs to know without opening it. It is made with the first workspace, and a folder that
//! was put there by hand is taken in at the next start. In a database, each is the rows of its key, the catalog is a
//! table, and all hosts share it.

mod objects;
mod quota;
mod shared;
mod sqlite;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use chorus_core::model::ids::Timestamp;
use chorus_core::model::workspace_name::WorkspaceName;

use crate::db::{Db, Error, Result, Row, Sync, Value};
use crate::membership::{self, Epoch};
use crate::postgres::{Address, Postgres};
use crate::sqlite::{Folder, FolderError};
use crate::{Tenant, backup};
pub use quota::Quota;
use shared::{new_key, remove_rows};

/// The file's name in the host's data folder.
const FILE: &str = "workspaces.db";
/// The folder of the workspaces' folders.
const FOLDER: &str = "workspaces";
const COLUMNS: &str = "name, workspace, state, created_at, removal_at, made, moved_to";

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
    /// Its key in the rows of its place: of a folder's only one, or one of its own in a database.
    pub key: i64,
    pub state: State,
    pub created_at: Timestamp,
    /// When it is removed, if it was deleted.
    pub removal_at: Option<Timestamp>,
    /// Whether it was opened before, and must be there then.
    pub is_made: bool,
    /// Where it is now, if it was moved to another host and deleted here.
    pub moved_to: Option<String>,
    pub quota: Quota,
}

/// The workspaces beside a host's own. Calls block on the disk, or on the database.
pub struct Catalog {
    data: PathBuf,
    /// The database that hosts share; none is a file in the folder.
    database: Option<Arc<Address>>,
    /// Connected when it is used first.
    db: Mutex<Option<Box<dyn Db>>>,
}

impl Catalog {
    /// Of the host with this data folder. Folders that it does not know are due at once.
    pub fn open(data: &Path, now: Timestamp) -> Result<Self> {
        let catalog = Self { data: data.to_owned(), database: None, db: Mutex::default() };
        let sql = "UPDATE workspace_name SET due = $1, open = 0 WHERE open = 1";
        catalog.change(sql, &[now.0.into()])?;
        catalog.take_in(now)?;
        Ok(catalog)
    }

    /// Of the hosts of a database, for the one with this data folder.
    pub fn shared(data: &Path, database: &Arc<Address>) -> Self {
        Self { data: data.to_owned(), database: Some(database.clone()), db: Mutex::default() }
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
            let left_by_a_move = ["incoming", "outgoing", "partial"].map(OsStr::new).map(Some);
            if left_by_a_move.contains(&folder.path().extension()) {
                if folder.path().is_dir() {
                    fs::remove_dir_all(folder.path()).map_err(|why| unreadable(&why))?;
                } else {
                    backup::remove(&folder.path());
                }
                continue;
            }
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
        let made = self.made()?;
        let db = of(&made)?;
        // One sync for all of them.
        db.begin()?;
        let added = found.iter().try_for_each(|name| {
            match add(db, name, Tenant::OWN, State::Active, now)? {
                Added::New => {
                    db.execute(SET_MADE, &[(&**name).into()])?;
                    tracing::info!(%name, "a workspace was found in its folder");
                }
                Added::Taken(other) => {
                    tracing::warn!(%name, other, "a workspace is left out, whose name looks like another's");
                }
            }
            Ok(())
        });
        match added {
            Ok(()) => db.commit(),
            Err(why) => db.rollback().and(Err(why)),
        }
    }

    fn all_names(&self) -> Result<HashSet<String>> {
        let sql = "SELECT name FROM workspace_name";
        Ok(self.rows(sql, &[], |row| Ok(row.text(0)?.to_owned()))?.into_iter().collect())
    }

    /// Whether it is of a database, whose workspaces are no folders.
    pub fn is_shared(&self) -> bool {
        self.database.is_some()
    }

    /// The data folder that a workspace of a name has, where each is one.
    pub fn folder_of(&self, name: &WorkspaceName) -> PathBuf {
        folder_of(&self.data, name)
    }

    /// The data folder of a workspace.
    pub fn folder(&self, entry: &Entry) -> PathBuf {
        match self.database {
            None => folder_of(&self.data, &entry.name),
            // What a host keeps for itself. One that was deleted may have had the same name.
            Some(_) => self.data.join(FOLDER).join(format!("{}.{:x}", entry.name, entry.key)),
        }
    }

    /// The folder that is there for a name which no workspace has. A database has none.
    pub fn unknown_folder(&self, name: &WorkspaceName) -> Result<Option<PathBuf>> {
        let folder = folder_of(&self.data, name);
        let is_there = self.database.is_none() && folder.symlink_metadata().is_ok();
        Ok(if is_there && self.find(name)?.is_none() { Some(folder) } else { None })
    }

    pub fn find(&self, name: &str) -> Result<Option<Entry>> {
        Ok(self.rows(&select("name = $1"), &[name.into()], entry)?.pop())
    }

    /// The workspaces of these keys, which few hosts have many of.
    pub fn of_keys(&self, keys: &[i64]) -> Result<Vec<Entry>> {
        let sql = select("workspace = $1");
        let mut found = Vec::new();
        for key in keys {
            found.append(&mut self.rows(&sql, &[(*key).into()], entry)?);
        }
        Ok(found)
    }

    /// Those after a name, in the order of names.
    pub fn list(&self, after: &str, limit: usize) -> Result<Vec<Entry>> {
        let sql = select("name > $1 ORDER BY name LIMIT $2");
        self.rows(&sql, &[after.into(), (limit as u64).into()], entry)
    }

    /// Adds a workspace; one that is active is due at once.
    pub fn add(&self, name: &WorkspaceName, state: State, now: Timestamp) -> Result<Added> {
        let key = match self.database {
            None => Tenant::OWN,
            Some(_) => new_key()?,
        };
        let made = self.made()?;
        add(of(&made)?, name, key, state, now)
    }

    /// The workspace that has this name, or looks like it.
    pub fn taken(&self, name: &WorkspaceName) -> Result<Option<String>> {
        match &*self.there()? {
            Some(db) => taken(&**db, name),
            None => Ok(None),
        }
    }

    /// Changes what may be done with it, as `entry` says. One that is not active is never due.
    pub fn set_state(&self, entry: &Entry, now: Timestamp) -> Result<()> {
        let sql = "UPDATE workspace_name SET state = $1, removal_at = $2, due = $3, moved_to = $4 WHERE name = $5";
        let due = (entry.state == State::Active).then_some(now.0);
        let removal_at = entry.removal_at.map(|at| at.0);
        let (moved_to, name) = (entry.moved_to.as_deref(), &*entry.name);
        let state = entry.state.code();
        self.change(
            sql,
            &[state.into(), removal_at.into(), due.into(), moved_to.into(), name.into()],
        )
    }

    /// It was opened.
    pub fn set_open(&self, name: &str) -> Result<()> {
        let sql = "UPDATE workspace_name SET open = 1, due = NULL WHERE name = $1";
        self.change(sql, &[name.into()])
    }

    /// It was opened once, and must be there from now on.
    pub fn set_made(&self, name: &str) -> Result<()> {
        self.change(SET_MADE, &[name.into()])
    }

    /// It is closed. Says when it has to be opened next, if it is active.
    pub fn set_due(&self, name: &str, due: Timestamp) -> Result<()> {
        let sql = "UPDATE workspace_name SET open = 0,
            due = CASE WHEN state = $1 THEN CAST($2 AS BIGINT) END WHERE name = $3";
        self.change(sql, &[State::Active.code().into(), due.0.into(), name.into()])
    }

    /// Which are due, the longest first.
    pub fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<WorkspaceName>> {
        let sql = "SELECT name FROM workspace_name WHERE due <= $1 ORDER BY due LIMIT $2";
        self.rows(sql, &[now.0.into(), (limit as u64).into()], |row| name(row, 0))
    }

    /// Which are to be removed.
    pub fn to_remove(&self, now: Timestamp, limit: usize) -> Result<Vec<WorkspaceName>> {
        let sql =
            "SELECT name FROM workspace_name WHERE removal_at <= $1 ORDER BY removal_at LIMIT $2";
        self.rows(sql, &[now.0.into(), (limit as u64).into()], |row| name(row, 0))
    }

    /// Removes a workspace's folder, and what was known of it. In a database, whoever owns it in this epoch removes its
    /// rows first.
    ///
    /// # Errors
    /// Another process has the folder, or the workspace, or it cannot be removed; then it stays in the catalog.
    pub fn remove(&self, entry: &Entry, owned: Option<Epoch>) -> Result<()> {
        if let Some(address) = &self.database {
            let epoch = owned.filter(|epoch| epoch.workspace == entry.key);
            let epoch = epoch.ok_or_else(|| Error::Fenced("it is another's".to_owned()))?;
            remove_rows(&Postgres::owner(address, Sync::Full, epoch, None)?, entry.key)?;
        }
        self.remove_folder(entry)?;
        self.change("DELETE FROM workspace_name WHERE name = $1", &[(&*entry.name).into()])?;
        if self.database.is_some() {
            let sql = "DELETE FROM workspace_owner WHERE workspace = $1";
            self.change(sql, &[entry.key.into()])?;
        }
        Ok(())
    }

    fn remove_folder(&self, entry: &Entry) -> Result<()> {
        let folder = self.folder(entry);
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
            Err(why) if why.kind() != io::ErrorKind::NotFound => Err(unreadable(&why)),
            _ => Ok(()),
        }
    }

    fn rows<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        match &*self.there()? {
            Some(db) => db.all(sql, values, read).map_err(damaged),
            None => Ok(Vec::new()),
        }
    }

    fn change(&self, sql: &str, values: &[Value<'_>]) -> Result<()> {
        let there = self.there()?;
        let Some(db) = &*there else { return Ok(()) };
        db.execute(sql, values).map_err(damaged)?;
        db.housekeep(false).map_err(damaged).map(drop)
    }

    /// The connection, unless it were to a file that is not there.
    fn there(&self) -> Result<MutexGuard<'_, Option<Box<dyn Db>>>> {
        let db = self.lock();
        if db.is_none() && self.database.is_none() && !self.data.join(FILE).exists() {
            return Ok(db);
        }
        drop(db);
        self.made()
    }

    /// The connection. A file is made where there is none.
    fn made(&self) -> Result<MutexGuard<'_, Option<Box<dyn Db>>>> {
        let mut db = self.lock();
        match &*db {
            Some(lost) if lost.is_lost() => lost.recover().map(drop)?,
            Some(_) => {}
            None => {
                *db = Some(match &self.database {
                    None => Box::new(sqlite::connect(&self.data.join(FILE)).map_err(damaged)?),
                    Some(address) => Box::new(membership::catalog(address)?),
                });
            }
        }
        Ok(db)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<dyn Db>>> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const SET_MADE: &str = "UPDATE workspace_name SET made = 1 WHERE name = $1";

fn of<'a>(made: &'a MutexGuard<'_, Option<Box<dyn Db>>>) -> Result<&'a dyn Db> {
    made.as_deref().ok_or_else(|| Error::Engine("no connection".to_owned()))
}

fn add(db: &dyn Db, name: &WorkspaceName, key: i64, state: State, now: Timestamp) -> Result<Added> {
    let look = name.look();
    if let Some(other) = taken(db, name)? {
        return Ok(Added::Taken(other));
    }
    let sql = "INSERT INTO workspace_name (name, workspace, look, state, created_at, due)
        VALUES ($1, $2, $3, $4, $5, $6)";
    let due = (state == State::Active).then_some(now.0).into();
    let (now, words) = (now.0.into(), [&**name, &*look].map(Value::from));
    match db.execute(sql, &[words[0], key.into(), words[1], state.code().into(), now, due]) {
        Ok(_) => Ok(Added::New),
        // Another host may have added it meanwhile.
        Err(why) => match taken(db, name) {
            Ok(Some(other)) => Ok(Added::Taken(other)),
            _ => Err(damaged(why)),
        },
    }
}

fn taken(db: &dyn Db, name: &WorkspaceName) -> Result<Option<String>> {
    let sql = "SELECT name FROM workspace_name WHERE look = $1 OR name = $2";
    let look = name.look();
    let values = [(&*look).into(), (&**name).into()];
    db.one(sql, &values, |row| Ok(row.text(0)?.to_owned())).map_err(damaged)
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

fn select(which: &str) -> String {
    format!("SELECT {COLUMNS}, {} FROM workspace_name WHERE {which}", quota::COLUMNS)
}

fn entry(row: &dyn Row) -> Result<Entry> {
    let code: i64 = row.int(2)?;
    let state = State::ALL.into_iter().find(|state| state.code() == code);
    Ok(Entry {
        name: name(row, 0)?,
        key: row.int(1)?,
        state: state.ok_or_else(|| Error::corrupt("a state that no workspace has"))?,
        created_at: Timestamp(row.int(3)?),
        removal_at: row.maybe_int(4)?.map(Timestamp),
        is_made: row.flag(5)?,
        moved_to: row.maybe_text(6)?.map(str::to_owned),
        quota: quota::read(row, 7)?,
    })
}

fn name(row: &dyn Row, column: usize) -> Result<WorkspaceName> {
    WorkspaceName::parse(row.text(column)?).map_err(|why| Error::corrupt(&why.message))
}

/// What is wrong with the file, and what can be done.
fn damaged(why: Error) -> Error {
    match why {
        Error::Corrupt(why) => Error::Engine(format!(
            "{FILE}: {why}; move it and its -wal and -shm away, and the host makes it again from the folders of the \
             workspaces, of which none is suspended or deleted then"
        )),
        why => why,
    }
}

fn unreadable(why: &io::Error) -> Error {
    Error::Engine(format!("the folder {FOLDER}: {why}"))
}
