//! Repairs data that does not match the logs (channels spec "Persistence and recovery").
//!
//! The logs are authoritative and never changed. A damaged log is reported by the doctor, and
//! nothing of its conversation is touched. Projections of a log are rebuilt by the code that makes
//! them, a replay by the core's `Room::apply`. Data that is not in a log (deliveries, turns,
//! stimuli, digests, cursors) is changed until its invariants hold, so that no obligation is lost
//! and nothing is posted twice.
//!
//! Invariants: each conversation is repaired in one transaction together with its audit entries, so
//! that an interrupted repair can simply run again; and where nothing is wrong nothing is written.

mod deliveries;
mod digests;
mod indexes;
mod operator;
pub(crate) mod part;
mod projections;
mod queue;
mod strings;
mod threads;
mod wakes;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use chorus_core::model::audit::{Action, Record};
use chorus_core::model::ids::{ConversationKey, EventRef, Seq, Timestamp};
use chorus_core::state::directory::Directory;
pub use part::{Part, Repair};

use crate::clock::{Clock, SystemClock};
use crate::db::{Db, Error, Result, Sync};
use crate::facts::Stored;
use crate::open_error::OpenError;
use crate::sqlite::{Folder, Sqlite};
use crate::{
    Place, Tenant, audit, conversation, directory, membership, newest, schema, search, turn,
};

/// Repairs a place that no host uses; its folder `data` is locked meanwhile. All logs are replayed
/// completely.
pub fn repair(place: &Place, data: &Path) -> Result<Vec<Repair>, OpenError> {
    let database = |why| OpenError::Database { place: place.clone(), why };
    place.must_be_there().map_err(database)?;
    let hold = || Folder::hold(data).map_err(OpenError::Folder);
    let _held = data.is_dir().then(hold).transpose()?;
    let is_file = matches!(place, Place::Folder { .. });
    // Read-only, so that a refused place is unchanged, including its write-ahead log, whose end may
    // be damaged.
    can_be_mended(place)?;
    let lost = newest::lost(place).map_err(database)?;
    let db: Box<dyn Db> = match place {
        Place::Folder { vfs, .. } => {
            let file = Folder::database_in(data);
            Box::new(Sqlite::writer(&file, vfs.as_ref(), Sync::Full).map_err(database)?)
        }
        Place::Postgres(address) => {
            Box::new(membership::writer(address, Sync::Full).map_err(database)?)
        }
    };
    let db: &dyn Db = &*db;
    let now = SystemClock.now();
    let tenant = directory::tenant(db, Tenant::OWN).map_err(database)?;
    let mut all = Vec::new();
    if let Some(lost) = lost {
        newest::accept(data, db, tenant.as_ref(), now).map_err(database)?;
        let what = format!(
            "{lost}; the workspace continues with what is left, and earlier turns are void"
        );
        all.push(Repair { part: Part::LogEnd, conversation: None, seq: None, what });
    }
    let Some(tenant) = tenant else { return Ok(all) };
    // First, because everything else is read through them.
    for _ in 0..indexes::ROUNDS {
        let Some(mended) = indexes::mend(db, &tenant, now).map_err(database)? else { break };
        all.push(mended);
    }
    let loaded = directory::load(db, &tenant, now)
        .and_then(|everybody| Ok((everybody, conversation::keys(db, tenant.key)?)));
    let (everybody, keys) = match loaded {
        // Members and conversations are not projections: the doctor reports the damage.
        Err(Error::Corrupt(_)) => return Ok(all),
        loaded => loaded.map_err(database)?,
    };
    let repairs = Repairs::new(db, &tenant, everybody, now);
    all.extend(repairs.each(keys, Depth::Log).map_err(database)?);
    all.extend(repairs.strings().map_err(database)?);
    all.extend(repairs.wakes().map_err(database)?);
    all.extend(repairs.operator(tenant.lead).map_err(database)?);
    if is_file && !all.is_empty() {
        // A head that was too far ahead is now corrected.
        newest::set(data, db).map_err(database)?;
    }
    if search::mend(data).map_err(database)? {
        let what = "the index was damaged and is rebuilt when the host runs".to_owned();
        all.push(Repair { part: Part::Search, conversation: None, seq: None, what });
    }
    Ok(all)
}

/// Refuses a place of another version.
fn can_be_mended(place: &Place) -> Result<(), OpenError> {
    let database = |why| OpenError::Database { place: place.clone(), why };
    let db = place.reader().map_err(database)?;
    if matches!(place, Place::Folder { .. }) && !newest::has(&*db, "migration").map_err(database)? {
        let why = "nothing is left in it; restore a backup into another folder".to_owned();
        return Err(database(Error::Engine(why)));
    }
    let found = schema::check(&*db, place.schema())
        .map_err(|why| OpenError::Schema { place: place.clone(), why })?;
    let known = place.schema().version();
    if found != known {
        let why = format!(
            "it is of version {found}, and what is mended is {known}: start this version's host on it first"
        );
        return Err(database(Error::Engine(why)));
    }
    Ok(())
}

/// Repairs what a restarting host needs: open events, and the work of open threads. The cost depends
/// on what is open; no log is replayed.
pub(crate) fn at_start(
    db: &dyn Db,
    tenant: &Tenant,
    everybody: &Directory,
    now: Timestamp,
) -> Result<Vec<Repair>> {
    let sql = "SELECT conversation FROM pending WHERE workspace = $1
        UNION SELECT conversation FROM public_turn WHERE workspace = $1
        UNION SELECT conversation FROM stimulus WHERE workspace = $1 AND state <= 2
        UNION SELECT conversation FROM thread WHERE workspace = $1 AND work IS NOT NULL
            AND status <> 4
        UNION SELECT conversation FROM event WHERE workspace = $1 AND kind IN (15, 16)
        ORDER BY conversation";
    let keys = db.all(sql, &[tenant.key.into()], |row| Ok(ConversationKey(row.int(0)?)))?;
    Repairs::new(db, tenant, everybody.clone(), now).each(keys, Depth::Open)
}

/// How much is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// Open events.
    Open,
    /// Everything, with a replay of the log.
    Log,
}

/// Shared data for repairing all conversations of a workspace.
struct Repairs<'a> {
    db: &'a dyn Db,
    workspace: i64,
    everybody: Arc<Directory>,
    now: Timestamp,
    /// The events that were settled according to the audit log, and when; read on first use.
    settled: OnceCell<HashMap<EventRef, Timestamp>>,
}

impl<'a> Repairs<'a> {
    fn new(db: &'a dyn Db, tenant: &Tenant, everybody: Directory, now: Timestamp) -> Self {
        let (workspace, everybody) = (tenant.key, Arc::new(everybody));
        Self { db, workspace, everybody, now, settled: OnceCell::new() }
    }

    fn each(&self, keys: Vec<ConversationKey>, depth: Depth) -> Result<Vec<Repair>> {
        let mut all = Vec::new();
        for key in keys {
            self.db.begin()?;
            let mut mend = Mend { of: self, key, found: Vec::new(), records: Vec::new() };
            let done = mend.conversation(depth).and_then(|()| mend.keep());
            match done {
                Ok(true) => all.append(&mut mend.found),
                Ok(false) => self.db.rollback()?,
                // It is the log, or data that cannot be rebuilt: the doctor reports it.
                Err(Error::Corrupt(_)) => self.db.rollback()?,
                Err(error) => {
                    // The original error is reported; a transaction that cannot be ended ends with
                    // the connection.
                    let _ = self.db.rollback();
                    return Err(error);
                }
            }
        }
        Ok(all)
    }

    /// When the event was settled according to the audit log, unless it was reopened.
    fn settled(&self, at: EventRef) -> Result<Option<Timestamp>> {
        if let Some(settled) = self.settled.get() {
            return Ok(settled.get(&at).copied());
        }
        let mut settled = HashMap::new();
        let mut each = |record: Record| match (record.event, record.act) {
            (Some(event), Action::Settle) => drop(settled.insert(event, record.at)),
            (Some(event), Action::Redeliver | Action::Claim) => drop(settled.remove(&event)),
            _ => {}
        };
        match audit::walk(self.db, self.workspace, &mut each, &mut |_, _| {}) {
            Ok(_) | Err(Error::Corrupt(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(self.settled.get_or_init(|| settled).get(&at).copied())
    }
}

/// One conversation that is being repaired.
struct Mend<'a> {
    of: &'a Repairs<'a>,
    key: ConversationKey,
    found: Vec<Repair>,
    /// Further audit entries.
    records: Vec<Record>,
}

impl Mend<'_> {
    fn conversation(&mut self, depth: Depth) -> Result<()> {
        let told = match depth {
            Depth::Open => None,
            Depth::Log => match self.projections()? {
                Some(told) => Some(told),
                // Its log is damaged, so anything rebuilt from it would be wrong too.
                None => return Ok(()),
            },
        };
        let (db, workspace) = (self.of.db, self.of.workspace);
        let Some(head) = conversation::head(db, workspace, self.key)? else { return Ok(()) };
        if depth == Depth::Open {
            self.thread_work(&head)?;
        }
        self.deliveries(&head, told.as_ref())?;
        self.stimuli(&head)?;
        if told.is_some() {
            self.digests(&head)?;
            self.cursors(&head)?;
        }
        self.turns()
    }

    /// Turns last: they are compared with the open events as a host would load them.
    fn turns(&mut self) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let subjects = turn::subjects(db, workspace, key)?;
        for subject in subjects.iter().filter(|(_, reads)| !reads).map(|(subject, _)| *subject) {
            turn::put(db, workspace, key, subject, None)?;
            self.mended(Part::Turn, Some(subject), "it could not be read and is arbitrated again");
        }
        if subjects.is_empty() {
            return Ok(());
        }
        let stored = Stored::new(db, workspace, self.of.everybody.clone(), self.of.now);
        let Some(room) = stored.load(key)? else { return Ok(()) };
        for (subject, left) in room.stale_turns() {
            turn::put(db, workspace, key, subject, left.as_ref())?;
            self.mended(Part::Turn, Some(subject), "its run has ended, so the turn is free");
        }
        Ok(())
    }

    fn mended(&mut self, part: Part, seq: Option<Seq>, what: impl Into<String>) {
        let (conversation, what) = (Some(self.key), what.into());
        self.found.push(Repair { part, conversation, seq, what });
    }

    fn at(&self, seq: Seq) -> EventRef {
        EventRef { conversation: self.key, seq }
    }

    /// Commits the repairs, with a new version of the room and audit entries; false when there are
    /// none.
    fn keep(&mut self) -> Result<bool> {
        if self.found.is_empty() {
            return Ok(false);
        }
        let (db, workspace, now) = (self.of.db, self.of.workspace, self.of.now);
        if let Some(mut head) = conversation::head(db, workspace, self.key)? {
            head.version += 1;
            conversation::put_head(db, workspace, self.key, &head)?;
        }
        let mut records = std::mem::take(&mut self.records);
        records.extend(self.found.iter().map(|repair| {
            let place = self.at(repair.seq.unwrap_or_default());
            Record::repaired(now, Some(place), repair.part.name())
        }));
        let end = audit::head(db, workspace)?;
        audit::append(db, workspace, &end, now, &records)?;
        db.flush()?;
        db.commit()?;
        Ok(true)
    }
}
