//! No line of the log has the words of anybody, whatever goes wrong. Every test of this folder is watched for it
//! ([`crate::house::said`]); here is one that says words everywhere, and breaks things.

use reqwest::Method;
use serde_json::json;

use crate::house::{House, START, damage};

/// What every text here has in it.
const MARK: &str = "her salary is 91,400 from May on";

// covers: OPS-442
#[tokio::test]
async fn a_command_that_fails_is_logged_by_its_kind_and_not_by_its_words() {
    chorus_statements::said(MARK);
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let (ann, bot, op) = (house.token("ann").await, house.token("bot").await, house.operator());
    let told = house.say(&ann, &room, &format!("@bot {MARK}?")).await;
    let message = told["message_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/messages/{message}");
    let edit = json!({"text": format!("@bot {MARK}, is it?"), "metadata": {"note": MARK}});
    house.send(&ann, Method::PATCH, &path, Some(edit)).await.ok();
    let opening = json!({"conversation": room, "title": MARK, "root": told["event_id"]});
    house.post(&op, "/v1/threads", opening).await.ok();
    let change = json!({"title": MARK, "description": MARK, "purpose": MARK});
    house.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(change)).await.ok();
    let mut harness = house.connect(&bot).await;
    let given = harness.take().await;
    drop(harness.reply(&given, &format!("I think {MARK}")).await);
    // What is refused may quote what was asked.
    let odd = json!({"conversation": room, "text": {"it": MARK}, "idempotency_key": MARK});
    assert_eq!(house.post(&ann, "/v1/messages", odd).await.status, 400);
    let odd = json!({"conversation": room, "text": MARK, MARK: 1});
    assert_eq!(house.post(&ann, "/v1/messages", odd).await.status, 400);
    let path_of = format!("/v1/messages/{}", MARK.replace(' ', "%20"));
    assert!(house.get(&ann, &path_of).await.status >= 400);
    let call = json!({"name": MARK, "arguments": {"text": MARK}});
    house.rpc(&bot, "tools/call", call).await;
    house.rpc(&bot, MARK, json!({"text": MARK})).await;
    drop(harness);

    let House { running, folder, .. } = house;
    running.stop().await;
    damage(folder.path(), "UPDATE event SET body = hash WHERE workspace = 1 AND kind = 5");
    let house = House::open_in(folder, START).await;
    for n in 0..3 {
        let again = json!({
            "conversation": room, "text": format!("@bot {MARK}"), "idempotency_key": n.to_string(),
        });
        let answer = house.post(&ann, "/v1/messages", again).await;
        assert!(answer.status >= 400, "{answer:?}");
        let edit = json!({"text": format!("{MARK} again {n}")});
        let answer = house.send(&ann, Method::PATCH, &path, Some(edit)).await;
        assert!(answer.status >= 400, "{answer:?}");
    }
    // Nothing can be written of an edit.
    let House { running, folder, .. } = house;
    running.stop().await;
    damage(folder.path(), "ALTER TABLE message RENAME TO elsewhere");
    let house = House::open_in(folder, START).await;
    let new = json!({"title": MARK, "members": ["ann"]});
    let room = house.post(&house.operator(), "/v1/channels", new).await.ok();
    let told = house.say(&ann, room["id"].as_str().unwrap(), MARK).await;
    let path = format!("/v1/messages/{}", told["message_id"].as_str().unwrap());
    let edit = json!({"text": format!("{MARK} again")});
    assert_eq!(house.send(&ann, Method::PATCH, &path, Some(edit)).await.status, 503);
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
