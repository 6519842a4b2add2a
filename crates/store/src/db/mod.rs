//! The seam between what is stored and the engine that stores it.
//!
//! Everything above this file speaks of tables, rows and values; an engine gives [`Db`]. Statements keep to
//! the SQL that SQLite and PostgreSQL share: `$1` parameters numbered in the order in which they first
//! stand, upserts by primary key, no engine's own functions. A table's columns are listed once, in its
//! [`Table`]; the prepared loop of SQLite is made from that list, and PostgreSQL's one statement over arrays.

mod error;
mod shared;
mod sync;
mod table;
mod value;

use std::path::Path;

pub use error::{Error, Result};
pub use shared::{Heard, Shared};
pub use sync::Sync;
pub use table::{RowChange, Table};
pub use value::{Row, Value};

/// The target of the trace events that say each statement: every time it is run, or once a connection where it is
/// prepared for good. Tests read along (`lab/statements`).
pub(crate) const TRACE: &str = "chorus_store::sql";

/// What became of a commit that was under way when the connection was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// There was none, or nothing of it is there.
    Undone,
    Committed,
}

/// One connection to the engine.
pub trait Db: Send {
    /// Changes one row, now or at the latest when [`Db::flush`] says that it is done; what is read sees it. The
    /// values are those of all columns, or of the key when the row goes.
    fn change(&self, table: &'static Table, how: RowChange, values: &[Value<'_>]) -> Result<()>;
    /// All changes are made when it returns; before a commit, so that a change that fails is known by itself.
    fn flush(&self) -> Result<()>;
    /// Runs a statement that gives no rows; says how many rows it changed.
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize>;
    /// Runs a statement and shows its rows one by one.
    fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()>;
    /// Runs a query once for each pair of numbers, and shows all their rows, in whatever order: its `$1` is the
    /// workspace, `$2` and `$3` are the pair.
    fn query_each(
        &self,
        sql: &str,
        workspace: i64,
        pairs: &[[u64; 2]],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        let mut pairs = pairs.iter();
        pairs.try_for_each(|[one, two]| {
            self.query(sql, &[workspace.into(), (*one).into(), (*two).into()], each)
        })
    }
    /// Begins the transaction that writes. There is one writer, so it waits for nobody.
    fn begin(&self) -> Result<()>;
    /// Begins a transaction that sees one moment and writes nothing; ended by [`Db::rollback`].
    fn begin_reading(&self) -> Result<()>;
    /// On disk when it returns. What a failure has left behind is unknown: it is never tried again.
    fn commit(&self) -> Result<()>;
    /// What there is to it that several hosts may share the database; none where a host has it for itself.
    fn shared(&self) -> Option<&dyn Shared> {
        None
    }
    /// Whether the connection is gone, and [`Db::recover`] is what there is to do.
    fn is_lost(&self) -> bool;
    /// Connects again after [`Error::Lost`], and says what became of the commit that was under way. `Lost` again
    /// when it cannot yet; another error when it never will.
    fn recover(&self) -> Result<Fate>;
    fn rollback(&self) -> Result<()>;
    /// Writes the file anew, with nothing in it but the rows; outside of a transaction.
    fn compact(&self) -> Result<()>;
    /// Runs `work` so that what it overwrites or removes is zeroed in the file, not only let go.
    fn thoroughly(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()>;
    /// Makes the files as if what was erased had never been in them; between batches. False when a reader is
    /// in the way, and it must be tried again.
    fn scrub(&self) -> Result<bool>;
    /// Work between batches; `idle` says that nothing was asked lately. True when the write-ahead log was copied back.
    fn housekeep(&self, idle: bool) -> Result<bool>;
    /// What the engine itself finds wrong with its files.
    fn check_file(&self) -> Result<Vec<String>>;
    /// Copies the whole database into a new file, a few pages at a time; what this connection commits
    /// meanwhile is in the copy too. `between` is called between the steps and may use this connection; when
    /// it says false, the copying ends there, and so does this, with false. The copy is not synced.
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

    /// The only row of a statement that can give one at most.
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

    /// A new row; one with the same key is an error.
    pub fn insert(&self, table: &'static Table, values: &[Value<'_>]) -> Result<()> {
        debug_assert_eq!(values.len(), table.columns.len(), "{}", table.name);
        self.change(table, RowChange::Insert, values)
    }

    /// A row in the place of the one with its key, if there is one.
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
