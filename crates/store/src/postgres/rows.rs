//! Pipelined statements, and the rows of a batch.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;

use futures_util::StreamExt;
use futures_util::future::{join, join_all, join3};

use super::buffer::{self, Change};
use super::link::{Answer, Link, Typed};
use super::value::Shown;
use super::{Postgres, State, WRITING, statistics};
use crate::db::{Db, Error, Result, Row, RowChange, Table};

/// Statements sent at once. Up to thirty futures, `join_all` polls in order and so sends in order.
const AT_ONCE: usize = 24;

impl Postgres {
    /// Begins a transaction, with its first statement.
    pub(super) fn want(&self, how: &'static str) -> Result<()> {
        if self.state.get() != State::None {
            return Err(Error::Engine("a transaction is under way".to_owned()));
        }
        if self.is_closed() {
            return Err(self.gone());
        }
        self.state.set(State::Wanted(how));
        Ok(())
    }

    /// Sends a statement after the start of its transaction, and waits for its answer. Behind a
    /// pooler each is in one, for its settings.
    pub(super) fn send<T>(&self, link: &Link, run: impl Future<Output = Answer<T>>) -> Result<T> {
        if self.showing.get() {
            return Err(Error::Engine("a statement within the rows of another".to_owned()));
        }
        let (begin, end) = match self.state.get() {
            State::Open => return self.noting(link.wait(run)),
            State::None if !link.pooled => return self.noting(link.wait(run)),
            State::None => (WRITING, true),
            State::Wanted(begin) => (begin, false),
        };
        let begin = link.begin(begin);
        if end {
            let all = async {
                let end = link.client.batch_execute("COMMIT");
                let (begun, run, ended) = join3(link.client.batch_execute(&begin), run, end).await;
                begun.and(run).and_then(|run| ended.map(|()| run))
            };
            return self.noting(link.wait(all));
        }
        self.state.set(State::Open);
        let both = async {
            let (begun, run) = join(link.client.batch_execute(&begin), run).await;
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

    /// Passes the rows of a statement on. Behind a pooler it is in a transaction, for its settings,
    /// which ends once all rows were read: their number is not bounded, and nothing that comes after
    /// them is answered before.
    pub(super) fn show(
        &self,
        sql: &str,
        values: Vec<Typed<'_>>,
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        if self.state.get() != State::None || !self.link()?.pooled {
            return self.show_rows(sql, values, each);
        }
        self.want(WRITING)?;
        match self.show_rows(sql, values, each) {
            Ok(()) => {
                self.state.set(State::None);
                self.noting(self.link()?.run("COMMIT"))
            }
            Err(why) => {
                // What went wrong first is what is told.
                let _ = self.rollback();
                Err(why)
            }
        }
    }

    fn show_rows(
        &self,
        sql: &str,
        values: Vec<Typed<'_>>,
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        let link = self.link()?;
        let run = self.noting(link.query(sql, values))?;
        let mut rows = pin!(self.send(&link, run)?);
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

    /// Writes the buffered changes.
    pub(super) fn write_rows(&self) -> Result<()> {
        let rows = std::mem::take(&mut *self.buffer.borrow_mut());
        self.write(&buffer::changes(&[&rows]))
    }

    /// Makes these changes, with one statement per table and kind of change.
    pub(super) fn write(&self, changes: &[Change<'_>]) -> Result<()> {
        let statements = changes.iter().map(|change| self.over_arrays(change.table, change.how));
        let statements = statements.collect::<Result<Vec<_>>>()?;
        let link = self.link()?;
        let all: Vec<_> = statements.iter().zip(changes).collect();
        for some in all.chunks(AT_ONCE) {
            let run = some.iter().map(|(sql, change)| {
                let typed = change.columns.iter().map(|column| (column as _, column.ty()));
                link.execute(sql, typed.collect())
            });
            let run = self.noting(run.collect::<Result<Vec<_>>>())?;
            let written = async { join_all(run).await.into_iter().collect::<Answer<Vec<_>>>() };
            self.send(&link, written)?;
        }
        statistics::wrote(&self.address, changes.iter().map(Change::rows).sum());
        Ok(())
    }

    /// The statement that makes one kind of change to many rows, with an array for each column.
    fn over_arrays(&self, table: &'static Table, how: RowChange) -> Result<String> {
        if let Some(known) = self.link()?.arrays.borrow().get(&(table.name, how)) {
            return Ok(known.clone());
        }
        let Table { name, columns, key, .. } = table;
        let columns = if how == RowChange::Remove { &columns[..*key] } else { columns };
        let arrays = columns
            .iter()
            .zip(1..)
            .map(|(column, n)| Ok(format!("${n}::{}[]", self.type_of(name, column)?)));
        let arrays = arrays.collect::<Result<Vec<_>>>()?.join(", ");
        let sql = match how {
            RowChange::Remove => {
                let same: Vec<_> =
                    columns.iter().map(|c| format!("{name}.{c} = keys.{c}")).collect();
                let (key, same) = (columns.join(", "), same.join(" AND "));
                format!("DELETE FROM {name} USING unnest({arrays}) AS keys ({key}) WHERE {same}")
            }
            how => {
                let places: Vec<_> = (1..=columns.len()).map(|n| format!("${n}")).collect();
                let one_row = format!("VALUES ({})", places.join(", "));
                table.statement(how).replace(&one_row, &format!("SELECT * FROM unnest({arrays})"))
            }
        };
        self.link()?.arrays.borrow_mut().insert((table.name, how), sql.clone());
        Ok(sql)
    }
}

impl Postgres {
    /// The type of a column, of which all are read at once.
    fn type_of(&self, table: &str, column: &str) -> Result<String> {
        let known = || {
            let link = self.link()?;
            let types = link.types.borrow();
            Ok::<_, Error>(types.get(table).and_then(|columns| columns.get(column)).cloned())
        };
        if let Some(ty) = known()? {
            return Ok(ty);
        }
        let db: &dyn Db = self;
        let sql = "SELECT table_name::text, column_name::text, data_type::text
            FROM information_schema.columns WHERE table_schema = current_schema()";
        let mut types: HashMap<String, HashMap<String, String>> = HashMap::new();
        db.query(sql, &[], &mut |row| {
            let columns = types.entry(row.text(0)?.to_owned()).or_default();
            columns.insert(row.text(1)?.to_owned(), row.text(2)?.to_owned());
            Ok(())
        })?;
        *self.link()?.types.borrow_mut() = types;
        known()?.ok_or_else(|| Error::Engine(format!("the table {table} has no column {column}")))
    }
}

/// Marks the end of reading rows, even after a panic.
struct Shows<'a>(&'a Postgres);

impl Drop for Shows<'_> {
    fn drop(&mut self) {
        self.0.showing.set(false);
    }
}
