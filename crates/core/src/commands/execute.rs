//! Executing commands and firing timers.

use crate::commands::command::{Command, NotDone};
use crate::commands::context::{Context, Result};
use crate::commands::prepared::Prepared;
use crate::model::audit::{Record, Weight};
use crate::model::caller::{Authority, By};
use crate::model::error::{Code, Refusal};
use crate::model::ids::{EventRef, Timestamp};
use crate::state::facts::{Facts, Unavailable};
use crate::state::workspace::{Failure, TimerKey, TimerOf, Tracked, Workspace};

/// The outcome of a command.
#[derive(Debug)]
pub struct Executed<T> {
    pub done: Result<T, NotDone>,
    /// Its audit entry.
    pub audit: Option<(Weight, Record)>,
}

impl Workspace {
    /// Executes one command. Unavailable facts fail the whole batch.
    pub fn execute<C: Command>(
        &mut self,
        facts: &mut dyn Facts,
        by: By,
        prepared: &Prepared<C>,
        now: Timestamp,
    ) -> Result<Executed<C::Output>, Unavailable> {
        let command = &prepared.command;
        let done = match self.try_to(facts, by, prepared, now) {
            Ok(output) => Ok(output),
            Err(Failure::Refused(refusal)) => Err(NotDone::Refused(refusal)),
            Err(Failure::AwaitsApproval(approval)) => Err(NotDone::AwaitsApproval(approval)),
            Err(Failure::Unavailable(why)) => return Err(why),
        };
        let audit = match &done {
            Ok(output) => command.audit(Ok(output)).record(&by, None, now),
            Err(NotDone::Refused(why)) => command.audit(Err(why)).record(&by, Some(why.code), now),
            // Nothing has been done yet.
            Err(NotDone::AwaitsApproval(_)) => None,
        };
        Ok(Executed { done, audit })
    }

    fn try_to<C: Command>(
        &mut self,
        facts: &mut dyn Facts,
        by: By,
        prepared: &Prepared<C>,
        now: Timestamp,
    ) -> Result<C::Output> {
        if C::CHANGES && by.authority == Authority::Auditor {
            return Err(Refusal::new(Code::Forbidden, "an auditor reads and writes nothing").into());
        }
        self.private_reads.begin(now);
        let (ws, drawn, read) = (Tracked::new(self), prepared.drawn, prepared.read.as_ref());
        let mut run = Context { ws, facts, by, drawn, read, now, unasked: false };
        match run.execute(prepared.command.clone()) {
            // It concerns damaged data only, so nobody else is affected.
            Err(Failure::Unavailable(why)) if why.damaged && !run.ws.may_have_changed() => {
                Err(Refusal::new(Code::Unavailable, why.why).into())
            }
            done => done,
        }
    }

    /// Fires the timers that are due at `now`, for at most `limit` events. Returns how many it
    /// handled.
    pub fn fire_due(
        &mut self,
        facts: &mut dyn Facts,
        now: Timestamp,
        limit: usize,
    ) -> Result<usize, Unavailable> {
        while let Some(key) = self.to_review.first().copied() {
            let mut run = Context::of_host(self, facts, now);
            match run.review_pauses(key).and_then(|()| run.arbitrate()) {
                Ok(()) | Err(Failure::Refused(_) | Failure::AwaitsApproval(_)) => {}
                Err(Failure::Unavailable(why)) => return Err(why),
            }
            self.to_review.remove(&key);
        }
        // A room may have been loaded for a refused command and have brought changes along.
        if self.rooms.has_changed() {
            let mut run = Context::of_host(self, facts, now);
            match run.arbitrate() {
                Ok(()) | Err(Failure::Refused(_) | Failure::AwaitsApproval(_)) => {}
                Err(Failure::Unavailable(why)) => return Err(why),
            }
        }
        let mut fired = 0;
        while fired < limit {
            let Some(key) = self.timers.pop_due(now) else { break };
            let mut run = Context::of_host(self, facts, now);
            match run.fire(key).and_then(|()| run.arbitrate()) {
                Ok(()) | Err(Failure::Refused(_) | Failure::AwaitsApproval(_)) => {}
                Err(Failure::Unavailable(why)) => {
                    self.timers.set(key, Some(now));
                    return Err(why);
                }
            }
            fired += 1;
        }
        Ok(fired)
    }
}

impl Context<'_> {
    /// Executes one command, and arbitrates the turns that it affected.
    fn execute<C: Command>(&mut self, command: C) -> Result<C::Output> {
        if !C::WHILE_PAUSED {
            self.directory().must_not_be_paused(self.by.member)?;
        }
        if let Some(before) = self.pass_gate(&command)? {
            return Ok(before);
        }
        self.may_show(&command)?;
        match command.execute(self) {
            Ok(output) => self.arbitrate().map(|()| output),
            Err(failure) => Err(self.failed(failure)),
        }
    }

    /// What waits for a person is written, and may affect turns too.
    fn failed(&mut self, failure: Failure) -> Failure {
        match failure {
            held @ Failure::AwaitsApproval(_) => self.arbitrate().err().unwrap_or(held),
            failure => failure,
        }
    }

    /// A timer is due.
    fn fire(&mut self, key: TimerKey) -> Result<()> {
        let (conversation, of) = match key {
            TimerKey::Room { conversation, of } => (conversation, of),
            TimerKey::Wake(uid) => return self.fire_wake(uid),
            TimerKey::Jobs => return self.fire_jobs(),
        };
        match of {
            TimerOf::Digest => self.digest(conversation),
            TimerOf::Event(seq) => self.fire_event(EventRef { conversation, seq }),
            TimerOf::Turn(subject) => {
                if let Some(room) = self.ws.rooms.get_mut(&conversation) {
                    room.note_subject(subject);
                }
                Ok(())
            }
            TimerOf::Queue => self.fire_stimuli(conversation),
        }
    }
}
