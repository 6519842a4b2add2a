//! A few connections that only read, shared by everybody who asks.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::db::{Db, Result};
use crate::sqlite::Sqlite;

/// Connections kept; a read takes well under a millisecond, so few serve many.
const CONNECTIONS: usize = 4;

pub(super) struct Pool {
    file: PathBuf,
    vfs: Option<String>,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Box<dyn Db>>,
    made: usize,
}

impl Pool {
    pub(super) fn new(file: PathBuf, vfs: Option<String>) -> Self {
        Self { file, vfs, state: Mutex::default(), returned: Condvar::new() }
    }

    /// Reads under one connection, as of one moment.
    pub(super) fn read<T>(&self, read: impl FnOnce(&dyn Db) -> Result<T>) -> Result<T> {
        let db = self.take()?;
        let guard = Taken { pool: self, db: Some(db) };
        let Some(db) = guard.db.as_deref() else { unreachable!("it is given back on drop") };
        db.begin_reading()?;
        let found = read(db);
        db.rollback()?;
        found
    }

    fn take(&self) -> Result<Box<dyn Db>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(db) = state.idle.pop() {
                return Ok(db);
            }
            if state.made < CONNECTIONS {
                let db = Sqlite::reader(&self.file, self.vfs.as_deref())?;
                state.made += 1;
                return Ok(Box::new(db));
            }
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Gives the connection back, also when reading panics.
struct Taken<'a> {
    pool: &'a Pool,
    db: Option<Box<dyn Db>>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection that cannot end its transaction is not lent again.
        match self.db.take() {
            Some(db) if db.rollback().is_ok() => state.idle.push(db),
            _ => state.made -= 1,
        }
        drop(state);
        self.pool.returned.notify_one();
    }
}
