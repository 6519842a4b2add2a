//! No line of the log has the words of anybody, whatever goes wrong. Every test of this folder is watched for it
//! ([`crate::test_host::said`]); here is one that says words everywhere, and breaks things.

use reqwest::Method;
use serde_json::json;

use crate::test_host::{START, TestHost, damage};

/// What every text here has in it.
const MARK: &str = "her salary is 91,400 from May on";

// covers: OPS-442
#[tokio::test]
async fn a_command_that_fails_is_logged_by_its_kind_and_not_by_its_words() {
    chorus_statements::said(MARK);
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, bot, op) = (host.token("ann").await, host.token("bot").await, host.operator());
    let told = host.say(&ann, &room, &format!("@bot {MARK}?")).await;
    let message = told["message_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/messages/{message}");
    let edit = json!({"text": format!("@bot {MARK}, is it?"), "metadata": {"note": MARK}});
    host.send(&ann, Method::PATCH, &path, Some(edit)).await.ok();
    let opening = json!({"conversation": room, "title": MARK, "root": told["event_id"]});
    host.post(&op, "/v1/threads", opening).await.ok();
    let change = json!({"title": MARK, "description": MARK, "purpose": MARK});
    host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(change)).await.ok();
    let mut harness = host.connect(&bot).await;
    let given = harness.take().await;
    drop(harness.reply(&given, &format!("I think {MARK}")).await);
    // What is refused may quote what was asked.
    let odd = json!({"conversation": room, "text": {"it": MARK}, "idempotency_key": MARK});
    assert_eq!(host.post(&ann, "/v1/messages", odd).await.status, 400);
    let odd = json!({"conversation": room, "text": MARK, MARK: 1});
    assert_eq!(host.post(&ann, "/v1/messages", odd).await.status, 400);
    let path_of = format!("/v1/messages/{}", MARK.replace(' ', "%20"));
    assert!(host.get(&ann, &path_of).await.status >= 400);
    let call = json!({"name": MARK, "arguments": {"text": MARK}});
    host.rpc(&bot, "tools/call", call).await;
    host.rpc(&bot, MARK, json!({"text": MARK})).await;
    drop(harness);

    let TestHost { running, folder, .. } = host;
    running.stop().await;
    damage(folder.path(), "UPDATE event SET body = hash WHERE workspace = 1 AND kind = 5");
    let host = TestHost::open_in(folder, START).await;
    for n in 0..3 {
        let again = json!({
            "conversation": room, "text": format!("@bot {MARK}"), "idempotency_key": n.to_string(),
        });
        let answer = host.post(&ann, "/v1/messages", again).await;
        assert!(answer.status >= 400, "{answer:?}");
        let edit = json!({"text": format!("{MARK} again {n}")});
        let answer = host.send(&ann, Method::PATCH, &path, Some(edit)).await;
        assert!(answer.status >= 400, "{answer:?}");
    }
    // Nothing can be written of an edit.
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    damage(folder.path(), "ALTER TABLE message RENAME TO elsewhere");
    let host = TestHost::open_in(folder, START).await;
    let new = json!({"title": format!("{MARK} too"), "members": ["ann"]});
    let room = host.post(&host.operator(), "/v1/channels", new).await.ok();
    let told = host.say(&ann, room["id"].as_str().unwrap(), MARK).await;
    let path = format!("/v1/messages/{}", told["message_id"].as_str().unwrap());
    let edit = json!({"text": format!("{MARK} again")});
    assert_eq!(host.send(&ann, Method::PATCH, &path, Some(edit)).await.status, 503);
    let lines = chorus_statements::lines();
    let failed = lines.iter().find(|line| line.contains("a command failed"));
    let failed = failed.unwrap_or_else(|| panic!("{lines:#?}"));
    assert!(failed.contains("command=\"Edit\"") || failed.contains("command=Edit"), "{failed}");
}

// covers: OPS-442
#[tokio::test]
async fn debug_output_of_events_and_messages_has_no_words() {
    use chorus_core::model::event::{Change, Message};
    use chorus_wire::rest::messages::NewMessage;
    let message = Message { text: MARK.into(), metadata: Some(MARK.into()), ..Message::default() };
    let new = NewMessage { text: Some(MARK.into()), ..NewMessage::default() };
    let change = Change::Posted(message);
    for shown in [format!("{change:?}"), format!("{change:#?}"), format!("{new:?}")] {
        assert!(!shown.contains("salary"), "{shown}");
    }
}
