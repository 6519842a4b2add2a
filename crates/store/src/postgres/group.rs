//! Commits of several workspaces in one transaction: many small ones cost little more than one.
//!
//! Each writer waits for the commit of its own batch, and meanwhile those of other workspaces gather for the next. Rows
//! begin with their workspace, so no two batches of a group change the same one. The transaction ends with a statement
//! that checks the epochs of all.
//!
//! Invariant: a batch fails for its own reason only. When a group fails, each of its batches is tried alone.

#[cfg(test)]
mod tests;

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use super::address::Address;
use super::buffer::{self, Buffer};
use super::link::Use;
use super::{Epoch, Postgres};
use crate::db::{Db, Error, Result};

/// Threads that commit: while one waits for the disk, another sends the next group.
const THREADS: usize = 2;
/// Rows of a batch above which it is committed by itself, so that the others need not wait for it.
pub(super) const FEW: usize = 1_000;
/// Rows after which a group is full.
const MANY: usize = 8_000;

/// A batch to commit.
struct Part {
    rows: Buffer,
    epoch: Epoch,
    done: Sender<Done>,
}

/// What became of a batch.
#[derive(Clone, Debug)]
pub(super) enum Done {
    Committed,
    /// Nothing of it was written.
    Failed(Error),
    /// The answer to its commit was lost.
    Unknown(String),
}

/// Commits what writers send, on threads of its own, until it is dropped.
pub(super) struct Group {
    parts: Sender<Part>,
}

impl Group {
    pub(super) fn start(address: &Arc<Address>, what: Use) -> Result<Self> {
        let (parts, waiting) = mpsc::channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..THREADS {
            let (address, waiting) = (address.clone(), waiting.clone());
            let named = std::thread::Builder::new().name("postgres commit".to_owned());
            let begun = named.spawn(move || Committer { address, what, db: None }.run(&waiting));
            begun.map_err(|why| Error::Engine(format!("no thread for commits: {why}")))?;
        }
        Ok(Self { parts })
    }

    /// Commits a batch together with those of others, and waits for it.
    pub(super) fn commit(&self, rows: Buffer, epoch: Epoch) -> Done {
        let (done, answer) = mpsc::channel();
        if self.parts.send(Part { rows, epoch, done }).is_err() {
            return Done::Failed(Error::Lost("the threads that commit have ended".to_owned()));
        }
        answer.recv().unwrap_or_else(|_| Done::Unknown("the commit broke off".to_owned()))
    }
}

/// One thread that commits, and its connection.
struct Committer {
    address: Arc<Address>,
    what: Use,
    db: Option<Postgres>,
}

impl Committer {
    fn run(mut self, waiting: &Mutex<Receiver<Part>>) {
        while let Some(parts) = next(waiting) {
            let done = self.commit(&parts);
            match done {
                Done::Failed(why) if parts.len() > 1 && !matches!(why, Error::Lost(_)) => {
                    tracing::debug!(%why, batches = parts.len(), "a common commit failed");
                    for part in parts {
                        let done = self.commit(std::slice::from_ref(&part));
                        tell(part, done);
                    }
                }
                done => parts.into_iter().for_each(|part| tell(part, done.clone())),
            }
        }
    }

    fn commit(&mut self, parts: &[Part]) -> Done {
        let db = match self.db.take().filter(|db| !db.is_lost()) {
            Some(db) => db,
            None => match Postgres::open(&self.address, self.what) {
                Ok(db) => db,
                // Whatever is wrong, its administrator can fix it.
                Err(why) => return Done::Failed(Error::Lost(why.to_string())),
            },
        };
        let done = commit(&db, parts);
        if !db.is_lost() {
            self.db = Some(db);
        }
        done
    }
}

fn commit(db: &Postgres, parts: &[Part]) -> Done {
    let rows: Vec<&Buffer> = parts.iter().map(|part| &part.rows).collect();
    let written = db.begin().and_then(|()| db.write(&buffer::changes(&rows)));
    if let Err(why) = written {
        // A connection on which this fails too is lost, and the transaction with it.
        let _ = db.rollback();
        return Done::Failed(why);
    }
    let epochs: Vec<Epoch> = parts.iter().map(|part| part.epoch).collect();
    match db.commit_with(&commit_words(&epochs)) {
        Ok(()) => Done::Committed,
        Err(why @ (Error::Fenced(_) | Error::Full(_))) => Done::Failed(why),
        Err(why) => Done::Unknown(why.to_string()),
    }
}

/// Waits for a batch, and takes those that have gathered.
fn next(waiting: &Mutex<Receiver<Part>>) -> Option<Vec<Part>> {
    let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let first = waiting.recv().ok()?;
    let mut rows = first.rows.len();
    let mut parts = vec![first];
    while rows < MANY
        && let Ok(part) = waiting.try_recv()
    {
        rows += part.rows.len();
        parts.push(part);
    }
    // Rows of a table are locked in this order by everybody.
    parts.sort_by_key(|part| part.epoch.workspace);
    Some(parts)
}

/// Nobody waits any more where the writer's thread has ended.
fn tell(part: Part, done: Done) {
    let _ = part.done.send(done);
}

/// The words that end a transaction of owners: they check the epochs of all, and count.
pub(super) fn commit_words(owners: &[Epoch]) -> String {
    let workspaces: Vec<_> = owners.iter().map(|owner| owner.workspace.to_string()).collect();
    let epochs = owners.iter().map(|o| format!("WHEN {} THEN {}", o.workspace, o.number));
    let (workspaces, epochs) = (workspaces.join(", "), epochs.collect::<Vec<_>>().join(" "));
    let count = owners.len();
    format!(
        "WITH held AS (UPDATE workspace_owner SET batch = batch + 1 WHERE workspace IN ({workspaces})
                AND epoch = CASE workspace {epochs} END RETURNING 1)
            SELECT 1 / (count(*) / {count}) FROM held; COMMIT"
    )
}
