//! After a failed batch: runs its commands one by one, and leaves alone what keeps failing.
//!
//! Invariant: a command is refused only for its own failure. A room that cannot be loaded, or whose
//! timers or rows fail, is left alone for a while and delays nobody else.

use chorus_core::model::ids::{ConversationKey, Timestamp};
use chorus_core::state::workspace::Concern;

use super::{Broken, Intake, Job, Run, TIMERS, refuse, refuse_all};
use crate::db::Error;
use crate::facts::Stored;

/// How long a room is left alone, in milliseconds.
const REST_MS: i64 = 60_000;

impl Run {
    /// Runs each command separately, then reloads the dropped rooms, then fires the timers.
    pub(super) fn one_by_one(
        &mut self,
        jobs: Vec<Job>,
        broken: &Broken,
        now: Timestamp,
    ) -> Result<(), Error> {
        let count = jobs.len();
        tracing::warn!(
            why = broken.why,
            commands = count,
            "a batch failed and is run again one command at a time"
        );
        self.count_split();
        if let Err(error) = self.undo() {
            return refuse_all(jobs, error);
        }
        let mut jobs = jobs.into_iter();
        while let Some(job) = jobs.next() {
            if let Err(error) = self.alone(job, now) {
                return refuse_all(jobs.collect(), error);
            }
        }
        if self.pause.is_some() {
            return Ok(());
        }
        self.revive(now)?;
        self.fire_one_by_one(now)
    }

    fn alone(&mut self, job: Job, now: Timestamp) -> Result<(), Error> {
        let mut job = vec![job];
        if self.pause.is_some() {
            self.refuse_for_now(job);
            return Ok(());
        }
        match self.decide(&mut job, Intake::Closed, 0, now) {
            Ok(()) => self.finish(job),
            Err(Broken { pause: Some(by), why, .. }) => self.stand_still(by, job, &why),
            Err(broken) => {
                let by = job[0].by.member.0;
                let command = job[0].name();
                tracing::error!(why = broken.why, command, by, "a command failed");
                let undone = self.undo();
                refuse(job, broken.code, &broken.why);
                undone
            }
        }
    }

    fn fire_one_by_one(&mut self, now: Timestamp) -> Result<(), Error> {
        for _ in 0..TIMERS {
            let next = self.workspace.next_concern();
            let due = self.is_due(now) && self.pause.is_none();
            let Some(concern) = next.filter(|_| due) else { break };
            match self.decide(&mut Vec::new(), Intake::Closed, 1, now) {
                Ok(()) => self.finish(Vec::new())?,
                Err(Broken { pause: Some(by), why, .. }) => {
                    self.stand_still(by, Vec::new(), &why)?
                }
                Err(broken) => {
                    self.undo()?;
                    match concern {
                        Concern::Room(room) => self.rest(room, &broken.why, now),
                        Concern::Wake(wake) => {
                            tracing::error!(
                                why = broken.why,
                                "a wake keeps failing and is left alone for a while"
                            );
                            self.workspace.put_off_wake(wake, now.plus(REST_MS));
                        }
                        Concern::Jobs => {
                            tracing::error!(
                                why = broken.why,
                                "due jobs cannot be handled and are left alone for a while"
                            );
                            self.workspace.put_off_jobs(now.plus(REST_MS));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Rolls back what the batch has written, and discards its changes in memory.
    pub(super) fn undo(&mut self) -> Result<(), Error> {
        self.uncommitted()?;
        let trace = std::mem::take(&mut self.trace);
        if trace.began {
            match self.db.rollback() {
                // Nothing of it was stored.
                Err(Error::Lost(_)) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        let mut rooms = trace.rooms;
        rooms.extend(self.workspace.touched());
        self.workspace.forget(rooms.iter().copied());
        self.workspace.restore_directory(self.before.clone());
        self.missing.append(&mut rooms);
        Ok(())
    }

    /// Loads the dropped rooms, each separately, so that their obligations stay alive.
    pub(super) fn revive(&mut self, now: Timestamp) -> Result<(), Error> {
        self.wake_rested(now);
        while self.pause.is_none()
            && let Some(key) = self.missing.pop_first()
        {
            self.resting.remove(&key);
            if self.workspace.room(key).is_some() {
                continue;
            }
            let directory = self.workspace.directory().clone();
            let (db, workspace) = (&*self.db, self.tenant);
            let stored = Stored::new(db, workspace, directory, now).noting(&self.damage);
            match stored.load(key) {
                Ok(Some(room)) => self.workspace.admit(room),
                // The failed batch had created it.
                Ok(None) => continue,
                Err(error) if self.db.is_lost() => {
                    self.missing.insert(key);
                    self.mark_away(&error.to_string());
                    return Ok(());
                }
                Err(error) => {
                    self.rest(key, &error.to_string(), now);
                    continue;
                }
            }
            match self.decide(&mut Vec::new(), Intake::Closed, 0, now) {
                Ok(()) => self.finish(Vec::new())?,
                Err(Broken { pause: Some(by), why, .. }) => {
                    self.stand_still(by, Vec::new(), &why)?
                }
                Err(broken) => {
                    self.undo()?;
                    self.rest(key, &broken.why, now);
                }
            }
        }
        Ok(())
    }

    /// Rooms that were left alone for long enough are loaded again.
    fn wake_rested(&mut self, now: Timestamp) {
        let rested = self.resting.iter().filter(|(_, until)| **until <= now).map(|(key, _)| *key);
        let rested: Vec<_> = rested.collect();
        for key in rested {
            self.resting.remove(&key);
            self.missing.insert(key);
        }
    }

    fn rest(&mut self, room: ConversationKey, why: &str, now: Timestamp) {
        tracing::error!(
            why,
            conversation = room.0,
            "a room keeps failing and is left alone for a while"
        );
        self.workspace.forget([room]);
        self.missing.remove(&room);
        self.resting.insert(room, now.plus(REST_MS));
    }
}
