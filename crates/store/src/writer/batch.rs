//! One batch: commands decided in memory, their rows written, one commit.

use std::collections::BTreeSet;
use std::sync::Arc;

use chorus_core::command::{By, Command, Drawn, Effect, Unavailable};
use chorus_core::ids::{ConversationKey, Timestamp};
use chorus_core::member::Directory;
use chorus_core::workspace::{Failure, Workspace};

use super::queue::Answer;
use crate::db::{Db, Error};
use crate::facts::Stored;
use crate::record::record;

/// Commands between two writes within a batch. A room remembers its newest 64 events; what a later
/// command of the batch may look for has to be in there, or written.
const STRIDE: usize = 32;
/// Timers that fire in one batch.
pub(super) const TIMERS: usize = 256;

/// A batch on its way to its commit.
pub(super) struct Batch<'a> {
    pub(super) workspace: &'a mut Workspace,
    /// Everybody as of its beginning. The present directory is not held, or each change of it would copy it.
    pub(super) before: &'a Arc<Directory>,
    pub(super) db: &'a dyn Db,
    pub(super) tenant: i64,
    pub(super) now: Timestamp,
    /// Everything it has touched, for when it comes to nothing.
    pub(super) trace: &'a mut Trace,
}

/// What a batch has touched so far; outlives a panic in it.
#[derive(Default)]
pub(super) struct Trace {
    /// Whether a transaction is open.
    pub(super) began: bool,
    pub(super) rooms: BTreeSet<ConversationKey>,
    pub(super) effects: Vec<Effect>,
    pub(super) loaded: usize,
    /// Something that was said is to go from the files too.
    pub(super) erases: bool,
}

/// A command to run, with its values.
pub(super) struct Todo<'a> {
    pub(super) by: By,
    pub(super) command: &'a Command,
    pub(super) drawn: Drawn,
}

impl Batch<'_> {
    /// Runs the commands and writes what they changed. Nothing is committed yet.
    pub(super) fn run<'t>(
        &mut self,
        todo: impl Iterator<Item = Todo<'t>>,
    ) -> Result<Vec<Answer>, Error> {
        let mut answers = Vec::with_capacity(todo.size_hint().0);
        for todo in todo {
            if !answers.is_empty() && answers.len() % STRIDE == 0 {
                self.write()?;
            }
            let (by, command) = (todo.by, todo.command.clone());
            let (drawn, now) = (todo.drawn, self.now);
            let answer = self
                .with_facts(|workspace, facts| workspace.execute(facts, by, command, drawn, now));
            answers.push(match answer {
                Ok(outcome) => Ok(outcome),
                Err(Failure::Refused(refusal)) => Err(refusal),
                Err(Failure::Unavailable(why)) => return Err(engine(why)),
            });
        }
        self.write()?;
        Ok(answers)
    }

    /// Lets time do what is due, at most `limit` events' worth, and writes what that changed. Says whether
    /// there may be more.
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

    /// Writes what has changed since the last time, within the batch's transaction.
    pub(super) fn write(&mut self) -> Result<(), Error> {
        let mut changes = self.workspace.take_changes();
        self.trace.effects.append(&mut changes.effects);
        if changes.records_nothing() {
            return Ok(());
        }
        self.trace.erases |= !changes.erases_nothing();
        self.trace.rooms.extend(changes.rooms.iter().map(|r| r.key));
        self.trace.loaded += changes.rooms.iter().filter(|r| r.dirty.conversation).count();
        if !self.trace.began {
            self.db.begin()?;
            self.trace.began = true;
        }
        record(self.db, self.tenant, self.workspace, &changes)
    }

    fn with_facts<T>(&mut self, decide: impl FnOnce(&mut Workspace, &mut Stored<'_>) -> T) -> T {
        let directory = self.before.clone();
        let mut facts =
            Stored { db: self.db, workspace: self.tenant, directory, now: self.now, loaded: 0 };
        let decided = decide(self.workspace, &mut facts);
        self.trace.loaded += facts.loaded;
        decided
    }
}

fn engine(why: Unavailable) -> Error {
    Error::Engine(why.0)
}
