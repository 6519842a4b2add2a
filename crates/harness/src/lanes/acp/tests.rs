#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! Against a stand-in for the agent, a script; the real Gemini CLI is in `lab/clients`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::lanes::tests::{Desk, FakeTerminal};
use crate::lanes::{Found, Lane, Waking};

/// An agent that answers as ACP says; `prompt` is what it does with a prompt, and has its `$id`.
fn agent(desk: &Desk, load: &str, prompt: &str) -> String {
    let hello = r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true}}}"#;
    let script = format!(
        r#"#!/bin/sh
say() {{ printf '%s\n' "$1"; }}
gives() {{ say "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}}"; }}
fails() {{ say "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{{\"code\":-32603,\"message\":\"$1\"}}}}"; }}
chunk() {{ say "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"text\":\"$1\"}}}}}}}}"; }}
asks() {{ say "{{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"session/request_permission\",\"params\":{{\"toolCall\":{{\"toolCallId\":\"$1\"}},\"options\":[{{\"optionId\":\"yes\",\"kind\":\"allow_once\"}},{{\"optionId\":\"no\",\"kind\":\"reject_once\"}}]}}}}"; }}
echo "some noise"
while read -r line; do
  printf '%s\n' "$line" >>"$0.heard"
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
  *'"method":"initialize"'*) gives '{hello}' ;;
  *'"method":"session/load"'*) {load} ;;
  *'"method":"session/new"'*) gives '{{"sessionId":"new-1"}}' ;;
  *'"method":"session/prompt"'*) {prompt} ;;
  esac
done
"#
    );
    let file = desk.folder.path().join("agent");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file.display().to_string()
}

const LOADS: &str = "gives '{}'";
const DONE: &str = r#"gives '{"stopReason":"end_turn"}'"#;

fn heard(desk: &Desk) -> String {
    fs::read_to_string(desk.folder.path().join("agent.heard")).unwrap()
}

async fn wakes(desk: &Desk, program: &str, session: Option<&str>) -> Outcome {
    let terminal = FakeTerminal::default();
    let context = desk.context(Kind::Acp, program, session, &terminal);
    Lane::Acp.try_wake(&desk.input(), &context).await
}

async fn end(desk: &Desk) -> TurnEnd {
    let terminal = FakeTerminal::default();
    let context = desk.context(Kind::Acp, "unused", None, &terminal);
    Lane::Acp.watch_end(&Turn::default(), &desk.input(), &context).await
}

#[tokio::test]
async fn a_new_session_is_told_the_summary_and_its_updates_are_a_sign() {
    let desk = Desk::new();
    let program = agent(&desk, LOADS, &format!("chunk before; chunk '-and after'; {DONE}"));
    assert!(!desk.seats.acp.is_taken());
    let Outcome::Confirmed { turn, .. } = wakes(&desk, &program, None).await else { panic!() };
    assert_eq!(turn.session.as_deref(), Some("new-1"));
    let end = end(&desk).await;
    assert_eq!((end.completed, end.last.as_str()), (true, "before-and after"));
    assert!(heard(&desk).contains("so far"), "{}", heard(&desk));
    assert!(heard(&desk).contains(r#""value":"Bearer tok""#), "Chorus's server is given");
    // The agent stays, and is told the prompt alone.
    assert!(desk.seats.acp.is_taken());
    assert!(matches!(wakes(&desk, &program, None).await, Outcome::Confirmed { .. }));
    assert_eq!(heard(&desk).matches("so far").count(), 1);
    assert_eq!(heard(&desk).matches("initialize").count(), 1);
}

#[tokio::test]
async fn of_a_loaded_session_only_the_response_is_trusted() {
    let desk = Desk::new();
    let load = format!("{LOADS}; chunk 'what was said long ago'");
    let program = agent(&desk, &load, "chunk 'still old'; gives '{\"stopReason\":\"refusal\"}'");
    let outcome = wakes(&desk, &program, Some("s-1")).await;
    let Outcome::Confirmed { evidence, turn } = outcome else { panic!("{outcome:?}") };
    assert_eq!(evidence, "the agent has answered: refusal");
    assert_eq!(turn.session.as_deref(), Some("s-1"));
    let end = end(&desk).await;
    assert_eq!((end.completed, end.evidence.as_str()), (false, "refusal"));
    assert!(!heard(&desk).contains("so far"));
}

#[tokio::test]
async fn a_session_that_is_lost_begins_anew() {
    let desk = Desk::new();
    let program = agent(&desk, "fails 'No previous sessions found'", DONE);
    let Outcome::Confirmed { turn, .. } = wakes(&desk, &program, Some("s-1")).await else {
        panic!()
    };
    assert_eq!(turn.session.as_deref(), Some("new-1"));
    assert!(heard(&desk).contains("so far"));
}

#[tokio::test]
async fn our_tools_run_unasked_and_others_are_refused() {
    for (tool, answer) in [("mcp_chorus_post_message__1", "yes"), ("run_shell_command__1", "no")] {
        let desk = Desk::new();
        let prompt =
            format!("asks {tool}; read -r line; printf '%s\\n' \"$line\" >>\"$0.heard\"; {DONE}");
        let program = agent(&desk, LOADS, &prompt);
        assert!(matches!(wakes(&desk, &program, None).await, Outcome::Confirmed { .. }));
        assert!(end(&desk).await.completed);
        assert!(heard(&desk).contains(&format!(r#""optionId":"{answer}""#)), "{tool}");
    }
}

#[tokio::test]
async fn an_agent_that_refuses_or_dies_has_not_been_woken() {
    let reason = |outcome| match outcome {
        Outcome::Failed { why } => why.reason,
        other => panic!("{other:?}"),
    };
    let desk = Desk::new();
    let program = agent(&desk, LOADS, "fails 'no credit'");
    assert_eq!(reason(wakes(&desk, &program, None).await), Reason::Refused);
    let program = agent(&desk, LOADS, "exit 1");
    let desk = Desk { seats: crate::lanes::Seats::default(), ..desk };
    assert_eq!(reason(wakes(&desk, &program, None).await), Reason::NoAnswer);
    assert!(!desk.seats.acp.is_taken());
    assert_eq!(reason(wakes(&desk, "/no/such/agent", None).await), Reason::NotStarted);
    let terminal = FakeTerminal::default();
    let context = desk.context(Kind::Acp, &program, None, &terminal);
    let input = desk.input();
    let found = Lane::Acp.look_up(&input.message(), SystemTime::now(), &input, &context).await;
    assert_eq!(found, Found::Absent, "an agent ends with its runner");
}
