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
mod program;
mod reports;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chorus_client::backoff;
use chorus_client::c2a::{Connection, Incoming};
use chorus_core::model::error::Code;
use chorus_core::model::wake::ReportResult;
use chorus_wire::attention::initialize::SessionHello;
use chorus_wire::attention::method;
use chorus_wire::attention::wake::{Wake, WakeReport, WakeReported};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::link::{self, Hello, Link};
use crate::terminal::{self, Exit, Launch, Size, TerminalHandle, viewers};
use drive::{Driven, Driver};
use home::{Home, Life, Saved};
pub use program::{find, socket};
use program::{Program, With};
use reports::Reports;

/// A wake in hand is reported on this often; the host takes it back after 45 s.
const ALIVE: Duration = Duration::from_secs(15);
/// A connection that held this long was a good one: the next is tried at once.
const GOOD: Duration = Duration::from_secs(10);
/// How long the program has to end when its runner does.
const LAST: Duration = Duration::from_secs(5);

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
    /// It was told to stop.
    Stopped,
    /// Its program has ended. What sleeps now is to be kept by another runner.
    Exited { code: u8, hung_up: bool },
}

/// Why a runner ended by itself.
#[derive(Debug)]
pub enum Error {
    /// The program cannot be started.
    Program(std::io::Error),
    Home(home::Error),
    /// The host refuses the token, or the agent: trying again would not help.
    Refused(chorus_client::Error),
    /// Another runner has connected as the same session.
    TakenOver,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(why) => write!(f, "the program cannot be started: {why}"),
            Self::Home(why) => why.fmt(f),
            Self::Refused(why) => write!(f, "the host refuses this agent: {why}"),
            Self::TakenOver => f.write_str("another runner has taken over this session"),
        }
    }
}

impl std::error::Error for Error {}

impl From<home::Error> for Error {
    fn from(why: home::Error) -> Self {
        Self::Home(why)
    }
}

/// Something that the loop takes in.
enum Event {
    Driven(Driven),
    Exited(Exit),
    /// What the host answered to a report.
    Answered { fence: u32, wake: String, answer: Result<WakeReported, chorus_client::Error> },
}

struct Runner {
    home: Home,
    saved: Saved,
    program: Program,
    terminal: Option<TerminalHandle>,
    connection: Option<Connection>,
    failures: u32,
    up_since: Instant,
    reports: Reports,
    /// The wake in hand.
    driver: Option<Driver>,
    link: mpsc::Sender<Link>,
    events: mpsc::Sender<Event>,
    beside: JoinSet<()>,
}

/// Keeps the program and wakes it, until the program of this terminal has ended or the runner is told to stop.
pub async fn run(home: Home, saved: Saved, start: Start) -> Result<Ended, Error> {
    let (link, mut linked) = mpsc::channel(link::QUEUE);
    let (events, mut happened) = mpsc::channel(64);
    let listen = |kind| signal(kind).map_err(Error::Program);
    let (mut hangup, mut terminate) = (listen(SignalKind::hangup())?, listen(SignalKind::terminate())?);
    let mut show = listen(SignalKind::user_defined1())?;
    let program = Program::new(&saved, home.folder());
    let mut runner = Runner {
        home,
        saved,
        program,
        terminal: None,
        connection: None,
        failures: 0,
        up_since: Instant::now(),
        reports: Reports::default(),
        driver: None,
        link,
        events,
        beside: JoinSet::new(),
    };
    if start != Start::Asleep {
        runner.start(start == Start::Here).await.map_err(Error::Program)?;
    }
    runner.connect(Duration::ZERO);
    let mut alive = tokio::time::interval(ALIVE);
    loop {
        tokio::select! {
            Some(link) = linked.recv() => runner.linked(link)?,
            Some(event) = happened.recv() => {
                if let Some(exit) = runner.happened(event)?
                    && start == Start::Here
                {
                    runner.close().await;
                    return Ok(Ended::Exited { code: exit.code, hung_up: false });
                }
            }
            _ = alive.tick() => runner.say_alive(),
            _ = hangup.recv() => {
                if start == Start::Here {
                    let code = runner.end_program(nix::sys::signal::Signal::SIGHUP).await;
                    runner.close().await;
                    return Ok(Ended::Exited { code, hung_up: true });
                }
            }
            // Somebody wants to see the program, which sleeps.
            _ = show.recv(), if runner.terminal.is_none() => {
                if let Err(error) = runner.start(false).await {
                    tracing::warn!(%error, "the program cannot be started");
                }
            }
            _ = terminate.recv() => {
                runner.end_program(nix::sys::signal::Signal::SIGTERM).await;
                runner.close().await;
                return Ok(Ended::Stopped);
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
                self.reports.lost();
                self.report_next();
            }
            Link::Said(_, Incoming::Wake(wake)) => self.woken(*wake),
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
                let why = chorus_client::Error::Protocol("the host does not know the session".to_owned());
                return Err(Error::Refused(why));
            }
            Link::Refused(error) => return Err(Error::Refused(error)),
        }
        Ok(())
    }

    /// The host asks that the program be woken.
    fn woken(&mut self, wake: Wake) {
        tracing::info!(wake = %wake.wake_id, fence = wake.fence, again = wake.again, "to be woken");
        self.reports.drop_before(&wake.wake_id, wake.fence);
        match &mut self.driver {
            // The same, of which there is more, or whose connection was lost, or whose lease was.
            Some(driver) if driver.is_of(&wake) => driver.more(wake),
            _ => {
                let driver = Driver::spawn(wake, self.program.clone(), self.terminal.clone(), {
                    let events = self.events.clone();
                    move |driven| {
                        let events = events.clone();
                        async move { events.send(Event::Driven(driven)).await.is_ok() }
                    }
                });
                // A wake in hand whose place another takes has ended at the host.
                self.driver = Some(driver);
            }
        }
        self.say_alive();
    }

    /// Takes in one event; the exit of the program is handed on.
    fn happened(&mut self, event: Event) -> Result<Option<Exit>, Error> {
        match event {
            Event::Driven(Driven::Report(report)) => {
                if let Some(id) = report.resume_id.clone() {
                    self.remember(id)?;
                }
                self.reports.add(report);
                self.report_next();
            }
            Event::Driven(Driven::Start { launch, started }) => {
                // One that has gone meanwhile is not answered.
                let _ = started.send(self.spawn(&launch, false));
            }
            Event::Driven(Driven::Over { wake, fence }) => {
                if self.driver.as_ref().is_some_and(|driver| driver.has(&wake, fence)) {
                    self.driver = None;
                }
            }
            Event::Exited(exit) => {
                self.terminal = None;
                self.home.note(Life::Asleep)?;
                if let Some(driver) = &mut self.driver {
                    driver.program_ended();
                }
                return Ok(Some(exit));
            }
            Event::Answered { fence, wake, answer } => self.answered(&wake, fence, answer),
        }
        Ok(None)
    }

    fn answered(&mut self, wake: &str, fence: u32, answer: Result<WakeReported, chorus_client::Error>) {
        match answer {
            Ok(reported) => {
                tracing::debug!(%wake, state = %reported.state, "reported");
                self.reports.answered();
            }
            Err(error) if error.code().is_none_or(|code| code == Code::Unavailable) => {
                // The next connection sends it again.
                self.reports.lost();
                return;
            }
            Err(error) => {
                tracing::info!(%wake, fence, %error, "a report is not taken");
                self.reports.answered();
                // The wake was taken back, or has ended.
                if self.driver.as_ref().is_some_and(|driver| driver.has(wake, fence)) {
                    self.driver = None;
                }
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

    /// Says that the wake in hand is still in hand.
    fn say_alive(&mut self) {
        let Some(driver) = &self.driver else { return };
        self.reports.add(driver.report(ReportResult::Working));
        self.report_next();
    }

    /// Starts the program, with its memory where it has one.
    async fn start(&mut self, here: bool) -> std::io::Result<()> {
        let resume_id = self.saved.resume_id.clone();
        let with = resume_id.as_deref().map_or(With::Nothing, |id| With::Memory(id, ""));
        let prepared = self.program.prepare(with).await?;
        if let Some(session) = prepared.session {
            self.remember(session).map_err(std::io::Error::other)?;
        }
        self.spawn(&prepared.launch, here).map(drop)
    }

    /// Keeps the program's own id of its session.
    fn remember(&mut self, session: String) -> Result<(), home::Error> {
        if self.saved.resume_id.as_ref() == Some(&session) {
            return Ok(());
        }
        self.saved.resume_id = Some(session.clone());
        self.program.resume_id = Some(session);
        self.home.save(&self.saved)
    }

    fn spawn(&mut self, launch: &Launch, here: bool) -> std::io::Result<TerminalHandle> {
        let size = if here { Size::of_stdout() } else { Size::DETACHED };
        let terminal = terminal::spawn(launch, size)?.handle();
        let viewers = viewers::serve(terminal.clone(), &socket(self.home.folder()))?;
        self.terminal = Some(terminal.clone());
        self.home.note(Life::Awake).map_err(std::io::Error::other)?;
        let (events, shown) = (self.events.clone(), terminal.clone());
        self.beside.spawn(async move {
            let exit = match here {
                true => match terminal::relay(&shown).await {
                    Ok(exit) => exit,
                    Err(_) => shown.exited().await,
                },
                false => shown.exited().await,
            };
            viewers.abort();
            // A runner that has stopped does not listen any more.
            let _ = events.send(Event::Exited(exit)).await;
        });
        Ok(terminal)
    }

    /// Ends the program; its exit code.
    async fn end_program(&mut self, how: nix::sys::signal::Signal) -> u8 {
        let Some(terminal) = self.terminal.take() else { return 0 };
        terminal.signal(how);
        match tokio::time::timeout(LAST, terminal.exited()).await {
            Ok(exit) => exit.code,
            Err(_) => {
                terminal.signal(nix::sys::signal::Signal::SIGKILL);
                terminal.exited().await.code
            }
        }
    }

    /// Ends the connection in good order.
    async fn close(&mut self) {
        self.driver = None;
        if let Some(connection) = self.connection.take() {
            connection.close().await;
        }
    }
}
