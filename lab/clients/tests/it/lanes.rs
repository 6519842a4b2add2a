//! Lanes into the real programs, each in a temporary home with a scripted model: woken by their own sockets while a
//! draft stands in the composer, and brought back after their terminal is gone.

mod pty;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use chorus_clients::kit::{self, Kit};
use chorus_clients::model::{CLOSING, Model, SILENT};
use chorus_harness::lanes::flags::{Begin, Launch, command_line};
use chorus_harness::lanes::terminal::Starter;
use chorus_harness::lanes::{
    Found, Kind, Lane, LaneContext, Outcome, Reason, Seats, Turn, WakeInput, Waking,
};
use chorus_testing::eventually;
use pty::Terminal;
use serde_json::json;

use crate::house::House;

/// What a person has half typed.
const DRAFT: &str = "half-typed-draft";
/// What stands in a file that messages name, and nobody has allowed to be read.
const SECRET: &str = "KEPT ELSEWHERE";
/// Wakes whose speed is measured.
const MEASURED: u32 = 11;

/// An agent's program as a runner runs it.
struct Runner {
    house: House,
    model: Model,
    terminal: Terminal,
    seats: Seats,
    kind: Kind,
    program: String,
    home: PathBuf,
    folder: PathBuf,
    private: PathBuf,
    url: String,
    token: String,
}

impl Runner {
    async fn new(kind: Kind, program: &str) -> Self {
        let kit = Kit::installed().expect("cargo xtask test installs the clients");
        let (house, model) = (House::open(), Model::start().await.unwrap());
        house.chorus(&["member", "create", "builder", "--kind", "agent"]);
        house.chorus(&["channel", "create", "ops", "builder"]);
        let token = house.token("builder", "worker");
        let url = house.door(&token).url;
        let [home, folder, private] = ["home", "work", "private"].map(|name| house.folder(name));
        let mut environment = kit::speaks_to(&home, &model.url).unwrap();
        // With this there is no inbox; everything else that it asks for is on loopback anyway.
        environment.retain(|(name, _)| *name != "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC");
        environment.push(("CHORUS_TOKEN", token.clone()));
        let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value));
        // A person has used Claude Code here before.
        let folders = json!({folder.to_str().unwrap(): {
            "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
        }});
        let settled = json!({
            "hasCompletedOnboarding": true, "theme": "dark", "projects": folders,
            "customApiKeyResponses": {"approved": ["none"], "rejected": []},
        });
        std::fs::write(home.join(".claude.json"), settled.to_string()).unwrap();
        std::fs::write(house.folder("elsewhere").join("secret"), SECRET).unwrap();
        let terminal = Terminal::new(kit.programs(), folder.clone(), environment.collect());
        let program = kit.programs().join(program).display().to_string();
        let seats = Seats::default();
        Self { house, model, terminal, seats, kind, program, home, folder, private, url, token }
    }

    fn launch(&self) -> Launch<'_> {
        Launch {
            kind: self.kind,
            program: &self.program,
            arguments: &[],
            url: &self.url,
            token_variable: "CHORUS_TOKEN",
            private: &self.private,
            root: nix::unistd::geteuid().is_root(),
            beside: true,
            begin: Begin::AsUser { id: "0f0e0d0c-0b0a-4908-8706-050403020100" },
        }
    }

    fn context<'a>(
        &'a self,
        process: Option<u32>,
        session: Option<&'a str>,
    ) -> LaneContext<'a, Terminal> {
        LaneContext {
            launch: self.launch(),
            folder: &self.folder,
            home: &self.home,
            claude_config: None,
            token: &self.token,
            process,
            session,
            command: None,
            seats: &self.seats,
            terminal: &self.terminal,
        }
    }

    /// Starts the program as a person does, and gives its process.
    async fn starts(&self) -> Option<u32> {
        let line = command_line(&self.launch());
        self.terminal.start(line).await.unwrap().process
    }

    /// A prompt with words of somebody who would like to see a file.
    fn prompt(&self, words: &str) -> String {
        let secret = self.house.folder("elsewhere").join("secret");
        format!("{words}\n> what is in @{} ?", secret.display())
    }

    /// Has the agent speak in the channel, once in its session.
    fn mail(&self, number: u32) -> String {
        let script = json!([["chat.send_message", {
            "target": {"conversation": "#ops"}, "idempotencyKey": "one",
            "visibility": "channel", "directedness": "ambient", "text": "builder has read it",
        }]]);
        self.prompt(&format!("Wake {number}.\nThere is mail in #ops.\n\nSCRIPT {script}"))
    }

    /// What the model was asked, in words of the conversation.
    fn was_asked(&self, words: &str) -> bool {
        self.model.asked().iter().any(|asked| asked.contains(words))
    }
}

fn input(prompt: &str) -> WakeInput<'_> {
    WakeInput { wake: "wake_1", fence: 1, prompt, summary: Some("SUMMARY OF THE THREAD") }
}

#[track_caller]
fn confirmed(outcome: Outcome) -> (String, Turn) {
    match outcome {
        Outcome::Confirmed { evidence, turn } => (evidence, turn),
        other => panic!("not confirmed: {other:?}"),
    }
}

#[track_caller]
fn failed(outcome: Outcome) -> Reason {
    match outcome {
        Outcome::Failed { why } => why.reason,
        other => panic!("not failed: {other:?}"),
    }
}

/// Wakes it a few times by its socket, and once into a running turn, under a draft that stays.
async fn is_woken_under_a_draft(runner: &Runner, lane: Lane, process: Option<u32>) -> Turn {
    let context = runner.context(process, None);
    // Keys that come while it draws itself are lost.
    eventually("its prompt box is there", async || runner.terminal.screen().contains(['›', '❯']))
        .await;
    runner.terminal.types(DRAFT);
    eventually("the draft is in the composer", async || runner.terminal.screen().contains(DRAFT))
        .await;

    let mut took = Vec::new();
    let mut last = Turn::default();
    for number in 0..MEASURED {
        let (prompt, begun) = (runner.mail(number), Instant::now());
        let input = input(&prompt);
        let (evidence, turn) = confirmed(lane.try_wake(&input, &context).await);
        took.push(begun.elapsed());
        let end = lane.watch_end(&turn, &input, &context).await;
        assert!(end.completed && end.last.contains(CLOSING), "{evidence}: {end:?}");
        last = turn;
    }
    report(lane, took);
    let said = runner.house.chorus(&["tail", "ops", "--since", "0", "--follow", "false"]);
    assert_eq!(said.matches("builder has read it").count(), 1, "{said}");

    // What was sent is found, and what was not is not.
    let (sent, other) = (runner.mail(MEASURED - 1), "nobody has sent this".to_owned());
    for (text, there) in [(&sent, true), (&other, false)] {
        let input = input(text);
        let since = SystemTime::now() - Duration::from_secs(60);
        let found = lane.look_up(&input.message(), since, &input, &context).await;
        assert_eq!(matches!(found, Found::There { .. }), there, "{found:?}");
        assert!(there || found == Found::Absent, "{found:?}");
    }

    // The draft is as it was: sent now, it is a message of its own.
    runner.terminal.types("\r");
    let alone = format!("\"{DRAFT}\"");
    eventually("the draft is sent by itself", async || runner.was_asked(&alone)).await;
    last
}

fn report(lane: Lane, mut took: Vec<Duration>) {
    took.sort();
    let (middle, slowest) = (took[took.len() / 2], took[took.len() - 1]);
    println!("{}: write to turn seen, p50 {middle:.1?}, slowest {slowest:.1?}", lane.name());
}

/// Brings the session back when its terminal is gone, with what it remembers; one that is unknown is left for a new one.
async fn comes_back(runner: &Runner, session: &str) {
    runner.terminal.closes();
    let words = "Are you back? There is more mail in #ops.";
    let prompt = &runner.prompt(words);
    let context = runner.context(None, Some(session));
    let begun = Instant::now();
    let (evidence, turn) = confirmed(Lane::Resume.try_wake(&input(prompt), &context).await);
    println!("resume: {:.1?} until {evidence}", begun.elapsed());
    assert_eq!(turn.session.as_deref(), Some(session));
    let context = runner.context(None, turn.session.as_deref());
    let end = Lane::Resume.watch_end(&turn, &input(prompt), &context).await;
    assert!(end.completed, "{end:?}");
    let asked = runner.model.asked();
    let last = asked.iter().rev().find(|asked| asked.contains(words)).unwrap();
    assert!(last.contains("Wake 0."), "it remembers what was before");

    runner.terminal.closes();
    let gone = "0f0e0d0c-0b0a-4908-8706-0504030201ff";
    let context = runner.context(None, Some(gone));
    let lost = Lane::Resume.try_wake(&input(prompt), &context).await;
    assert_eq!(failed(lost), Reason::SessionLost);
    let (_, turn) = confirmed(Lane::NewSession.try_wake(&input(prompt), &context).await);
    let context = runner.context(None, turn.session.as_deref());
    let end = Lane::NewSession.watch_end(&turn, &input(prompt), &context).await;
    assert!(end.completed, "{end:?}");
    assert!(turn.session.is_some_and(|id| id != session && id != gone));
    assert!(runner.was_asked("SUMMARY OF THE THREAD"));
    assert!(!runner.was_asked(SECRET), "a file was read because a message names it");
}

// covers: OPS-622
#[tokio::test(flavor = "multi_thread")]
async fn codex_is_woken_by_its_socket_under_a_draft_and_comes_back() {
    let runner = Runner::new(Kind::Codex, "codex").await;
    let process = runner.starts().await;
    let context = runner.context(process, None);
    eventually("codex has a session", async || context.codex().thread().await).await;
    let before = std::fs::read(runner.home.join(".codex/config.toml")).unwrap();
    let turn = is_woken_under_a_draft(&runner, Lane::CodexSocket, process).await;

    comes_back(&runner, turn.session.as_deref().unwrap()).await;
    assert_eq!(std::fs::read(runner.home.join(".codex/config.toml")).unwrap(), before);

    // Mail for a turn that runs is steered into it, and a person who stops the turn ends it.
    let asked = format!("{SILENT} 1");
    let (_, running) = confirmed(Lane::CodexSocket.try_wake(&input(&asked), &context).await);
    let (evidence, steered) =
        confirmed(Lane::CodexSocket.try_wake(&input("More mail."), &context).await);
    assert_eq!(steered.id, running.id, "{evidence}");
    runner.terminal.types("\x1b");
    let end = Lane::CodexSocket.watch_end(&running, &input(&asked), &context).await;
    assert!(!end.completed && end.evidence.contains("interrupted"), "{end:?}");

    runner.terminal.closes();
    let gone = Lane::CodexSocket.try_wake(&input("Hello?"), &context).await;
    assert_eq!(failed(gone), Reason::NoSocket);
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_is_woken_by_its_inbox_under_a_draft_and_comes_back() {
    let runner = Runner::new(Kind::Claude, "claude").await;
    let process = runner.starts().await;
    let context = runner.context(process, None);
    eventually("claude has an inbox", async || context.claude().socket()).await;
    let turn = is_woken_under_a_draft(&runner, Lane::ClaudeInbox, process).await;

    comes_back(&runner, turn.session.as_deref().unwrap()).await;
    assert!(!runner.home.join(".claude/settings.json").exists());

    // Mail for a turn that runs waits in its queue.
    let context = runner.context(runner.terminal.process(), None);
    let asked = format!("{SILENT} 1");
    confirmed(Lane::ClaudeInbox.try_wake(&input(&asked), &context).await);
    let more = input("More mail.");
    let (evidence, queued) = confirmed(Lane::ClaudeInbox.try_wake(&more, &context).await);
    assert_eq!(evidence, "queued for the running turn");
    let id = more.message();
    let found = Lane::ClaudeInbox.look_up(&id, queued.since.unwrap(), &more, &context);
    assert!(matches!(found.await, Found::There { .. }));

    runner.terminal.closes();
    let gone = Lane::ClaudeInbox.try_wake(&input("Hello?"), &context).await;
    assert_eq!(failed(gone), Reason::NoSocket);
}

#[tokio::test(flavor = "multi_thread")]
async fn gemini_is_woken_over_acp_and_comes_back() {
    let runner = Runner::new(Kind::Gemini, "gemini").await;
    // The agent is a child of the runner's, which has the environment already.
    let outside = Outside::of(&runner);
    let context = runner.context(None, None);
    let context =
        LaneContext { launch: Launch { program: &outside.0, ..context.launch }, ..context };
    let mut took = Vec::new();
    let mut session = None;
    for number in 0..MEASURED {
        let (prompt, begun) = (runner.mail(number), Instant::now());
        let (_, turn) = confirmed(Lane::Acp.try_wake(&input(&prompt), &context).await);
        took.push(begun.elapsed());
        let end = Lane::Acp.watch_end(&turn, &input(&prompt), &context).await;
        assert!(end.completed && end.last.contains(CLOSING), "{end:?}");
        session = turn.session;
    }
    println!("acp: the first, with the program's start, {:.1?}", took.remove(0));
    report(Lane::Acp, took);
    let said = runner.house.chorus(&["tail", "ops", "--since", "0", "--follow", "false"]);
    assert_eq!(said.matches("builder has read it").count(), 1, "{said}");

    // The agent is gone, and its session is loaded by the next.
    runner.seats.acp.clear().await;
    of_another_minute(&runner.home);
    let context = LaneContext { session: session.as_deref(), ..context };
    let (_, turn) = confirmed(Lane::Acp.try_wake(&input("Are you back?"), &context).await);
    assert_eq!(turn.session, session);
    assert!(Lane::Acp.watch_end(&turn, &input("Are you back?"), &context).await.completed);
    let asked = runner.model.asked();
    let last = asked.iter().rev().find(|asked| asked.contains("Are you back?")).unwrap();
    assert!(last.contains("Wake 0."), "it remembers what was before");

    // One that it does not know is left for a new one.
    runner.seats.acp.clear().await;
    of_another_minute(&runner.home);
    let gone = Some("0f0e0d0c-0b0a-4908-8706-0504030201ff");
    let context = LaneContext { session: gone, ..context };
    let (_, turn) = confirmed(Lane::Acp.try_wake(&input("And now?"), &context).await);
    assert!(turn.session.is_some() && turn.session.as_deref() != gone);
    assert!(runner.was_asked("SUMMARY OF THE THREAD"));
    assert!(!runner.was_asked(SECRET), "a file was read because a message names it");
}

#[tokio::test(flavor = "multi_thread")]
async fn gemini_begins_and_comes_back_in_a_terminal() {
    let runner = Runner::new(Kind::Gemini, "gemini").await;
    let own = ["--skip-trust".to_owned()];
    let context = runner.context(None, None);
    let context = LaneContext { launch: Launch { arguments: &own, ..context.launch }, ..context };
    let (first, again) = (runner.prompt("Wake 0."), runner.prompt("Are you back?"));
    let first = input(&first);
    let (_, turn) = confirmed(Lane::NewSession.try_wake(&first, &context).await);
    let end = Lane::NewSession.watch_end(&turn, &first, &context).await;
    assert!(end.completed && end.last.contains(CLOSING), "{end:?}");
    runner.terminal.closes();
    of_another_minute(&runner.home);
    let (session, again) = (turn.session, input(&again));
    let context = LaneContext { session: session.as_deref(), ..context };
    let begun = Instant::now();
    let (evidence, turn) = confirmed(Lane::Resume.try_wake(&again, &context).await);
    println!("resume: {:.1?} until {evidence}", begun.elapsed());
    assert!(Lane::Resume.watch_end(&turn, &again, &context).await.completed);
    assert_eq!(turn.session, session);
    let asked = runner.model.asked();
    let last = asked.iter().rev().find(|asked| asked.contains("Are you back?")).unwrap();
    assert!(last.contains("Wake 0."), "it remembers what was before");
    assert!(!runner.was_asked(SECRET), "a file was read because a message names it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claude_that_drops_mail_silently_is_found_out() {
    let runner = Runner::new(Kind::Claude, "claude").await;
    std::fs::create_dir_all(runner.home.join(".claude")).unwrap();
    let refuses = json!({"crossSessionInbound": "refuse"}).to_string();
    std::fs::write(runner.home.join(".claude/settings.json"), refuses).unwrap();
    let context = runner.context(runner.starts().await, None);
    eventually("claude has an inbox", async || context.claude().socket()).await;
    let mail = input("There is mail in #ops.");
    let since = SystemTime::now();
    match Lane::ClaudeInbox.try_wake(&mail, &context).await {
        Outcome::Unknown { why } => assert_eq!(why.reason, Reason::NoProof),
        other => panic!("{other:?}"),
    }
    let found = Lane::ClaudeInbox.look_up(&mail.message(), since, &mail, &context).await;
    assert_eq!(found, Found::Absent);
    assert!(!runner.was_asked("There is mail"));
}

/// Gemini names a chat's file by the minute, and overwrites the chat that it loads within the same one.
pub(crate) fn of_another_minute(home: &Path) {
    for project in std::fs::read_dir(home.join(".gemini/tmp")).unwrap().flatten() {
        for chat in std::fs::read_dir(project.path().join("chats")).into_iter().flatten().flatten()
        {
            let name = chat.file_name().into_string().unwrap();
            let older = name.replacen("session-2", "session-1", 1);
            std::fs::rename(chat.path(), chat.path().with_file_name(older)).unwrap();
        }
    }
}

/// A script that runs the program with the environment of the test's user.
struct Outside(String);

impl Outside {
    fn of(runner: &Runner) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let file = runner.private.join("gemini");
        let mut script = "#!/bin/sh\n".to_owned();
        for (name, value) in &runner.terminal.environment {
            script.push_str(&format!("export {name}='{value}'\n"));
        }
        let node = runner.terminal.programs.join("node").display().to_string();
        script.push_str(&format!("exec '{node}' '{}' --skip-trust \"$@\"\n", runner.program));
        std::fs::write(&file, script).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self(file.display().to_string())
    }
}
