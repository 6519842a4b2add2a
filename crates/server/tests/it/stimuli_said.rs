//! When stimuli are said and where: undertakings that go on at once, keys and whose they are, what only some are
//! shown, and threads in channels that answer on one line.

use serde_json::{Value, json};

use crate::test_host::{Answer, TestHost};

async fn add(host: &TestHost, token: &str, room: &str, new: Value) -> Answer {
    let mut idea = json!({"kind": "agent_idea"});
    idea.as_object_mut().unwrap().extend(new.as_object().unwrap().clone());
    host.post(token, &format!("/v1/channels/{room}/stimuli"), idea).await
}

/// What is due is claimed, and a moment later said.
async fn pass(host: &TestHost) {
    host.pass(1_000).await;
    host.pass(1_000).await;
}

async fn stimulus(host: &TestHost, token: &str, room: &str, made: &Value) -> Value {
    let id = made["id"].as_str().unwrap();
    host.get(token, &format!("/v1/channels/{room}/stimuli/{id}")).await.ok()
}

async fn feed(host: &TestHost, token: &str, room: &str) -> Vec<Value> {
    let feed = host.get(token, &format!("/v1/channels/{room}/feed")).await.ok();
    feed["entries"].as_array().unwrap().clone()
}

/// The messages of a channel's log that a member sees: what was said, and in which thread.
async fn said(host: &TestHost, token: &str, room: &str) -> Vec<(String, Value)> {
    let path = format!("/v1/events?conversation={room}&after=0&limit=200");
    let all = host.get(token, &path).await.ok();
    let posted = all["events"].as_array().unwrap().iter().filter(|e| e["type"] == "message_posted");
    let shown = posted.filter(|e| e["message"]["text"].is_string());
    shown.map(|e| (e["message"]["text"].as_str().unwrap().into(), e["thread_id"].clone())).collect()
}

// covers: CHN-88, CHN-341
#[tokio::test]
async fn a_live_undertaking_goes_on_at_once_whatever_waits() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (bot, other, ann) =
        (host.token("bot").await, host.token("other").await, host.token("ann").await);
    let of = |text: &str| json!({"text": text, "initiative_key": "release"});
    add(&host, &bot, &room, of("We begin to release 2.4.")).await.ok();
    pass(&host).await;
    assert_eq!(feed(&host, &ann, &room).await.len(), 1);
    // The quiet has begun, and the queue is full of what waits for its end.
    for n in 0..32 {
        add(&host, &bot, &room, json!({"text": format!("idea {n}")})).await.ok();
    }
    let more = add(&host, &bot, &room, json!({"text": "one more"})).await;
    assert_eq!(more.refused(429), "RATE_LIMITED");
    let next = add(&host, &other, &room, of("The build is green.")).await.ok();
    pass(&host).await;
    assert_eq!(stimulus(&host, &ann, &room, &next).await["state"], "dispatched");
    let entries = feed(&host, &ann, &room).await;
    assert_eq!((entries.len(), &entries[0]["replies"]), (1, &json!(1)), "in the same thread");

    // Once that thread is over, the undertaking begins anew, when a subject may be opened.
    let thread = format!("/v1/threads/{}", entries[0]["thread"]["id"].as_str().unwrap());
    let over = json!({"status": "resolved"});
    host.send(&ann, reqwest::Method::PATCH, &thread, Some(over)).await.ok();
    let full = add(&host, &other, &room, of("And again.")).await;
    assert_eq!(full.refused(429), "RATE_LIMITED");
}

// covers: CHN-341
#[tokio::test]
async fn stimulus_that_waits_for_an_undertaking_goes_on_when_another_opens_it() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (bot, ann) = (host.token("bot").await, host.token("ann").await);
    for text in ["We begin.", "The build is green.", "The tests are green."] {
        add(&host, &bot, &room, json!({"text": text, "initiative_key": "release"})).await.ok();
    }
    for _ in 0..3 {
        pass(&host).await;
    }
    let entries = feed(&host, &ann, &room).await;
    assert_eq!((entries.len(), &entries[0]["replies"]), (1, &json!(2)));
}

// covers: CHN-86, CHN-342
#[tokio::test]
async fn a_stimulus_gives_way_to_a_newer_one_of_its_own_source_and_key_only() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (bot, other, op) = (host.token("bot").await, host.token("other").await, host.operator());
    add(&host, &bot, &room, json!({"text": "The first, and then there is quiet."})).await.ok();
    pass(&host).await;
    for field in ["progress_key", "dedupe_key"] {
        let keyed = |text: &str| json!({"text": text, field: "build"});
        let mine = add(&host, &bot, &room, keyed("bot's")).await.ok();
        let theirs = add(&host, &other, &room, keyed("other's")).await.ok();
        assert_eq!(stimulus(&host, &op, &room, &mine).await["state"], "pending", "{field}");
        let newer = add(&host, &bot, &room, keyed("bot's, again")).await.ok();
        let old = stimulus(&host, &op, &room, &mine).await;
        assert_eq!((&old["state"], &old["superseded_by"]), (&json!("superseded"), &newer["id"]));
        assert_eq!(stimulus(&host, &op, &room, &theirs).await["state"], "pending", "{field}");
        for key in ["sch_1", "task_1", "stm_1 result", "review", "idle"] {
            for token in [&bot, &op] {
                let bad = add(&host, token, &room, json!({"text": "x", field: key})).await;
                assert_eq!(bad.refused(400), "VALIDATION_ERROR", "{field} {key}");
            }
        }
        // What only begins like one of them is anybody's.
        add(&host, &bot, &room, json!({"text": "x", field: "reviewed"})).await.ok();
    }
    let schedules = format!("/v1/channels/{room}/schedules");
    let new = json!({"text": "x", "every_ms": 60_000, "progress_key": "sch_1"});
    assert_eq!(host.post(&op, &schedules, new).await.refused(400), "VALIDATION_ERROR");
}

// covers: CHN-343
#[tokio::test]
async fn stimulus_for_its_targets_only_is_always_said() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (bot, ann) = (host.token("bot").await, host.token("ann").await);
    let other_token = host.token("other").await;
    let opens = json!({"text": "1 of 3 are built.", "progress_key": "build"});
    add(&host, &bot, &room, opens).await.ok();
    pass(&host).await;
    let thread = feed(&host, &ann, &room).await[0]["thread"]["id"].clone();
    let in_thread = |text: &str, more: Value| {
        let mut new =
            json!({"text": text, "scope": "thread", "thread": thread, "progress_key": "build"});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        new
    };
    // The thread knows the stream, so that a further word that all may see is no message; this one is for other alone.
    let private = json!({"visibility": "targets", "targets": ["other"]});
    let secret = add(&host, &bot, &room, in_thread("The key is under the mat.", private)).await;
    let public = add(&host, &bot, &room, in_thread("2 of 3 are built.", json!({}))).await.ok();
    let secret = secret.ok();
    for _ in 0..2 {
        pass(&host).await;
    }
    let shown = stimulus(&host, &bot, &room, &secret).await;
    assert_eq!(shown["state"], "dispatched", "nothing that others see takes its place: {shown}");
    let told = said(&host, &other_token, &room).await;
    let here = ("The key is under the mat.".to_owned(), thread.clone());
    assert!(told.contains(&here), "{told:?}");
    let seen = said(&host, &ann, &room).await;
    assert!(!seen.contains(&here), "{seen:?}");
    assert_eq!(stimulus(&host, &bot, &room, &public).await["state"], "dispatched");
    let progress = &feed(&host, &ann, &room).await[0]["progress"];
    assert_eq!(progress["text"], "2 of 3 are built.");
}

// covers: CHN-344
#[tokio::test]
async fn stimulus_in_an_unthreaded_channel_is_answered_in_its_thread() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let shown = host.get(&op, &format!("/v1/channels/{room}")).await.ok();
    assert_eq!(shown["replies"], "line");
    let mut bot = host.connect(&host.token("bot").await).await;
    let idea = json!({"source": "ann", "text": "What changed today?", "targets": ["bot"]});
    add(&host, &op, &room, idea).await.ok();
    pass(&host).await;
    let offer = bot.take().await;
    let turns = host.get(&ann, &format!("/v1/channels/{room}/turns")).await.ok();
    assert_eq!(turns["subjects"][0]["holders"][0]["member"], "bot", "{turns}");
    bot.reply(&offer, "Nothing.").await.unwrap();
    let root = feed(&host, &ann, &room).await[0].clone();
    let thread = root["thread"]["id"].clone();
    let answer = json!({"conversation": room, "text": "Thank you.", "in_reply_to": root["event_id"],
        "idempotency_key": "thanks"});
    host.post(&ann, "/v1/messages", answer).await.ok();
    // What a person begins there stays on the line.
    let asked = host.say(&ann, &room, "@bot and tomorrow?").await;
    let offer = bot.take().await;
    assert_eq!(offer["eventId"], asked["event_id"]);
    bot.reply(&offer, "Nothing either.").await.unwrap();
    let all = said(&host, &ann, &room).await;
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
