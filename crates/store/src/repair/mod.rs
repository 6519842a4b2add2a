//! Mends what stands beside the logs and does not fit them (channels spec "Persistence and recovery").
//!
//! The logs are the truth and are never changed: one that is damaged is named by the doctor, and nothing of its
//! conversation is touched. What is a projection of a log is made again by the code that makes it, a replay by the
//! core's `Room::apply`; what is not in a log (deliveries, turns, stimuli, digests, cursors) is brought to where
//! its invariants hold, so that nothing is lost that is owed and nothing is said twice.
//!
//! Invariants: each conversation is mended in one transaction, with its entries in the audit log, so that whoever is
//! killed meanwhile can begin again; and where nothing is wrong nothing is written.

mod deliveries;
mod digests;
mod indexes;
mod operator;
pub(crate) mod part;
mod projections;
mod queue;
mod strings;
mod threads;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use chorus_core::model::audit::{Action, Record};
use chorus_core::model::ids::{ConversationKey, EventRef, Seq, Timestamp};
use chorus_core::state::directory::Directory;

use crate::clock::{Clock, SystemClock};
use crate::db::{Db, Error, Result, Sync};
use crate::facts::Stored;
use crate::open_error::OpenError;
use crate::postgres::Postgres;
use crate::sqlite::{Folder, Sqlite};
use crate::{Place, Tenant, audit, conversation, directory, newest, schema, search, turn};
pub use part::{Part, Repair};

/// Mends what is kept in a place that no host has: its folder `data` is held meanwhile. All of each log is replayed.
pub fn repair(place: &Place, data: &Path) -> Result<Vec<Repair>, OpenError> {
    let database = |why| OpenError::Database { place: place.clone(), why };
    place.must_be_there().map_err(database)?;
    let hold = || Folder::hold(data).map_err(OpenError::Folder);
    let _held = data.is_dir().then(hold).transpose()?;
    let is_file = matches!(place, Place::Folder { .. });
    // Only read, so that what is refused is as it was: the log too, whose end may be damaged.
    can_be_mended(place)?;
    let lost = newest::lost(place).map_err(database)?;
    let db: Box<dyn Db> = match place {
        Place::Folder { vfs, .. } => {
            let file = Folder::database_in(data);
            Box::new(Sqlite::writer(&file, vfs.as_deref(), Sync::Full).map_err(database)?)
        }
        Place::Postgres(address) => {
            Box::new(Postgres::writer(address, Sync::Full).map_err(database)?)
        }
    };
    let db: &dyn Db = &*db;
    let now = SystemClock.now();
    let tenant = directory::tenant(db).map_err(database)?;
    let mut all = Vec::new();
    if let Some(lost) = lost {
        newest::accept(data, db, tenant.as_ref(), now).map_err(database)?;
        let what = format!("{lost}; it goes on with what is there, and turns of before are void");
        all.push(Repair { part: Part::LogEnd, conversation: None, seq: None, what });
    }
    let Some(tenant) = tenant else { return Ok(all) };
    // First, since all else is read through them.
    for _ in 0..indexes::ROUNDS {
        let Some(mended) = indexes::mend(db, &tenant, now).map_err(database)? else { break };
        all.push(mended);
    }
    let loaded = directory::load(db, &tenant, now)
        .and_then(|everybody| Ok((everybody, conversation::keys(db, tenant.key)?)));
    let (everybody, keys) = match loaded {
        // Who there is and what they speak in is no projection: the doctor names it.
        Err(Error::Corrupt(_)) => return Ok(all),
        loaded => loaded.map_err(database)?,
    };
    let repairs = Repairs::new(db, &tenant, everybody, now);
    all.extend(repairs.each(keys, Depth::Log).map_err(database)?);
    all.extend(repairs.strings().map_err(database)?);
    all.extend(repairs.operator(tenant.lead).map_err(database)?);
    if matches!(place, Place::Postgres(_)) && !all.is_empty() {
        // A host that was only away for a while must know that its rooms are not what they were.
        let sql = "UPDATE turn SET moved = moved + 1 WHERE workspace = $1";
        db.execute(sql, &[tenant.key.into()]).map_err(database)?;
    }
    if is_file && !all.is_empty() {
        // A head that was too far ahead is not any more.
        newest::set(data, db).map_err(database)?;
    }
    if search::mend(data).map_err(database)? {
        let what = "the index was damaged, and is made anew when the host runs".to_owned();
        all.push(Repair { part: Part::Search, conversation: None, seq: None, what });
    }
    Ok(all)
}

/// Whether it is of this version.
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

/// Mends what a host needs right that comes back to a place it has for itself: what is open, and the work of threads
/// that are not closed. That costs what is open, and no replay of a log.
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

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// What is open.
    Open,
    /// All there is, beside a replay of the log.
    Log,
}

/// What all conversations of a workspace are mended with.
struct Repairs<'a> {
    db: &'a dyn Db,
    workspace: i64,
    everybody: Arc<Directory>,
    now: Timestamp,
    /// Which events the audit log says were settled, and when; read when it is first asked.
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
                // It is the log, or what cannot be made again: the doctor names it.
                Err(Error::Corrupt(_)) => self.db.rollback()?,
                Err(error) => {
                    // What failed is told; a transaction that cannot be ended ends with the connection.
                    let _ = self.db.rollback();
                    return Err(error);
                }
            }
        }
        Ok(all)
    }

    /// When the audit log says that an event was settled, unless it was opened again.
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

/// One conversation that is mended.
struct Mend<'a> {
    of: &'a Repairs<'a>,
    key: ConversationKey,
    found: Vec<Repair>,
    /// What else the audit log has to know.
    records: Vec<Record>,
}

impl Mend<'_> {
    fn conversation(&mut self, depth: Depth) -> Result<()> {
        let told = match depth {
            Depth::Open => None,
            Depth::Log => match self.projections()? {
                Some(told) => Some(told),
                // Its log is damaged: what is made of that would be wrong too.
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

    /// Turns last: they are compared with what is open, as a host would load it.
    fn turns(&mut self) -> Result<()> {
        let (db, workspace, key) = (self.of.db, self.of.workspace, self.key);
        let subjects = turn::subjects(db, workspace, key)?;
        for subject in subjects.iter().filter(|(_, reads)| !reads).map(|(subject, _)| *subject) {
            turn::put(db, workspace, key, subject, None)?;
            self.mended(Part::Turn, Some(subject), "it could not be read, and is arbitrated anew");
        }
        if subjects.is_empty() {
            return Ok(());
        }
        let stored = Stored {
            db,
            workspace,
            directory: self.of.everybody.clone(),
            now: self.of.now,
            loaded: 0,
            earlier: None,
            damage: None,
        };
        let Some(room) = stored.load(key)? else { return Ok(()) };
        for (subject, left) in room.stale_turns() {
            turn::put(db, workspace, key, subject, left.as_ref())?;
            self.mended(Part::Turn, Some(subject), "its run is over, and the turn is free");
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

    /// Commits what was mended, with a new version of the room and its entries in the audit log; false when that is
    /// nothing.
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
