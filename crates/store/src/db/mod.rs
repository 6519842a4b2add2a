//! The interface between the store and its storage engine.
//!
//! Everything above this file works with tables, rows and values; an engine implements [`Db`].
//! Statements use only the SQL that SQLite and PostgreSQL share: `$1` parameters numbered in the
//! order of first use, upserts by primary key, no engine-specific functions. A table's columns are
//! listed once, in its [`Table`]. SQLite's prepared statements and PostgreSQL's statements over
//! arrays are both generated from that list.

mod error;
mod sync;
mod table;
mod value;

use std::path::Path;

pub use error::{Error, Result};
pub use sync::{Sync, SyncLog};
pub use table::{RowChange, Table};
pub use value::{Row, Value};

/// The target of the trace events for statements: every time one runs, or once per connection where
/// it is prepared permanently. Tests observe it (`lab/statements`).
pub(crate) const TRACE: &str = "chorus_store::sql";

/// The fate of a commit that was in progress when the connection was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// There was no commit, or none of it was stored.
    Undone,
    Committed,
}

/// One connection to the engine.
pub trait Db: Send {
    /// Changes one row, immediately or at the latest by [`Db::flush`]. Reads see the change in any
    /// case. The values are those of all columns, or of the key for a removal.
    fn change(&self, table: &'static Table, how: RowChange, values: &[Value<'_>]) -> Result<()>;
    /// Makes all pending changes, unless their failure in the commit is [`Error::Refused`]. Called
    /// before a commit, so that a failing change is distinguishable from a failing commit.
    fn flush(&self) -> Result<()>;
    /// Runs a statement that returns no rows; returns the number of changed rows.
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize>;
    /// Runs a statement and passes its rows to a callback one by one.
    fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()>;
    /// Begins the write transaction. There is one writer, so it waits for nobody.
    fn begin(&self) -> Result<()>;
    /// Begins a read-only transaction with a consistent snapshot, to be ended by [`Db::rollback`].
    fn begin_reading(&self) -> Result<()>;
    /// From now on a commit returns before its data is on disk. Calling the result puts everything
    /// there that was committed before the call. None for an engine whose commits cannot be split.
    fn defer_sync(&self) -> Result<Option<SyncLog>>;
    /// The data is on disk when this returns, unless [`Db::defer_sync`] was called. After a failure
    /// other than [`Error::Refused`], `Full`
    /// and `Fenced` the outcome is unknown, so a commit is never retried.
    fn commit(&self) -> Result<()>;
    /// Whether the connection is lost and [`Db::recover`] must be called.
    fn is_lost(&self) -> bool;
    /// Reconnects after [`Error::Lost`], and determines the fate of the commit in progress. Returns
    /// `Lost` again while that is impossible, and another error if it never will be possible.
    fn recover(&self) -> Result<Fate>;
    fn rollback(&self) -> Result<()>;
    /// Rewrites the file with nothing in it but the rows; outside of a transaction.
    fn compact(&self) -> Result<()>;
    /// Runs `work` so that overwritten and removed data is zeroed in the file, not only freed.
    fn thoroughly(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()>;
    /// Removes all traces of erased data from the files; between batches. False when a reader is in
    /// the way and it must be retried.
    fn scrub(&self) -> Result<bool>;
    /// Maintenance between batches; `idle` says that there were no recent requests. True when the
    /// write-ahead log was checkpointed.
    fn housekeep(&self, idle: bool) -> Result<bool>;
    /// The problems that the engine itself finds in its files.
    fn check_file(&self) -> Result<Vec<String>>;
    /// Copies the whole database into a new file, a few pages at a time. Commits of this connection
    /// during the copy are included. `between` is called between the steps and may use this
    /// connection; if it returns false, the copy is abandoned and this returns false. The copy is
    /// not synced.
    fn copy_to(&self, to: &Path, between: &mut dyn FnMut() -> bool) -> Result<bool>;
}

impl dyn Db + '_ {
    /// All rows of a statement.
    pub fn all<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        self.query(sql, values, &mut |row| {
            rows.push(read(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The row of a statement that returns at most one.
    pub fn one<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.query(sql, values, &mut |row| {
            found = Some(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Inserts a row; an existing row with the same key is an error.
    pub fn insert(&self, table: &'static Table, values: &[Value<'_>]) -> Result<()> {
        debug_assert_eq!(values.len(), table.columns.len(), "{}", table.name);
        self.change(table, RowChange::Insert, values)
    }

    /// Inserts a row or replaces the one with its key.
    pub fn put(&self, table: &'static Table, values: &[Value<'_>]) -> Result<()> {
        debug_assert_eq!(values.len(), table.columns.len(), "{}", table.name);
        self.change(table, RowChange::Put, values)
    }

    /// The row with this key.
    pub fn get<T>(
        &self,
        table: &'static Table,
        key: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Option<T>> {
        debug_assert_eq!(key.len(), table.key, "{}", table.name);
        self.one(table.sql().get.as_str(), key, read)
    }

    /// Removes the row with this key.
    pub fn remove(&self, table: &'static Table, key: &[Value<'_>]) -> Result<()> {
        debug_assert_eq!(key.len(), table.key, "{}", table.name);
        self.change(table, RowChange::Remove, key)
    }
}
