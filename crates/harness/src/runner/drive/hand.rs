//! What the lanes may do with the runner's terminal.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::super::Seat;
use super::super::program::Program;
use super::Driven;
use crate::lanes::flags::{Begin, CommandLine, Launch};
use crate::lanes::terminal::{Ended, Started, Starter, Typed, Typist};
use crate::lanes::{Kind, LaneContext, acp};
use crate::terminal::injection::{Plan, Profile};
use crate::terminal::{Injected, TerminalHandle};

/// After Enter, a program that tells nothing of itself shows within this time that it works.
const SHOWS: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);

/// The runner's hand on its program.
#[derive(Clone, Debug)]
pub(super) struct Hand {
    pub(super) terminal: Seat,
    pub(super) program: Program,
    pub(super) to: mpsc::Sender<Driven>,
}

/// What a [`LaneContext`] borrows.
pub(super) struct Context {
    home: PathBuf,
    claude_config: Option<PathBuf>,
    session: Option<String>,
    process: Option<u32>,
    url: String,
}

impl Hand {
    pub(super) fn context(&self) -> Context {
        let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        Context {
            home: variable("HOME").unwrap_or_else(|| "/".into()),
            claude_config: variable("CLAUDE_CONFIG_DIR"),
            session: self.program.resume_id(),
            process: self.terminal.get().filter(TerminalHandle::is_alive).map(|t| t.pid()),
            url: self.program.mcp_url(),
        }
    }

    pub(super) async fn acp_runs(&self) -> bool {
        self.program.acp.is_running()
    }

    fn profile(&self) -> Profile {
        match self.program.kind {
            Kind::Codex => Profile::Codex,
            Kind::Claude => Profile::Claude,
            Kind::Gemini => Profile::Gemini,
            Kind::Acp | Kind::Other => Profile::Generic,
        }
    }
}

impl Context {
    pub(super) fn lanes<'a>(&'a self, hand: &'a Hand) -> LaneContext<'a, Hand> {
        LaneContext {
            launch: Launch { begin: Begin::AsUser { id: "" }, ..hand.program.flags(&self.url) },
            folder: hand.program.folder(),
            home: &self.home,
            claude_config: self.claude_config.as_deref(),
            token: hand.program.token(),
            process: self.process,
            session: self.session.as_deref(),
            command: None,
            acp: &hand.program.acp,
            terminal: hand,
        }
    }
}

impl Typist for Hand {
    async fn type_prompt(&self, text: &str) -> Typed {
        let Some(terminal) = self.terminal.get() else {
            return Typed::Refused("not_running".to_owned());
        };
        let before = terminal.screen();
        match terminal.inject(Plan::new(self.profile(), text)).await {
            Injected::Typed => {
                let is_silent = matches!(self.program.kind, Kind::Other | Kind::Acp);
                let seen = if is_silent { shows(&terminal, &before).await } else { None };
                Typed::Typed { seen }
            }
            Injected::Stopped => Typed::Stopped,
            Injected::Refused(why) => Typed::Refused(why.name().to_owned()),
        }
    }
}

/// Whether a program that tells nothing of itself prints more than what was typed.
async fn shows(terminal: &TerminalHandle, before: &str) -> Option<String> {
    let shown = async {
        loop {
            tokio::time::sleep(LOOK).await;
            if terminal.screen() != before && terminal.quiet_for() < LOOK * 2 {
                return "it prints".to_owned();
            }
        }
    };
    tokio::time::timeout(SHOWS, shown).await.ok()
}

impl Starter for Hand {
    async fn start(&self, line: CommandLine) -> Result<Started, String> {
        let prepared = self.program.ready(line).await.map_err(|why| why.to_string())?;
        let (started, answer) = oneshot::channel();
        let ask = Driven::Start { launch: prepared.launch, started };
        self.to.send(ask).await.map_err(|_| "the runner has gone".to_owned())?;
        let gone = |_| "the runner has gone".to_owned();
        let terminal = answer.await.map_err(gone)?.map_err(|why| why.to_string())?;
        let (end, ended) = oneshot::channel();
        let (process, watched) = (terminal.pid(), terminal);
        tokio::spawn(async move {
            let exit = watched.exited().await;
            // A lane that has gone on does not listen any more.
            let _ = end.send(Ended { code: Some(i32::from(exit.code)), screen: watched.screen() });
        });
        Ok(Started { process: Some(process), ended })
    }

    fn screen(&self) -> String {
        self.terminal.get().map(|terminal| terminal.screen()).unwrap_or_default()
    }

    fn stop(&self) {
        if let Some(terminal) = self.terminal.get() {
            terminal.signal(nix::sys::signal::Signal::SIGHUP);
        }
    }
}
