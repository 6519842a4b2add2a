//! A runner reports what became of a wake.

use std::sync::Arc;

use crate::commands::command::{Command, Done, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::redact::Redact;
use crate::model::audit::Audit;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{SessionKey, Timestamp, Uid};
use crate::model::limits;
use crate::model::member::{Session, SessionStatus};
use crate::model::text::is_unseen;
use crate::model::wake::{Lane, Outcome, Report, ReportResult, Stale, Step, Wake, WakeState};

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

    const WHILE_PAUSED: bool = true;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // How a wake ends is recorded, whatever ends it.
        Audit::none()
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
    fn report_wake(&mut self, reported: ReportWake) -> Result<Arc<Wake>> {
        check_report(&reported)?;
        let of_caller = |wake: &&Arc<Wake>| {
            wake.member == self.by.member && self.by.session == Some(wake.session)
        };
        let found = self.directory().wakes.get(&reported.wake).filter(of_caller).cloned();
        let before = found.ok_or_else(|| Refusal::not_found("wake"))?;
        let left = self.left_of(&before);
        let mut wake = Wake::clone(&before);
        let report = Report {
            fence: reported.fence,
            lane: reported.lane,
            result: reported.result,
            why: reported.why,
            evidence: reported.evidence,
            deferred_until: reported.deferred_until,
            lines: reported.lines.map(|lines| readable(&lines)),
        };
        let step = wake.report(&report, left, self.now).map_err(|stale| {
            let why = match stale {
                Stale::Fence => "this wake was taken back; stop working on it",
                Stale::State => "this does not fit the wake's present state",
            };
            Refusal::new(Code::Conflict, why)
        })?;
        let status = match wake.state {
            WakeState::Running => SessionStatus::Active,
            _ => SessionStatus::Idle,
        };
        self.learn_of_session(wake.session, reported.resume_id, status);
        let uid = wake.uid;
        match step {
            Step::Repeated => {}
            Step::Again => self.push_wake(wake, false)?,
            Step::Lives | Step::Deferred | Step::Tried | Step::Later => {
                self.ws.put_wake(wake);
                if step == Step::Lives {
                    self.runs_live(uid)?;
                }
            }
            Step::Confirmed => {
                self.ws.put_wake(wake);
                self.take_up_mail(uid)?;
            }
            Step::Ended(Outcome::Answered | Outcome::Obsolete) => {
                let (session, member) = (wake.session, wake.member);
                self.put_away(&wake)?;
                self.ws.put_wake(wake);
                self.wake_for_all(session, member)?;
            }
            Step::Ended(outcome) => self.give_up_wake(wake, outcome)?,
        }
        let now = self.directory().wakes.get(&uid).cloned();
        Ok(now.unwrap_or(before))
    }

    /// The runner knows by which id its program can be resumed, and whether it runs.
    fn learn_of_session(
        &mut self,
        key: SessionKey,
        resume_id: Option<Arc<str>>,
        status: SessionStatus,
    ) {
        let Some(known) = self.directory().sessions.get(&key).cloned() else { return };
        let resume_id = resume_id.or_else(|| known.resume_id.clone());
        let session = Session { resume_id, status, ..Session::clone(&known) };
        if session == *known {
            return;
        }
        let is_news = session.states_other_than(&known);
        let directory = self.directory_mut();
        directory.put_session(session);
        let session = directory.sessions.get(&key).cloned();
        self.ws.changes.sessions.extend(session.filter(|_| is_news));
    }
}

/// Refuses a report that is too long, or says of no lane what a lane did.
fn check_report(report: &ReportWake) -> Result<()> {
    use ReportResult::{Confirmed, Failed, Unknown};
    if matches!(report.result, Confirmed | Failed | Unknown) && report.lane.is_none() {
        let name = report.result.name();
        return Err(Refusal::invalid(format!("{name} needs the lane that it is about")).into());
    }
    let texts = [
        ("why", &report.why, limits::WAKE_WHY_BYTES),
        ("evidence", &report.evidence, limits::WAKE_WHY_BYTES),
        ("resumeId", &report.resume_id, limits::SESSION_NAME_BYTES),
        ("lines", &report.lines, limits::WAKE_LINES_BYTES),
    ];
    for (name, text, most) in texts {
        if text.as_ref().is_some_and(|text| text.len() > most) {
            return Err(Refusal::invalid(format!("{name} has at most {most} bytes")).into());
        }
    }
    let is_line = |text: &&Arc<str>| !text.is_empty() && !text.chars().any(char::is_control);
    if report.resume_id.iter().any(|id| !is_line(&id)) {
        return Err(Refusal::invalid("resumeId is one line").into());
    }
    Ok(())
}

/// A program's last lines without what only a terminal reads.
fn readable(lines: &str) -> Arc<str> {
    let seen = |c: &char| *c == '\n' || !(c.is_control() || is_unseen(*c));
    lines.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(seen).collect::<String>().into()
}
