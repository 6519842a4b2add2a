//! PostgreSQL as an engine: a database on a server.
//!
//! Invariant: a batch's changes are buffered, one row per key, and written with one statement per
//! table before anything is read and before the commit ([`Db::flush`]). Statements are pipelined: a
//! batch takes two round trips, for its rows and its commit. If the answer to a commit is lost, its
//! fate is looked up by its transaction id (design section 3, "The store").
//!
//! A writer has the database exclusively: an advisory lock of its connection says so, and ends with
//! that connection.

mod address;
mod buffer;
mod fault;
mod link;
mod passfile;
mod rows;
#[cfg(test)]
mod tests;
mod thread;
mod tls;
mod value;

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use address::{Address, AddressError};
use buffer::Buffer;
use link::{Dialing, Link, Use};
use tokio_postgres::types::ToSql;

use crate::db::{Db, Error, Fate, Result, Row, RowChange, Sync, Table, Value};

/// One connection to the database.
pub struct Postgres {
    address: Arc<Address>,
    what: Use,
    link: RefCell<Link>,
    /// The next connection, while it is being made.
    dialing: RefCell<Option<Dialing>>,
    state: Cell<State>,
    /// A statement of the transaction failed, so it cannot be committed.
    failed: Cell<bool>,
    /// The connection is unusable.
    lost: Cell<bool>,
    /// Rows are being read: the connection is not free for another statement.
    showing: Cell<bool>,
    buffer: RefCell<Buffer>,
    /// The id of the write transaction, once it has written.
    number: RefCell<Option<String>>,
    /// The id of a commit whose answer was lost.
    unknown: RefCell<Option<String>>,
}

/// The state of the transaction. It begins with its first statement, in the same message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    None,
    Wanted(&'static str),
    Open,
}

const WRITING: &str = "BEGIN";
const READING: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The lock of a database's writer: this is the first number, the schema's is the second.
const LOCK: i32 = 0x0c40_5a05;

/// How long the server may take to notice that a writer with the lock has ended, and how often to
/// check.
const LET_GO: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

impl Postgres {
    /// An exclusive write connection. Refused while another writer has the database.
    pub fn writer(address: &Arc<Address>, sync: Sync) -> Result<Self> {
        let this = Self::open(address, Use::Write(sync))?;
        let until = Instant::now() + LET_GO;
        while !this.try_exclusive()? {
            if Instant::now() >= until {
                return Err(Error::Engine(
                    "it is in use by another running host; stop that one, or use another database"
                        .into(),
                ));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(this)
    }

    /// Takes the database exclusively for this connection; false when another has it.
    fn try_exclusive(&self) -> Result<bool> {
        let sql = format!("SELECT pg_try_advisory_lock({LOCK}, hashtext(current_schema()))::int");
        let db: &dyn Db = self;
        Ok(db.one(&sql, &[], |row| row.flag(0))?.unwrap_or(false))
    }

    /// A connection for interactive reads.
    pub fn reader(address: &Arc<Address>) -> Result<Self> {
        Self::open(address, Use::Read)
    }

    /// A connection for reading everything, however long it takes.
    pub fn examiner(address: &Arc<Address>) -> Result<Self> {
        Self::open(address, Use::Examine)
    }

    fn open(address: &Arc<Address>, what: Use) -> Result<Self> {
        Ok(Self {
            address: address.clone(),
            what,
            link: RefCell::new(Link::open(address, what)?),
            dialing: RefCell::default(),
            state: Cell::new(State::None),
            failed: Cell::new(false),
            lost: Cell::new(false),
            showing: Cell::new(false),
            buffer: RefCell::default(),
            number: RefCell::default(),
            unknown: RefCell::default(),
        })
    }

    /// A new connection, if there is one within a moment. Otherwise connecting continues until the
    /// next call.
    fn dial(&self) -> Result<Link> {
        let dialing = match self.dialing.take() {
            Some(dialing) => dialing,
            None => Dialing::begin(self.address.clone(), self.what)?,
        };
        match dialing.take() {
            None => {
                *self.dialing.borrow_mut() = Some(dialing);
                Err(Error::Lost("it does not answer yet".to_owned()))
            }
            // Whatever is wrong, such as a changed password or a starting server, its administrator
            // can fix it.
            Some(made) => made.map_err(|error| Error::Lost(error.to_string())),
        }
    }

    /// Resets the transaction's state in memory.
    fn reset(&self) {
        self.state.set(State::None);
        self.failed.set(false);
        self.buffer.borrow_mut().take();
        self.number.take();
    }

    fn gone(&self) -> Error {
        self.lost.set(true);
        Error::Lost("the connection was closed".to_owned())
    }
}

impl Db for Postgres {
    fn change(&self, table: &'static Table, how: RowChange, values: &[Value<'_>]) -> Result<()> {
        if self.buffer.borrow().stands_in_the_way(table, how) {
            self.flush()?;
        }
        self.buffer.borrow_mut().keep(table, how, values);
        // Outside of a transaction nothing marks the end of the changes.
        if self.state.get() == State::None { self.flush() } else { Ok(()) }
    }

    fn flush(&self) -> Result<()> {
        self.write_rows()
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize> {
        self.flush()?;
        let link = self.link.borrow();
        let statement = self.noting(link.prepare(sql))?;
        let run = link.client.execute_raw(&statement, values);
        let changed = self.send(&link, run)?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.flush()?;
        let values = values.iter().map(|value| value as &(dyn ToSql + std::marker::Sync));
        self.show(sql, values, each)
    }

    fn begin(&self) -> Result<()> {
        self.want(WRITING)
    }

    fn begin_reading(&self) -> Result<()> {
        self.want(READING)
    }

    fn commit(&self) -> Result<()> {
        self.flush()?;
        let open = self.state.get() == State::Open;
        if self.failed.get() {
            // PostgreSQL would report success although it has rolled back.
            return Err(Error::Engine("a statement of the transaction failed".to_owned()));
        }
        if !open {
            self.reset();
            return Ok(());
        }
        let mut number = self.number.take();
        if number.is_none() {
            let link = self.link.borrow();
            number = self.noting(link.wait(rows::number(&link, true)))?;
        }
        self.reset();
        let done = self.link.borrow().run("COMMIT");
        // Whatever the error is, only the transaction id tells its fate.
        done.map_err(|error| {
            self.lost.set(true);
            *self.unknown.borrow_mut() = number;
            Error::Lost(error.to_string())
        })
    }

    fn rollback(&self) -> Result<()> {
        let open = self.state.get() == State::Open;
        self.reset();
        let link = self.link.borrow();
        if link.client.is_closed() {
            return Err(self.gone());
        }
        if open { self.noting(link.run("ROLLBACK")) } else { Ok(()) }
    }

    fn is_lost(&self) -> bool {
        self.lost.get() || self.link.borrow().client.is_closed()
    }

    fn recover(&self) -> Result<Fate> {
        self.reset();
        self.lost.set(true);
        let before = self.link.borrow().backend.clone();
        *self.link.borrow_mut() = self.dial()?;
        let db: &dyn Db = self;
        // A broken connection may still be open at its other end, and hold the lock.
        let end = "SELECT pg_terminate_backend(pid)::int FROM pg_stat_activity
            WHERE pid = $1 AND backend_start::text = $2";
        let (process, since) = (i64::from(before.0), before.1);
        db.query(end, &[process.into(), since.as_str().into()], &mut |_| Ok(()))?;
        if !self.try_exclusive()? {
            return Err(Error::Lost("another connection holds it".to_owned()));
        }
        let Some(unknown) = self.unknown.borrow().clone() else {
            self.lost.set(false);
            return Ok(Fate::Undone);
        };
        // A crashed server may have forgotten that it issued this id, and restart below it; a query
        // for such an id fails. Ids that it knows are lower than that of the querying transaction.
        let status = "SELECT CASE WHEN $1::text::xid8 < pg_current_xact_id()
            THEN pg_xact_status($1::text::xid8) ELSE 'aborted' END";
        let status = db.one(status, &[unknown.as_str().into()], |row| {
            Ok(row.maybe_text(0)?.unwrap_or_default().to_owned())
        })?;
        let fate = match status.as_deref() {
            Some("aborted") => Fate::Undone,
            Some("in progress") => return Err(Error::Lost("a commit is under way".to_owned())),
            // Or it ended so long ago that its id is no longer known. Then its written data is
            // searched for.
            _ => Fate::Committed,
        };
        self.unknown.take();
        self.lost.set(false);
        Ok(fate)
    }

    /// The server itself vacuums dead rows.
    fn compact(&self) -> Result<()> {
        Ok(())
    }

    /// The rows no longer contain overwritten data. Old versions in the server's files, log and
    /// backups are the administrator's responsibility (docs/retention.md).
    fn thoroughly(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        work()
    }

    fn scrub(&self) -> Result<bool> {
        Ok(true)
    }

    fn housekeep(&self, _: bool) -> Result<bool> {
        Ok(false)
    }

    /// The server's pages cannot be examined from here.
    fn check_file(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn copy_to(&self, _: &Path, _: &mut dyn FnMut() -> bool) -> Result<bool> {
        Err(Error::Engine("back up a PostgreSQL database with pg_dump or its other tools".into()))
    }
}
