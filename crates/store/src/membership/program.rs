//! Owning a workspace without serving it: for an import, a repair, a restore.

use std::sync::Arc;
use std::time::Duration;

use super::{JoinError, Joining, LEASE, Membership};
use crate::Tenant;
use crate::db::{Error, Result, Sync};
use crate::postgres::{Address, Postgres, wait};

/// How long it waits for an answer about its lease.
const GIVE_UP: Duration = Duration::from_secs(30);
/// How often it is looked whether the workspace can be had.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The connection of a program that owns the workspace as long as this lives. Refused while a host
/// has it.
pub fn writer(address: &Arc<Address>, sync: Sync) -> Result<Postgres> {
    let joining =
        Joining { peer: String::new(), url: String::new(), keys: Vec::new(), lease: LEASE };
    let membership = Membership::join(address, joining).map_err(|why| match why {
        JoinError::Database(why) => why,
        JoinError::OtherKeys => Error::Engine("other hosts have other keys".to_owned()),
    })?;
    let mut left = None;
    loop {
        let taken = wait(membership.take(Tenant::OWN), GIVE_UP);
        let gone = || Error::Lost("the lease has ended".to_owned());
        if let Some(owned) = taken.ok_or_else(gone)?.map_err(|_| gone())?? {
            return Postgres::owner(address, sync, owned.epoch, Some(Box::new(membership)));
        }
        // A host that has just been killed is there until its lease ends. One that renews it is up.
        let now = membership.view().borrow().owner(Tenant::OWN).map(|owner| owner.left);
        if left.is_some() && now > left {
            return Err(Error::Engine(
                "it is in use by another running host; stop that one, or use another database"
                    .to_owned(),
            ));
        }
        left = now;
        std::thread::sleep(LOOK_AGAIN);
    }
}
