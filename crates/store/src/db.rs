//! The seam between what is stored and the engine that stores it.
//!
//! Everything above this file speaks of tables, rows and values; an engine gives [`Db`]. Statements keep to
//! the SQL that SQLite and PostgreSQL share: `$1` parameters numbered in the order in which they first
//! stand, upserts by primary key, no engine's own functions. A table's columns are listed once, in its
//! [`Table`]; the prepared loop of SQLite is made from that list, and PostgreSQL's one statement over arrays.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use chorus_core::codec::Corrupt;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::state::facts::Unavailable;

use crate::shared::Shared;

/// The target of the trace events that say each statement: every time it is run, or once a connection where it is
/// prepared for good. Tests read along (`lab/statements`).
pub(crate) const TRACE: &str = "chorus_store::sql";

/// What an engine could not do, or what it gave back that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The engine's own words.
    Engine(String),
    /// There is no space left to write in. What was under way is as if it had never begun.
    Full(String),
    /// The connection is gone. What was under way is as if it had never begun; of a commit that was under
    /// way it is unknown until [`Db::recover`] says.
    Lost(String),
    /// A row that no version of this program writes.
    Corrupt(String),
}

impl Error {
    pub fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt(what.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(why) => write!(f, "the database failed: {why}"),
            Self::Full(why) => write!(f, "the disk is full: {why}"),
            Self::Lost(why) => write!(f, "the database cannot be reached: {why}"),
            Self::Corrupt(what) => write!(f, "the database is damaged: {what}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Corrupt> for Error {
    fn from(corrupt: Corrupt) -> Self {
        Self::Corrupt(corrupt.to_string())
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::new(Code::Unavailable, error.to_string())
    }
}

impl From<Error> for Unavailable {
    fn from(error: Error) -> Self {
        Self { why: error.to_string(), damaged: matches!(error, Error::Corrupt(_)) }
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One value of a row, or one parameter.
#[derive(Clone, Copy, veil::Redact, PartialEq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Text(#[redact(fixed = 3)] &'a str),
    Blob(#[redact(fixed = 3)] &'a [u8]),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

/// Counts are stored as signed numbers: none of them reaches 2^63.
impl From<u64> for Value<'_> {
    fn from(value: u64) -> Self {
        Self::Int(value as i64)
    }
}

impl From<u32> for Value<'_> {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl From<u8> for Value<'_> {
    fn from(value: u8) -> Self {
        Self::Int(value.into())
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Int(value.into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Blob(value)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    fn from(value: &'a [u8; N]) -> Self {
        Self::Blob(value)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// One row of a result, its columns counted from 0.
pub trait Row {
    fn value(&self, column: usize) -> Result<Value<'_>>;
}

impl dyn Row + '_ {
    /// A number that must be there and fit.
    pub fn int<T: TryFrom<i64>>(&self, column: usize) -> Result<T> {
        self.maybe_int(column)?.ok_or_else(|| unfit(column, "a number"))
    }

    pub fn maybe_int<T: TryFrom<i64>>(&self, column: usize) -> Result<Option<T>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Int(n) => {
                T::try_from(n).map(Some).map_err(|_| unfit(column, "a number in range"))
            }
            _ => Err(unfit(column, "a number")),
        }
    }

    pub fn flag(&self, column: usize) -> Result<bool> {
        Ok(self.int::<u8>(column)? != 0)
    }

    pub fn text(&self, column: usize) -> Result<&str> {
        self.maybe_text(column)?.ok_or_else(|| unfit(column, "a text"))
    }

    pub fn maybe_text(&self, column: usize) -> Result<Option<&str>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text)),
            _ => Err(unfit(column, "a text")),
        }
    }

    pub fn blob(&self, column: usize) -> Result<&[u8]> {
        self.maybe_blob(column)?.ok_or_else(|| unfit(column, "bytes"))
    }

    pub fn maybe_blob(&self, column: usize) -> Result<Option<&[u8]>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Blob(bytes) => Ok(Some(bytes)),
            _ => Err(unfit(column, "bytes")),
        }
    }

    pub fn maybe_array<const N: usize>(&self, column: usize) -> Result<Option<[u8; N]>> {
        let bytes = self.maybe_blob(column)?.map(TryInto::try_into).transpose();
        bytes.map_err(|_| unfit(column, "bytes of the right length"))
    }

    /// Bytes of one fixed length.
    pub fn array<const N: usize>(&self, column: usize) -> Result<[u8; N]> {
        self.blob(column)?.try_into().map_err(|_| unfit(column, "bytes of the right length"))
    }
}

fn unfit(column: usize, expected: &str) -> Error {
    Error::corrupt(format!("column {column} is not {expected}"))
}

/// What becomes of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowChange {
    /// It is new; one with the same key is an error.
    Insert,
    /// It takes the place of the one with its key, if there is one.
    Put,
    /// The one with this key goes, if there is one.
    Remove,
}

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

/// A table: its columns once, the primary key first.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    pub columns: &'static [&'static str],
    /// How many of the columns are the primary key.
    pub key: usize,
    sql: OnceLock<Statements>,
}

#[derive(Debug)]
struct Statements {
    insert: String,
    put: String,
    get: String,
    remove: String,
    select: String,
}

impl Table {
    pub const fn new(name: &'static str, key: usize, columns: &'static [&'static str]) -> Self {
        Self { name, columns, key, sql: OnceLock::new() }
    }

    /// `SELECT` of all columns, without a condition.
    pub fn select(&self) -> &str {
        &self.sql().select
    }

    /// The statement that changes one row.
    pub fn statement(&self, how: RowChange) -> &str {
        match how {
            RowChange::Insert => &self.sql().insert,
            RowChange::Put => &self.sql().put,
            RowChange::Remove => &self.sql().remove,
        }
    }

    /// The columns, each with the table's alias before it.
    pub fn columns_of(&self, alias: &str) -> String {
        self.columns.iter().map(|c| format!("{alias}.{c}")).collect::<Vec<_>>().join(", ")
    }

    fn sql(&self) -> &Statements {
        self.sql.get_or_init(|| {
            let Self { name, columns, key, .. } = self;
            let list = columns.join(", ");
            let places =
                (1..=columns.len()).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ");
            let insert = format!("INSERT INTO {name} ({list}) VALUES ({places})");
            let sets: Vec<_> =
                columns[*key..].iter().map(|c| format!("{c} = excluded.{c}")).collect();
            let action = match sets.as_slice() {
                [] => "NOTHING".to_owned(),
                sets => format!("UPDATE SET {}", sets.join(", ")),
            };
            let unique = columns[..*key].join(", ");
            let put = format!("{insert} ON CONFLICT ({unique}) DO {action}");
            let same: Vec<_> =
                columns[..*key].iter().zip(1..).map(|(c, n)| format!("{c} = ${n}")).collect();
            let same = same.join(" AND ");
            let remove = format!("DELETE FROM {name} WHERE {same}");
            let select = format!("SELECT {list} FROM {name}");
            let get = format!("{select} WHERE {same}");
            Statements { insert, put, get, remove, select }
        })
    }
}
