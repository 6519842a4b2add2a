//! A runner: the process that keeps an agent's program and wakes it (threads spec section 3.8; design section 5,
//! "Wake").
//!
//! It has one connection to the host, on which it is offered nothing and sent wakes; and the program in a terminal of its
//! own, while that runs. Everything that happens comes through one loop, one at a time. What takes time runs beside it: a
//! task for the wake in hand ([`drive`]), and the terminal.
//!
//! Invariants: the program survives the host, and reports wait until that is back; a report about an older fence is
//! dropped; the person's terminal is as it was before, however this ends.

pub mod home;

mod drive;
mod error;
mod program;
mod reports;
mod seat;
mod showing;

use std::time::Duration;

use chorus_client::backoff;
use chorus_client::c2a::{Connection, Incoming};
use chorus_core::model::error::Code;
use chorus_wire::attention::initialize::SessionHello;
use chorus_wire::attention::method;
use chorus_wire::attention::screen::Screen;
use chorus_wire::attention::wake::{Wake, WakeReported};
use drive::{Driven, Driver};
pub use error::Error;
use home::{Home, Life, Saved};
use program::Program;
pub use program::{RUNNER_VARIABLE, find, socket};
use reports::Reports;
use seat::{Seat, hang_up};
use showing::{PRIVATE, Showing};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::link::{self, Hello, Link};
use crate::terminal::{self, Exit, Launch, Size, Terminal, TerminalHandle};

/// A wake in hand is reported on this often; the host takes it back after 45 s.
const ALIVE: Duration = Duration::from_secs(15);
/// A connection that held this long was a good one: the next is tried at once.
const GOOD: Duration = Duration::from_secs(10);
/// A report that the host has not answered by then is not waited for.
const LAST: Duration = Duration::from_secs(5);

/// A report that ends with one of these is sent again.
const LOST: [Code; 2] = [Code::OutcomeUnknown, Code::Unavailable];

/// How a runner begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The program runs in this terminal.
    Here,
    /// The program runs, and its terminal is shown by `chorus attach`.
    Detached,
    /// The program sleeps until it is woken.
    Asleep,
}

/// How a runner ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was told to stop; with the program's code, where that ran in this terminal.
    Stopped { code: Option<u8> },
    /// Its program has ended. What sleeps now is to be kept by another runner.
    Exited { code: u8, hung_up: bool },
}

/// Something that the loop takes in.
enum Event {
    /// `gone`: the person's terminal is no more.
    Exited { exit: Exit, gone: bool },
    /// What the host answered to a report.
    Answered { fence: u32, wake: String, answer: Result<WakeReported, chorus_client::Error> },
}

struct Runner {
    home: Home,
    saved: Saved,
    program: Program,
    /// The program that runs: it is hung up when this is dropped.
    terminal: Option<Terminal>,
    seat: Seat,
    clock: Clock,
    connection: Option<Connection>,
    failures: u32,
    up_since: Instant,
    reports: Reports,
    /// The wake in hand.
    driver: Option<Driver>,
    showing: Showing,
    link: mpsc::Sender<Link>,
    events: mpsc::Sender<Event>,
    driven: mpsc::Sender<Driven>,
    beside: JoinSet<()>,
}

/// Keeps the program and wakes it, until the program of this terminal has ended or the runner is told to stop. What its user
/// should be told before the program takes the terminal is handed to `tell`.
pub async fn run(
    home: Home,
    saved: Saved,
    start: Start,
    tell: impl FnOnce(&str),
) -> Result<Ended, Error> {
    let (link, mut linked) = mpsc::channel(link::QUEUE);
    let (events, mut happened) = mpsc::channel(64);
    let (driven, mut asked) = mpsc::channel(64);
    let listen = |kind| signal(kind).map_err(Error::Program);
    let mut hangup = listen(SignalKind::hangup())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let mut show = listen(SignalKind::user_defined1())?;
    let program = Program::new(&saved, home.folder());
    let mut runner = Runner {
        home,
        saved,
        program,
        terminal: None,
        seat: Seat::default(),
        clock: Clock::start(),
        connection: None,
        failures: 0,
        up_since: Instant::now(),
        reports: Reports::default(),
        driver: None,
        showing: Showing::default(),
        link,
        events,
        driven,
        beside: JoinSet::new(),
    };
    if start != Start::Asleep {
        let notice = runner.start(start == Start::Here).await.map_err(Error::Program)?;
        if let Some(notice) = notice {
            tell(&notice);
        }
    }
    runner.connect(Duration::ZERO);
    let (mut hung_up, mut stopped) = (false, false);
    let mut alive = tokio::time::interval(ALIVE);
    loop {
        tokio::select! {
            Some(link) = linked.recv() => runner.linked(link)?,
            Some(driven) = asked.recv() => runner.driven(driven)?,
            Some(event) = happened.recv() => {
                let exit = runner.happened(event)?;
                if let Some((exit, gone)) = exit.filter(|_| start == Start::Here) {
                    runner.close().await;
                    return Ok(match stopped {
                        true => Ended::Stopped { code: Some(exit.code) },
                        false => Ended::Exited { code: exit.code, hung_up: hung_up || gone },
                    });
                }
            }
            // One whose folder is gone is of no use to anybody.
            _ = alive.tick() => match start == Start::Here || runner.home.is_there() {
                true => runner.say_alive(),
                false => return runner.stop().await,
            },
            () = runner.showing.due() => runner.show().await,
            // The terminal of a program that runs here passes both on to it.
            _ = hangup.recv() => hung_up = true,
            _ = terminate.recv() => {
                stopped = true;
                if start != Start::Here || runner.terminal.is_none() {
                    return runner.stop().await;
                }
            }
            // Somebody wants to see the program, which sleeps.
            _ = show.recv() => {
                if runner.terminal.is_none()
                    && let Err(error) = runner.start(false).await
                {
                    tracing::warn!(%error, "the program cannot be started");
                }
            }
            Some(_) = runner.beside.join_next(), if !runner.beside.is_empty() => {}
        }
    }
}

impl Runner {
    /// Opens a connection beside the loop.
    fn connect(&mut self, wait: Duration) {
        let hello = Hello {
            url: self.saved.url.clone(),
            token: self.saved.token.clone(),
            session: SessionHello {
                id: Some(self.saved.session.clone()),
                runtime: Some(self.program.runtime()),
                resumable: Some(self.program.is_resumable()),
                managed: Some(true),
                runner: Some(true),
                folder: Some(self.saved.folder.display().to_string()),
                resume_id: self.saved.resume_id.clone(),
            },
            last_event: None,
        };
        self.beside.spawn(link::hold(hello, wait, self.link.clone()));
    }

    fn linked(&mut self, link: Link) -> Result<(), Error> {
        match link {
            Link::Up(connection) => {
                tracing::info!(agent = %self.saved.agent, "connected");
                self.connection = Some(connection);
                self.up_since = Instant::now();
                self.showing = Showing::default();
                self.reports.lost();
                self.report_next();
            }
            Link::Said(_, Incoming::Wake(wake)) => self.woken(*wake),
            Link::Said(_, Incoming::Watch(watch)) => self.showing.begin(watch),
            Link::Said(_, Incoming::Closing(closing)) if link::is_taken_over(&closing.reason) => {
                return Err(Error::TakenOver);
            }
            Link::Said(..) => {}
            Link::Down { reason } => {
                tracing::debug!(%reason, "the host is out of reach; trying again");
                if self.up_since.elapsed() >= GOOD && self.connection.is_some() {
                    self.failures = 0;
                }
                let wait = backoff(self.failures, uuid::Uuid::now_v7().as_u64_pair().1);
                self.failures = self.failures.saturating_add(1);
                self.connection = None;
                self.reports.lost();
                self.connect(wait);
            }
            Link::SessionUnknown => {
                let why = "the session is another member's".to_owned();
                return Err(Error::Refused(chorus_client::Error::Protocol(why)));
            }
            Link::Refused(error) => return Err(Error::Refused(error)),
        }
        Ok(())
    }

    /// The host asks that the program be woken.
    fn woken(&mut self, wake: Wake) {
        let (id, fence, again) = (&wake.wake_id, wake.fence, wake.again);
        tracing::info!(wake = %id, fence, again, "the program is to be woken");
        self.reports.drop_before(id, fence);
        match &self.driver {
            Some(driver) if driver.is_of(id) && !driver.is_over() => driver.more(wake),
            // A wake whose place another takes has ended at the host.
            _ => {
                self.driver = Some(Driver::spawn(
                    wake,
                    self.program.clone(),
                    self.seat.clone(),
                    self.driven.clone(),
                    self.clock,
                ));
            }
        }
        self.say_alive();
    }

    /// Does what the task of the wake asks for.
    fn driven(&mut self, driven: Driven) -> Result<(), Error> {
        match driven {
            Driven::Report(report) => {
                if let Some(id) = report.resume_id.clone() {
                    self.remember(id)?;
                }
                self.reports.add(report);
                self.report_next();
            }
            Driven::Start { launch, started } => {
                // A lane that has gone on does not listen any more.
                let _ = started.send(self.spawn(&launch, false));
            }
        }
        Ok(())
    }

    /// Takes in one event; the exit of the program is handed on.
    fn happened(&mut self, event: Event) -> Result<Option<(Exit, bool)>, Error> {
        match event {
            Event::Exited { exit, gone } => {
                self.terminal = None;
                self.seat.set(None);
                self.home.note(Life::Asleep)?;
                Ok(Some((exit, gone)))
            }
            Event::Answered { fence, wake, answer } => {
                self.answered(&wake, fence, answer);
                Ok(None)
            }
        }
    }

    fn answered(
        &mut self,
        wake: &str,
        fence: u32,
        answer: Result<WakeReported, chorus_client::Error>,
    ) {
        match answer {
            Ok(reported) => {
                tracing::debug!(%wake, state = %reported.state, "reported");
                self.reports.answered();
                let is_over = matches!(reported.state.as_str(), "done" | "dead");
                if is_over && self.driver.as_ref().is_some_and(|driver| driver.is_of(wake)) {
                    self.driver = None;
                }
            }
            Err(error) if error.code().is_none_or(|code| LOST.contains(&code)) => {
                // The next connection sends it again.
                self.reports.lost();
                return;
            }
            Err(error) => {
                tracing::info!(%wake, fence, %error, "a report is not taken");
                self.reports.answered();
            }
        }
        self.report_next();
    }

    /// Sends the next report, if the host can hear it.
    fn report_next(&mut self) {
        let Some(connection) = self.connection.clone() else { return };
        let Some(report) = self.reports.next() else { return };
        let events = self.events.clone();
        self.beside.spawn(async move {
            let answer = connection.request(method::WAKE_REPORT, &report).await;
            let (fence, wake) = (report.fence, report.wake_id);
            // A runner that has stopped does not listen any more.
            let _ = events.send(Event::Answered { fence, wake, answer }).await;
        });
    }

    async fn show(&mut self) {
        let terminal = self.terminal.as_ref().map(Terminal::handle);
        let shown = || terminal.map_or_else(Screen::default, |terminal| terminal.shown());
        let screen = if self.saved.private { PRIVATE } else { shown() };
        if let Some(screen) = self.showing.changed(screen)
            && let Some(connection) = &self.connection
        {
            // The next one comes with the next connection.
            let _ = connection.notify(method::SCREEN, screen).await;
        }
    }

    /// Says that the wake in hand is still in hand.
    fn say_alive(&mut self) {
        let Some(life) = self.driver.as_ref().and_then(Driver::life) else { return };
        self.reports.add(life);
        self.report_next();
    }

    /// Starts the program, with its memory where it has one; what its user should be told.
    async fn start(&mut self, here: bool) -> std::io::Result<Option<String>> {
        let prepared = self.program.prepare().await?;
        if let Some(session) = prepared.session {
            self.remember(session).map_err(std::io::Error::other)?;
        }
        self.spawn(&prepared.launch, here)?;
        Ok(prepared.notice)
    }

    /// Keeps the program's own id of its session.
    fn remember(&mut self, session: String) -> Result<(), home::Error> {
        if self.saved.resume_id.as_ref() == Some(&session) {
            return Ok(());
        }
        self.program.set_resume_id(Some(session.clone()));
        self.saved.resume_id = Some(session);
        self.home.save(&self.saved)
    }

    fn spawn(&mut self, launch: &Launch, here: bool) -> std::io::Result<TerminalHandle> {
        let size = terminal::person_size().filter(|_| here).unwrap_or(Size::DETACHED);
        let terminal = terminal::spawn(launch, size.or_default())?;
        let handle = terminal.handle();
        self.terminal = Some(terminal);
        self.seat.set(Some(handle.clone()));
        self.home.note(Life::Awake).map_err(std::io::Error::other)?;
        let served = terminal::serve(handle.clone(), &socket(self.home.folder()));
        if let Err(error) = &served {
            tracing::warn!(%error, "the terminal cannot be shown to others");
        }
        let (events, shown) = (self.events.clone(), handle.clone());
        self.beside.spawn(async move {
            let (exit, gone) = match here {
                true => match terminal::relay(&shown).await {
                    Ok(exit) => (exit, false),
                    Err(_) => (hang_up(&shown).await, true),
                },
                false => (shown.exited().await, false),
            };
            // Viewers have been told, and the socket is gone.
            if let Ok(served) = served {
                let _ = served.await;
            }
            // A runner that has stopped does not listen any more.
            let _ = events.send(Event::Exited { exit, gone }).await;
        });
        Ok(handle)
    }

    /// Ends the program, and what runs beside it.
    async fn stop(mut self) -> Result<Ended, Error> {
        if let Some(terminal) = self.terminal.take() {
            hang_up(&terminal.handle()).await;
        }
        self.close().await;
        Ok(Ended::Stopped { code: None })
    }

    /// Ends what runs beside the program, and the connection in good order: the host hears of a turn that ended with
    /// the program.
    async fn close(&mut self) {
        let end = self.driver.take().and_then(|driver| driver.end());
        self.program.close().await;
        let mut left = std::mem::take(&mut self.reports);
        end.into_iter().for_each(|end| left.add(end));
        if let Some(connection) = self.connection.take() {
            // A host that does not answer takes the wake back when its lease runs out.
            let _ = tokio::time::timeout(LAST, left.send_all(&connection)).await;
            connection.close().await;
        }
    }
}
