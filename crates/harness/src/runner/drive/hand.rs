//! What the lanes may do with the runner's terminal.

use std::path::PathBuf;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::sync::{mpsc, oneshot};

use super::Driven;
use crate::lanes::dialog::takes_prompts;
use crate::lanes::flags::CommandLine;
use crate::lanes::terminal::{Ended, Started, Starter, Typed, Typist};
use crate::lanes::{Kind, LaneContext, Reason};
use crate::runner::program::Program;
use crate::runner::seat::Seat;
use crate::terminal::{Gate, Injected, Plan, Profile, Refusal, TerminalHandle};

/// After Enter, a program that tells nothing of itself shows within this time that it works.
const SHOWS: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// So many characters of the end of a prompt are found on the screen only where it is echoed.
const TAIL: usize = 20;

/// The runner's hand on its program.
#[derive(Clone, Debug)]
pub(in crate::runner) struct Hand {
    pub(in crate::runner) terminal: Seat,
    pub(in crate::runner) program: Program,
    pub(in crate::runner) to: mpsc::Sender<Driven>,
    /// An operator insists although a person is typing.
    pub(in crate::runner) force: bool,
}

/// What a [`LaneContext`] borrows, as it is now.
pub(super) struct Surroundings {
    home: PathBuf,
    claude_config: Option<PathBuf>,
    session: Option<String>,
    process: Option<u32>,
}

impl Hand {
    pub(super) fn surroundings(&self) -> Surroundings {
        let variable =
            |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        Surroundings {
            home: variable("HOME").unwrap_or_else(|| "/".into()),
            claude_config: variable("CLAUDE_CONFIG_DIR"),
            session: self.program.resume_id(),
            process: self.terminal.get().map(|terminal| terminal.pid()),
        }
    }

    pub(super) fn gate(&self) -> Gate {
        Gate { force: self.force, ..Gate::default() }
    }

    /// Why nothing may be typed now.
    pub(super) fn kept_back(&self, terminal: &TerminalHandle) -> Option<Reason> {
        if terminal.refusal(&self.gate()).is_some() {
            return Some(Reason::PersonTyping);
        }
        let takes = takes_prompts(self.program.kind, &terminal.screen());
        (!takes).then_some(Reason::DialogOpen)
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

impl Surroundings {
    pub(super) fn lanes<'a>(&'a self, hand: &'a Hand) -> LaneContext<'a, Hand> {
        LaneContext {
            launch: hand.program.flags(),
            folder: hand.program.folder(),
            home: &self.home,
            claude_config: self.claude_config.as_deref(),
            token: hand.program.token(),
            process: self.process,
            session: self.session.as_deref(),
            command: None,
            seats: &hand.program.seats,
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
        if !takes_prompts(self.program.kind, &before) {
            return Typed::Refused("the program asks its user something".to_owned());
        }
        match terminal.inject(Plan::new(self.profile(), text, self.gate())).await {
            Injected::Typed => {
                let is_silent = matches!(self.program.kind, Kind::Other | Kind::Acp);
                let seen = if is_silent { shows(&terminal, &before, text).await } else { None };
                Typed::Typed { seen }
            }
            Injected::Stopped => Typed::Stopped,
            Injected::Refused(Refusal::Exited) => Typed::Refused("exited".to_owned()),
            Injected::Refused(Refusal::Draft) => {
                Typed::Refused("a draft is in the prompt box".to_owned())
            }
            Injected::Refused(Refusal::Typing) => Typed::Refused("a person is typing".to_owned()),
        }
    }
}

/// Whether a program that tells nothing of itself prints an answer to what was typed.
async fn shows(terminal: &TerminalHandle, before: &str, typed: &str) -> Option<String> {
    let shown = async {
        while !has_answered(before, &terminal.screen(), typed) {
            tokio::time::sleep(LOOK).await;
        }
        "it prints an answer".to_owned()
    };
    tokio::time::timeout(SHOWS, shown).await.ok()
}

/// Whether there is something on a screen behind the echo of what was typed; where there is no echo, whether it is another.
fn has_answered(before: &str, now: &str, typed: &str) -> bool {
    let dense = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let (screen, typed) = (dense(now), dense(typed));
    match screen.rfind(tail(&typed)) {
        Some(echo) => screen[echo..] != *tail(&typed),
        None => screen != dense(before) && !is_echo(&screen, &typed),
    }
}

/// Whether the screen ends with what may be a beginning of the echo, or a part of it that began above.
fn is_echo(screen: &str, typed: &str) -> bool {
    let begins = |(at, _): (usize, char)| typed.starts_with(&screen[at..]);
    typed.contains(tail(screen)) || screen.char_indices().rev().take(TAIL).skip(1).any(begins)
}

fn tail(text: &str) -> &str {
    text.char_indices().rev().nth(TAIL - 1).map_or(text, |(at, _)| &text[at..])
}

impl Starter for Hand {
    async fn start(&self, line: CommandLine) -> Result<Started, String> {
        let prepared = self.program.ready(line).await.map_err(|why| why.to_string())?;
        let (started, answer) = oneshot::channel();
        let ask = Driven::Start { launch: prepared.launch, started };
        let gone = || "the runner has gone".to_owned();
        self.to.send(ask).await.map_err(|_| gone())?;
        let terminal = answer.await.map_err(|_| gone())?.map_err(|why| why.to_string())?;
        let process = terminal.pid();
        let (end, ended) = oneshot::channel();
        tokio::spawn(async move {
            let exit = terminal.exited().await;
            // A lane that has gone on does not listen any more.
            let _ = end.send(Ended { code: Some(i32::from(exit.code)), screen: terminal.screen() });
        });
        Ok(Started { process: Some(process), ended })
    }

    fn screen(&self) -> String {
        self.terminal.get().map(|terminal| terminal.screen()).unwrap_or_default()
    }

    fn stop(&self) {
        if let Some(terminal) = self.terminal.get() {
            // One that has just ended needs no telling.
            let _ = terminal.signal(Signal::SIGHUP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::has_answered;

    #[test]
    fn what_stands_behind_the_echo_is_an_answer() {
        let typed = "Read what waits.\n--- end 0123456789abcdef ---";
        let echo = "ready> Read what waits. --- end 0123456\n789abcdef ---";
        let shown = |now: &str| has_answered("ready>", now, typed);
        assert!(!shown("ready>") && !shown("ready>\n") && !shown(echo));
        assert!(!shown(&echo[..27]), "the echo goes on");
        assert!(shown(&format!("{echo}\nthinking")) && shown(&format!("{echo}\nready>")));
        assert!(shown("Working"), "a program that echoes nothing");
        assert!(!has_answered("", "", "") && !has_answered("> ", "> yes", "yes"));
    }
}
