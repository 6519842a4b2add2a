//! Connections that the writers of several workspaces share: each has one for as long as a transaction.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::address::Address;
use super::group::Group;
use super::link::{Link, Use};
use crate::db::{Error, Result, Sync};

/// Connections at one time. A batch takes a few milliseconds.
const AT_MOST: usize = 6;

/// The writers' connections of a host to one database.
pub struct SharedLinks {
    pub(super) address: Arc<Address>,
    pub(super) what: Use,
    state: Mutex<State>,
    returned: Condvar,
    /// Commits what needs no more than that. It is made when it is needed.
    group: Mutex<Option<Arc<Group>>>,
}

#[derive(Default)]
struct State {
    idle: Vec<Link>,
    lent: usize,
}

impl SharedLinks {
    pub fn new(address: &Arc<Address>, sync: Sync) -> Arc<Self> {
        Arc::new(Self {
            address: address.clone(),
            what: Use::Write(sync),
            state: Mutex::default(),
            returned: Condvar::new(),
            group: Mutex::default(),
        })
    }

    pub(super) fn group(&self) -> Result<Arc<Group>> {
        let mut group = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = &*group {
            return Ok(group.clone());
        }
        let started = Arc::new(Group::start(&self.address, self.what)?);
        Ok(group.insert(started).clone())
    }

    /// A place for a connection, and the connection if one is idle; waits for it. Whoever has the place gives it back.
    pub(super) fn borrow(&self, within: Duration) -> Result<Option<Link>> {
        let until = Instant::now() + within;
        let mut state = self.state();
        while state.lent >= AT_MOST {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Lost("all connections are in use".to_owned()));
            }
            let waited = self.returned.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.lent += 1;
        state.idle.retain(|link| !link.client.is_closed());
        Ok(state.idle.pop())
    }

    /// Takes a place back, and the connection unless it is unusable.
    pub(super) fn give_back(&self, link: Option<Link>) {
        let mut state = self.state();
        state.lent -= 1;
        state.idle.extend(link.filter(|link| !link.client.is_closed()));
        drop(state);
        self.returned.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
