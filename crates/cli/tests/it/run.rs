//! `chorus run` with a plain program, in a real terminal: woken by keys, put away and brought back, and everything that
//! can go wrong. Codex and Claude Code themselves are tried in `lab/clients`.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chorus_harness::terminal::{Launch, Signal, Size, Terminal, TerminalHandle, spawn};
use chorus_testing::eventually;
use nix::sys::signal::{Signal as NixSignal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::cli::{Ran, chorus, run};
use crate::host::Host;

/// Reads a line, and answers the event that it names.
const BOT: &str = r#"#!/bin/bash
printf 'ready> '
while IFS= read -r line; do
    case "$line" in
    quit*) printf 'bye\n'; exit "${line#quit}";;
    esac
    event=$(printf '%s' "$line" | grep -o 'evt_[0-9a-f]\{32\}' | tail -1)
    printf 'thinking\n'
    [ -n "$event" ] && "$CHORUS" post general "done $(cat words)" --reply-to "$event" >/dev/null
    printf 'ready> '
done
"#;

/// Answers only once there is a file `go`.
const SLOW: &str = r#"#!/bin/bash
echo $$ > pid
printf 'ready> '
while IFS= read -r line; do
    event=$(printf '%s' "$line" | grep -o 'evt_[0-9a-f]\{32\}' | tail -1)
    printf 'thinking\n'
    echo "$event" >> turns
    until [ -e go ]; do sleep 0.05; done
    [ -n "$event" ] && "$CHORUS" post general "done" --reply-to "$event" >/dev/null
    printf 'ready> '
done
"#;

/// Reads lines, and does nothing about them.
const DEAF: &str = "#!/bin/bash\nwhile IFS= read -r line; do printf 'Completed.\\n'; done\n";

/// A person in a project's folder.
struct Desk {
    host: Host,
    project: PathBuf,
    state: PathBuf,
}

impl Desk {
    fn new(program: &str) -> Self {
        let host = Host::start();
        host.json(&["channel", "create", "general"]);
        let [project, state] = ["project", "state"].map(|name| host.folder.path().join(name));
        std::fs::create_dir(&project).unwrap();
        std::fs::write(project.join("words"), "one").unwrap();
        executable(&project.join("bot"), program);
        Self { host, project, state }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let variables = [
            ("CHORUS_DATA", self.host.data().into_os_string()),
            ("XDG_STATE_HOME", self.state.clone().into_os_string()),
            ("CHORUS", env!("CARGO_BIN_EXE_chorus").into()),
        ];
        variables.map(|(name, value)| (name.into(), value)).into()
    }

    /// Types `chorus …` in a terminal.
    fn types(&self, arguments: &[&str]) -> Terminal {
        let launch = Launch {
            program: env!("CARGO_BIN_EXE_chorus").into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: self.environment(),
            folder: self.project.clone(),
        };
        spawn(&launch, Size { rows: 40, columns: 120 }).unwrap()
    }

    /// The same without a terminal.
    fn runs(&self, arguments: &[&str]) -> Ran {
        run(chorus().args(arguments).current_dir(&self.project).envs(self.environment()))
    }

    /// The program that is asked for takes keys, and its runner is connected.
    async fn is_ready(&self, terminal: &TerminalHandle) {
        eventually("the program runs", async || terminal.screen().contains("ready>")).await;
        self.is_connected().await;
    }

    async fn is_connected(&self) {
        eventually("the runner is connected", async || self.session()["connected"] == true).await;
    }

    fn session(&self) -> Value {
        let sessions = self.host.json(&["sessions"]);
        let all = sessions["sessions"].as_array().unwrap();
        all.iter().find(|one| one["member"] == "project").cloned().unwrap_or_default()
    }

    fn ask(&self) -> String {
        let posted = self.host.json(&["post", "general", "@project please look at CI"]);
        posted["event_id"].as_str().unwrap().to_owned()
    }

    /// What the host knows of an event, once it is so.
    async fn why(&self, event: &str, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let mut why = Value::Null;
        eventually(what, async || {
            why = self.host.json(&["why", event]);
            is(&why)
        })
        .await;
        why
    }

    /// The turn about an event runs, and the host knows that.
    async fn runs_turn(&self, event: &str) -> Value {
        self.why(event, "its turn runs", |why| why["wakes"][0]["state"] == "running").await
    }

    /// SIGKILL for the process that a file names.
    fn kill_named(&self, file: &str) {
        let pid = std::fs::read_to_string(self.project.join(file)).unwrap();
        kill(Pid::from_raw(pid.trim().parse().unwrap()), NixSignal::SIGKILL).unwrap();
    }

    /// SIGKILL for the runner without a terminal.
    fn kill_runner(&self) {
        let sessions: Vec<_> =
            walk(&self.state).into_iter().filter(|f| f.ends_with("run.json")).collect();
        let [file] = &sessions[..] else { panic!("one runner: {sessions:?}") };
        let holder = chorus_harness::runner::home::holder(file.parent().unwrap()).unwrap();
        kill(Pid::from_raw(holder.pid), NixSignal::SIGKILL).unwrap();
    }

    /// Ends the runner.
    fn runs_nothing(&self) {
        self.runs(&["stop"]).ok();
    }

    /// Lets programs answer.
    fn go(&self) {
        std::fs::write(self.project.join("go"), "").unwrap();
    }

    /// The turns that programs have begun.
    fn turns(&self) -> usize {
        std::fs::read_to_string(self.project.join("turns")).unwrap().lines().count()
    }

    async fn answered(&self, event: &str) -> Value {
        let answered = |why: &Value| why["told"][0]["receipt"]["disposition"] == "responded";
        self.why(event, "it is answered", answered).await
    }

    fn said(&self) -> String {
        self.host.run(&["tail", "general", "--since", "0", "--follow", "false"]).ok().out
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let each = |entry: std::fs::DirEntry| match entry.path() {
        path if path.is_dir() => walk(&path),
        path => vec![path],
    };
    entries.flat_map(each).collect()
}

fn executable(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

// covers: OPS-620, OPS-621, OPS-623, OPS-624
#[tokio::test(flavor = "multi_thread")]
async fn a_mention_wakes_the_program_in_its_terminal_and_after_it() {
    let desk = Desk::new(BOT);
    let terminal = desk.types(&["run", "./bot"]);
    let seen = terminal.handle();
    desk.is_ready(&seen).await;
    assert!(seen.screen().contains("chorus: this is @project in #general"), "{}", seen.screen());
    desk.answered(&desk.ask()).await;
    eventually("the person sees it", async || seen.screen().contains("thinking")).await;

    // The program ends with a code of its own, and the agent sleeps.
    seen.person_input(b"quit7\r".to_vec()).await.unwrap();
    assert_eq!(seen.exited().await.code, 7);
    assert!(seen.screen().contains("@project sleeps"), "{}", seen.screen());
    desk.is_connected().await;
    std::fs::write(desk.project.join("words"), "two").unwrap();
    desk.answered(&desk.ask()).await;
    assert!(desk.said().contains("done two"), "{}", desk.said());

    // It is shown to a person, who lets it go on, and to nobody once it is stopped.
    let viewer = desk.types(&["attach"]);
    let shown = viewer.handle();
    eventually("it is shown", async || shown.screen().contains("ready>")).await;
    shown.person_input(b"\x1c\x1c".to_vec()).await.unwrap();
    assert_eq!(shown.exited().await.code, 0);
    assert_eq!(desk.session()["connected"], true);
    let stopped = desk.runs(&["stop", "project"]).ok().out;
    assert!(stopped.contains("nothing wakes it any more"), "{stopped}");
    eventually("the host knows", async || desk.session()["connected"] != true).await;
    let tokens = desk.host.json(&["token", "list"]);
    let of_session = |token: &&Value| token["member"] == "project";
    let token = tokens["tokens"].as_array().unwrap().iter().find(of_session).unwrap();
    assert_eq!(token["revoked"], true, "{token}");
    assert_eq!(desk.runs(&["attach", "project"]).code, 1);
}

// covers: OPS-625
#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_has_half_typed_is_neither_sent_nor_added_to() {
    let desk = Desk::new(BOT);
    let terminal = desk.types(&["run", "./bot"]);
    let seen = terminal.handle();
    desk.is_ready(&seen).await;
    seen.person_input(b"half typed".to_vec()).await.unwrap();
    let deferred = |why: &Value| why["wakes"][0]["state"] == "deferred";
    let why = desk.why(&desk.ask(), "it is deferred", deferred).await;
    assert!(why["wakes"][0]["deferred_until"].is_string(), "{why}");
    assert!(seen.screen().trim_end().ends_with("ready> half typed"), "{}", seen.screen());
    let shown = desk.host.run(&["sessions"]).ok().out;
    assert!(shown.contains("its terminal waits for a person"), "{shown}");
}

// covers: OPS-626
#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_completes_and_answers_nothing_is_found_out() {
    let desk = Desk::new(DEAF);
    let terminal = desk.types(&["run", "./bot"]);
    desk.is_connected().await;
    let dead = |why: &Value| why["wakes"][0]["state"] == "dead";
    let why = desk.why(&desk.ask(), "it is found out", dead).await;
    let wake = &why["wakes"][0];
    assert!(wake["lines"].as_str().is_some_and(|lines| lines.contains("Completed.")), "{why}");
    let dead = |why: &Value| why["told"][0]["receipt"]["state"] != "waiting";
    assert!(dead(&why), "{why}");
    drop(terminal);
}

// covers: OPS-627
#[tokio::test(flavor = "multi_thread")]
async fn the_program_survives_its_host_and_a_signal_its_runner() {
    let mut desk = Desk::new(BOT);
    let terminal = desk.types(&["run", "./bot"]);
    let seen = terminal.handle();
    desk.is_ready(&seen).await;
    desk.host.kill();
    seen.person_input(b"hello\r".to_vec()).await.unwrap();
    eventually("it goes on", async || seen.screen().matches("ready>").count() == 2).await;
    desk.host.serve();
    desk.is_connected().await;
    desk.answered(&desk.ask()).await;
    // Told to end, all of it ends.
    seen.signal(Signal::SIGTERM).unwrap();
    assert_eq!(seen.exited().await.code, 128 + 15);
    eventually("the host knows", async || desk.session()["connected"] != true).await;
}

// covers: OPS-627
#[tokio::test(flavor = "multi_thread")]
async fn a_runner_whose_folder_is_removed_ends() {
    let desk = Desk::new(BOT);
    desk.runs(&["run", "--detach", "./bot"]).ok();
    desk.is_connected().await;
    std::fs::remove_dir_all(&desk.state).unwrap();
    eventually("it ends", async || desk.session()["connected"] != true).await;
}

// covers: OPS-627
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_one_turn_however_its_host_ends() {
    let mut desk = Desk::new(SLOW);
    let terminal = desk.types(&["run", "./bot"]);
    desk.is_ready(&terminal.handle()).await;
    let event = desk.ask();
    desk.runs_turn(&event).await;
    desk.host.kill();
    desk.host.serve();
    desk.is_connected().await;
    desk.go();
    desk.answered(&event).await;
    assert_eq!((desk.turns(), desk.said().matches("done").count()), (1, 1));
}

// covers: OPS-629
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_whose_program_is_killed_begins_once_more() {
    let desk = Desk::new(SLOW);
    let terminal = desk.types(&["run", "./bot"]);
    let seen = terminal.handle();
    desk.is_ready(&seen).await;
    let event = desk.ask();
    desk.runs_turn(&event).await;
    desk.kill_named("pid");
    assert_eq!(seen.exited().await.code, 128 + 9);
    desk.go();
    let why = desk.answered(&event).await;
    assert_eq!((desk.turns(), desk.said().matches("done").count()), (2, 1), "{why}");
    let ended = why["wakes"][0]["attempts"].as_array().unwrap();
    assert!(!ended.is_empty(), "{why}");
    desk.runs_nothing();
}

// covers: OPS-629
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_whose_runner_is_killed_begins_once_more() {
    let desk = Desk::new(SLOW);
    desk.runs(&["run", "--detach", "./bot"]).ok();
    desk.is_connected().await;
    let event = desk.ask();
    desk.runs_turn(&event).await;
    desk.kill_runner();
    desk.go();
    desk.runs(&["run", "--detach", "./bot"]).ok();
    let why = desk.answered(&event).await;
    assert_eq!((desk.turns(), desk.said().matches("done").count()), (2, 1), "{why}");
    desk.runs_nothing();
}

// covers: OPS-620
#[tokio::test(flavor = "multi_thread")]
async fn who_has_an_agents_token_runs_that_agent() {
    let desk = Desk::new(BOT);
    let issue = ["token", "issue", "--agent", "project", "--role", "worker"];
    let token = desk.host.run(&issue).ok().out.trim().to_owned();
    desk.host.run(&["channel", "add", "general", "project"]).ok();
    let with = |words: &[&str]| {
        let mut command = chorus();
        command.args(words).args(["--url", &desk.host.url(), "--token", &token]);
        run(command.current_dir(&desk.project).envs(desk.environment()))
    };
    let other = with(&["run", "--agent", "scout", "--detach", "./bot"]);
    assert!(other.err.contains("the token is of project, and not of scout"), "{}", other.err);
    with(&["run", "--detach", "./bot"]).ok();
    desk.is_connected().await;
    desk.answered(&desk.ask()).await;
    // It was not the runner's to end.
    desk.runs(&["stop"]).ok();
    assert!(with(&["whoami"]).ok().out.contains("project"));
}

// covers: OPS-628
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_run_is_refused_with_what_to_do() {
    let desk = Desk::new(BOT);
    for (arguments, words) in [
        (&["run", "no-such-program"][..], "there is no program no-such-program"),
        (&["run", "./words"], "./words cannot be executed"),
        (&["run", "--agent", "operator", "./bot"], "operator is a person"),
        (&["run", "--channel", "nowhere", "./bot"], "no channel is called"),
        (&["attach"], "nothing runs on this machine"),
        (&["stop", "scout"], "scout does not run on this machine"),
    ] {
        let refused = desk.runs(arguments);
        assert_eq!(refused.code, 1, "{arguments:?}: {} {}", refused.out, refused.err);
        assert!(refused.err.contains(words), "{arguments:?}: {}", refused.err);
    }
    assert_eq!(desk.session(), Value::Null);

    let started = desk.runs(&["run", "--detach", "./bot"]).ok();
    assert!(started.err.contains("chorus attach project"), "{}", started.err);
    desk.is_connected().await;
    let twice = desk.runs(&["run", "./bot"]);
    assert!(twice.err.contains("already runs on this machine"), "{}", twice.err);
    desk.answered(&desk.ask()).await;
    desk.runs(&["stop"]).ok();

    // A program that ends at once is no loop of starts.
    executable(&desk.project.join("short"), "#!/bin/sh\nexit 3\n");
    assert_eq!(desk.runs(&["run", "./short"]).code, 3);
    let event = desk.ask();
    let dead = |why: &Value| why["wakes"][0]["state"] == "dead";
    let why = desk.why(&event, "nothing serves", dead).await;
    assert_eq!(why["wakes"][0]["outcome"], "wake_failed", "{why}");
    desk.runs(&["stop"]).ok();
}
