//! A person at a terminal in a project's folder, with the real programs and a scripted model.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use chorus_clients::kit::{self, Kit};
use chorus_clients::model::{Cue, Model};
use chorus_harness::lanes::Kind;
use chorus_harness::lanes::dialog::takes_prompts;
use chorus_harness::terminal::{Launch, Size, Terminal, TerminalHandle, spawn};
use chorus_testing::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::house::{House, binary};

/// What a person has half typed.
pub(crate) const DRAFT: &str = "half-typed-draft";

/// An answer takes a few seconds; a program that starts first takes more.
const ANSWER: Duration = Duration::from_secs(25);

/// The longest that anything may take; a person's draft keeps keys back for 20 s after it has gone.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

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
        "target": {"conversation": format!("${before}.events.0.conversation")}, "visibility": "channel", "directedness": "to_other",
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
        // A person's terminal is no build: Gemini CLI draws nothing in one.
        environment.push(("CI", "false".to_owned()));
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

    pub(crate) async fn is_connected(&self) {
        eventually("the runner connects", async || {
            let sessions = self.house.json(&["sessions"]);
            let all = sessions["sessions"].as_array().unwrap();
            all.iter().any(|one| one["member"] == "project" && one["connected"] == true)
        })
        .await;
    }

    /// The program is there, and its runner is connected.
    pub(crate) async fn is_ready(&self, terminal: &TerminalHandle) {
        self.is_connected().await;
        // Keys that come while it draws itself are lost.
        eventually("its prompt box is open", async || {
            let takes = |kind| takes_prompts(kind, &terminal.screen());
            takes(Kind::Codex) || takes(Kind::Claude)
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

    /// What the host knows of an event, once it is so.
    pub(crate) async fn why(&self, event: &str, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let mut why = Value::Null;
        let happens = async {
            while !is(&why) {
                tokio::time::sleep(LOOK).await;
                why = self.house.json(&["why", event]);
            }
        };
        if tokio::time::timeout(PATIENCE, happens).await.is_err() {
            panic!("did not happen: {what}: {why:#}");
        }
        why
    }

    /// The turn about an event has ended.
    pub(crate) async fn why_ended(&self, why: &Value) {
        let event = why["event_id"].as_str().unwrap();
        self.why(event, "the turn ends", |why| why["wakes"][0]["state"] == "done").await;
    }

    /// The process of the runner without a terminal.
    pub(crate) fn runner(&self) -> Vec<i32> {
        let ours = |line: &[String]| line.iter().any(|word| word == "--go-on");
        self.processes().into_iter().filter(|(_, line)| ours(line)).map(|(pid, _)| pid).collect()
    }

    /// Those of the program that it runs.
    pub(crate) fn program(&self) -> Vec<i32> {
        let all = self.processes();
        all.into_iter()
            .filter(|(_, line)| !line.iter().any(|w| w == "--go-on"))
            .map(|(pid, _)| pid)
            .collect()
    }

    /// Processes that run in the home of this desk, but for the host.
    fn processes(&self) -> Vec<(i32, Vec<String>)> {
        let home = format!("HOME={}", self.home.display());
        let read = |pid: i32, name: &str| {
            let text = std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            let words = text
                .split(|byte| *byte == 0)
                .map(|word| String::from_utf8_lossy(word).into_owned());
            words.collect::<Vec<_>>()
        };
        let pids = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let ours = pids.filter(|pid| read(*pid, "environ").contains(&home));
        ours.map(|pid| (pid, read(pid, "cmdline"))).collect()
    }

    /// SIGKILL.
    pub(crate) fn kill(&self, pids: &[i32]) {
        assert!(!pids.is_empty(), "there is nothing to kill");
        for pid in pids {
            // Some end with others.
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
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

impl Drop for Desk {
    fn drop(&mut self) {
        // A runner goes on without its terminal.
        for (pid, _) in self.processes() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}
