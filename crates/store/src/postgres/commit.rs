//! How a transaction ends: alone, or together with those of other workspaces.

use std::cell::Cell;

use super::group::{self, Done};
use super::{Epoch, Postgres, SharedLinks, State};
use crate::db::{Db, Error, Result};

/// The workspace that a connection writes.
pub(super) struct Owned {
    pub(super) epoch: Epoch,
    /// The number of the last transaction that was committed.
    pub(super) batch: Cell<u64>,
    /// A commit whose answer was lost.
    pub(super) unknown: Cell<bool>,
    /// What keeps the epoch from passing, for a program that is no host.
    _kept: Option<Box<dyn Send>>,
}

impl Postgres {
    /// Whether the pending changes are all there is in the transaction, and can be made together
    /// with those of other workspaces.
    pub(super) fn is_groupable(&self) -> bool {
        let wanted = matches!(self.state.get(), State::Wanted(_));
        let rows = self.buffer.borrow().len();
        self.shared.is_some() && wanted && !self.wary.get() && (1..=group::FEW).contains(&rows)
    }

    fn commit_together(&self, shared: &SharedLinks, owned: &Owned) -> Result<()> {
        let rows = std::mem::take(&mut *self.buffer.borrow_mut());
        self.reset();
        let done = shared.group()?.commit(rows, owned.epoch);
        match done {
            Done::Committed => owned.count(),
            Done::Failed(why @ Error::Lost(_)) => {
                self.lost.set(true);
                return Err(why);
            }
            Done::Failed(why @ (Error::Fenced(_) | Error::Full(_))) => return Err(why),
            Done::Failed(why) => {
                self.wary.set(true);
                return Err(Error::Refused(why.to_string()));
            }
            Done::Unknown(why) => {
                self.lost.set(true);
                owned.unknown.set(true);
                return Err(Error::Lost(why));
            }
        }
        Ok(())
    }

    pub(super) fn commit_now(&self) -> Result<()> {
        if let (true, Some(shared), Some(owned)) = (self.is_groupable(), &self.shared, &self.owned)
        {
            return self.commit_together(shared, owned);
        }
        self.write_out()?;
        let open = self.state.get() == State::Open;
        if self.failed.get() {
            // PostgreSQL would report success although it has rolled back.
            return Err(Error::Engine("a statement of the transaction failed".to_owned()));
        }
        if !open {
            self.reset();
            return Ok(());
        }
        let words = match &self.owned {
            Some(owned) => group::commit_words(&[owned.epoch]),
            None => "COMMIT".to_owned(),
        };
        self.commit_with(&words).inspect_err(|why| {
            if let (Error::Lost(_), Some(owned)) = (why, &self.owned) {
                owned.unknown.set(true);
            }
        })?;
        self.wary.set(false);
        self.owned.iter().for_each(Owned::count);
        Ok(())
    }

    /// Ends the transaction with these words. When its fate is unknown the connection is lost.
    pub(super) fn commit_with(&self, words: &str) -> Result<()> {
        self.reset();
        match self.link().and_then(|link| link.run(words)) {
            Ok(()) => Ok(()),
            // The server has not come to the words that commit.
            Err(why @ (Error::Fenced(_) | Error::Full(_))) => {
                self.state.set(State::Open);
                self.rollback()?;
                Err(why)
            }
            // Whatever the error is, only the number of the last transaction tells its fate.
            Err(why) => {
                self.lost.set(true);
                Err(Error::Lost(why.to_string()))
            }
        }
    }
}

impl Owned {
    pub(super) fn of(epoch: Epoch, kept: Option<Box<dyn Send>>) -> Self {
        Self { epoch, batch: Cell::new(epoch.batch), unknown: Cell::new(false), _kept: kept }
    }

    /// The next transaction is committed.
    fn count(&self) {
        self.batch.set(self.batch.get() + 1);
    }
}
