//! The full-text index of messages (spec/channels.md, "Search").
//!
//! It is derived from the logs, whatever the engine, and kept in a separate file in the data folder
//! by a separate thread. No post waits for it or shares a transaction with it, and every host has
//! its own. It records how far each conversation was read, and later reads anything that it missed
//! because of a crash or while another host had the workspace. A file that is missing, damaged, of another version or of
//! another workspace is rebuilt from the logs.
//!
//! Invariant: a search result is only a position in a log. The log says what is there *now*, so an
//! outdated index returns too much or too little, but never shows removed text. Erased text leaves
//! the file too: entries are removed from the index in place (`secure-delete`), pages are zeroed,
//! and the write-ahead log is emptied.
//!
//! A data folder has one workspace, and the file belongs to it, so its statements name no
//! workspace.

mod file;
mod find;
mod index;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chorus_core::model::ids::Uid;
pub use find::{Ask, Window};
pub use index::{Index, Step};
use rusqlite::Connection;

use crate::db::{Error, Result};

/// Connections kept for searches: one for each core is enough.
const CONNECTIONS: usize = 4;

/// The searchable index, shared by all callers.
#[derive(Clone)]
pub struct Search(Arc<Shared>);

struct Shared {
    file: PathBuf,
    /// Increased when the file is rebuilt; connections to an older one are discarded.
    made: AtomicU64,
    idle: Mutex<Vec<(u64, Connection)>>,
}

impl Search {
    /// The index in a data folder, and its maintainer. Both open the file on first use.
    pub fn of(data: &Path, workspace: Uid) -> (Self, Index) {
        let file = data.join(file::NAME);
        let shared = Shared { file, made: AtomicU64::new(1), idle: Mutex::default() };
        let search = Self(Arc::new(shared));
        (search.clone(), Index::new(search, workspace))
    }

    /// Searches the index: a window of the newest matches, the best first.
    pub fn find(&self, ask: &Ask<'_>) -> Result<Window> {
        // There are no messages yet, or the file is being rebuilt.
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

    /// The file has been replaced.
    fn made_anew(&self) {
        self.0.made.fetch_add(1, Ordering::AcqRel);
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Removes a damaged index, of any workspace or version; it is rebuilt from the logs. Returns
/// whether there was one.
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

/// Converts the engine's error.
fn failed(error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => Error::corrupt(format!("the index: {error}")),
        Some(rusqlite::ErrorCode::DiskFull) => Error::Full(error.to_string()),
        _ => Error::Engine(error.to_string()),
    }
}
