//! Pipelined statements, and the rows of a batch.

use std::future::Future;
use std::pin::pin;

use futures_util::StreamExt;
use futures_util::future::{join, join_all};
use tokio_postgres::Statement;
use tokio_postgres::types::{ToSql, Type};

use super::link::Link;
use super::value::Shown;
use super::{Postgres, State};
use crate::db::{Error, Result, Row, RowChange, Table};

/// Statements sent at once. Up to thirty futures, `join_all` polls in order and so sends in order.
const AT_ONCE: usize = 24;

type Answer<T> = std::result::Result<T, tokio_postgres::Error>;

impl Postgres {
    /// Begins a transaction, with its first statement.
    pub(super) fn want(&self, how: &'static str) -> Result<()> {
        if self.state.get() != State::None {
            return Err(Error::Engine("a transaction is under way".to_owned()));
        }
        if self.link.borrow().client.is_closed() {
            return Err(self.gone());
        }
        self.state.set(State::Wanted(how));
        Ok(())
    }

    /// Sends a statement after the start of its transaction, and waits for its answer.
    pub(super) fn send<T>(&self, link: &Link, run: impl Future<Output = Answer<T>>) -> Result<T> {
        if self.showing.get() {
            return Err(Error::Engine("a statement within the rows of another".to_owned()));
        }
        let State::Wanted(begin) = self.state.get() else { return self.noting(link.wait(run)) };
        self.state.set(State::Open);
        let both = async {
            let (begun, run) = join(link.client.batch_execute(begin), run).await;
            begun.and(run)
        };
        self.noting(link.wait(both))
    }

    /// Records that a statement of the transaction failed, or that the connection is lost.
    pub(super) fn noting<T>(&self, answer: Result<T>) -> Result<T> {
        if matches!(answer, Err(Error::Lost(_))) {
            self.lost.set(true);
        }
        if answer.is_err() && self.state.get() != State::None {
            self.failed.set(true);
        }
        answer
    }

    pub(super) fn show<'v>(
        &self,
        sql: &str,
        values: impl ExactSizeIterator<Item = &'v (dyn ToSql + Sync)>,
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        let link = self.link.borrow();
        let statement = self.noting(link.prepare(sql))?;
        let rows = self.send(&link, link.client.query_raw(&statement, values))?;
        let mut rows = pin!(rows);
        self.showing.set(true);
        let _shown = Shows(self);
        loop {
            let next = link.wait(async { rows.next().await.transpose() });
            match self.noting(next)? {
                Some(row) => each(&Shown(row))?,
                None => return Ok(()),
            }
        }
    }

    /// Writes the buffered changes, with one statement per table and kind of change.
    pub(super) fn write_rows(&self) -> Result<()> {
        if self.buffer.borrow().is_empty() {
            return Ok(());
        }
        let link = self.link.borrow();
        let mut prepared = Vec::new();
        for rows in self.buffer.borrow_mut().take() {
            let table = rows.table;
            for (how, columns) in rows.statements() {
                prepared.push((self.noting(over_arrays(&link, table, how))?, columns));
            }
        }
        for some in prepared.chunks(AT_ONCE) {
            let client = &link.client;
            // The transaction id is requested once it has written.
            let ask = self.state.get() != State::None && self.number.borrow().is_none();
            let run = join_all(some.iter().map(|(statement, columns)| async move {
                client.execute_raw(statement, columns).await.map(drop)
            }));
            let written = async {
                let (written, number) = join(run, number(&link, ask)).await;
                written.into_iter().collect::<Answer<()>>()?;
                number
            };
            if let Some(number) = self.send(&link, written)? {
                *self.number.borrow_mut() = Some(number);
            }
        }
        Ok(())
    }
}

/// The id of the current transaction.
pub(super) async fn number(link: &Link, ask: bool) -> Answer<Option<String>> {
    if !ask {
        return Ok(None);
    }
    let answer = link.client.simple_query("SELECT pg_current_xact_id()").await?;
    Ok(answer.iter().find_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    }))
}

/// Marks the end of reading rows, even after a panic.
struct Shows<'a>(&'a Postgres);

impl Drop for Shows<'_> {
    fn drop(&mut self) {
        self.0.showing.set(false);
    }
}

/// The statement that makes one kind of change to many rows, with an array for each column.
fn over_arrays(link: &Link, table: &Table, how: RowChange) -> Result<Statement> {
    if let Some(known) = link.arrays.borrow().get(&(table.name, how)) {
        return Ok(known.clone());
    }
    // The single-row statement tells the column types.
    let one = link.prepare(table.statement(how))?;
    let arrays = one.params().iter().zip(1..).map(|(ty, n)| {
        let ty = match *ty {
            Type::INT8 => "bigint",
            Type::TEXT => "text",
            Type::BYTEA => "bytea",
            ref other => return Err(Error::Engine(format!("a column of type {other}"))),
        };
        Ok(format!("${n}::{ty}[]"))
    });
    let arrays = arrays.collect::<Result<Vec<_>>>()?.join(", ");
    let Table { name, columns, key, .. } = table;
    let sql = match how {
        RowChange::Remove => {
            let key = &columns[..*key];
            let same: Vec<_> = key.iter().map(|c| format!("{name}.{c} = keys.{c}")).collect();
            let (key, same) = (key.join(", "), same.join(" AND "));
            format!("DELETE FROM {name} USING unnest({arrays}) AS keys ({key}) WHERE {same}")
        }
        how => {
            let places: Vec<_> = (1..=columns.len()).map(|n| format!("${n}")).collect();
            let one_row = format!("VALUES ({})", places.join(", "));
            table.statement(how).replace(&one_row, &format!("SELECT * FROM unnest({arrays})"))
        }
    };
    let statement = link.prepare(&sql)?;
    link.arrays.borrow_mut().insert((table.name, how), statement.clone());
    Ok(statement)
}
