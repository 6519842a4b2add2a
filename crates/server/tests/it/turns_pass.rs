//! Turns always pass, over the transports: whatever ends a run lets the next speak at once, people hold none, and what is
//! known of turns outlives the host. Time stands still here unless a test moves it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::house::{House, START};

/// A room of two agents or more, with what is usual and a purpose.
async fn room(house: &House, agents: &[&str]) -> String {
    let room = house.room(agents).await;
    let patch = json!({"purpose": "the deploys of the week"});
    let path = format!("/v1/channels/{room}");
    house.send(&house.operator(), Method::PATCH, &path, Some(patch)).await.ok();
    room
}

async fn holders(house: &House, room: &str) -> Vec<String> {
    let shown = house.get(&house.operator(), &format!("/v1/channels/{room}/turns")).await.ok();
    let subjects = shown["subjects"].as_array().unwrap().clone();
    let held = subjects.iter().flat_map(|s| s["holders"].as_array().unwrap().clone());
    held.map(|h| h["member"].as_str().unwrap().to_owned()).collect()
}

async fn end(house: &House, token: &str, event: &Value, how: &str) -> Value {
    let params =
        json!({"eventId": event["eventId"], "disposition": how, "turn": event["turn"]["token"]});
    house.rpc(token, "chat/disposition", params).await.ok()["result"]["disposition"].clone()
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
async fn one_nods_one_says_nothing_and_the_third_answers_without_anybody_waiting() {
    let house = House::open().await;
    let room = room(&house, &["bot", "aide", "clerk"]).await;
    let ann = house.token("ann").await;
    let tokens = [house.token("bot").await, house.token("aide").await, house.token("clerk").await];
    let mut bot = house.connect(&tokens[0]).await;
    let mut aide = house.connect(&tokens[1]).await;
    let asked = house.say(&ann, &room, "@bot @aide @clerk can you look at the deploy?").await;
    let first = bot.take().await;
    let nod = json!({"message_id": asked["message_id"], "signal": "agree", "turn": first["turn"]["token"]});
    house.tool(&tokens[0], "set_channel_reaction", nod).await.unwrap();
    assert_eq!(end(&house, &tokens[0], &first, "failed").await, "acknowledged");

    // Time stands still: the next is offered because of that end, not by a clock.
    let second = aide.take().await;
    assert_eq!(second["eventId"], asked["event_id"]);
    assert_eq!(end(&house, &tokens[1], &second, "failed").await, "failed");
    // The answer that aide owed is a person's to give now; it holds nobody up.
    assert_eq!(holders(&house, &room).await, ["clerk"]);
    let House { running, folder, .. } = house;
    running.stop().await;

    let house = House::open_in(folder, START.plus(1_000)).await;
    assert_eq!(holders(&house, &room).await, ["clerk"]);
    let mut clerk = house.connect(&tokens[2]).await;
    let third = clerk.take().await;
    assert_eq!(third["channel"]["purpose"], "the deploys of the week");
    clerk.reply(&third, "the deploy is green").await.unwrap();
    assert_eq!(holders(&house, &room).await, [""; 0]);
}

// covers: CHN-322
#[tokio::test]
async fn whoever_loses_its_seat_is_told_to_stop_and_the_next_speaks() {
    let house = House::open().await;
    let room = room(&house, &["bot", "aide"]).await;
    let (op, ann) = (house.operator(), house.token("ann").await);
    let mut bot = house.connect(&house.token("bot").await).await;
    let mut aide = house.connect(&house.token("aide").await).await;
    let asked = house.say(&ann, &room, "@bot @aide can you look at the deploy?").await;
    bot.take().await;
    let seat = format!("/v1/channels/{room}/members/bot");
    let left = house.send(&op, Method::DELETE, &seat, None).await;
    assert!((200..300).contains(&left.status), "{left:?}");
    assert_eq!(cancelled(&mut bot).await, asked["event_id"]);
    assert_eq!(aide.take().await["eventId"], asked["event_id"]);
}

// covers: CHN-322
#[tokio::test]
async fn a_run_in_a_channel_that_is_archived_is_told_to_stop_and_asked_anew_later() {
    let house = House::open().await;
    let room = room(&house, &["bot", "aide"]).await;
    let (op, ann) = (house.operator(), house.token("ann").await);
    let mut bot = house.connect(&house.token("bot").await).await;
    let asked = house.say(&ann, &room, "@bot can you look at the deploy?").await;
    let first = bot.take().await;
    let path = format!("/v1/channels/{room}");
    house.send(&op, Method::PATCH, &path, Some(json!({"archived": true}))).await.ok();
    assert_eq!(cancelled(&mut bot).await, asked["event_id"]);
    assert_eq!(holders(&house, &room).await, [""; 0]);
    house.send(&op, Method::PATCH, &path, Some(json!({"archived": false}))).await.ok();
    let again = bot.take().await;
    assert_eq!(again["eventId"], asked["event_id"]);
    assert_eq!(bot.reply(&first, "still here").await, Err("STALE_TURN".to_owned()));
    bot.reply(&again, "it is fine").await.unwrap();
}

// covers: CHN-323
#[tokio::test]
async fn who_has_just_spoken_rests_over_a_restart_too() {
    let house = House::open().await;
    let room = room(&house, &["bot", "aide"]).await;
    let (ann, bot_token) = (house.token("ann").await, house.token("bot").await);
    let mut bot = house.connect(&bot_token).await;
    house.say(&ann, &room, "@bot can you look at the deploy?").await;
    let event = bot.take().await;
    let answer = bot.reply(&event, "it is fine").await.unwrap();
    let House { running, folder, .. } = house;
    running.stop().await;

    let house = House::open_in(folder, START.plus(5_000)).await;
    let more = json!({"conversation": room, "thread": answer["threadId"], "text": "one more thing", "idempotency_key": "more"});
    let refused = house.post(&bot_token, "/v1/messages", more.clone()).await;
    assert_eq!(refused.refused(429), "RATE_LIMITED");
    house.pass(15_000).await;
    house.post(&bot_token, "/v1/messages", more).await.ok();
}

// covers: CHN-324
#[tokio::test]
async fn events_that_oblige_somebody_end_where_chat_ends() {
    let house = House::open().await;
    let room = room(&house, &["bot", "aide"]).await;
    let ann = house.token("ann").await;
    let tokens = [house.token("bot").await, house.token("aide").await];
    let mut bot = house.connect(&tokens[0]).await;
    house.say(&ann, &room, "@bot can you look at the deploy?").await;
    let event = bot.take().await;
    let thread = bot.reply(&event, "it is fine").await.unwrap()["threadId"].clone();
    let mut refused = 0;
    for n in 0..120 {
        let (token, other) = (&tokens[n % 2], ["aide", "bot"][n % 2]);
        house.clock.advance(20_000);
        let say = json!({"thread_id": thread, "schema_version": 1, "kind": "event",
            "body": format!("@{other} can you check number {n}?"), "metadata": {"event_type": "handoff"},
            "idempotency_key": format!("event:{n}")});
        refused += usize::from(house.tool(token, "post_message", say).await.is_err());
    }
    assert!(refused >= 110, "{refused} of 120 were refused");
}
