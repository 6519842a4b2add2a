//! A command together with the receiver of its answer. Only the job knows the command's own result
//! type.

use chorus_core::commands::{Command, NotDone, Prepared};
use chorus_core::model::audit::{Record, Weight};
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::seed::CommandSeed;
use chorus_core::state::facts::{Facts, Unavailable};
use chorus_core::state::workspace::Workspace;

use super::Reply;

/// One command until it is answered.
pub(crate) struct Job {
    pub(crate) by: By,
    work: Box<dyn Work>,
}

impl Job {
    pub(crate) fn new<C: Command>(
        by: By,
        command: C,
        drawn: CommandSeed,
        reply: impl Reply<C::Output>,
    ) -> Self {
        let prepared = Prepared::new(command, drawn);
        Self { by, work: Box::new(Typed { by, prepared, done: None, reply: Some(reply) }) }
    }

    /// Executes the command, possibly again, and stores its result. Returns its audit entry.
    pub(super) fn execute(
        &mut self,
        workspace: &mut Workspace,
        facts: &mut dyn Facts,
        now: Timestamp,
    ) -> Result<Option<(Weight, Record)>, Unavailable> {
        self.work.execute(workspace, facts, now)
    }

    /// Answers with the command's result.
    pub(super) fn answer(mut self) {
        self.work.answer();
    }

    /// Answers with a refusal.
    pub(crate) fn refuse(mut self, refusal: Refusal) {
        self.work.refuse(refusal);
    }

    /// The command's name.
    pub(super) fn name(&self) -> &'static str {
        self.work.name()
    }

    /// Its approximate share of a batch's size limit.
    pub(super) fn bytes(&self) -> usize {
        self.work.bytes()
    }
}

trait Work: Send {
    fn execute(
        &mut self,
        workspace: &mut Workspace,
        facts: &mut dyn Facts,
        now: Timestamp,
    ) -> Result<Option<(Weight, Record)>, Unavailable>;
    fn answer(&mut self);
    fn refuse(&mut self, refusal: Refusal);
    fn name(&self) -> &'static str;
    fn bytes(&self) -> usize;
}

struct Typed<C: Command, R: Reply<C::Output>> {
    by: By,
    prepared: Prepared<C>,
    done: Option<Result<C::Output, NotDone>>,
    reply: Option<R>,
}

impl<C: Command, R: Reply<C::Output>> Work for Typed<C, R> {
    fn execute(
        &mut self,
        workspace: &mut Workspace,
        facts: &mut dyn Facts,
        now: Timestamp,
    ) -> Result<Option<(Weight, Record)>, Unavailable> {
        let executed = workspace.execute(facts, self.by, &self.prepared, now)?;
        self.done = Some(executed.done);
        Ok(executed.audit)
    }

    fn answer(&mut self) {
        let Some(done) = self.done.take() else { return };
        if let Some(reply) = self.reply.take() {
            reply(done);
        }
    }

    fn refuse(&mut self, refusal: Refusal) {
        if let Some(reply) = self.reply.take() {
            reply(Err(refusal.into()));
        }
    }

    fn name(&self) -> &'static str {
        self.prepared.command.name()
    }

    fn bytes(&self) -> usize {
        self.prepared.command.bytes()
    }
}

/// A job that is lost is answered too, so that nobody waits for ever.
impl<C: Command, R: Reply<C::Output>> Drop for Typed<C, R> {
    fn drop(&mut self) {
        self.refuse(Refusal::new(
            Code::Unavailable,
            "the writer thread panicked; see the log above",
        ));
    }
}
