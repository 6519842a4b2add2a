//! One batch: commands are decided in memory, their rows written, and committed once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use chorus_core::model::audit::{Record, Weight};
use chorus_core::model::ids::{ConversationKey, EventRef, Timestamp};
use chorus_core::state::directory::Directory;
use chorus_core::state::effect::Effect;
use chorus_core::state::facts::Unavailable;
use chorus_core::state::workspace::Workspace;

use super::job::Job;
use crate::audit::AuditHead;
use crate::damage::Damage;
use crate::db::{Db, Error};
use crate::facts::Stored;
use crate::record::record;

/// Commands between two writes within a batch. A room remembers its newest 64 events; anything that
/// a later command of the batch may look up must be among them or written.
const STRIDE: usize = 32;
/// Audit entries that may wait for a transaction, and how long they do.
const SOFT: usize = 1_024;
const SOFT_MS: i64 = 1_000;
/// Timers that fire in one batch.
pub(super) const TIMERS: usize = 256;

/// A batch before its commit.
pub(super) struct Batch<'a> {
    pub(super) workspace: &'a mut Workspace,
    /// The directory at its beginning. The present one is not held, because each change would then
    /// copy it.
    pub(super) before: &'a Arc<Directory>,
    pub(super) db: &'a dyn Db,
    pub(super) tenant: i64,
    pub(super) now: Timestamp,
    pub(super) damage: &'a Damage,
    /// Everything it has touched, to undo it if it fails.
    pub(super) trace: &'a mut Trace,
}

/// What a batch has touched so far. It survives a panic in the batch.
#[derive(Default)]
pub(super) struct Trace {
    /// Whether a transaction is open.
    pub(super) began: bool,
    /// Its commit, once that was begun: its number and when that was.
    pub(super) commit: Option<(u64, Instant)>,
    pub(super) rooms: BTreeSet<ConversationKey>,
    pub(super) effects: Vec<Effect>,
    pub(super) loaded: usize,
    /// The time at which it is decided.
    pub(super) now: Timestamp,
    /// Audit entries, in order.
    pub(super) records: Vec<Record>,
    /// One of them must be written with the transaction.
    pub(super) firm: bool,
    /// The end of the audit log after this batch is committed.
    pub(super) audited: Option<AuditHead>,
    /// Erased content must disappear from the files too.
    pub(super) scrubs: bool,
    /// The number of entries it adds to the logs.
    pub(super) entries: u64,
}

impl Trace {
    fn note(&mut self, record: Option<(Weight, Record)>) {
        if let Some((weight, record)) = record {
            self.firm |= weight == Weight::Firm;
            self.records.push(record);
        }
    }
}

/// The writer's view of the audit log.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) head: AuditHead,
    /// Entries that wait for the next transaction, and since when.
    soft: Vec<Record>,
    since: Option<Timestamp>,
    /// The host stops: nothing waits any longer.
    pub(super) closing: bool,
}

impl Ledger {
    pub(super) fn new(head: AuditHead) -> Self {
        Self { head, ..Self::default() }
    }

    /// When waiting entries are written if no transaction comes before.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.since.map(|since| since.plus(SOFT_MS))
    }

    fn is_due(&self, now: Timestamp) -> bool {
        self.closing || self.soft.len() >= SOFT || self.due().is_some_and(|due| due <= now)
    }

    /// The batch is committed: its audit entries are written or wait.
    pub(super) fn committed(&mut self, trace: &mut Trace) {
        let records = std::mem::take(&mut trace.records);
        match trace.audited.take() {
            Some(head) => {
                self.head = head;
                self.soft.clear();
                self.since = None;
            }
            None if records.is_empty() => {}
            None => {
                self.soft.extend(records);
                self.since.get_or_insert(trace.now);
            }
        }
    }
}

impl Batch<'_> {
    /// Executes the commands and writes their changes. Nothing is committed yet.
    pub(super) fn run(&mut self, jobs: &mut [Job]) -> Result<(), Error> {
        let now = self.now;
        for (n, job) in jobs.iter_mut().enumerate() {
            if n > 0 && n % STRIDE == 0 {
                self.write()?;
            }
            let executed = self.with_facts(|workspace, facts| job.execute(workspace, facts, now));
            self.trace.note(executed.map_err(engine)?);
        }
        self.write()
    }

    /// Fires due timers, for at most `limit` events, and writes the changes. Returns whether there
    /// may be more.
    pub(super) fn fire(&mut self, limit: usize) -> Result<bool, Error> {
        let mut left = limit;
        let now = self.now;
        while left > 0 && self.workspace.next_due().is_some_and(|due| due <= now) {
            let stride = STRIDE.min(left);
            let fired = self
                .with_facts(|workspace, facts| workspace.fire_due(facts, now, stride))
                .map_err(engine)?;
            self.write()?;
            left -= stride;
            if fired < stride {
                break;
            }
        }
        Ok(left == 0)
    }

    /// Writes the changes since the last call, within the batch's transaction.
    pub(super) fn write(&mut self) -> Result<(), Error> {
        let mut changes = self.workspace.take_changes();
        self.trace.effects.append(&mut changes.effects);
        if changes.records_nothing() {
            return Ok(());
        }
        self.trace.scrubs |= changes.removes_words();
        let entries: usize = changes.rooms.iter().map(|room| room.dirty.events.len()).sum();
        self.trace.entries += entries as u64;
        for room in &changes.rooms {
            for open in &room.dirty.receipts {
                let settled = crate::audit::settled(room.key, open, self.now);
                self.trace.note(Some((Weight::Firm, settled)));
            }
        }
        for room in &changes.rooms {
            for (member, seq) in &room.dirty.granted {
                let at = EventRef { conversation: room.key, seq: *seq };
                self.trace.note(Some((Weight::Firm, Record::granted(self.now, at, *member))));
            }
            for (member, seq) in &room.dirty.expired {
                let at = EventRef { conversation: room.key, seq: *seq };
                self.trace.note(Some((Weight::Firm, Record::expired(self.now, at, *member))));
            }
            for _ in 0..room.dirty.replaced {
                self.trace.note(Some((Weight::Firm, Record::replaced(self.now, room.key))));
            }
        }
        for wake in &changes.ended_wakes {
            self.trace.note(Some((Weight::Soft, Record::woken(self.now, wake))));
        }
        self.trace.rooms.extend(changes.rooms.iter().map(|r| r.key));
        self.trace.loaded += changes.rooms.iter().filter(|r| r.dirty.conversation).count();
        self.begin()?;
        record(self.db, self.tenant, self.workspace, &changes)
    }

    /// Writes one block of the audit log, if any entry must or may be written.
    pub(super) fn audit(&mut self, ledger: &Ledger) -> Result<(), Error> {
        let trace = &*self.trace;
        let nothing = ledger.soft.is_empty() && trace.records.is_empty();
        if nothing || !(trace.firm || trace.began || ledger.is_due(self.now)) {
            return Ok(());
        }
        let records = [&ledger.soft[..], &trace.records].concat();
        self.begin()?;
        let head = crate::audit::append(self.db, self.tenant, &ledger.head, self.now, &records)?;
        self.trace.audited = Some(head);
        Ok(())
    }

    /// Writes everything that the engine has buffered, so that failures occur before the commit.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        if self.trace.began { self.db.flush() } else { Ok(()) }
    }

    fn begin(&mut self) -> Result<(), Error> {
        if !self.trace.began {
            self.db.begin()?;
            self.trace.began = true;
        }
        Ok(())
    }

    fn with_facts<T>(&mut self, decide: impl FnOnce(&mut Workspace, &mut Stored<'_>) -> T) -> T {
        let directory = self.before.clone();
        let (db, workspace, now) = (self.db, self.tenant, self.now);
        let mut facts = Stored::new(db, workspace, directory, now).noting(self.damage);
        let decided = decide(self.workspace, &mut facts);
        self.trace.loaded += facts.loaded;
        decided
    }
}

fn engine(why: Unavailable) -> Error {
    Error::Engine(why.why)
}
