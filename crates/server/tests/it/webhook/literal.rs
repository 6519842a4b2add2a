//! The protocol taken literally: its own examples, byte for byte, and ids that are ids.

use reqwest::Method;
use serde_json::json;

use super::{Remote, asked, call, messages, open, post, reached, to_callback};
use crate::examples;
use crate::inboxes::with_inbox;
use crate::test_host::TestHost;

// covers: WHK-405
#[tokio::test]
async fn a_body_is_one_object_over_many_lines_or_several_however_they_are_set() {
    let (host, _remote, _, delivery) = asked("@weather now?").await;
    for (body, count) in [
        ("{\n  \"type\": \"status\",\n  \"status\": \"a {brace} and a \\\"quote\\\"\"\n}\n", 1),
        ("{\"type\":\"status\",\"status\":\"a\"}{\"type\":\"status\",\"status\":\"b\"}", 2),
        (
            "{\"type\":\"status\",\"status\":\"a\"}\r\n\r\n{\"type\":\"status\",\r\n\"status\":\"b\"}",
            2,
        ),
        ("\n\t{\"type\":\"tool_call\",\"name\":\"x\",\"args\":{\"a\":[{},\"}\"]}}\n\n", 1),
    ] {
        assert_eq!(post(&host, &delivery, body).await.ok()["accepted"], count, "{body}");
    }
    for body in
        ["[{\"type\":\"status\",\"status\":\"a\"}]", "\"status\"", "{\"type\": \"status\"", "}"]
    {
        assert_eq!(post(&host, &delivery, body).await.refused(400), "VALIDATION_ERROR", "{body}");
    }
}

// covers: WHK-406
#[tokio::test]
async fn the_examples_of_the_protocol_are_taken_as_they_stand() {
    let Some(examples) = examples::of("channel-protocol.md") else { return };
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let (inbox, _) = with_inbox(&host, json!({})).await;
    let (mut events, mut deliveries) = (0, 0);
    for example in examples {
        let (read, example) = (example.read(), example.text);
        if read.get("type").is_some() {
            // Each in a run of its own, which says at most so many messages.
            let asks = format!("@weather what of {events}?");
            host.say(&host.token("ann").await, &room, &asks).await;
            let delivery = remote.take().await;
            assert_eq!(post(&host, &delivery, &example).await.ok()["accepted"], 1, "{example}");
            let idle = json!({"type": "lifecycle", "state": "idle"});
            call(&host, &delivery, idle).await.ok();
            events += 1;
        } else if read.get("callback").is_some() {
            let request = host.request(Method::POST, &inbox).body(example.clone());
            let taken = TestHost::answer(request.header("content-type", "application/json")).await;
            assert_eq!(taken.ok(), json!({}), "{example}");
            deliveries += 1;
        }
    }
    assert_eq!((events, deliveries), (6, 3), "all of them were found");
}

// covers: WHK-410
#[tokio::test]
async fn an_id_is_an_id_whatever_the_header_says() {
    let (host, _remote, room, delivery) = asked("@weather now?").await;
    let say = async |key: &[u8], id: Option<&str>, content: &str| {
        let mut said = json!({"type": "message", "content": content});
        if let Some(id) = id {
            said["id"] = id.into();
        }
        let request = to_callback(&host, &delivery).header("idempotency-key", key);
        TestHost::answer(request.json(&said)).await
    };
    assert_eq!(say(b"k1", Some("m1"), "Rain.").await.ok()["duplicates"], 0);
    // Another try with another key is the same message, and other words under its id are a conflict.
    assert_eq!(say(b"k2", Some("m1"), "Rain.").await.ok()["duplicates"], 1);
    assert_eq!(say(b"k3", Some("m1"), "Snow.").await.refused(409), "IDEMPOTENCY_CONFLICT");
    // Another message under the same key is another one.
    assert_eq!(say(b"k1", Some("m2"), "Wind.").await.ok()["duplicates"], 0);
    // A key that reads like an id is none.
    assert_eq!(say(b"m1", None, "Fog.").await.ok()["duplicates"], 0);
    assert_eq!(say(b"m1", None, "Hail.").await.refused(409), "IDEMPOTENCY_CONFLICT");
    // Nor has it to be ASCII, or even text: with an id it is not looked at, and without one it is a key.
    for key in ["schl\u{fc}ssel".as_bytes(), b"\xff\xfe"] {
        assert_eq!(say(key, Some("m1"), "Rain.").await.ok()["duplicates"], 1);
        assert_eq!(say(key, None, "Sun.").await.ok()["duplicates"], 0);
        assert_eq!(say(key, None, "Sun.").await.ok()["duplicates"], 1);
    }
    let said: Vec<_> = messages(&host, &room).await.into_iter().skip(1).map(|(_, t)| t).collect();
    assert_eq!(said, ["Rain.", "Wind.", "Fog.", "Sun.", "Sun."]);
}
