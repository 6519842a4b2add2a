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
struct Rows {
    table: &'static Table,
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

    /// How many rows are pending.
    pub(super) fn len(&self) -> usize {
        let of = |rows: &Rows| rows.inserted.len() + rows.placed.len() + rows.removed.len();
        self.tables.iter().map(of).sum()
    }
}

/// What one statement does: one kind of change to rows of a table.
pub(super) struct Change<'a> {
    pub(super) table: &'static Table,
    pub(super) how: RowChange,
    pub(super) columns: Vec<Column<'a>>,
}

impl Change<'_> {
    pub(super) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.0.len())
    }
}

/// The statements that make all these pending changes, in order.
pub(super) fn changes<'a>(buffers: &[&'a Buffer]) -> Vec<Change<'a>> {
    let mut tables: Vec<&'static Table> = Vec::new();
    for rows in buffers.iter().flat_map(|buffer| &buffer.tables) {
        if !tables.iter().any(|table| table.name == rows.table.name) {
            tables.push(rows.table);
        }
    }
    let mut changes = Vec::new();
    for table in tables {
        let of = |how| {
            let all = buffers.iter().flat_map(|buffer| &buffer.tables);
            let rows = all.filter(|rows| rows.table.name == table.name);
            rows.flat_map(move |rows| rows.of(how)).collect::<Vec<_>>()
        };
        for how in [RowChange::Remove, RowChange::Insert, RowChange::Put] {
            let rows = of(how);
            if !rows.is_empty() {
                changes.push(Change { table, how, columns: columns(&rows) });
            }
        }
    }
    changes
}

impl Rows {
    fn of(&self, how: RowChange) -> Box<dyn Iterator<Item = &[Kept]> + '_> {
        match how {
            RowChange::Insert => Box::new(self.inserted.iter().map(Vec::as_slice)),
            RowChange::Put => Box::new(self.placed.values().map(Vec::as_slice)),
            RowChange::Remove => Box::new(self.removed.values().map(Vec::as_slice)),
        }
    }
}

fn columns<'a>(rows: &[&'a [Kept]]) -> Vec<Column<'a>> {
    let width = rows.first().map_or(0, |row| row.len());
    (0..width).map(|at| Column(rows.iter().map(|row| &row[at]).collect())).collect()
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
