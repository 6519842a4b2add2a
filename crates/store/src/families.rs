//! All families of tables. The schema's tests fail for a table that is in none of them.

use chorus_core::model::ids::Timestamp;
use chorus_core::state::directory::Directory;

use crate::db::{Db, Result, Table};
use crate::family::Family;
use crate::tenant::Tenant;
use crate::{
    approval, asset, audit, conversation, departed, digest, directory, endpoint, event, inbox, job,
    ledger, listing, log_snapshot, message, open, pause, project, read_cursor, registration,
    schedule, stimulus, thread, token, told, turn, wake,
};

/// Those that every database has, in the order in which they are recorded, loaded and checked.
pub(crate) static ALL: &[&Family] = &[
    &directory::FAMILY,
    &registration::FAMILY,
    &pause::FAMILY,
    &asset::FAMILY,
    &project::FAMILY,
    &endpoint::FAMILY,
    &inbox::FAMILY,
    &audit::FAMILY,
    &approval::FAMILY,
    &token::FAMILY,
    &told::FAMILY,
    &wake::FAMILY,
    &listing::FAMILY,
    &job::FAMILY,
    &ledger::FAMILY,
    &event::FAMILY,
    &log_snapshot::FAMILY,
    &open::FAMILY,
    &conversation::FAMILY,
    &departed::FAMILY,
    &thread::FAMILY,
    &message::FAMILY,
    &turn::FAMILY,
    &schedule::FAMILY,
    &stimulus::FAMILY,
    &read_cursor::FAMILY,
    &digest::FAMILY,
];

/// The tables that every database has.
pub(crate) fn tables() -> impl Iterator<Item = &'static Table> {
    ALL.iter().flat_map(|family| family.tables.iter().copied())
}

/// The directory as of the last commit, with all sessions disconnected.
pub(crate) fn load(db: &dyn Db, tenant: &Tenant, now: Timestamp) -> Result<Directory> {
    let mut directory = directory::load(db, tenant, now)?;
    for load in ALL.iter().filter_map(|family| family.load) {
        load(db, tenant.key, &mut directory, now)?;
    }
    Ok(directory)
}
