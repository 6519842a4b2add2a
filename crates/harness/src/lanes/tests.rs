#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! Lanes through the terminal, with a terminal that does what the test says. Gemini's chats are the program's own proof.

use std::fs;
use std::sync::Mutex;
use std::time::SystemTime;

use chorus_core::model::ids::Timestamp;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::flags::{Begin, CommandLine, Launch};
use super::terminal::{Ended, Started, Starter, Typed, Typist};
use super::*;

/// A runner's folders and what it keeps.
pub(super) struct Desk {
    pub folder: TempDir,
    pub seats: Seats,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), seats: Seats::default() }
    }

    pub(super) fn input(&self) -> WakeInput<'static> {
        WakeInput {
            wake: "wake_1",
            fence: 1,
            prompt: "read th_1",
            summary: Some("so far: nothing"),
        }
    }

    pub(super) fn context<'a>(
        &'a self,
        kind: Kind,
        program: &'a str,
        session: Option<&'a str>,
        terminal: &'a FakeTerminal,
    ) -> LaneContext<'a, FakeTerminal> {
        let folder = self.folder.path();
        let launch = Launch {
            kind,
            program,
            arguments: &[],
            url: "http://127.0.0.1:7717/mcp",
            token_variable: "CHORUS_TOKEN",
            private: folder,
            root: false,
            beside: true,
            begin: Begin::AsUser { id: "unused" },
        };
        LaneContext {
            launch,
            folder,
            home: folder,
            claude_config: None,
            token: "tok",
            process: None,
            session,
            command: Some("exit 0"),
            seats: &self.seats,
            terminal,
        }
    }

    /// Gemini has taken this prompt.
    fn gemini_has(&self, session: &str, prompt: &str) {
        let chats = self.folder.path().join(".gemini/tmp/p/chats");
        fs::create_dir_all(&chats).unwrap();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        let now = Timestamp(i64::try_from(now).unwrap());
        let record = json!({
            "type": "user", "content": [{"text": prompt}], "timestamp": chorus_wire::time::format(now),
        });
        let head = json!({"sessionId": session});
        fs::write(chats.join(format!("{session}.jsonl")), format!("{head}\n{record}\n")).unwrap();
    }
}

/// A terminal whose keyboard answers this, and in which a program does this.
#[derive(Default)]
pub(super) struct FakeTerminal {
    typed: Option<Typed>,
    keys: Mutex<String>,
    ends: Option<Ended>,
    screen: String,
    started: Mutex<Vec<CommandLine>>,
    /// Programs that run.
    running: Mutex<Vec<oneshot::Sender<Ended>>>,
}

impl Typist for FakeTerminal {
    async fn type_prompt(&self, text: &str) -> Typed {
        self.keys.lock().unwrap().push_str(text);
        self.typed.clone().unwrap()
    }
}

impl Starter for FakeTerminal {
    async fn start(&self, line: CommandLine) -> Result<Started, String> {
        self.started.lock().unwrap().push(line);
        let (tell, ended) = oneshot::channel();
        match self.ends.clone() {
            Some(end) => tell.send(end).unwrap(),
            None => self.running.lock().unwrap().push(tell),
        }
        Ok(Started { process: Some(12), ended })
    }

    fn screen(&self) -> String {
        self.screen.clone()
    }

    fn stop(&self) {
        self.running.lock().unwrap().clear();
    }
}

fn name(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Confirmed { evidence, .. } => format!("confirmed {evidence}"),
        Outcome::Failed { why } => format!("failed {}", why.reason.name()),
        Outcome::Unknown { why } => format!("unknown {}", why.reason.name()),
    }
}

#[tokio::test]
async fn keys_are_proved_by_the_program_or_its_screen() {
    let check = |typed: Typed, taken: bool, wanted: &'static str| async move {
        let desk = Desk::new();
        let terminal = FakeTerminal { typed: Some(typed), ..FakeTerminal::default() };
        if taken {
            desk.gemini_has("g-1", "read  th_1\n");
        }
        let context = desk.context(Kind::Gemini, "gemini", None, &terminal);
        let outcome = Lane::Pty.try_wake(&desk.input(), &context).await;
        assert_eq!(name(&outcome), wanted);
    };
    let seen = |seen: Option<&str>| Typed::Typed { seen: seen.map(str::to_owned) };
    tokio::join!(
        check(seen(None), true, "confirmed the chat has the prompt"),
        check(seen(Some("spinner")), false, "confirmed spinner"),
        check(seen(None), false, "unknown no_proof"),
        check(Typed::Refused("a draft".into()), true, "failed person_typing"),
        check(Typed::Stopped, true, "failed stopped_by_person"),
    );
}

#[tokio::test]
async fn keys_name_no_files_to_gemini() {
    let desk = Desk::new();
    let typed = Some(Typed::Typed { seen: None });
    let terminal = FakeTerminal { typed, ..FakeTerminal::default() };
    desk.gemini_has("g-1", "what is in \\@a/file?");
    let context = desk.context(Kind::Gemini, "gemini", None, &terminal);
    let input = WakeInput { prompt: "what is in @a/file?", ..desk.input() };
    let outcome = Lane::Pty.try_wake(&input, &context).await;
    assert_eq!(name(&outcome), "confirmed the chat has the prompt");
    assert_eq!(*terminal.keys.lock().unwrap(), "what is in \\@a/file?");
}

#[tokio::test]
async fn a_session_is_resumed_with_the_prompt_and_a_new_one_with_the_summary() {
    let desk = Desk::new();
    let terminal = FakeTerminal::default();
    let context = desk.context(Kind::Gemini, "gemini", Some("g-1"), &terminal);
    desk.gemini_has("g-1", "read th_1");
    let outcome = Lane::Resume.try_wake(&desk.input(), &context).await;
    assert_eq!(name(&outcome), "confirmed the chat has the prompt");
    desk.gemini_has("g-2", "read th_1\n\nso far: nothing");
    let outcome = Lane::NewSession.try_wake(&desk.input(), &context).await;
    let Outcome::Confirmed { turn, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(turn.session.as_deref(), Some("g-2"));
    let started = terminal.started.lock().unwrap();
    let last = ["g-1", "--prompt-interactive=read th_1"].map(str::to_owned);
    assert!(started[0].arguments.ends_with(&last));
    assert!(started[1].arguments.last().unwrap().ends_with("so far: nothing"));
    assert_eq!(started[1].session.as_ref().unwrap().len(), 36);
}

#[tokio::test]
async fn what_the_program_says_of_its_session_is_why_it_failed() {
    let check = |code: i32, screen: &'static str, wanted: &'static str| async move {
        let desk = Desk::new();
        let ends = Some(Ended { code: Some(code), screen: screen.to_owned() });
        let terminal = FakeTerminal { ends, ..FakeTerminal::default() };
        let context = desk.context(Kind::Gemini, "gemini", Some("g-1"), &terminal);
        let outcome = Lane::Resume.try_wake(&desk.input(), &context).await;
        assert_eq!(name(&outcome), wanted);
    };
    check(1, "No conversation found with session ID: g-1", "failed session_lost").await;
    check(1, "already has an active writer", "failed session_alive").await;
    check(127, "not found", "failed exited").await;
    let desk = Desk::new();
    let screen = "This conversation is open in another app".to_owned();
    let terminal = FakeTerminal { screen, ..FakeTerminal::default() };
    let context = desk.context(Kind::Gemini, "gemini", Some("g-1"), &terminal);
    let outcome = Lane::Resume.try_wake(&desk.input(), &context).await;
    assert_eq!(name(&outcome), "failed session_alive");
    assert!(terminal.running.lock().unwrap().is_empty(), "and it is not left there");
    let none = desk.context(Kind::Gemini, "gemini", None, &terminal);
    assert_eq!(name(&Lane::Resume.try_wake(&desk.input(), &none).await), "failed no_resume_id");
}

#[tokio::test]
async fn a_command_is_woken_if_it_runs_or_succeeds() {
    let check = |ends: Option<Ended>, wanted: &'static str, completed: Option<bool>| async move {
        let desk = Desk::new();
        let terminal = FakeTerminal { ends, ..FakeTerminal::default() };
        let context = desk.context(Kind::Other, "aider", None, &terminal);
        let outcome = Lane::Command.try_wake(&desk.input(), &context).await;
        assert_eq!(name(&outcome), wanted);
        for running in terminal.running.lock().unwrap().drain(..) {
            running.send(Ended { code: Some(3), screen: "late failure".into() }).unwrap();
        }
        let prompt = ("CHORUS_PROMPT".to_owned(), "read th_1".to_owned());
        assert!(terminal.started.lock().unwrap()[0].environment.contains(&prompt));
        if let Some(completed) = completed {
            let end = Lane::Command.watch_end(&Turn::default(), &desk.input(), &context).await;
            assert_eq!(end.completed, completed, "{end:?}");
        }
    };
    let ended = |code| Some(Ended { code: Some(code), screen: "words".to_owned() });
    tokio::join!(
        check(ended(0), "confirmed the command has succeeded", Some(true)),
        check(ended(127), "failed exited", None),
        check(None, "confirmed the command runs", Some(false)),
    );
}
