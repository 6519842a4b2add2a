//! A small pool of read-only connections, shared by all readers.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::Place;
use crate::db::{Db, Error, Result};

/// Connections kept. A read takes well under a millisecond, so a few are enough.
const CONNECTIONS: usize = 4;

pub(crate) struct Pool {
    place: Place,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Box<dyn Db>>,
    made: usize,
}

impl Pool {
    pub(crate) fn new(place: Place) -> Self {
        Self { place, state: Mutex::default(), returned: Condvar::new() }
    }

    /// Reads on one connection, as of one moment.
    pub(super) fn read<T>(&self, read: impl FnOnce(&dyn Db) -> Result<T>) -> Result<T> {
        let guard = self.begin()?;
        let Some(db) = guard.db.as_deref() else { unreachable!("it is given back on drop") };
        let found = read(db);
        db.rollback()?;
        found
    }

    /// A connection with a transaction begun. Connections that were lost while idle are discarded.
    fn begin(&self) -> Result<Taken<'_>> {
        loop {
            let (db, fresh) = self.take()?;
            let guard = Taken { pool: self, db: Some(db) };
            match guard.db.as_deref().map_or(Ok(()), |db| db.begin_reading()) {
                Err(Error::Lost(_)) if !fresh => {}
                begun => return begun.map(|()| guard),
            }
        }
    }

    /// A connection, and whether it is new.
    fn take(&self) -> Result<(Box<dyn Db>, bool)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(db) = state.idle.pop() {
                return Ok((db, false));
            }
            if state.made < CONNECTIONS {
                state.made += 1;
                drop(state);
                return self.make().map(|db| (db, true));
            }
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Pool {
    /// Connecting may take time and holds no lock.
    fn make(&self) -> Result<Box<dyn Db>> {
        self.place.reader().inspect_err(|_| {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).made -= 1;
            self.returned.notify_one();
        })
    }
}

/// Returns the connection to the pool, even when reading panics.
struct Taken<'a> {
    pool: &'a Pool,
    db: Option<Box<dyn Db>>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection that cannot end its transaction is not reused.
        match self.db.take() {
            Some(db) if db.rollback().is_ok() => state.idle.push(db),
            _ => state.made -= 1,
        }
        drop(state);
        self.pool.returned.notify_one();
    }
}
