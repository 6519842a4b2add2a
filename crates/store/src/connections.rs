//! The connections to a database that the workspaces of a host share, beside the host's own.

use std::fmt;
use std::sync::Arc;

use crate::Place;
use crate::db::Sync;
use crate::postgres::{Address, SharedLinks};
use crate::reader::Pool;

/// A few for all of them, however many are open; each is made when it is needed.
#[derive(Clone)]
pub struct Connections {
    pub(crate) readers: Arc<Pool>,
    pub(crate) writers: Arc<SharedLinks>,
}

impl Connections {
    pub fn of(address: &Arc<Address>, sync: Sync) -> Self {
        Self {
            readers: Arc::new(Pool::new(Place::Postgres(address.clone()))),
            writers: SharedLinks::new(address, sync),
        }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connections")
    }
}
