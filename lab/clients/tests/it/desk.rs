//! A person at a terminal in a project's folder, with the real programs and a scripted model.

use std::borrow::Cow;
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
pub(crate) const DRAFT: &str = "half-typed-draft";

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
pub(crate) fn answers(words: impl Into<Cow<'static, str>>, before: usize, text: &str) -> Cue {
    let words = words.into();
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
        environment.push(("CHORUS", binary().display().to_string()));
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
    pub(crate) async fn is_ready(&self, terminal: &TerminalHandle) {
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
    pub(crate) async fn asks(&self, question: &str, seen: &TerminalHandle) -> Value {
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

pub(crate) fn confirmed(why: &Value) -> Option<&Value> {
    let attempts = why["wakes"][0]["attempts"].as_array()?;
    attempts.iter().rfind(|attempt| attempt["result"] == "confirmed")
}
