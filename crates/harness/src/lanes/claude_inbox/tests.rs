#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! Against a stand-in for the session, which does as the real one was seen to; the real one is in `lab/clients`.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::UnixListener;
use tokio::sync::mpsc;

use super::*;

/// A session with an inbox, whose lines the test gets.
struct StandIn {
    folder: TempDir,
    hooks: Hooks,
    lines: mpsc::UnboundedReceiver<Value>,
}

impl StandIn {
    fn start(hooks_run: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["hooks", "sessions", "projects/p"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let socket = folder.path().join("12.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let (tell, lines) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut lines = BufReader::new(stream).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let _ = tell.send(serde_json::from_str(&line).unwrap());
                }
            }
        });
        let session = Self { hooks: Hooks::new(folder.path().join("hooks")), folder, lines };
        if hooks_run {
            session.write("hooks/inbox", &format!("{}\ntok\n12\ns-1\n", socket.display()));
        }
        session.status("idle", 1);
        session
    }

    fn write(&self, name: &str, text: &str) {
        // Whole at once, as the program writes it.
        let new = self.folder.path().join("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.folder.path().join(name)).unwrap();
    }

    fn status(&self, status: &str, at: u64) {
        let socket = self.folder.path().join("12.sock");
        let entry = json!({
            "pid": 12, "sessionId": "s-1", "status": status, "statusUpdatedAt": at,
            "messagingSocketPath": socket,
        });
        self.write("sessions/12.json", &entry.to_string());
    }

    fn event(&self, kind: &str, id: &str, text: &str) {
        let event = json!({
            "hook_event_name": kind, "session_id": "s-1", "prompt_id": id,
            "prompt": text, "last_assistant_message": text,
        });
        self.write(&format!("hooks/{kind}.{id}"), &event.to_string());
    }

    fn lane(&self) -> ClaudeInbox<'_> {
        ClaudeInbox {
            hooks: self.hooks.clone(),
            config: self.folder.path().to_owned(),
            process: Some(12),
            session: Some("s-1"),
        }
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

/// Sends a prompt, does this once the session has read it, and gives what the lane says.
async fn wakes(session: &mut StandIn, after: impl FnOnce(&StandIn)) -> (Outcome, Vec<Value>) {
    let (folder, hooks) = (session.folder.path().to_owned(), session.hooks.clone());
    let sending = tokio::spawn(async move {
        let lane = ClaudeInbox { hooks, config: folder, process: Some(12), session: Some("s-1") };
        lane.wake("read th_1").await
    });
    let mut lines = Vec::new();
    while let Some(line) = session.lines.recv().await {
        lines.push(line);
        if lines.last().unwrap()["type"] == "user" {
            break;
        }
    }
    after(session);
    (sending.await.unwrap(), lines)
}

fn evidence(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Confirmed { evidence, .. } => evidence,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_hook_with_our_prompt_proves_the_turn_and_its_stop_ends_it() {
    let mut session = StandIn::start(true);
    session.event("UserPromptSubmit", "p-0", "what a person wrote");
    let (outcome, lines) =
        wakes(&mut session, |session| session.event("UserPromptSubmit", "p-1", "read th_1")).await;
    assert_eq!(evidence(&outcome), "UserPromptSubmit");
    let user = json!({"type": "user", "message": {"role": "user", "content": "read th_1"}});
    assert_eq!(lines, [json!({"type": "auth", "token": "tok"}), user]);
    let Outcome::Confirmed { turn, .. } = outcome else { panic!() };
    assert_eq!((turn.id.as_deref(), turn.session.as_deref()), (Some("p-1"), Some("s-1")));
    session.event("Stop", "p-0", "another turn's end");
    session.event("Stop", "p-1", "I have read it");
    let end = session.lane().watch_end(&turn, "read th_1").await;
    assert_eq!((end.completed, end.last.as_str()), (true, "I have read it"));
}

#[tokio::test]
async fn without_hooks_going_busy_proves_the_turn() {
    let mut session = StandIn::start(false);
    session.write("sessions/12.key.key", r#"{"peerToken":"key"}"#);
    let (outcome, lines) = wakes(&mut session, |session| session.status("busy", now_ms())).await;
    assert_eq!(evidence(&outcome), "status busy");
    assert_eq!(lines[0], json!({"type": "auth", "token": "key"}));
    session.status("idle", now_ms() + 1000);
    let Outcome::Confirmed { turn, .. } = outcome else { panic!() };
    let end = session.lane().watch_end(&turn, "read th_1").await;
    assert_eq!((end.completed, end.evidence.as_str()), (true, "status idle"));
}

#[tokio::test]
async fn a_busy_session_has_the_message_once_it_is_in_its_queue() {
    let mut session = StandIn::start(true);
    session.status("busy", 1);
    let (outcome, _) = wakes(&mut session, |session| {
        let entry = json!({
            "type": "queue-operation", "operation": "enqueue", "content": "read th_1",
            "timestamp": chorus_wire::time::format(chorus_core::model::ids::Timestamp(
                i64::try_from(now_ms()).unwrap(),
            )),
        });
        session.write("projects/p/s-1.jsonl", &format!("{entry}\n"));
    })
    .await;
    assert_eq!(evidence(&outcome), "queued for the running turn");
    let found = session.lane().look_up("read th_1", None);
    assert!(matches!(found, Found::There { .. }), "{found:?}");
    // The running turn takes it in, and stops: that is the end of ours too.
    session.event("Stop", "p-0", "before it was read");
    session.event("UserPromptSubmit", "p-7", "read th_1");
    session.event("Stop", "p-7", "both are done");
    let Outcome::Confirmed { turn, .. } = outcome else { panic!() };
    assert_eq!(session.lane().watch_end(&turn, "read th_1").await.last, "both are done");
}

#[tokio::test]
async fn a_session_that_drops_mail_is_found_out() {
    let mut session = StandIn::start(true);
    // A person begins a turn at the same moment: that proves nothing.
    let (outcome, _) = wakes(&mut session, |session| {
        session.status("busy", now_ms());
        session.event("UserPromptSubmit", "p-1", "what a person wrote");
    })
    .await;
    assert!(
        matches!(&outcome, Outcome::Unknown { why } if why.reason == Reason::NoProof),
        "{outcome:?}"
    );
    assert_eq!(session.lane().look_up("read th_1", None), Found::Absent);
}

#[tokio::test]
async fn a_session_without_an_inbox_is_refused_before_anything_is_sent() {
    let session = StandIn::start(true);
    let reason = |outcome| match outcome {
        Outcome::Failed { why } => why.reason,
        other => panic!("{other:?}"),
    };
    session.write("hooks/inbox", "/dev/null\ntok\n12\ns-1\n");
    assert_eq!(reason(session.lane().wake("read").await), Reason::NotOurs);
    session.write("hooks/inbox", "/gone.sock\ntok\n12\ns-1\n");
    assert_eq!(reason(session.lane().wake("read").await), Reason::NoSocket);
    session.write("hooks/inbox", "\n\n12\ns-1\n");
    session.write("sessions/12.json", r#"{"pid":12,"sessionId":"s-1","status":"idle"}"#);
    assert_eq!(reason(session.lane().wake("read").await), Reason::NoSocket);
}

#[tokio::test]
async fn a_turn_that_a_person_interrupted_is_not_a_completed_one() {
    let session = StandIn::start(true);
    session.event("UserPromptSubmit", "p-1", "read th_1");
    let turn = Turn { id: Some("p-1".into()), session: Some("s-1".into()), since: None };
    session.status("idle", now_ms() + 1000);
    let end = session.lane().watch_end(&turn, "read th_1").await;
    assert!(!end.completed && end.evidence.contains("idle again"), "{end:?}");
    fs::remove_file(session.folder.path().join("sessions/12.json")).unwrap();
    assert_eq!(session.lane().watch_end(&turn, "read th_1").await.evidence, "claude has ended");
}
