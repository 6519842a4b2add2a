//! The index of what was said: words, and where each of them stands (spec/channels.md, "Search").
//!
//! Derived from the logs, for whichever engine keeps them, in a file of its own in the data folder, by a thread of its
//! own: no post waits for it or is part of a transaction with it, and every host has its own. It notes how far each
//! conversation was read; whatever it missed, because of a crash or another host, it reads then. A file that is
//! missing, damaged, of another version or of another workspace is made anew from the logs.
//!
//! Invariant: what is found is a place in a log and nothing more. What stands there *now* is for the log to say, so that
//! an index that is behind finds too much or too little, and never shows what has gone. What was erased leaves the file
//! too: entries are taken out of the index where they stand (`secure-delete`), pages zeroed, the write-ahead log emptied.
//!
//! The one workspace of a data folder is the one of this file, whose statements therefore name none.

mod file;
mod find;
mod index;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chorus_core::model::ids::Uid;
use rusqlite::Connection;

use crate::db::{Error, Result};
pub use find::{Ask, Window};
pub use index::{Index, Step};

/// Connections that are kept for searches: as many as there are cores is plenty.
const CONNECTIONS: usize = 4;

/// Where the index is searched, by anybody.
#[derive(Clone)]
pub struct Search(Arc<Shared>);

struct Shared {
    file: PathBuf,
    /// Rises when the file is made anew; connections to an older one are thrown away.
    made: AtomicU64,
    idle: Mutex<Vec<(u64, Connection)>>,
}

impl Search {
    /// The index in a data folder, and who keeps it. Both look at the file only once they are used.
    pub fn of(data: &Path, workspace: Uid) -> (Self, Index) {
        let file = data.join(file::NAME);
        let shared = Shared { file, made: AtomicU64::new(1), idle: Mutex::default() };
        let search = Self(Arc::new(shared));
        (search.clone(), Index::new(search, workspace))
    }

    /// What of the index holds what is asked for, newest first and then the best of it first.
    pub fn find(&self, ask: &Ask<'_>) -> Result<Window> {
        // Nothing was ever said, or the file is just being made anew.
        let Some((made, connection)) = self.take()? else { return Ok(Window::default()) };
        let found = find::find(&connection, ask);
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_ok() && made == self.0.made.load(Ordering::Acquire) && idle.len() < CONNECTIONS
        {
            idle.push((made, connection));
        }
        found
    }

    fn take(&self) -> Result<Option<(u64, Connection)>> {
        let made = self.0.made.load(Ordering::Acquire);
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(of, _)| *of == made);
        if let Some(taken) = idle.pop() {
            return Ok(Some(taken));
        }
        drop(idle);
        match file::reader(&self.0.file) {
            Ok(connection) => Ok(Some((made, connection))),
            Err(_) if !self.0.file.exists() => Ok(None),
            Err(why) => Err(why),
        }
    }

    /// From now on the file is another one.
    fn made_anew(&self) {
        self.0.made.fetch_add(1, Ordering::AcqRel);
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Removes an index that is damaged, of whatever workspace or version: it is made anew from the logs. Whether there was one.
pub(crate) fn mend(data: &Path) -> Result<bool> {
    let file = data.join(file::NAME);
    if !file.exists() {
        return Ok(false);
    }
    match file::is_whole(&file) {
        Ok(true) => Ok(false),
        Ok(false) | Err(Error::Corrupt(_)) => file::remove(&file).map(|()| true),
        Err(error) => Err(error),
    }
}

/// The engine's failure in the store's words.
fn failed(error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => Error::corrupt(format!("the index: {error}")),
        Some(rusqlite::ErrorCode::DiskFull) => Error::Full(error.to_string()),
        _ => Error::Engine(error.to_string()),
    }
}
