//! When stimuli are said and where: undertakings that go on at once, keys and whose they are, what only some are
//! shown, and threads in channels that answer on one line.

use serde_json::{Value, json};

use crate::house::{Answer, House};

async fn add(house: &House, token: &str, room: &str, new: Value) -> Answer {
    let mut idea = json!({"kind": "agent_idea"});
    idea.as_object_mut().unwrap().extend(new.as_object().unwrap().clone());
    house.post(token, &format!("/v1/channels/{room}/stimuli"), idea).await
}

/// What is due is claimed, and a moment later said.
async fn pass(house: &House) {
    house.pass(1_000).await;
    house.pass(1_000).await;
}

async fn stimulus(house: &House, token: &str, room: &str, made: &Value) -> Value {
    let id = made["id"].as_str().unwrap();
    house.get(token, &format!("/v1/channels/{room}/stimuli/{id}")).await.ok()
}

async fn feed(house: &House, token: &str, room: &str) -> Vec<Value> {
    let feed = house.get(token, &format!("/v1/channels/{room}/feed")).await.ok();
    feed["entries"].as_array().unwrap().clone()
}

/// The messages of a channel's log that a member sees: what was said, and in which thread.
async fn said(house: &House, token: &str, room: &str) -> Vec<(String, Value)> {
    let path = format!("/v1/events?conversation={room}&after=0&limit=200");
    let all = house.get(token, &path).await.ok();
    let posted = all["events"].as_array().unwrap().iter().filter(|e| e["type"] == "message_posted");
    let shown = posted.filter(|e| e["message"]["text"].is_string());
    shown.map(|e| (e["message"]["text"].as_str().unwrap().into(), e["thread_id"].clone())).collect()
}

// covers: CHN-88, CHN-341
#[tokio::test]
async fn a_live_undertaking_goes_on_at_once_whatever_waits() {
    let house = House::open().await;
    let room = house.room(&["bot", "other"]).await;
    let (bot, other, ann) =
        (house.token("bot").await, house.token("other").await, house.token("ann").await);
    let of = |text: &str| json!({"text": text, "initiative_key": "release"});
    add(&house, &bot, &room, of("We begin to release 2.4.")).await.ok();
    pass(&house).await;
    assert_eq!(feed(&house, &ann, &room).await.len(), 1);
    // The quiet has begun, and the queue is full of what waits for its end.
    for n in 0..32 {
        add(&house, &bot, &room, json!({"text": format!("idea {n}")})).await.ok();
    }
    let more = add(&house, &bot, &room, json!({"text": "one more"})).await;
    assert_eq!(more.refused(429), "RATE_LIMITED");
    let next = add(&house, &other, &room, of("The build is green.")).await.ok();
    pass(&house).await;
    assert_eq!(stimulus(&house, &ann, &room, &next).await["state"], "dispatched");
    let entries = feed(&house, &ann, &room).await;
    assert_eq!((entries.len(), &entries[0]["replies"]), (1, &json!(1)), "in the same thread");

    // Once that thread is over, the undertaking begins anew, when a subject may be opened.
    let thread = format!("/v1/threads/{}", entries[0]["thread"]["id"].as_str().unwrap());
    let over = json!({"status": "resolved"});
    house.send(&ann, reqwest::Method::PATCH, &thread, Some(over)).await.ok();
    let full = add(&house, &other, &room, of("And again.")).await;
    assert_eq!(full.refused(429), "RATE_LIMITED");
}

// covers: CHN-341
#[tokio::test]
async fn what_waited_to_open_an_undertaking_goes_on_once_another_has_opened_it() {
    let house = House::open().await;
    let room = house.room(&["bot", "other"]).await;
    let (bot, ann) = (house.token("bot").await, house.token("ann").await);
    for text in ["We begin.", "The build is green.", "The tests are green."] {
        add(&house, &bot, &room, json!({"text": text, "initiative_key": "release"})).await.ok();
    }
    for _ in 0..3 {
        pass(&house).await;
    }
    let entries = feed(&house, &ann, &room).await;
    assert_eq!((entries.len(), &entries[0]["replies"]), (1, &json!(2)));
}

// covers: CHN-86, CHN-342
#[tokio::test]
async fn a_stimulus_gives_way_to_a_newer_one_of_its_own_source_and_key_only() {
    let house = House::open().await;
    let room = house.room(&["bot", "other"]).await;
    let (bot, other, op) = (house.token("bot").await, house.token("other").await, house.operator());
    add(&house, &bot, &room, json!({"text": "The first, and then there is quiet."})).await.ok();
    pass(&house).await;
    for field in ["progress_key", "dedupe_key"] {
        let keyed = |text: &str| json!({"text": text, field: "build"});
        let mine = add(&house, &bot, &room, keyed("bot's")).await.ok();
        let theirs = add(&house, &other, &room, keyed("other's")).await.ok();
        assert_eq!(stimulus(&house, &op, &room, &mine).await["state"], "pending", "{field}");
        let newer = add(&house, &bot, &room, keyed("bot's, again")).await.ok();
        let old = stimulus(&house, &op, &room, &mine).await;
        assert_eq!((&old["state"], &old["superseded_by"]), (&json!("superseded"), &newer["id"]));
        assert_eq!(stimulus(&house, &op, &room, &theirs).await["state"], "pending", "{field}");
        for key in ["sch_1", "task_1", "stm_1 result", "review", "idle"] {
            for token in [&bot, &op] {
                let bad = add(&house, token, &room, json!({"text": "x", field: key})).await;
                assert_eq!(bad.refused(400), "VALIDATION_ERROR", "{field} {key}");
            }
        }
        // What only begins like one of them is anybody's.
        add(&house, &bot, &room, json!({"text": "x", field: "reviewed"})).await.ok();
    }
    let schedules = format!("/v1/channels/{room}/schedules");
    let new = json!({"text": "x", "every_ms": 60_000, "progress_key": "sch_1"});
    assert_eq!(house.post(&op, &schedules, new).await.refused(400), "VALIDATION_ERROR");
}

// covers: CHN-343
#[tokio::test]
async fn what_only_its_targets_are_shown_is_always_said() {
    let house = House::open().await;
    let room = house.room(&["bot", "other"]).await;
    let (bot, ann) = (house.token("bot").await, house.token("ann").await);
    let other_token = house.token("other").await;
    let opens = json!({"text": "1 of 3 are built.", "progress_key": "build"});
    add(&house, &bot, &room, opens).await.ok();
    pass(&house).await;
    let thread = feed(&house, &ann, &room).await[0]["thread"]["id"].clone();
    let in_thread = |text: &str, more: Value| {
        let mut new =
            json!({"text": text, "scope": "thread", "thread": thread, "progress_key": "build"});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        new
    };
    // The thread knows the stream, so that a further word that all may see is no message; this one is for other alone.
    let private = json!({"visibility": "targets", "targets": ["other"]});
    let secret = add(&house, &bot, &room, in_thread("The key is under the mat.", private)).await;
    let public = add(&house, &bot, &room, in_thread("2 of 3 are built.", json!({}))).await.ok();
    let secret = secret.ok();
    for _ in 0..2 {
        pass(&house).await;
    }
    let shown = stimulus(&house, &bot, &room, &secret).await;
    assert_eq!(shown["state"], "dispatched", "nothing that others see takes its place: {shown}");
    let told = said(&house, &other_token, &room).await;
    let here = ("The key is under the mat.".to_owned(), thread.clone());
    assert!(told.contains(&here), "{told:?}");
    let seen = said(&house, &ann, &room).await;
    assert!(!seen.contains(&here), "{seen:?}");
    assert_eq!(stimulus(&house, &bot, &room, &public).await["state"], "dispatched");
    let progress = &feed(&house, &ann, &room).await[0]["progress"];
    assert_eq!(progress["text"], "2 of 3 are built.");
}

// covers: CHN-344
#[tokio::test]
async fn in_a_channel_on_one_line_too_a_stimulus_is_answered_in_its_thread_under_a_turn() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let (op, ann) = (house.operator(), house.token("ann").await);
    let shown = house.get(&op, &format!("/v1/channels/{room}")).await.ok();
    assert_eq!(shown["replies"], "line");
    let mut bot = house.connect(&house.token("bot").await).await;
    let idea = json!({"source": "ann", "text": "What changed today?", "targets": ["bot"]});
    add(&house, &op, &room, idea).await.ok();
    pass(&house).await;
    let offer = bot.take().await;
    let turns = house.get(&ann, &format!("/v1/channels/{room}/turns")).await.ok();
    assert_eq!(turns["subjects"][0]["holders"][0]["member"], "bot", "{turns}");
    bot.reply(&offer, "Nothing.").await.unwrap();
    let root = feed(&house, &ann, &room).await[0].clone();
    let thread = root["thread"]["id"].clone();
    let answer = json!({"conversation": room, "text": "Thank you.", "in_reply_to": root["event_id"],
        "idempotency_key": "thanks"});
    house.post(&ann, "/v1/messages", answer).await.ok();
    // What a person begins there stays on the line.
    let asked = house.say(&ann, &room, "@bot and tomorrow?").await;
    let offer = bot.take().await;
    assert_eq!(offer["eventId"], asked["event_id"]);
    bot.reply(&offer, "Nothing either.").await.unwrap();
    let all = said(&house, &ann, &room).await;
    let of = |text: &str, thread: &Value| (text.to_owned(), thread.clone());
    let expect = [
        of("What changed today?", &Value::Null),
        of("Nothing.", &thread),
        of("Thank you.", &thread),
        of("@bot and tomorrow?", &Value::Null),
        of("Nothing either.", &Value::Null),
    ];
    assert_eq!(all, expect);
}
