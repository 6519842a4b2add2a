//! `chorus run` with the real programs: a mention wakes the program in its terminal, under a person's draft, and after the
//! terminal is gone it comes back with its memory. Everything is typed as a person types it; the model is scripted.

use chorus_testing::eventually;
use serde_json::Value;

use crate::desk::{DRAFT, Desk, answers, confirmed};
use crate::lanes::of_another_minute;

/// The lane that woke the program.
fn lane(why: &Value) -> &str {
    confirmed(why).unwrap()["lane"].as_str().unwrap()
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
    desk.why_ended(&why).await;

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

/// A program of a runner that was killed in the middle of a turn answers once.
async fn answers_once_after_a_kill(program: &str, whom: Killed) {
    let asked = "please look at CI";
    let desk = Desk::new(vec![answers(asked, 0, "CI is green")]).await;
    desk.prints(&["run", "--detach", program]);
    desk.is_connected().await;
    desk.model.hold(true);
    let posted = desk.house.json(&["post", "general", &format!("@project {asked}")]);
    let event = posted["event_id"].as_str().unwrap().to_owned();
    desk.why(&event, "its turn runs", |why| why["wakes"][0]["state"] == "running").await;
    match whom {
        Killed::Runner => desk.kill(&desk.runner()),
        Killed::Program => desk.kill(&desk.program()),
    }
    if whom == Killed::Runner {
        desk.prints(&["run", "--detach", program]);
    }
    desk.model.hold(false);
    let answered = |why: &Value| why["told"][0]["receipt"]["disposition"] == "responded";
    let why = desk.why(&event, "it is answered", answered).await;
    desk.why(&event, "the turn ends", |why| why["wakes"][0]["state"] == "done").await;
    assert_eq!(desk.said("CI is green"), 1, "{why:#}");
    desk.prints(&["stop", "project"]);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Killed {
    Runner,
    Program,
}

// covers: OPS-629
#[tokio::test(flavor = "multi_thread")]
async fn codex_whose_runner_is_killed_answers_once() {
    answers_once_after_a_kill("codex", Killed::Runner).await;
}

// covers: OPS-629
#[tokio::test(flavor = "multi_thread")]
async fn claude_code_whose_runner_is_killed_answers_once() {
    answers_once_after_a_kill("claude", Killed::Runner).await;
}

// covers: OPS-629
#[tokio::test(flavor = "multi_thread")]
async fn codex_that_is_killed_in_the_middle_answers_once() {
    answers_once_after_a_kill("codex", Killed::Program).await;
}

// covers: OPS-629
#[tokio::test(flavor = "multi_thread")]
async fn claude_code_that_is_killed_in_the_middle_answers_once() {
    answers_once_after_a_kill("claude", Killed::Program).await;
}

// covers: OPS-625
#[tokio::test(flavor = "multi_thread")]
async fn claude_code_that_drops_its_mail_is_woken_by_keys_once_the_draft_is_gone() {
    let (first, second) = ("please look at CI", "and after the restart?");
    let cues = vec![answers(second, 2, "still green"), answers(first, 0, "CI is green")];
    let desk = Desk::new(cues).await;
    std::fs::create_dir_all(desk.home.join(".claude")).unwrap();
    let refuses = r#"{"crossSessionInbound": "refuse"}"#;
    std::fs::write(desk.home.join(".claude/settings.json"), refuses).unwrap();
    let terminal = desk.types(&["run", "claude"]);
    let seen = terminal.handle();
    desk.is_connected().await;
    let why = desk.asks(first, &seen).await;
    assert_eq!(lane(&why), "pty", "{why:#}");
    let attempts = why["wakes"][0]["attempts"].to_string();
    assert!(attempts.contains("claude_inbox"), "it was tried first: {attempts}");
    desk.why_ended(&why).await;

    // A draft keeps the keys back, and stays as it is.
    seen.person_input(DRAFT.into()).await.unwrap();
    eventually("the draft is in the composer", async || seen.screen().contains(DRAFT)).await;
    let posted = desk.house.json(&["post", "general", &format!("@project {second}")]);
    let event = posted["event_id"].as_str().unwrap().to_owned();
    desk.why(&event, "it is deferred", |why| why["wakes"][0]["state"] == "deferred").await;
    assert!(seen.screen().contains(DRAFT), "{}", seen.screen());
    assert_eq!(desk.said("still green"), 0);
    // Taken back, it keeps them no longer.
    seen.person_input(vec![0x7f; DRAFT.len()]).await.unwrap();
    let answered = |why: &Value| why["told"][0]["receipt"]["disposition"] == "responded";
    let why = desk.why(&event, "it is answered", answered).await;
    assert_eq!(lane(&why), "pty", "{why:#}");
    let asked = desk.model.asked();
    assert!(!asked.iter().any(|asked| asked.contains(DRAFT)), "the draft was sent");
}

// covers: OPS-620, OPS-621
#[tokio::test(flavor = "multi_thread")]
async fn gemini_cli_is_woken_in_its_terminal_and_comes_back() {
    let (first, second) = ("please look at CI", "and after the restart?");
    // A session that it loads has the result of each call twice.
    let cues = vec![answers(second, 4, "still green"), answers(first, 0, "CI is green")];
    let desk = Desk::new(cues).await;
    // For users who are not root, gemini takes it from nowhere else.
    let file = desk.home.join(".gemini/settings.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let entry = desk.prints(&["mcp", "config", "--for", "gemini"]);
    let entry: Value = serde_json::from_str(&entry).unwrap();
    settings["mcpServers"] = entry["mcpServers"].clone();
    std::fs::write(&file, settings.to_string()).unwrap();
    let terminal = desk.types(&["run", "gemini", "--skip-trust", "--yolo"]);
    let seen = terminal.handle();
    desk.is_connected().await;
    eventually("gemini takes prompts", async || seen.screen().contains("Type your message")).await;
    let why = desk.asks(first, &seen).await;
    assert_eq!(lane(&why), "pty", "{why:#}");
    desk.why_ended(&why).await;
    drop(terminal);
    seen.exited().await;
    desk.is_connected().await;
    of_another_minute(&desk.home);
    let why = desk.asks(second, &seen).await;
    assert_eq!(lane(&why), "acp", "{why:#}");
    assert_eq!(desk.said("still green"), 1);
    let asked = desk.model.asked();
    let last = asked.iter().rev().find(|asked| asked.contains(second)).unwrap();
    assert!(last.contains(first), "it remembers what was before");
    desk.prints(&["stop", "project"]);
}

// covers: OPS-625
#[tokio::test(flavor = "multi_thread")]
async fn a_mention_answers_no_question_of_a_program() {
    let desk = Desk::new(Vec::new()).await;
    let terminal = desk.types(&["run", "gemini"]);
    let seen = terminal.handle();
    desk.is_connected().await;
    eventually("gemini asks whether it may trust the folder", async || {
        seen.screen().contains("Trust folder")
    })
    .await;
    let posted = desk.house.json(&["post", "general", "@project please look at CI"]);
    let event = posted["event_id"].as_str().unwrap();
    desk.why(event, "it is deferred", |why| why["wakes"][0]["state"] == "deferred").await;
    assert!(seen.screen().contains("Trust folder"), "{}", seen.screen());
    assert!(!desk.home.join(".gemini/trustedFolders.json").exists());
}
