//! The wake in hand: a task that goes from lane to lane until the program's turn runs, and reports.
//!
//! It lives for one wake of the host, through all its fences. After a turn has ended it waits for what the host makes of
//! that: another fence, more mail, or the end, by which it is dropped.

mod driver;
mod hand;
mod turn_end;
mod words;

use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use chorus_core::model::ids::Timestamp;
use chorus_core::model::wake::ReportResult;
use chorus_wire::attention::wake::{Wake, WakeReport};
pub(super) use driver::Driver;
use driver::{Said, Shared};
use hand::Hand;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};
use turn_end::ended;
use words::{bounded, input, not_taken};

use super::reports;
use crate::clock::Clock;
use crate::lanes::chooser::{self, Choice, End, Known, Next, Socket, Typing};
use crate::lanes::wake_note::{WakeNote, WakeNotes};
use crate::lanes::{
    Found, Kind, Lane, LaneContext, Outcome, Reason, Turn, TurnEnd, WakeInput, Waking, Why,
};
use crate::terminal::{Launch, TerminalHandle};

/// How often it is looked at again whether a person has stopped typing, and for how long.
const AGAIN: Duration = Duration::from_secs(5);
const DEFERRED: Duration = Duration::from_secs(60);
/// A program that was started has its session within this time.
const OPENS: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);
/// A program that has printed something this lately may be in a turn.
const BUSY: Duration = Duration::from_secs(1);
/// Lines of the screen that go into a report.
const LINES: usize = 40;

/// What the task asks of the runner.
pub(super) enum Driven {
    Report(WakeReport),
    /// Start this in the runner's terminal.
    Start {
        launch: Launch,
        started: oneshot::Sender<std::io::Result<TerminalHandle>>,
    },
}

struct Drive {
    wake: Wake,
    hand: Hand,
    to: mpsc::Sender<Driven>,
    mail: mpsc::UnboundedReceiver<Wake>,
    said: Shared,
    clock: Clock,
    /// Since when a person's typing has put it off.
    deferred: Option<Instant>,
    /// The prompt that was brought into the running turn last.
    steered: Option<String>,
}

/// A turn that runs.
struct Running {
    lane: Lane,
    turn: Turn,
    prompt: String,
}

impl Drive {
    async fn run(mut self) {
        loop {
            self.lives(ReportResult::Working, None);
            if let Some(running) = self.search().await {
                self.watch(running).await;
            }
            // What comes of it is the host's to say.
            *self.said() = Said::default();
            let fence = self.wake.fence;
            loop {
                let Some(wake) = self.mail.recv().await else { return };
                // The same again has been answered already.
                let is_new = wake.fence != fence || wake.prompt != self.wake.prompt;
                self.take(wake);
                if is_new {
                    break;
                }
            }
        }
    }

    /// Goes from lane to lane until one is confirmed; none when no lane is left.
    async fn search(&mut self) -> Option<Running> {
        let folder = self.hand.program.private().wakes();
        let notes = match WakeNotes::open(&folder) {
            Ok(notes) => notes,
            Err(error) => return self.gives_up(&format!("cannot keep notes: {error}")).await,
        };
        let (mut passed, begun) = (Vec::new(), Instant::now());
        if let Ok(mut note) = notes.read(&self.wake.wake_id) {
            let began = self.hand.program.began;
            if let Some(lane) = note.begun_before(self.wake.fence, began) {
                self.say(self.end(lane)).await;
                return None;
            }
            note.forget_keys(began);
            self.keep(&notes, &note);
        }
        self.start_plain().await;
        loop {
            self.take_mail();
            let input_prompt = self.wake.prompt.clone();
            let mut note = match notes.read(&self.wake.wake_id) {
                Ok(note) => note,
                Err(_) => WakeNote { wake: self.wake.wake_id.clone(), sent: Vec::new() },
            };
            let (wake, skip) = (self.wake.clone(), self.skip());
            let input = input(&wake);
            let attempts = note.attempts(&input.message());
            let choice = chooser::choose(&self.known(), wake.fence, &skip, &attempts);
            passed.extend(
                choice.passed.iter().copied().filter(|p| !passed.contains(p)).collect::<Vec<_>>(),
            );
            match choice.next {
                Next::LookUp(lane) => {
                    let found = self.look_up(lane, &note, &input).await;
                    let end = if matches!(found, Found::There { .. }) {
                        End::Confirmed
                    } else {
                        End::Absent
                    };
                    note.ended(lane, end);
                    self.keep(&notes, &note);
                    if let Found::There { evidence, turn } = found {
                        return Some(
                            self.confirmed(lane, turn, &evidence, &passed, input_prompt).await,
                        );
                    }
                }
                Next::Wait(lane, reason) => self.wait(lane, reason).await,
                Next::Try(lane) => {
                    note.begins(wake.fence, lane, &input.message());
                    self.keep(&notes, &note);
                    let outcome = {
                        let surroundings = self.hand.surroundings();
                        lane.try_wake(&input, &surroundings.lanes(&self.hand)).await
                    };
                    match outcome {
                        Outcome::Confirmed { evidence, turn } => {
                            note.ended(lane, End::Confirmed);
                            self.keep(&notes, &note);
                            let prompt = input_prompt;
                            return Some(
                                self.confirmed(lane, turn, &evidence, &passed, prompt).await,
                            );
                        }
                        // Nothing went out: the lane may be tried again.
                        Outcome::Failed { why }
                            if why.reason.is_a_persons() || why.reason == Reason::TurnRunning =>
                        {
                            note.withdraw(lane);
                            self.keep(&notes, &note);
                        }
                        // A program that has just started has no session yet.
                        Outcome::Failed { why }
                            if why.reason == Reason::NoThread && begun.elapsed() < OPENS =>
                        {
                            note.withdraw(lane);
                            self.keep(&notes, &note);
                            sleep(LOOK).await;
                        }
                        Outcome::Failed { why } => {
                            if why.reason == Reason::SessionLost {
                                self.hand.program.set_resume_id(None);
                            }
                            note.ended(lane, End::Failed);
                            self.keep(&notes, &note);
                            self.failed(lane, ReportResult::Failed, &why).await;
                        }
                        // Looked up next, before anything is sent.
                        Outcome::Unknown { why } => {
                            self.failed(lane, ReportResult::Unknown, &why).await;
                        }
                    }
                }
                Next::Exhausted => return self.exhausted(&choice, &passed).await,
            }
        }
    }

    /// A program that cannot be started with a prompt is started as its user did, and the prompt is typed.
    async fn start_plain(&self) {
        let is_plain = matches!(self.hand.program.kind, Kind::Other | Kind::Acp);
        if !is_plain || self.hand.terminal.get().is_some() {
            return;
        }
        let Ok(prepared) = self.hand.program.prepare().await else { return };
        let (started, answer) = oneshot::channel();
        let ask = Driven::Start { launch: prepared.launch, started };
        if self.to.send(ask).await.is_ok()
            && let Ok(Err(error)) = answer.await
        {
            tracing::warn!(%error, "the program cannot be started");
        }
    }

    /// Reports the turn that runs.
    async fn confirmed(
        &mut self,
        lane: Lane,
        turn: Turn,
        evidence: &str,
        passed: &[(Lane, Reason)],
        prompt: String,
    ) -> Running {
        self.deferred = None;
        self.runs(lane);
        let mut report = self.report(ReportResult::Confirmed);
        report.lane = Some(lane.into());
        report.evidence = Some(evidence.to_owned());
        report.why = Some(not_taken(passed)).filter(|why| !why.is_empty());
        report.resume_id = turn.session.clone();
        self.say(report).await;
        Running { lane, turn, prompt }
    }

    /// Waits for the end of the turn; mail that comes meanwhile goes into it where that can be.
    async fn watch(&mut self, running: Running) {
        self.steered = None;
        let Running { lane, turn, prompt } = running;
        let first = Wake { prompt, ..self.wake.clone() };
        let hand = self.hand.clone();
        let surroundings = hand.surroundings();
        let end = {
            let lanes = surroundings.lanes(&hand);
            let input = input(&first);
            let watched = ended(lane, &turn, &input, &lanes, &hand);
            tokio::pin!(watched);
            loop {
                tokio::select! {
                    end = &mut watched => break end,
                    Some(wake) = self.mail.recv() => {
                        let is_new_fence = wake.fence != self.wake.fence;
                        self.take(wake);
                        if is_new_fence {
                            // The host did not hear of us in time. The turn runs.
                            self.runs(lane);
                            let mut report = self.report(ReportResult::Confirmed);
                            report.lane = Some(lane.into());
                            report.evidence = Some("the turn of the last fence runs".to_owned());
                            self.say(report).await;
                        }
                        self.steer(lane, &lanes).await;
                    }
                }
            }
        };
        let mut report = self.end(lane);
        report.why = report.why.filter(|_| !end.completed);
        report.evidence = Some(end.evidence.clone());
        report.lines = self.lines(&end);
        self.say(report).await;
    }

    /// Brings the mail that came into the turn that runs, by the program's own interface. Where there is none it waits for
    /// the turn's end.
    async fn steer(&mut self, lane: Lane, lanes: &LaneContext<'_, Hand>) {
        let live = match self.hand.program.kind {
            Kind::Codex => Lane::CodexSocket,
            Kind::Claude => Lane::ClaudeInbox,
            _ => return,
        };
        let skipped = self.skip().contains(&live);
        if skipped || lane == Lane::Acp || self.steered.as_ref() == Some(&self.wake.prompt) {
            return;
        }
        self.steered = Some(self.wake.prompt.clone());
        if let Outcome::Confirmed { evidence, .. } = live.try_wake(&input(&self.wake), lanes).await
        {
            // What has come in with it is taken up too.
            let mut report = self.report(ReportResult::Confirmed);
            report.lane = Some(live.into());
            report.evidence = Some(evidence);
            self.say(report).await;
        }
    }

    async fn look_up(&self, lane: Lane, note: &WakeNote, input: &WakeInput<'_>) -> Found {
        let surroundings = self.hand.surroundings();
        let lanes = surroundings.lanes(&self.hand);
        let Some((message, since)) = note.open(lane) else { return Found::Absent };
        lane.look_up(&message, since, input, &lanes).await
    }

    /// A person is typing, or a turn runs: it is tried again in a moment.
    async fn wait(&mut self, lane: Lane, reason: Reason) {
        if reason.is_a_persons() && self.deferred.is_none() {
            self.deferred = Some(Instant::now());
            let until =
                self.clock.now().plus(i64::try_from(DEFERRED.as_millis()).unwrap_or(60_000));
            self.lives(ReportResult::Deferred, Some(until));
            let mut report = self.report(ReportResult::Deferred);
            report.lane = Some(lane.into());
            report.why = Some(reason.name().to_owned());
            report.deferred_until = Some(until.into());
            self.say(report).await;
        }
        let wait = if reason == Reason::PersonTyping { AGAIN } else { Duration::from_secs(1) };
        tokio::select! {
            () = sleep(wait) => {}
            Some(wake) = self.mail.recv() => self.take(wake),
        }
    }

    async fn failed(&mut self, lane: Lane, result: ReportResult, why: &Why) {
        let mut report = self.report(result);
        report.lane = Some(lane.into());
        report.why = Some(why.to_string());
        self.say(report).await;
    }

    async fn exhausted(&mut self, choice: &Choice, passed: &[(Lane, Reason)]) -> Option<Running> {
        let human = choice.human_input();
        self.deferred = None;
        let why = if human {
            chorus_core::model::wake::HUMAN_INPUT.to_owned()
        } else {
            not_taken(passed)
        };
        self.gives_up(&why).await
    }

    async fn gives_up(&mut self, why: &str) -> Option<Running> {
        let mut report = self.report(ReportResult::Exhausted);
        report.why = Some(why.to_owned());
        report.lines = self.hand.terminal.get().map(|t| bounded(&t.last_lines(LINES)));
        self.say(report).await;
        None
    }

    /// What is known now about the program.
    fn known(&self) -> Known {
        let terminal = self.hand.terminal.get();
        let alive = terminal.is_some();
        let program = &self.hand.program;
        let surroundings = self.hand.surroundings();
        let lanes = surroundings.lanes(&self.hand);
        let socket = match program.kind {
            Kind::Codex if program.private().codex_socket().exists() => Socket::There,
            Kind::Claude => match lanes.claude().socket() {
                Ok(_) => Socket::There,
                Err(why) if why.reason == Reason::NoSocket => Socket::Absent,
                Err(why) => Socket::Useless(why.reason),
            },
            _ => Socket::Absent,
        };
        let waited = self.deferred.is_some_and(|since| since.elapsed() >= DEFERRED);
        let typing = terminal.as_ref().map(|terminal| match self.hand.kept_back(terminal) {
            None => Typing::Quiet,
            Some(reason) if waited => Typing::StillAfterDeferring(reason),
            Some(reason) => Typing::Now(reason),
        });
        Known {
            kind: program.kind,
            alive,
            busy: self.is_busy(),
            socket,
            agent: program.seats.acp.is_taken(),
            typing,
            resume_id: program.resume_id().is_some(),
            command: false,
        }
    }

    /// Whether a turn seems to run, of a program that can be reached by keys alone: nothing is typed into one.
    fn is_busy(&self) -> bool {
        let terminal = self.hand.terminal.get();
        terminal.is_some_and(|terminal| terminal.quiet_for() < BUSY)
    }

    fn skip(&self) -> Vec<Lane> {
        self.wake.skip.iter().map(|lane| lane.0).collect()
    }

    /// Mail that came while nothing was sent is of the same prompt.
    fn take_mail(&mut self) {
        while let Ok(wake) = self.mail.try_recv() {
            self.take(wake);
        }
    }

    /// The same wake with more mail, another fence, or an operator's word.
    fn take(&mut self, wake: Wake) {
        self.hand.force |= wake.force;
        self.wake = wake;
    }

    fn keep(&self, notes: &WakeNotes, note: &WakeNote) {
        if let Err(error) = notes.write(note) {
            tracing::warn!(%error, "the note of a wake cannot be kept");
        }
    }

    fn lines(&self, end: &TurnEnd) -> Option<String> {
        let screen = self.hand.terminal.get().map(|t| t.last_lines(LINES)).unwrap_or_default();
        let last = if end.last.trim().is_empty() { screen } else { end.last.clone() };
        Some(bounded(&last)).filter(|lines| !lines.is_empty())
    }

    fn report(&self, result: ReportResult) -> WakeReport {
        reports::report(&self.wake, result)
    }

    fn lives(&self, result: ReportResult, until: Option<Timestamp>) {
        let mut report = self.report(result);
        report.deferred_until = until.map(Into::into);
        self.said().life = Some(report);
    }

    /// A turn runs: should the runner end, so does that.
    fn runs(&self, lane: Lane) {
        self.lives(ReportResult::Working, None);
        self.said().end = Some(self.end(lane));
    }

    /// The report of a turn that was broken off.
    fn end(&self, lane: Lane) -> WakeReport {
        let mut report = self.report(ReportResult::Ended);
        report.lane = Some(lane.into());
        report.why = Some("broken_off".to_owned());
        report
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn say(&self, report: WakeReport) {
        // A runner that has gone does not listen any more.
        let _ = self.to.send(Driven::Report(report)).await;
    }
}
