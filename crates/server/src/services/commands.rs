//! Commands on their way to the writer: their secrets are blacked out, what they make is counted against quotas, and
//! what waits for a person is said to whoever asked.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use chorus_core::commands::{Command, Makes, NotDone, Redact};
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Message;
use chorus_core::model::offer::Entry;
use chorus_core::model::seed::CommandSeed;
use chorus_core::queries::Barrier;
use chorus_core::state::directory::Directory;
use chorus_store::{Readers, Writer};
use chorus_wire::code;
use tokio::sync::oneshot;

use super::clock::HostClock;
use super::quotas::Quotas;
use super::{IdGenerator, reads};
use crate::dispatch::webhook::state::Webhooks;
use crate::limits::{Limits, Made};
use crate::redact::Redactor;
use crate::telemetry::Metrics;
use crate::traces::{Span, Traces};

/// Commands on their way to the writer.
pub(crate) struct Commands {
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) id_generator: Arc<IdGenerator>,
    pub(super) limits: Arc<Limits>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) quotas: Arc<Quotas>,
    pub(super) readers: Readers,
    pub(super) redactor: Arc<Redactor>,
    pub(super) traces: Arc<Traces>,
    pub(super) webhooks: Arc<Webhooks>,
    pub(super) writer: Writer,
}

impl Commands {
    /// Gives a command to the writer at once, and waits for its answer when polled: commands submitted one
    /// after the other are decided in that order.
    pub(crate) fn submit<C: Command>(
        &self,
        by: By,
        mut command: C,
    ) -> impl Future<Output = Result<C::Output, Refusal>> + Send + use<C> {
        self.metrics.redacted(command.redact(&*self.redactor));
        self.submit_redacted(by, command)
    }

    /// As [`App::submit`], for a command without secrets: reading a text for them costs more than most else.
    pub(crate) fn submit_redacted<C: Command>(
        &self,
        by: By,
        command: C,
    ) -> impl Future<Output = Result<C::Output, Refusal>> + Send + use<C> {
        let (answer, answered) = oneshot::channel();
        let (readers, writer) = (self.readers.clone(), self.writer.clone());
        self.give(by, command, |done| {
            // Whoever asked may have gone.
            let _ = answer.send(done);
        });
        async move {
            let undone = match answered.await {
                Ok(Ok(output)) => return Ok(output),
                Ok(Err(undone)) => Some(undone),
                Err(_) => None,
            };
            Err(refusal(readers, &writer, undone).await)
        }
    }

    /// Gives a command to the writer, which says what became of it.
    fn give<C: Command>(
        &self,
        by: By,
        command: C,
        answer: impl FnOnce(Result<C::Output, NotDone>) + Send + 'static,
    ) {
        let makes = |directory: &Directory| command.makes(by.member, directory);
        let (drawn, begun) = match self.begin(by, command.name(), C::SPEAKS, &makes) {
            Ok(begun) => begun,
            Err(refusal) => return answer(Err(refusal.into())),
        };
        self.writer.submit(by, command, drawn, move |done| {
            let logged = match &done {
                Ok(output) => Ok(C::logged(output)),
                Err(NotDone::AwaitsApproval(_)) => Ok(None),
                Err(NotDone::Refused(refusal)) => Err(refusal.code),
            };
            // A retry of what was made before makes nothing.
            begun.end(logged, done.as_ref().is_ok_and(C::has_made));
            answer(done);
        });
    }

    /// Counts what a command makes, and draws its ids. What is the same for all commands is apart from them, so that it is
    /// compiled once.
    fn begin(
        &self,
        by: By,
        name: &'static str,
        speaks: bool,
        makes: &dyn Fn(&Directory) -> Makes,
    ) -> Result<(CommandSeed, Begun), Refusal> {
        let span = self.traces.command(name);
        if speaks {
            self.webhooks.runs.says_in_turn(by)?;
        }
        let now = self.clock.now();
        let directory = self.directory.load();
        let made = self.quotas.may_make(by, speaks, || makes(&directory), &self.limits, now)?;
        let drawn = self.id_generator.drawn(now)?;
        self.metrics.waiting.inc();
        let begun = Begun {
            at: Instant::now(),
            made,
            limits: self.limits.clone(),
            metrics: self.metrics.clone(),
            traced: span.map(|span| (span, self.traces.clone(), self.writer.clone())),
        };
        Ok((drawn, begun))
    }

    /// As [`App::submit`], for commands that change who there is: when it returns, the directory shows the
    /// change. Effects are handed out after the answers of their batch, so that the answer to one more
    /// command, which changes nothing, comes after them.
    pub(crate) async fn change<C: Command>(
        &self,
        by: By,
        command: C,
    ) -> Result<C::Output, Refusal> {
        let output = self.submit(by, command).await?;
        self.caught_up().await?;
        Ok(output)
    }

    /// When it returns, the directory shows what was answered before.
    pub(super) async fn caught_up(&self) -> Result<(), Refusal> {
        caught_up(&self.writer).await
    }

    /// Blacks out the secrets of a message; says how many there were.
    pub(super) fn redact(&self, message: &mut Message) -> u32 {
        let redactor: &dyn Redact = &*self.redactor;
        let count = redactor.message(message);
        self.metrics.redacted(count);
        count
    }

    /// Gives a command whose answer nobody waits for.
    pub(crate) fn hand<C: Command>(&self, by: By, command: C) {
        self.hand_or(by, command, |refusal| {
            let code = code::name(refusal.code);
            tracing::debug!(code, "a command without an asker was refused");
        });
    }

    /// The same, of which only a refusal is told.
    pub(crate) fn hand_or<C: Command>(
        &self,
        by: By,
        mut command: C,
        refused: impl FnOnce(Refusal) + Send + 'static,
    ) {
        self.metrics.redacted(command.redact(&*self.redactor));
        self.give(by, command, |done| {
            if let Err(NotDone::Refused(refusal)) = done {
                refused(refusal);
            }
        });
    }
}

/// A command under way: what is noted when it is answered.
struct Begun {
    at: Instant,
    /// What it makes, as it was counted.
    made: Made,
    limits: Arc<Limits>,
    metrics: Arc<Metrics>,
    traced: Option<(Span, Arc<Traces>, Writer)>,
}

impl Begun {
    /// It was answered: what it logged, if anything, or why it was refused, and whether it has made anything.
    fn end(self, logged: Result<Option<&Entry>, Code>, has_made: bool) {
        self.metrics.waiting.dec();
        self.metrics.answered(self.at.elapsed());
        if let Some((span, traces, writer)) = self.traced {
            traces.answered(span, logged, writer.commit());
        }
        if !has_made {
            self.limits.give_back(self.made);
        }
    }
}

/// Why a command was not done, to whoever asked; none where the writer broke off.
async fn refusal(readers: Readers, writer: &Writer, undone: Option<NotDone>) -> Refusal {
    match undone {
        Some(NotDone::Refused(refusal)) => reads::explain(readers, refusal).await,
        // Whoever asked looks it up next.
        Some(held @ NotDone::AwaitsApproval(_)) => match caught_up(writer).await {
            Ok(()) => held.into(),
            Err(refusal) => refusal,
        },
        None => broken_off(),
    }
}

/// Waits until what was answered before has been handed out.
async fn caught_up(writer: &Writer) -> Result<(), Refusal> {
    let (answer, answered) = oneshot::channel();
    writer.submit(By::host(), Barrier, CommandSeed::default(), move |done| {
        // Whoever asked may have gone.
        let _ = answer.send(done);
    });
    Ok(answered.await.map_err(|_| broken_off())??)
}

/// The writer broke off while it worked on this.
fn broken_off() -> Refusal {
    let why = "the host broke off, and it is unknown whether this was written; repeat it with the same idempotency key";
    Refusal::new(Code::OutcomeUnknown, why)
}
