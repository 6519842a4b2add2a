//! A runner reports what became of a wake.

use std::sync::Arc;

use crate::commands::command::{Command, Done, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::error::Refusal;
use crate::model::ids::{Timestamp, Uid};
use crate::model::wake::{Lane, Outcome, ReportResult, Wake};

/// What a runner reports about the wake of its session.
#[derive(Clone)]
pub struct ReportWake {
    pub wake: Uid,
    pub fence: u32,
    /// Needed for what a lane did: `Failed`, `Unknown` and `Confirmed`.
    pub lane: Option<Lane>,
    pub result: ReportResult,
    pub why: Option<Arc<str>>,
    pub evidence: Option<Arc<str>>,
    pub deferred_until: Option<Timestamp>,
    /// The program's own id of its session, if it was learned.
    pub resume_id: Option<Arc<str>>,
    /// The program's last lines.
    pub lines: Option<Arc<str>>,
}

impl Command for ReportWake {
    type Output = Arc<Wake>;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        match done.ok().and_then(|wake| Some((wake.uid, wake.outcome?))) {
            Some((uid, outcome)) => {
                Audit::soft(Action::EndWake).subject(uid).name(Outcome::name(outcome))
            }
            None => Audit::none(),
        }
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.why)
            + redact.maybe(&mut self.evidence)
            + redact.maybe(&mut self.lines)
    }

    // Only operators read it.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Wake>> {
        run.report_wake(self)
    }
}

impl Context<'_> {
    fn report_wake(&mut self, _: ReportWake) -> Result<Arc<Wake>> {
        Err(Refusal::not_found("wake").into())
    }
}
