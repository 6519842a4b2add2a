//! Turns always pass, over the transports: whatever ends a run lets the next speak at once, people hold none, and what is
//! known of turns outlives the host. Time stands still here unless a test moves it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::test_host::{START, TestHost};

/// A room of two agents or more, with what is usual and a purpose.
async fn room(host: &TestHost, agents: &[&str]) -> String {
    let room = host.room(agents).await;
    let patch = json!({"purpose": "the deploys of the week"});
    let path = format!("/v1/channels/{room}");
    host.send(&host.operator(), Method::PATCH, &path, Some(patch)).await.ok();
    room
}

async fn holders(host: &TestHost, room: &str) -> Vec<String> {
    let shown = host.get(&host.operator(), &format!("/v1/channels/{room}/turns")).await.ok();
    let subjects = shown["subjects"].as_array().unwrap().clone();
    let held = subjects.iter().flat_map(|s| s["holders"].as_array().unwrap().clone());
    held.map(|h| h["member"].as_str().unwrap().to_owned()).collect()
}

async fn end(host: &TestHost, token: &str, event: &Value, how: &str) -> Value {
    let params =
        json!({"eventId": event["eventId"], "disposition": how, "turn": event["turn"]["token"]});
    host.rpc(token, "chat/disposition", params).await.ok()["result"]["disposition"].clone()
}

/// The next notification by which the host takes an event back.
async fn cancelled(harness: &mut Harness) -> Value {
    loop {
        let heard = harness.heard().await.expect("it is told");
        if heard["method"] == "notifications/cancelled" {
            return heard["params"]["eventId"].clone();
        }
    }
}

// covers: CHN-320, CHN-321, CHN-26
#[tokio::test]
async fn turn_passes_an_acknowledging_and_a_silent_agent_without_delay() {
    let host = TestHost::open().await;
    let room = room(&host, &["bot", "aide", "clerk"]).await;
    let ann = host.token("ann").await;
    let tokens = [host.token("bot").await, host.token("aide").await, host.token("clerk").await];
    let mut bot = host.connect(&tokens[0]).await;
    let mut aide = host.connect(&tokens[1]).await;
    let asked = host.say(&ann, &room, "@bot @aide @clerk can you look at the deploy?").await;
    let first = bot.take().await;
    let nod = json!({"message_id": asked["message_id"], "signal": "agree", "turn": first["turn"]["token"]});
    host.tool(&tokens[0], "set_channel_reaction", nod).await.unwrap();
    assert_eq!(end(&host, &tokens[0], &first, "failed").await, "acknowledged");

    // Time stands still: the next is offered because of that end, not by a clock.
    let second = aide.take().await;
    assert_eq!(second["eventId"], asked["event_id"]);
    assert_eq!(end(&host, &tokens[1], &second, "failed").await, "failed");
    // The answer that aide owed is a person's to give now; it holds nobody up.
    assert_eq!(holders(&host, &room).await, ["clerk"]);
    let TestHost { running, folder, .. } = host;
    running.stop().await;

    let host = TestHost::open_in(folder, START.plus(1_000)).await;
    assert_eq!(holders(&host, &room).await, ["clerk"]);
    let mut clerk = host.connect(&tokens[2]).await;
    let third = clerk.take().await;
    assert_eq!(third["channel"]["purpose"], "the deploys of the week");
    clerk.reply(&third, "the deploy is green").await.unwrap();
    assert_eq!(holders(&host, &room).await, [""; 0]);
}

// covers: CHN-322
#[tokio::test]
async fn turn_passes_on_when_its_holder_is_removed() {
    let host = TestHost::open().await;
    let room = room(&host, &["bot", "aide"]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let mut bot = host.connect(&host.token("bot").await).await;
    let mut aide = host.connect(&host.token("aide").await).await;
    let asked = host.say(&ann, &room, "@bot @aide can you look at the deploy?").await;
    bot.take().await;
    let seat = format!("/v1/channels/{room}/members/bot");
    let left = host.send(&op, Method::DELETE, &seat, None).await;
    assert!((200..300).contains(&left.status), "{left:?}");
    assert_eq!(cancelled(&mut bot).await, asked["event_id"]);
    assert_eq!(aide.take().await["eventId"], asked["event_id"]);
}

// covers: CHN-322
#[tokio::test]
async fn a_run_in_a_channel_that_is_archived_is_told_to_stop_and_asked_anew_later() {
    let host = TestHost::open().await;
    let room = room(&host, &["bot", "aide"]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let mut bot = host.connect(&host.token("bot").await).await;
    let asked = host.say(&ann, &room, "@bot can you look at the deploy?").await;
    let first = bot.take().await;
    let path = format!("/v1/channels/{room}");
    host.send(&op, Method::PATCH, &path, Some(json!({"archived": true}))).await.ok();
    assert_eq!(cancelled(&mut bot).await, asked["event_id"]);
    assert_eq!(holders(&host, &room).await, [""; 0]);
    host.send(&op, Method::PATCH, &path, Some(json!({"archived": false}))).await.ok();
    let again = bot.take().await;
    assert_eq!(again["eventId"], asked["event_id"]);
    assert_eq!(bot.reply(&first, "still here").await, Err("STALE_TURN".to_owned()));
    bot.reply(&again, "it is fine").await.unwrap();
}

// covers: CHN-323
#[tokio::test]
async fn cooldown_of_a_speaker_survives_a_restart() {
    let host = TestHost::open().await;
    let room = room(&host, &["bot", "aide"]).await;
    let (ann, bot_token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&bot_token).await;
    host.say(&ann, &room, "@bot can you look at the deploy?").await;
    let event = bot.take().await;
    let answer = bot.reply(&event, "it is fine").await.unwrap();
    let TestHost { running, folder, .. } = host;
    running.stop().await;

    let host = TestHost::open_in(folder, START.plus(5_000)).await;
    let more = json!({"conversation": room, "thread": answer["threadId"], "text": "one more thing", "idempotency_key": "more"});
    let refused = host.post(&bot_token, "/v1/messages", more.clone()).await;
    assert_eq!(refused.refused(429), "RATE_LIMITED");
    host.pass(15_000).await;
    host.post(&bot_token, "/v1/messages", more).await.ok();
}

// covers: CHN-324
#[tokio::test]
async fn events_that_oblige_somebody_end_where_chat_ends() {
    let host = TestHost::open().await;
    let room = room(&host, &["bot", "aide"]).await;
    let ann = host.token("ann").await;
    let tokens = [host.token("bot").await, host.token("aide").await];
    let mut bot = host.connect(&tokens[0]).await;
    host.say(&ann, &room, "@bot can you look at the deploy?").await;
    let event = bot.take().await;
    let thread = bot.reply(&event, "it is fine").await.unwrap()["threadId"].clone();
    let mut refused = 0;
    for n in 0..120 {
        let (token, other) = (&tokens[n % 2], ["aide", "bot"][n % 2]);
        host.clock.advance(20_000);
        let say = json!({"thread_id": thread, "schema_version": 1, "kind": "event",
            "body": format!("@{other} can you check number {n}?"), "metadata": {"event_type": "handoff"},
            "idempotency_key": format!("event:{n}")});
        refused += usize::from(host.tool(token, "post_message", say).await.is_err());
    }
    assert!(refused >= 110, "{refused} of 120 were refused");
}
