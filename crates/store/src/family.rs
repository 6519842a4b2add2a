//! A family of tables: everything that is stored of one kind of thing, declared in one value.
//!
//! Each file of tables has its `FAMILY`, and `families` lists them. To record a batch, load the
//! directory, trim a log or check the workspace, the store goes through that list.

use chorus_core::model::ids::Timestamp;
use chorus_core::state::directory::Directory;
use chorus_core::state::room::{Dirty, Room};
use chorus_core::state::workspace::Changes;

use crate::db::{Db, Result, Table};
use crate::doctor::report::Report;
use crate::schema::Since;
use crate::tenant::Tenant;

/// Writes what a batch changed in the workspace.
type Record = fn(&dyn Db, i64, &Changes) -> Result<()>;

/// Writes what a batch changed in one conversation. The rows are read from the room.
type RecordRoom = fn(&dyn Db, i64, &Room, &Dirty) -> Result<()>;

/// Replaces this family's part of the directory with what is stored.
type Load = fn(&dyn Db, i64, &mut Directory, Timestamp) -> Result<()>;

/// Reports what is wrong with this family's rows of the workspace.
type Check = fn(&Whole<'_>, &mut Report) -> Result<()>;

/// The workspace that a [`Check`] examines.
pub(crate) struct Whole<'a> {
    pub(crate) db: &'a dyn Db,
    pub(crate) tenant: &'a Tenant,
    pub(crate) everybody: &'a Directory,
}

/// The tables of one kind of thing, and what is done with them.
pub(crate) struct Family {
    /// The first version that has all these tables with all their columns.
    pub(crate) since: Since,
    pub(crate) tables: &'static [&'static Table],
    pub(crate) record: Option<Record>,
    pub(crate) record_room: Option<RecordRoom>,
    pub(crate) load: Option<Load>,
    pub(crate) check: Option<Check>,
}

impl Family {
    /// Tables that no list but that of all tables is concerned with.
    pub(crate) const fn of(since: Since, tables: &'static [&'static Table]) -> Self {
        Self { since, tables, record: None, record_room: None, load: None, check: None }
    }

    /// Changes of the workspace are written by `record`, before the conversations' logs.
    pub(crate) const fn recorded(mut self, record: Record) -> Self {
        self.record = Some(record);
        self
    }

    /// Changes of a conversation are written by `record`, after its log.
    pub(crate) const fn recorded_in_rooms(mut self, record: RecordRoom) -> Self {
        self.record_room = Some(record);
        self
    }

    /// The directory has all of them in memory.
    pub(crate) const fn loaded(mut self, load: Load) -> Self {
        self.load = Some(load);
        self
    }

    /// The doctor examines them beside the conversations.
    pub(crate) const fn checked(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }
}
