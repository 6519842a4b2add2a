//! Collects a batch's row changes until they are written with one statement per table.
//!
//! Invariant: each key occurs once among the written or removed rows, with its latest value, and
//! keys are sorted, so that two writers would lock rows in the same order. Removals are written
//! before insertions, so nothing is removed that was inserted and not yet written.

use std::collections::BTreeMap;

use super::value::{Column, Kept};
use crate::db::{RowChange, Table, Value};

#[derive(Default)]
pub(super) struct Buffer {
    /// In the order of first use.
    tables: Vec<Rows>,
}

/// The pending changes of one table.
pub(super) struct Rows {
    pub(super) table: &'static Table,
    inserted: Vec<Vec<Kept>>,
    /// By key.
    placed: BTreeMap<Vec<u8>, Vec<Kept>>,
    /// The keys of removed rows.
    removed: BTreeMap<Vec<u8>, Vec<Kept>>,
}

impl Buffer {
    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Whether pending changes must be written before this one can be added.
    pub(super) fn stands_in_the_way(&self, table: &'static Table, change: RowChange) -> bool {
        let inserted = |rows: &Rows| rows.table.name == table.name && !rows.inserted.is_empty();
        change == RowChange::Remove && self.tables.iter().any(inserted)
    }

    pub(super) fn keep(&mut self, table: &'static Table, change: RowChange, values: &[Value<'_>]) {
        let at = self.tables.iter().position(|rows| rows.table.name == table.name);
        let at = at.unwrap_or_else(|| {
            self.tables.push(Rows {
                table,
                inserted: Vec::new(),
                placed: BTreeMap::new(),
                removed: BTreeMap::new(),
            });
            self.tables.len() - 1
        });
        let rows = &mut self.tables[at];
        let kept: Vec<Kept> = values.iter().map(Kept::from).collect();
        match change {
            RowChange::Insert => rows.inserted.push(kept),
            RowChange::Put => {
                let key = key(&values[..table.key]);
                rows.removed.remove(&key);
                rows.placed.insert(key, kept);
            }
            RowChange::Remove => {
                let key = key(values);
                rows.placed.remove(&key);
                rows.removed.insert(key, kept);
            }
        }
    }

    pub(super) fn take(&mut self) -> Vec<Rows> {
        std::mem::take(&mut self.tables)
    }
}

impl Rows {
    /// The statements to run, in order, each with its columns.
    pub(super) fn statements(self) -> impl Iterator<Item = (RowChange, Vec<Column>)> {
        let placed: Vec<_> = self.placed.into_values().collect();
        let removed: Vec<_> = self.removed.into_values().collect();
        [(RowChange::Remove, removed), (RowChange::Insert, self.inserted), (RowChange::Put, placed)]
            .into_iter()
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(change, rows)| (change, columns(rows)))
    }
}

fn columns(rows: Vec<Vec<Kept>>) -> Vec<Column> {
    let width = rows.first().map_or(0, Vec::len);
    let mut columns: Vec<_> = (0..width).map(|_| Column(Vec::with_capacity(rows.len()))).collect();
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.0.push(value);
        }
    }
    columns
}

/// A key as bytes with the same sort order as its values.
fn key(values: &[Value<'_>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.len() * 8);
    for value in values {
        match value {
            Value::Null => bytes.push(0),
            Value::Int(n) => {
                bytes.extend_from_slice(&(n.cast_unsigned() ^ (1 << 63)).to_be_bytes())
            }
            Value::Text(text) => {
                bytes.extend_from_slice(text.as_bytes());
                bytes.push(0);
            }
            Value::Blob(blob) => {
                bytes.extend_from_slice(blob);
                bytes.push(0);
            }
        }
    }
    bytes
}
