#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
//! Against a stand-in for the app-server, which answers as the real one was seen to; the real one is in `lab/clients`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio_tungstenite::tungstenite::Message;

use super::*;
use crate::lanes::outcome::WakeInput;

type Seen = Arc<Mutex<Vec<Value>>>;

/// A server with one thread in `folder`, whose answers can be replaced.
struct StandIn {
    folder: TempDir,
    socket: PathBuf,
    seen: Seen,
}

/// What the stand-in does with a request: an answer, `null` for none at all, or nothing special.
type Script = fn(&str, &Value) -> Option<Value>;

impl StandIn {
    fn start(script: Script) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("codex.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let (seen, here) = (Seen::default(), folder.path().display().to_string());
        let shared = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, here) = (shared.clone(), here.clone());
                tokio::spawn(async move {
                    let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
                    while let Some(Ok(Message::Text(text))) = socket.next().await {
                        let request: Value = serde_json::from_str(text.as_str()).unwrap();
                        let method = request["method"].as_str().unwrap().to_owned();
                        seen.lock().unwrap().push(request.clone());
                        let Some(id) = request.get("id") else { continue };
                        let mut answer = script(&method, &request["params"])
                            .unwrap_or_else(|| usual(&method, &request["params"], &here));
                        if answer.is_null() {
                            continue;
                        }
                        let notes = answer["notes"].take();
                        answer["id"] = id.clone();
                        let answer = answer.to_string().replace("$HERE", &here);
                        socket.send(Message::text(answer)).await.unwrap();
                        for note in notes.as_array().into_iter().flatten() {
                            socket.send(Message::text(note.to_string())).await.unwrap();
                        }
                    }
                });
            }
        });
        Self { folder, socket, seen }
    }

    fn lane(&self) -> CodexSocket<'_> {
        CodexSocket { socket: self.socket.clone(), folder: self.folder.path(), thread: None }
    }

    async fn wakes(&self) -> Outcome {
        self.lane().wake("read th_1", &message()).await
    }

    fn methods(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter().map(|request| request["method"].as_str().unwrap().to_owned()).collect()
    }
}

fn message() -> MessageId {
    WakeInput { wake: "wake_1", fence: 1, prompt: "read th_1", summary: None }.message()
}

fn usual(method: &str, params: &Value, here: &str) -> Value {
    match method {
        "initialize" | "thread/resume" => json!({"result": {}}),
        "thread/loaded/list" => json!({"result": {"data": ["t-1", "t-2", "t-other"]}}),
        "thread/read" => {
            let id = params["threadId"].as_str().unwrap();
            let cwd = if id == "t-other" { "/" } else { here };
            let updated = if id == "t-2" { 2 } else { 1 };
            json!({"result": {"thread": {
                "id": id, "cwd": cwd, "status": {"type": "idle"}, "updatedAt": updated,
            }}})
        }
        "turn/start" => json!({
            "result": {"turn": {"id": "turn-1", "status": "inProgress"}},
            "notes": [{"method": "turn/started", "params": {"turn": {"id": "turn-1"}}}],
        }),
        "thread/turns/list" => json!({"result": {"data": [{
            "id": "turn-1", "status": "completed",
            "items": [{"type": "agentMessage", "text": "I have read it"}],
        }]}}),
        "thread/items/list" => json!({"result": {"data": []}}),
        _ => {
            let message = format!("Invalid request: unknown variant `{method}`, expected one of …");
            json!({"error": {"code": -32600, "message": message}})
        }
    }
}

fn why(outcome: Outcome) -> (&'static str, Reason) {
    match outcome {
        Outcome::Failed { why } => ("failed", why.reason),
        Outcome::Unknown { why } => ("unknown", why.reason),
        Outcome::Confirmed { evidence, .. } => panic!("confirmed: {evidence}"),
    }
}

#[tokio::test]
async fn the_newest_thread_in_our_folder_is_started_and_its_end_is_seen() {
    let server = StandIn::start(|_, _| None);
    let Outcome::Confirmed { evidence, turn } = server.wakes().await else { panic!() };
    assert_eq!(evidence, "turn/started turn-1");
    assert_eq!((turn.id.as_deref(), turn.session.as_deref()), (Some("turn-1"), Some("t-2")));
    let started = server.seen.lock().unwrap().iter().find(|r| r["method"] == "turn/start").cloned();
    let params = started.unwrap()["params"].clone();
    assert_eq!(params["clientUserMessageId"], message().as_str());
    assert_eq!(params["input"], json!([{"type": "text", "text": "read th_1"}]));
    let end = server.lane().watch_end(&turn).await;
    assert_eq!((end.completed, end.last.as_str()), (true, "I have read it"));
}

/// The thread is at work on turn-7.
fn busy(method: &str) -> Option<Value> {
    match method {
        "thread/read" => Some(json!({"result": {"thread": {
            "cwd": "$HERE", "status": {"type": "active"}, "updatedAt": 1,
        }}})),
        "thread/turns/list" => {
            Some(json!({"result": {"data": [{"id": "turn-7", "status": "inProgress"}]}}))
        }
        _ => None,
    }
}

#[tokio::test]
async fn mail_for_a_running_turn_is_steered_into_it() {
    let server = StandIn::start(|method, params| match method {
        "turn/steer" => Some(json!({
            "result": {"turnId": params["expectedTurnId"]},
            "notes": [{"method": "item/started", "params": {"item": {
                "type": "userMessage", "clientId": params["clientUserMessageId"],
            }}}],
        })),
        _ => busy(method),
    });
    let Outcome::Confirmed { evidence, .. } = server.wakes().await else { panic!() };
    assert_eq!(evidence, "codex took the message into turn turn-7");
    assert!(!server.methods().contains(&"turn/start".to_owned()));
}

#[tokio::test]
async fn a_running_turn_that_took_mail_and_has_not_read_it_yet_is_proof() {
    let server = StandIn::start(|method, params| match method {
        "turn/steer" => Some(json!({"result": {"turnId": params["expectedTurnId"]}})),
        _ => busy(method),
    });
    let Outcome::Confirmed { evidence, .. } = server.wakes().await else { panic!() };
    assert_eq!(evidence, "turn/steer into turn turn-7, which runs");
}

#[tokio::test]
async fn a_turn_that_ended_while_we_steered_is_followed_by_a_new_one() {
    let server = StandIn::start(|method, _| match method {
        "turn/steer" => {
            Some(json!({"error": {"code": -32600, "message": "no active turn to steer"}}))
        }
        _ => busy(method),
    });
    let Outcome::Confirmed { turn, .. } = server.wakes().await else { panic!() };
    assert_eq!(turn.id.as_deref(), Some("turn-1"));
}

#[tokio::test]
async fn a_changed_protocol_is_a_refusal_and_never_a_wait() {
    let scripts: [(Script, (&str, Reason)); 8] = [
        (
            |m, _| (m == "thread/loaded/list").then(|| json!({"result": {"threads": []}})),
            ("failed", Reason::SchemaChanged),
        ),
        (
            |m, _| (m == "thread/read").then(|| json!({"result": {"thread": {"id": "t-1"}}})),
            ("failed", Reason::SchemaChanged),
        ),
        (
            |m, p| (m == "turn/start").then(|| usual("turn/begin", p, "")),
            ("failed", Reason::SchemaChanged),
        ),
        (
            |m, _| (m == "turn/start").then(|| json!({"result": {"turnId": "x"}})),
            ("failed", Reason::SchemaChanged),
        ),
        (
            |m, _| {
                let refused =
                    json!({"error": {"code": -32600, "message": "thread not found: t-2"}});
                (m == "turn/start").then_some(refused)
            },
            ("failed", Reason::Refused),
        ),
        (
            |m, _| (m == "thread/loaded/list").then(|| json!({"result": {"data": []}})),
            ("failed", Reason::NoThread),
        ),
        // It may have started a turn.
        (|m, _| (m == "turn/start").then_some(Value::Null), ("unknown", Reason::NoAnswer)),
        (
            |m, _| {
                let silent = json!({"result": {"turn": {"id": "turn-1"}}});
                (m == "turn/start").then_some(silent)
            },
            ("unknown", Reason::NoProof),
        ),
    ];
    let checks = scripts.map(|(script, end)| {
        tokio::spawn(async move {
            let server = StandIn::start(script);
            assert_eq!(why(server.wakes().await), end, "{:?}", server.methods());
        })
    });
    for check in checks {
        check.await.unwrap();
    }
}

#[tokio::test]
async fn what_was_sent_is_found_by_its_id_or_its_text() {
    let check = |script: Script, found: Option<&'static str>| async move {
        let server = StandIn::start(script);
        match server
            .lane()
            .look_up(&message(), "read th_1", UNIX_EPOCH + Duration::from_secs(10))
            .await
        {
            Found::There { turn, .. } => assert_eq!(turn.id.as_deref(), found),
            Found::Absent => assert_eq!(found, None),
            Found::CannotTell(why) => panic!("{why}"),
        }
    };
    check(|_, _| None, None).await;
    check(
        |m, _| {
            let item = json!({"type": "userMessage", "clientId": message().as_str()});
            let page = json!({"result": {"data": [{"turnId": "turn-3", "item": item}]}});
            (m == "thread/items/list").then_some(page)
        },
        Some("turn-3"),
    )
    .await;
    check(
        |m, _| {
            let content = json!([{"type": "text", "text": "read th_1\n"}]);
            let item = json!({"type": "userMessage", "clientId": "other", "startedAtMs": 9_950, "content": content});
            let page = json!({"result": {"data": [{"turnId": "turn-4", "item": item}]}});
            (m == "thread/items/list").then_some(page)
        },
        Some("turn-4"),
    )
    .await;
    // The same words, and earlier.
    check(
        |m, _| {
            let content = json!([{"type": "text", "text": "read th_1"}]);
            let item = json!({"type": "userMessage", "clientId": "other", "startedAtMs": 9_000, "content": content});
            let page = json!({"result": {"data": [{"turnId": "turn-4", "item": item}]}});
            (m == "thread/items/list").then_some(page)
        },
        None,
    )
    .await;
    // The same words under another fence are another message.
    check(
        |m, _| {
            let content = json!([{"type": "text", "text": "read th_1"}]);
            let item =
                json!({"type": "userMessage", "clientId": "chorus-wake_1-0-1", "startedAtMs": 10_000, "content": content});
            let page = json!({"result": {"data": [{"turnId": "turn-4", "item": item}]}});
            (m == "thread/items/list").then_some(page)
        },
        None,
    )
    .await;
    // A thread that never had a message has nothing to list.
    check(
        |m, _| {
            let message = "thread/items/list is not supported yet";
            let error = json!({"error": {"code": -32601, "message": message}});
            (m == "thread/items/list").then_some(error)
        },
        None,
    )
    .await;
}

#[tokio::test]
async fn an_interrupted_turn_is_not_a_completed_one() {
    let server = StandIn::start(|m, _| {
        let turn = json!({"id": "turn-1", "status": "interrupted", "items": []});
        (m == "thread/turns/list").then(|| json!({"result": {"data": [turn]}}))
    });
    let turn = Turn { id: Some("turn-1".into()), session: Some("t-2".into()), since: None };
    assert!(!server.lane().watch_end(&turn).await.completed);
}
