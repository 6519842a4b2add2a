//! Commands on their way to the writer: their secrets are blacked out, what they make is counted against quotas, and
//! what waits for a person is said to whoever asked.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use chorus_core::commands::{Command, NotDone, Redact};
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::Message;
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
use crate::limits::Limits;
use crate::redact::Redactor;
use crate::telemetry::Metrics;
use crate::traces::Traces;

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
        let begun = Instant::now();
        let (readers, writer) = (self.readers.clone(), self.writer.clone());
        let span = self.traces.command(command.name());
        let traced = span.map(|span| (span, self.traces.clone(), self.writer.clone()));
        let may = self.webhooks.runs.gives::<C>(by);
        let may = may.and_then(|()| {
            let directory = self.directory.load();
            self.quotas.may_make(by, &command, &self.limits, &directory, self.clock.now())
        });
        let drawn = may.and_then(|made| Ok((made, self.id_generator.drawn(self.clock.now())?)));
        let (limits, metrics) = (self.limits.clone(), self.metrics.clone());
        let drawn = drawn.map(|(made, drawn)| {
            metrics.waiting.inc();
            self.writer.submit(by, command, drawn, move |done| {
                metrics.waiting.dec();
                metrics.answered(begun.elapsed());
                if let Some((span, traces, writer)) = traced {
                    let answer = match &done {
                        Ok(output) => Ok(C::logged(output)),
                        Err(NotDone::AwaitsApproval(_)) => Ok(None),
                        Err(NotDone::Refused(refusal)) => Err(refusal.code),
                    };
                    traces.answered(span, answer, writer.commit());
                }
                // A retry of what was made before makes nothing.
                if !done.as_ref().is_ok_and(C::has_made) {
                    limits.give_back(made);
                }
                // Whoever asked may have gone.
                let _ = answer.send(done);
            });
        });
        async move {
            drawn?;
            match answered.await {
                Ok(Ok(output)) => Ok(output),
                Ok(Err(NotDone::Refused(refusal))) => Err(reads::explain(readers, refusal).await),
                Ok(Err(held @ NotDone::AwaitsApproval(_))) => {
                    // Whoever asked looks it up next.
                    caught_up(&writer).await?;
                    Err(held.into())
                }
                Err(_) => Err(broken_off()),
            }
        }
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
    pub(crate) fn hand<C: Command>(&self, by: By, mut command: C) {
        self.metrics.redacted(command.redact(&*self.redactor));
        let Ok(drawn) = self.id_generator.drawn(self.clock.now()) else { return };
        self.writer.submit(by, command, drawn, |done| {
            if let Err(NotDone::Refused(refusal)) = done {
                let code = code::name(refusal.code);
                tracing::debug!(code, "a command without an asker was refused");
            }
        });
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
