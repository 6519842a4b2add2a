//! A table: its columns, listed once, and the statements generated from them.

use std::sync::OnceLock;

/// The kind of change to one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowChange {
    /// Inserts it; an existing row with the same key is an error.
    Insert,
    /// Inserts it or replaces the one with its key.
    Put,
    /// Removes the one with this key, if there is one.
    Remove,
}

/// A table with its columns; the primary key comes first.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    pub columns: &'static [&'static str],
    /// How many of the columns form the primary key.
    pub key: usize,
    /// Which rows of a conversation are removed when its log is trimmed up to the event `$3`; none
    /// where they stay.
    pub trimmed: Option<&'static str>,
    sql: OnceLock<Statements>,
}

#[derive(Debug)]
pub(super) struct Statements {
    pub(super) insert: String,
    pub(super) put: String,
    pub(super) get: String,
    pub(super) remove: String,
    pub(super) select: String,
}

impl Table {
    pub const fn new(name: &'static str, key: usize, columns: &'static [&'static str]) -> Self {
        Self { name, columns, key, trimmed: None, sql: OnceLock::new() }
    }

    /// Trims this table's rows of a conversation when the log's beginning is dropped: those that
    /// match `condition`, where `$3` is the newest dropped event.
    #[must_use]
    pub const fn trimmed_where(mut self, condition: &'static str) -> Self {
        self.trimmed = Some(condition);
        self
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

    /// The columns, each prefixed with the table's alias.
    pub fn columns_of(&self, alias: &str) -> String {
        self.columns.iter().map(|c| format!("{alias}.{c}")).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn sql(&self) -> &Statements {
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
