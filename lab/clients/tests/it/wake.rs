//! `chorus run` with the real programs: a mention wakes the program in its terminal, under a person's draft, and after the
//! terminal is gone it comes back with its memory. Everything is typed as a person types it; the model is scripted.

use chorus_testing::eventually;
use serde_json::Value;

use crate::desk::{DRAFT, Desk, answers, confirmed};

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
