//! `chorus run` with the real programs: a mention wakes the program in its terminal, under a person's draft, and after the
//! terminal is gone it comes back with its memory. Everything is typed as a person types it; the model is scripted.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use chorus_clients::kit::{self, Kit};
use chorus_clients::model::{Cue, Model};
use chorus_harness::terminal::{Launch, Size, Terminal, TerminalHandle, spawn};
use chorus_testing::eventually;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::house::{House, binary};

/// What a person has half typed.
const DRAFT: &str = "half-typed-draft";

/// An answer takes a few seconds; a program that starts first takes more.
const ANSWER: Duration = Duration::from_secs(25);

/// A person at a terminal in a project's folder, and a host elsewhere on the machine.
pub(crate) struct Desk {
    pub(crate) house: House,
    pub(crate) model: Model,
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// What the model does when it is asked with these words: it reads what waits, and answers the first of it. A session's
/// second turn finds the results of its first.
pub(crate) fn answers(words: &'static str, before: usize, text: &str) -> Cue {
    let mut calls = vec![json!(["nothing", {}]); before];
    calls.push(json!(["chat.list_events", {"unsettled": true}]));
    calls.push(json!(["chat.send_message", {
        "target": {"conversation": "#general"}, "visibility": "channel", "directedness": "to_other",
        "inReplyTo": format!("${before}.events.0.eventId"), "idempotencyKey": words, "text": text,
    }]));
    Cue { words, calls: Value::Array(calls), says: "DONE" }
}

impl Desk {
    pub(crate) async fn new(cues: Vec<Cue>) -> Self {
        let kit = Kit::installed().expect("cargo xtask test installs the clients");
        let house = House::open();
        house.chorus(&["channel", "create", "general"]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model = Model::on(listener, cues).unwrap();
        let [home, project] = ["home", "project"].map(|name| house.folder(name));
        let mut environment = kit::speaks_to(&home, &model.url).unwrap();
        // With this there is no inbox; everything else that it asks for is on loopback anyway.
        environment.retain(|(name, _)| *name != "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC");
        // A person has used Claude Code here before.
        let folders = json!({project.to_str().unwrap(): {
            "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
        }});
        let settled = json!({
            "hasCompletedOnboarding": true, "theme": "dark", "projects": folders,
            "customApiKeyResponses": {"approved": ["none"], "rejected": []},
        });
        std::fs::write(home.join(".claude.json"), settled.to_string()).unwrap();
        let path = std::env::var("PATH").unwrap();
        environment.push(("PATH", format!("{}:{path}", kit.programs().display())));
        environment.push(("CHORUS_DATA", house.folder("data").display().to_string()));
        environment.push(("XDG_STATE_HOME", home.join(".state").display().to_string()));
        environment.push(("TERM", "xterm-256color".to_owned()));
        environment.push(("CHORUS_LOG", "info".to_owned()));
        let environment = environment.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { model, home, project, environment: environment.collect(), house }
    }

    /// Types `chorus …` in a terminal.
    pub(crate) fn types(&self, words: &[&str]) -> Terminal {
        let launch = Launch {
            program: binary(),
            arguments: words.iter().map(OsString::from).collect(),
            environment: self.environment.clone(),
            folder: self.project.clone(),
        };
        spawn(&launch, Size { rows: 40, columns: 120 }).unwrap()
    }

    /// What a command prints that is typed in another terminal.
    pub(crate) fn prints(&self, words: &[&str]) -> String {
        let mut command = Command::new(binary());
        command.args(words).current_dir(&self.project).envs(self.environment.iter().cloned());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The program is there, and its runner is connected.
    async fn is_ready(&self, terminal: &TerminalHandle) {
        eventually("the runner connects", async || {
            let sessions = self.house.json(&["sessions"]);
            let all = sessions["sessions"].as_array().unwrap();
            all.iter().any(|one| one["member"] == "project" && one["connected"] == true)
        })
        .await;
        terminal.person_input(DRAFT.into()).await.unwrap();
        eventually("the program takes keys", async || terminal.screen().contains(DRAFT)).await;
    }

    /// Posts a question, and waits until it is answered; what the host knows of it.
    async fn asks(&self, question: &str, seen: &TerminalHandle) -> Value {
        let posted = self.house.json(&["post", "general", &format!("@project {question}")]);
        let event = posted["event_id"].as_str().unwrap().to_owned();
        let mut why = Value::Null;
        let answered = eventually("it is answered", async || {
            why = self.house.json(&["why", &event]);
            let receipt = &why["told"][0]["receipt"];
            assert_ne!(receipt["state"], "dead", "{why}");
            // A quick program answers before it has shown that it is awake.
            receipt["disposition"] == "responded" && confirmed(&why).is_some()
        });
        if tokio::time::timeout(ANSWER, answered).await.is_err() {
            panic!("not answered: {why:#}\n{}", seen.screen());
        }
        why
    }

    pub(crate) fn said(&self, text: &str) -> usize {
        let all = self.house.chorus(&["tail", "general", "--since", "0", "--follow", "false"]);
        all.matches(text).count()
    }
}

/// The lane that woke the program.
fn lane(why: &Value) -> &str {
    confirmed(why).unwrap()["lane"].as_str().unwrap()
}

fn confirmed(why: &Value) -> Option<&Value> {
    let attempts = why["wakes"][0]["attempts"].as_array()?;
    attempts.iter().rfind(|attempt| attempt["result"] == "confirmed")
}

async fn is_woken_and_comes_back(program: &str, live: &str) {
    let first = "please look at CI";
    let second = "and after the restart?";
    let cues = vec![answers(second, 2, "still green"), answers(first, 0, "CI is green")];
    let desk = Desk::new(cues).await;
    let terminal = desk.types(&["run", program]);
    let seen = terminal.handle();
    desk.is_ready(&seen).await;

    let why = desk.asks(first, &seen).await;
    assert_eq!(lane(&why), live, "{why:#}");
    assert_eq!(desk.said("CI is green"), 1);
    eventually("the person sees the turn", async || seen.screen().contains("DONE")).await;
    assert!(seen.screen().contains(DRAFT), "{}", seen.screen());
    let asked = desk.model.asked();
    assert!(!asked.iter().any(|asked| asked.contains(DRAFT)), "the draft was sent");

    // The terminal is closed.
    drop(terminal);
    eventually("the runner goes on without a terminal", async || {
        seen.exited().await;
        let sessions = desk.house.json(&["sessions"]);
        let all = sessions["sessions"].as_array().unwrap();
        all.iter().any(|one| one["member"] == "project" && one["connected"] == true)
    })
    .await;
    let why = desk.asks(second, &seen).await;
    assert_eq!(lane(&why), "resume", "{why:#}");
    assert_eq!(desk.said("still green"), 1);
    let asked = desk.model.asked();
    let last = asked.iter().rev().find(|asked| asked.contains(second)).unwrap();
    assert!(last.contains(first), "it remembers what was before");

    // It is shown, and stopped.
    let viewer = desk.types(&["attach", "project"]);
    let shown = viewer.handle();
    eventually("it is shown", async || shown.screen().contains("DONE")).await;
    desk.prints(&["stop", "project"]);
    shown.exited().await;
    let sessions = desk.house.json(&["sessions"]);
    let all = sessions["sessions"].as_array().unwrap();
    assert!(!all.iter().any(|one| one["connected"] == true), "{sessions}");
    assert!(desk.home.exists());
}

// covers: OPS-620, OPS-621
#[tokio::test(flavor = "multi_thread")]
async fn codex_is_woken_in_its_terminal_and_comes_back() {
    is_woken_and_comes_back("codex", "codex_socket").await;
}

// covers: OPS-620, OPS-621
#[tokio::test(flavor = "multi_thread")]
async fn claude_is_woken_in_its_terminal_and_comes_back() {
    is_woken_and_comes_back("claude", "claude_inbox").await;
}
