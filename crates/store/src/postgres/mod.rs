//! PostgreSQL as an engine: a database on a server, which several hosts may share.
//!
//! Invariant: a batch's changes are buffered, one row per key, and written with one statement per
//! table before anything is read and before the commit ([`Db::flush`]). Statements are pipelined: a
//! batch takes two round trips, for its rows and its commit (design section 3, "The store").
//!
//! A writer is the workspace's owner in one epoch. Each of its transactions ends with a statement
//! that checks the epoch and counts the transaction, in the message that commits it: an owner that
//! was replaced commits nothing, and holds no lock while the message is under way. The count also
//! tells what became of a commit whose answer was lost. Nothing is kept on a connection between two
//! transactions, so that a pooler may stand in between (`link`).

mod address;
mod buffer;
mod commit;
mod fault;
mod group;
mod link;
mod passfile;
mod rows;
mod shared;
mod statistics;
#[cfg(test)]
mod tests;
mod thread;
mod tls;
mod value;

use std::cell::{Cell, Ref, RefCell};
use std::path::Path;
use std::sync::Arc;

pub use address::{Address, AddressError};
use buffer::Buffer;
use commit::Owned;
use link::{Dialing, Link, MOMENT, STATEMENT, Typed, Use};
pub use shared::SharedLinks;
pub(crate) use thread::wait;

use crate::db::{Db, Error, Fate, Result, Row, RowChange, Sync, SyncLog, Table, Value};

/// One connection to the database.
pub struct Postgres {
    address: Arc<Address>,
    what: Use,
    /// None between the transactions of a workspace that shares connections.
    link: RefCell<Option<Link>>,
    shared: Option<Arc<SharedLinks>>,
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
    /// The last transaction's changes were refused: those of the next are made before its commit.
    wary: Cell<bool>,
    /// What this connection writes as the owner of.
    owned: Option<Owned>,
}

/// A workspace that this process owns, until its epoch passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    pub workspace: i64,
    pub number: u64,
    /// How many transactions its owners had committed before.
    pub batch: u64,
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

impl Postgres {
    /// The connection of a workspace's owner. `kept` lives as long as it does.
    pub(crate) fn owner(
        address: &Arc<Address>,
        sync: Sync,
        epoch: Epoch,
        kept: Option<Box<dyn Send>>,
    ) -> Result<Self> {
        let link = Link::open(address, Use::Write(sync))?;
        Ok(Self::of(address.clone(), Use::Write(sync), Some(link), Some(Owned::of(epoch, kept))))
    }

    /// An owner that has a connection as long as a transaction only.
    pub(crate) fn sharing(links: &Arc<SharedLinks>, epoch: Epoch) -> Self {
        let owned = Some(Owned::of(epoch, None));
        let mut this = Self::of(links.address.clone(), links.what, None, owned);
        this.shared = Some(links.clone());
        this
    }

    /// The connection by which a host joins the others and renews its lease.
    pub(crate) fn member(address: &Arc<Address>) -> Result<Self> {
        Self::open(address, Use::Member)
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
        Ok(Self::of(address.clone(), what, Some(Link::open(address, what)?), None))
    }

    fn of(address: Arc<Address>, what: Use, link: Option<Link>, owned: Option<Owned>) -> Self {
        Self {
            address,
            what,
            link: RefCell::new(link),
            shared: None,
            dialing: RefCell::default(),
            state: Cell::new(State::None),
            failed: Cell::new(false),
            lost: Cell::new(false),
            showing: Cell::new(false),
            buffer: RefCell::default(),
            wary: Cell::new(false),
            owned,
        }
    }

    /// The connection. One that is shared is had until the transaction ends.
    fn link(&self) -> Result<Ref<'_, Link>> {
        if self.link.borrow().is_none()
            && let Some(shared) = &self.shared
        {
            let had = shared.borrow(STATEMENT)?;
            let link = match had {
                Some(link) => link,
                None => Link::open(&shared.address, shared.what).map_err(|why| {
                    shared.give_back(None);
                    self.lost.set(true);
                    Error::Lost(why.to_string())
                })?,
            };
            *self.link.borrow_mut() = Some(link);
        }
        Ref::filter_map(self.link.borrow(), Option::as_ref).map_err(|_| self.gone())
    }

    /// Gives a shared connection back, between transactions.
    fn rest(&self) {
        if let Some(shared) = &self.shared
            && self.state.get() == State::None
            && !self.lost.get()
            && let Some(link) = self.link.take()
        {
            shared.give_back(Some(link));
        }
    }

    fn is_closed(&self) -> bool {
        self.link.borrow().as_ref().is_some_and(|link| link.client.is_closed())
    }

    /// A new connection, if there is one within a moment. Otherwise connecting continues until the
    /// next call.
    fn dial(&self) -> Result<Link> {
        let Some(shared) = &self.shared else { return self.dial_one() };
        if self.link.take().is_some() {
            shared.give_back(None);
        }
        match shared.borrow(MOMENT)? {
            Some(link) => Ok(link),
            None => self.dial_one().inspect_err(|_| shared.give_back(None)),
        }
    }

    fn dial_one(&self) -> Result<Link> {
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
        *self.buffer.borrow_mut() = Buffer::default();
    }

    /// Outside of a transaction an owner's statement is one of its own, which checks the epoch.
    fn alone<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.owned.is_none() || self.state.get() != State::None {
            return work();
        }
        self.begin()?;
        match work() {
            Ok(done) => self.commit().map(|()| done),
            Err(why) => {
                self.rollback()?;
                Err(why)
            }
        }
    }

    /// Makes all pending changes.
    fn write_out(&self) -> Result<()> {
        if self.buffer.borrow().is_empty() {
            return Ok(());
        }
        self.alone(|| self.write_rows())
    }

    fn gone(&self) -> Error {
        self.lost.set(true);
        Error::Lost("the connection was closed".to_owned())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared
            && self.link.take().is_some()
        {
            // Whatever is under way on it ends with it.
            shared.give_back(None);
        }
    }
}

impl Db for Postgres {
    fn change(&self, table: &'static Table, how: RowChange, values: &[Value<'_>]) -> Result<()> {
        if self.buffer.borrow().stands_in_the_way(table, how) {
            self.write_out()?;
        }
        self.buffer.borrow_mut().keep(table, how, values);
        // Outside of a transaction nothing marks the end of the changes.
        if self.state.get() == State::None { self.write_out() } else { Ok(()) }
    }

    /// Changes that are made together with others wait for the commit.
    fn flush(&self) -> Result<()> {
        if self.is_groupable() { Ok(()) } else { self.write_out() }
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<usize> {
        self.write_out()?;
        self.alone(|| {
            let link = self.link()?;
            let run = self.noting(link.execute(sql, typed(values)))?;
            let changed = self.send(&link, run)?;
            Ok(usize::try_from(changed).unwrap_or(usize::MAX))
        })
    }

    fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<()>,
    ) -> Result<()> {
        self.write_out()?;
        let shown = self.show(sql, typed(values), each);
        self.rest();
        shown
    }

    fn begin(&self) -> Result<()> {
        self.want(WRITING)
    }

    fn begin_reading(&self) -> Result<()> {
        self.want(READING)
    }

    fn defer_sync(&self) -> Result<Option<SyncLog>> {
        Ok(None)
    }

    fn commit(&self) -> Result<()> {
        let done = self.commit_now();
        self.rest();
        done
    }

    fn rollback(&self) -> Result<()> {
        let open = self.state.get() == State::Open;
        self.reset();
        if self.is_closed() {
            return Err(self.gone());
        }
        let done = if open { self.noting(self.link()?.run("ROLLBACK")) } else { Ok(()) };
        self.rest();
        done
    }

    fn is_lost(&self) -> bool {
        self.lost.get() || self.is_closed()
    }

    fn recover(&self) -> Result<Fate> {
        self.reset();
        self.lost.set(true);
        let link = self.dial()?;
        *self.link.borrow_mut() = Some(link);
        let Some(Owned { epoch, batch, unknown, .. }) = &self.owned else {
            self.lost.set(false);
            return Ok(Fate::Undone);
        };
        // A transaction that is under way at a connection's other end is waited for.
        let db: &dyn Db = self;
        let sql = "SELECT epoch, batch FROM workspace_owner WHERE workspace = $1 FOR UPDATE";
        let read = |row: &dyn Row| Ok((row.int::<u64>(0)?, row.int::<u64>(1)?));
        let owner = db.one(sql, &[epoch.workspace.into()], read)?;
        let Some((_, done)) = owner.filter(|(number, _)| *number == epoch.number) else {
            return Err(Error::Fenced("its epoch has passed".to_owned()));
        };
        let committed = unknown.get() && done == batch.get() + 1;
        if !committed && done != batch.get() {
            // As after a failover to a standby that had not received everything.
            let why = "the database is not where this host left it";
            return Err(Error::Fenced(why.to_owned()));
        }
        batch.set(done);
        unknown.set(false);
        self.lost.set(false);
        self.rest();
        Ok(if committed { Fate::Committed } else { Fate::Undone })
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

fn typed<'a>(values: &'a [Value<'_>]) -> Vec<Typed<'a>> {
    values.iter().map(|value| (value as _, value.ty())).collect()
}
