//! The examples of the protocols that we were given, as they stand there: each request is sent as its bytes are, but for
//! the ids, and each answer has what the example's has. Without the text at hand there is nothing to try. The webhook
//! protocol's are in [`crate::webhook`].

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::harness::Harness;
use crate::mcp::refused::{begun, posted};
use crate::test_host::{START, TestHost};
use crate::webhook::text;

/// One example: under which heading it stands, and its bytes.
pub(crate) struct Example {
    pub(crate) heading: String,
    pub(crate) text: String,
}

impl Example {
    pub(crate) fn read(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// With ids that there are here in the place of the protocol's.
    fn with(&self, ids: &[(&str, &str)]) -> String {
        ids.iter().fold(self.text.clone(), |text, (theirs, ours)| {
            text.replace(&format!("\"{theirs}\""), &format!("\"{ours}\""))
        })
    }
}

/// All JSON of a protocol that begins with a line of its own; none where its text is not at hand.
pub(crate) fn of(protocol: &str) -> Option<Vec<Example>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/specs").join(protocol);
    let Ok(page) = std::fs::read_to_string(page) else {
        eprintln!("skipped: the text of {protocol} is not at hand");
        return None;
    };
    let (mut all, mut heading, mut at) = (Vec::new(), "", 0);
    while let Some(line) = page[at..].lines().next() {
        if line.starts_with('#') {
            heading = line.trim_start_matches(['#', ' ']);
        }
        let mut values = serde_json::Deserializer::from_str(&page[at..]).into_iter::<Value>();
        let is_json = line.starts_with(['{', '[']) && matches!(values.next(), Some(Ok(_)));
        if is_json {
            let text = page[at..at + values.byte_offset()].to_owned();
            at += text.len();
            all.push(Example { heading: heading.to_owned(), text });
        } else {
            at += line.len();
            at += usize::from(page[at..].starts_with('\n'));
        }
    }
    Some(all)
}

/// What an answer lacks that the example has: fields, by their paths, and kinds of values.
fn lacks(answer: &Value, example: &Value, at: &str) -> Vec<String> {
    match (answer, example) {
        (Value::Object(answer), Value::Object(example)) => {
            let of = |(key, example): (&String, &Value)| {
                let at = format!("{at}/{key}");
                match answer.get(key) {
                    Some(answer) => lacks(answer, example, &at),
                    None => vec![at],
                }
            };
            example.iter().flat_map(of).collect()
        }
        (Value::Array(answer), Value::Array(example)) => match (answer.last(), example.last()) {
            (Some(answer), Some(example)) => lacks(answer, example, &format!("{at}/last")),
            _ => Vec::new(),
        },
        (Value::String(_), Value::String(_))
        | (Value::Number(_), Value::Number(_))
        | (Value::Bool(_), Value::Bool(_))
        | (Value::Null, Value::Null) => Vec::new(),
        _ => vec![format!("{at}: {answer} for {example}")],
    }
}

const NOTHING: [&str; 0] = [];

/// Calls a tool with these bytes for its arguments.
async fn call(host: &TestHost, token: &str, session: &str, tool: &str, arguments: &str) -> Value {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    );
    let answer = posted(host, token, Some(session)).body(body).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{tool} {arguments}");
    let answer = answer.text().await.unwrap();
    let mut data = answer.lines().filter_map(|line| line.strip_prefix("data:"));
    let answer = data.rfind(|data| data.contains("\"result\"")).unwrap_or(&answer);
    let answer: Value = serde_json::from_str(answer).unwrap();
    answer["result"]["structuredContent"].clone()
}

/// The runner of a program at whose terminal somebody types.
async fn defer(host: &TestHost, runner: &mut Harness) {
    let wake = runner.wake().await;
    let until = chorus_wire::time::Time(host.clock_now().plus(60_000));
    let report = json!({
        "wakeId": wake["wakeId"], "fence": wake["fence"], "result": "deferred",
        "why": "person_typing", "deferredUntil": until,
    });
    runner.call("wake/report", report).await.unwrap();
}

// covers: THR-446
#[tokio::test]
async fn the_examples_of_the_threads_protocol_are_taken_as_they_stand() {
    let Some(examples) = of("threads-and-wake.md") else { return };
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.workspace = "wk_mobile_core".to_owned();
    })
    .await;
    host.room(&["executioner_agent", "reviewer_agent", "stranger"]).await;
    let new = json!({"id": "coordinator_agent", "kind": "agent"});
    host.post(&host.operator(), "/v1/members", new).await.ok();
    let reviewer = host.token("reviewer_agent").await;
    // The token is for one session, as the protocol has it: that of the runner of the reviewer's program.
    let runner = json!({"runner": true, "runtime": "codex_cli", "resumable": true});
    let mut connected = host.connect_as(&reviewer, runner).await;
    let sess = text(&connected.hello["session"]["id"]);
    let bound = json!({"agent": "reviewer_agent", "role": "worker", "session": sess});
    let reviewer = text(&host.post(&host.operator(), "/v1/tokens", bound).await.ok()["token"]);
    let coordinator = host.token("coordinator_agent").await;
    let executioner = host.token("executioner_agent").await;
    let callers =
        [("coordinator", &coordinator), ("reviewer", &reviewer), ("executioner", &executioner)];
    let mut sessions = Vec::new();
    for (_, token) in callers {
        sessions.push(begun(&host, token).await);
    }
    let mut thread = String::new();
    let mut done = Vec::new();
    for pair in examples.chunks(2) {
        let tool = pair[0].heading.split(' ').next_back().unwrap();
        let [input, output] = pair else {
            // The envelope of errors.
            let refused = host.token("stranger").await;
            let other = begun(&host, &refused).await;
            let read = format!(r#"{{"thread_id":"{thread}"}}"#);
            let refused = call(&host, &refused, &other, "get_thread", &read).await;
            assert_eq!(lacks(&refused, &pair[0].read(), ""), NOTHING, "{refused}");
            done.push("errors");
            continue;
        };
        assert_eq!(input.heading, output.heading);
        let who = match tool {
            "create_thread" | "trigger_participant" => 0,
            "read_messages" | "ack_read" => 2,
            _ => 1,
        };
        let (token, session) = (callers[who].1, &sessions[who]);
        if tool == "post_message" {
            // The example's message is the 27th.
            for n in 1..27 {
                let said = json!({"thread_id": thread, "schema_version": 1, "kind": "chat", "body": n.to_string()});
                call(&host, &executioner, &sessions[2], tool, &said.to_string()).await;
            }
        }
        if tool == "summarize_thread" {
            let read = format!(r#"{{"thread_id":"{thread}"}}"#);
            let found = call(&host, token, session, "read_messages", &read).await;
            assert!(found["messages"].is_array());
        }
        let ids = [("th_01JXYZ", thread.as_str()), ("sess_rv_12", sess.as_str())];
        if tool == "trigger_participant" {
            let said =
                json!({"thread_id": thread, "schema_version": 1, "kind": "chat", "body": "fixed"});
            call(&host, &executioner, &sessions[2], "post_message", &said.to_string()).await;
        }
        // A heartbeat names the session as its program does.
        let ids = if tool == "heartbeat_session" { &ids[..1] } else { &ids[..] };
        let arguments = input.with(ids);
        let answer = call(&host, token, session, tool, &arguments);
        let answer = match tool {
            // A person is typing at the reviewer's terminal.
            "trigger_participant" => tokio::join!(answer, defer(&host, &mut connected)).0,
            _ => answer.await,
        };
        let (expected, has) = (output.read(), |key: &str| output.read().get(key).is_some());
        assert_eq!(lacks(&answer, &expected, ""), NOTHING, "{tool} {arguments} {answer}");
        for word in [
            "status",
            "type",
            "title",
            "seq",
            "thread_status",
            "next_seq",
            "has_more",
            "ok",
            "last_status",
            "target_agent_id",
            "action",
            "result",
            "defer_reason",
            "fallback_action",
        ] {
            if has(word) {
                assert_eq!(answer[word], expected[word], "{tool} {word}");
            }
        }
        if tool == "create_thread" {
            thread = text(&answer["thread_id"]);
        }
        if tool == "post_message" {
            // Sent again it is the same message; with other words a conflict.
            let again = call(&host, token, session, tool, &arguments).await;
            assert_eq!(again["message_id"], answer["message_id"]);
            let other = arguments.replace("Blocking issue", "Another issue");
            let other = call(&host, token, session, tool, &other).await;
            assert_eq!(other["error"]["code"], "IDEMPOTENCY_CONFLICT");
        }
        done.push(tool);
    }
    let all = [
        "create_thread",
        "get_thread",
        "post_message",
        "read_messages",
        "ack_read",
        "update_thread_status",
        "summarize_thread",
        "heartbeat_session",
        "trigger_participant",
        "errors",
    ];
    assert_eq!(done, all, "all of them were found");
}

/// Sends these bytes, and gives the answer to them.
async fn send(harness: &mut Harness, id: &Value, bytes: &str) -> Value {
    harness.raw(Message::text(bytes.to_owned())).await;
    loop {
        let frame = harness.frame().await.unwrap();
        if frame["id"] == *id && frame.get("method").is_none() {
            return frame;
        }
        assert!(frame.get("error").is_none(), "{frame}");
    }
}

// covers: ATT-426
#[tokio::test]
async fn the_examples_of_the_attention_protocol_are_taken_as_they_stand() {
    let Some(examples) = of("c2a-attention.md") else { return };
    let host = TestHost::open().await;
    let room = host.room(&["lead", "worker-3"]).await;
    let (op, ann, lead) = (host.operator(), host.token("ann").await, host.token("lead").await);
    host.post(&op, "/v1/roles", json!({"name": "crew"})).await.ok();
    host.send(&op, Method::PUT, "/v1/roles/crew/members/lead", None).await.ok();
    let dm = json!({"kind": "dm", "members": ["lead"]});
    let dm = text(&host.post(&ann, "/v1/channels", dm).await.ok()["id"]);
    let mut harness = host.socket(&lead).await;
    let mut delivered = Value::Null;
    let mut done = Vec::new();
    for example in &examples {
        let read = example.read();
        let what = read["method"].as_str().or(read["name"].as_str()).unwrap_or(&example.heading);
        done.push(what.to_owned());
        match what {
            "initialize" => {
                let hello = send(&mut harness, &read["id"], &example.text).await;
                let hello = &hello["result"];
                assert_eq!(hello["protocolVersion"], read["params"]["protocolVersion"]);
                let capabilities = &read["params"]["capabilities"];
                assert_eq!(lacks(&hello["capabilities"], capabilities, ""), NOTHING, "{hello}");
            }
            "chat/deliver" => {
                host.say(&ann, &dm, "Can you check whether the deploy is blocked?").await;
                delivered = harness.delivery().await;
                // Of a message in a stream and a thread, for which this one has none.
                let left_out = ["/params/conversation/streamId", "/params/conversation/threadId"];
                assert_eq!(lacks(&delivered, &read, ""), left_out, "{delivered}");
                for at in [
                    "/target/directedness",
                    "/attention/policy",
                    "/attention/reason",
                    "/content",
                    "/injection/mode",
                ] {
                    let at = format!("/params{at}");
                    assert_eq!(delivered.pointer(&at), read.pointer(&at), "{at}");
                }
                harness.acknowledge(&delivered).await;
            }
            "chat.react" => {
                let event = text(&delivered["params"]["eventId"]);
                let params = example.with(&[("evt_123", &event)]);
                let call = format!(
                    r#"{{"jsonrpc":"2.0","id":"r","method":"tools/call","params":{params}}}"#
                );
                let reacted = send(&mut harness, &json!("r"), &call).await;
                assert_ne!(reacted["result"]["isError"], true, "{reacted}");
                let why = host.get(&ann, &format!("/v1/events/{event}/attention")).await.ok();
                assert!(why.to_string().contains("deferred"), "{why}");
            }
            "notifications/cancelled" => {
                // From the host, of what was offered; and from the harness, of what it has not got.
                let said = host.say(&ann, &room, "@lead what of the build?").await;
                let offer = harness.delivery().await;
                let path = format!("/v1/messages/{}", text(&said["message_id"]));
                host.send(&ann, Method::DELETE, &path, None).await.ok();
                let cancelled = loop {
                    let heard = harness.heard().await.unwrap();
                    if heard["method"] == what {
                        break heard;
                    }
                };
                assert_eq!(lacks(&cancelled, &read, ""), NOTHING, "{cancelled}");
                assert_eq!(cancelled["params"]["requestId"], offer["id"]);
                harness.raw(Message::text(example.text.clone())).await;
                harness.call("ping", json!({})).await.unwrap();
            }
            "notifications/progress" => {
                harness.raw(Message::text(example.text.clone())).await;
                harness.call("ping", json!({})).await.unwrap();
            }
            "Injection mode `notify`" => {
                host.say(&ann, &room, "does the rollback step work, @crew ?").await;
                let knock = harness.delivery().await;
                assert_eq!(lacks(&knock["params"], &read, ""), NOTHING, "{knock}");
                for at in
                    ["/injection/mode", "/knock/directedness", "/knock/policy", "/knock/pullWith"]
                {
                    assert_eq!(knock["params"].pointer(at), read.pointer(at), "{at}");
                }
                harness.acknowledge(&knock).await;
            }
            "Chat tools" => {
                let listed = harness.call("tools/list", json!({})).await.unwrap();
                let listed = listed["tools"].as_array().unwrap();
                for tool in read.as_array().unwrap() {
                    let found = listed.iter().find(|found| found["name"] == tool["name"]).unwrap();
                    assert_eq!(lacks(found, tool, ""), NOTHING, "{found}");
                }
            }
            other => panic!("an example of {other} is new"),
        }
    }
    let all = [
        "initialize",
        "chat/deliver",
        "Injection mode `notify`",
        "chat.react",
        "Chat tools",
        "notifications/cancelled",
        "notifications/progress",
    ];
    assert_eq!(done, all, "all of them were found");
}

// covers: THR-446
#[test]
fn the_channels_protocol_has_no_examples() {
    let Some(examples) = of("channels.md") else { return };
    assert!(examples.is_empty(), "what is to be sent is new: {}", examples[0].text);
}
