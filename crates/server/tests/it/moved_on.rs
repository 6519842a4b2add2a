//! What moves on, what counts as life, and what an edit or a closed thread does to what is owed, over the transports.

use chorus_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::test_host::TestHost;

async fn holders(host: &TestHost, room: &str) -> Vec<String> {
    let shown = host.get(&host.operator(), &format!("/v1/channels/{room}/turns")).await.ok();
    let subjects = shown["subjects"].as_array().unwrap().clone();
    let held = subjects.iter().flat_map(|s| s["holders"].as_array().unwrap().clone());
    held.map(|h| h["member"].as_str().unwrap().to_owned()).collect()
}

/// Whom an obligation has moved to.
async fn moved_to(host: &TestHost, event: &Value) -> Value {
    let overdue = host.get(&host.operator(), "/v1/deliveries?state=overdue").await.ok();
    let all = overdue["deliveries"].as_array().unwrap();
    all.iter().find(|d| &d["event_id"] == event).map_or(Value::Null, |d| d["member"].clone())
}

/// The next delivery, acknowledged with nothing that shows life.
async fn acknowledge_in_silence(host: &TestHost, harness: &mut Harness, member: &str) {
    let frame = harness.delivery().await;
    let result = json!({"accepted": true});
    harness.write(json!({"jsonrpc": "2.0", "id": frame["id"], "result": result})).await;
    let event = frame["params"]["eventId"].as_str().unwrap();
    eventually("the acknowledgement is noted", async || {
        let path = format!("/v1/events/{event}/attention");
        let why = host.get(&host.operator(), &path).await.ok();
        let told = why["told"].as_array().unwrap();
        let mine = told.iter().find(|one| one["member"] == member).unwrap();
        if mine["receipt"]["state"] == "accepted" { Ok(()) } else { Err(why) }
    })
    .await;
}

// covers: CHN-350
#[tokio::test]
async fn silent_agent_delays_no_other_by_reporting_work() {
    let host = TestHost::open().await;
    let room = host.room(&["xa", "xb", "xc"]).await;
    let ann = host.token("ann").await;
    let tokens = [host.token("xa").await, host.token("xb").await, host.token("xc").await];
    let mut xa = host.connect(&tokens[0]).await;
    let mut xb = host.connect(&tokens[1]).await;
    let mut xc = host.connect(&tokens[2]).await;
    let asked = host.say(&ann, &room, "@xa @xb @xc what do you think of it?").await;
    let first = xa.take().await;
    let working = json!({"inReplyTo": first["eventId"], "signal": "working", "eta": "soon",
        "turn": first["turn"]["token"]});
    xa.tool("chat.react", working).await.unwrap();
    // It acknowledges each reminder, and says nothing.
    for ms in [61_000, 60_000] {
        host.pass(ms).await;
        acknowledge_in_silence(&host, &mut xa, "xa").await;
    }
    host.pass(178_000).await;
    assert_eq!(holders(&host, &room).await, ["xa"]);
    host.pass(2_000).await;
    assert_eq!(moved_to(&host, &asked["event_id"]).await, "operator");
    assert_eq!(holders(&host, &room).await, ["xb"]);
    let second = xb.take().await;
    xb.reply(&second, "it is good").await.unwrap();
    let third = xc.take().await;
    xc.reply(&third, "I agree").await.unwrap();
    assert_eq!(holders(&host, &room).await, [""; 0]);
}

// covers: ATT-400, ATT-401
#[tokio::test]
async fn other_runs_and_reading_keep_no_forgotten_run_alive() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let other = json!({"title": "other", "members": ["bot", "ann"]});
    let other = host.post(&host.operator(), "/v1/channels", other).await.ok();
    let other = other["id"].as_str().unwrap();
    let mut bot = host.connect(&host.token("bot").await).await;
    let owed = host.say(&ann, &room, "@bot can you look at the build?").await;
    bot.take().await;
    // Whoever takes up a reminder shows life once more: the deadline counts from there.
    for n in 0..80 {
        host.say(&ann, other, &format!("@bot and how is deploy {n}?")).await;
        let event = loop {
            let event = bot.take().await;
            if event["eventId"] != owed["event_id"] {
                break event;
            }
        };
        let turn = event["turn"]["token"].clone();
        bot.tool("chat.list_events", json!({"turn": turn})).await.ok();
        bot.tool("chat.list_events", json!({})).await.ok();
        bot.reply(&event, "it is green").await.unwrap();
        host.pass(7_000).await;
    }
    assert_eq!(moved_to(&host, &owed["event_id"]).await, "operator", "560 s have passed");
}

// covers: CHN-351, ATT-402
#[tokio::test]
async fn both_answers_to_an_edited_message_stand_in_its_thread() {
    let host = TestHost::open().await;
    let room = host.room(&["xa", "xb"]).await;
    let ann = host.token("ann").await;
    let tokens = [host.token("xa").await, host.token("xb").await];
    let asked = host.say(&ann, &room, "@xa @xb A?").await;
    let path = format!("/v1/messages/{}", asked["message_id"].as_str().unwrap());
    let words = json!({"text": "@xa @xb B, is it so?"});
    host.send(&ann, Method::PATCH, &path, Some(words)).await.ok();
    let mut xa = host.connect(&tokens[0]).await;
    let mut xb = host.connect(&tokens[1]).await;
    let first = xa.take().await;
    let said = xa.reply(&first, "it is so").await.unwrap();
    let second = xb.take().await;
    assert!(second["channel"]["recent"].to_string().contains("it is so"), "{second}");
    xb.reply(&second, "so it is").await.unwrap();
    let page = host.get(&ann, &format!("/v1/messages?conversation={room}")).await.ok();
    let threads: Vec<_> = page["messages"].as_array().unwrap()[1..]
        .iter()
        .map(|message| message["thread_id"].clone())
        .collect();
    assert!(
        threads.len() == 2 && threads[0].is_string() && threads[0] == threads[1],
        "{said} {page}"
    );
    let first_version = asked["event_id"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{first_version}/attention")).await.ok();
    assert_eq!(why["newest_version"], first["eventId"]);
}

// covers: CHN-352
#[tokio::test]
async fn a_closed_thread_leaves_nothing_owed_in_it() {
    let host = TestHost::open().await;
    let room = host.room(&["xa", "xb"]).await;
    let ann = host.token("ann").await;
    let mut xa = host.connect(&host.token("xa").await).await;
    let mut xb = host.connect(&host.token("xb").await).await;
    let asked = host.say(&ann, &room, "@xa @xb can you look at the build?").await;
    let first = xa.take().await;
    let said = xa.reply(&first, "it is green").await.unwrap();
    let held = xb.take().await;
    let page = host.get(&ann, &format!("/v1/messages?conversation={room}")).await.ok();
    let thread = page["messages"][1]["thread_id"].as_str().unwrap_or_else(|| panic!("{said}"));
    let close = json!({"status": "closed", "reason": "done"});
    host.send(&ann, Method::PATCH, &format!("/v1/threads/{thread}"), Some(close)).await.ok();
    let heard = loop {
        let heard = xb.heard().await.expect("it is told");
        if heard["method"] == "notifications/cancelled" {
            break heard;
        }
    };
    assert_eq!(heard["params"]["eventId"], held["eventId"]);
    assert_eq!(heard["params"]["reason"], "the thread was closed");
    let event = asked["event_id"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{event}/attention")).await.ok();
    let told = why["told"].as_array().unwrap();
    let receipt = &told.iter().find(|one| one["member"] == "xb").unwrap()["receipt"];
    assert_eq!(receipt["disposition"], "superseded");
    assert_eq!(receipt["note"], "the thread was closed");
    assert_eq!(holders(&host, &room).await, [""; 0]);
}
