//! No obligation is lost in silence, over the transports and with the settings that a host has by itself.

use chorus_testing::eventually;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::test_host::{START, TestHost, doctor};

fn id(event: &Value) -> String {
    event["eventId"].as_str().unwrap().to_owned()
}

/// What `chorus why` shows of an event, for one who was told.
async fn told(host: &TestHost, token: &str, event: &str, member: &str) -> Value {
    let why = host.get(token, &format!("/v1/events/{event}/attention")).await.ok();
    let all = why["told"].as_array().unwrap();
    let found = all.iter().find(|one| one["member"] == member);
    found.unwrap_or_else(|| panic!("{member} was not told: {all:?}")).clone()
}

async fn receipt(host: &TestHost, token: &str, event: &str, member: &str) -> Value {
    told(host, token, event, member).await["receipt"].clone()
}

async fn react(bot: &mut Harness, event: &Value, signal: &str, eta: &str) -> Value {
    let args = json!({"inReplyTo": event["eventId"], "signal": signal, "eta": eta,
        "turn": event["turn"]["token"]});
    bot.tool("chat.react", args).await.unwrap()["disposition"].clone()
}

/// The next delivery, acknowledged with nothing that shows life.
async fn take_in_silence(host: &TestHost, bot: &mut Harness) -> Value {
    let frame = bot.delivery().await;
    let result = json!({"accepted": true});
    bot.write(json!({"jsonrpc": "2.0", "id": frame["id"], "result": result})).await;
    let (op, event) = (host.operator(), id(&frame["params"]));
    eventually("the acknowledgement is noted", async || {
        receipt(host, &op, &event, "bot").await["state"] == "accepted"
    })
    .await;
    frame["params"].clone()
}

/// Whom the obligation has moved to.
async fn moved_to(host: &TestHost, event: &str) -> Value {
    let op = host.operator();
    let overdue = host.get(&op, "/v1/deliveries?state=overdue").await.ok();
    let all = overdue["deliveries"].as_array().unwrap();
    all.iter().find(|d| d["event_id"] == event).map_or(Value::Null, |d| d["member"].clone())
}

// covers: ATT-320
#[tokio::test]
async fn agent_that_reports_progress_still_owes_the_answer() {
    for signal in ["working", "claimed"] {
        let host = TestHost::open().await;
        let room = host.room(&["bot"]).await;
        let ann = host.token("ann").await;
        let mut bot = host.connect(&host.token("bot").await).await;
        host.say(&ann, &room, "@bot can you restart it?").await;
        let event = bot.take().await;
        assert_eq!(react(&mut bot, &event, signal, "soon").await, "claimed");
        let claims = host.get(&host.operator(), "/v1/claims").await.ok();
        assert_eq!(claims["claims"].as_array().unwrap().len(), 1);
        host.pass(150_000).await;
        let claims = host.get(&host.operator(), "/v1/claims").await.ok();
        assert_eq!(claims["claims"], json!([]), "the claim is free");
        assert_eq!(receipt(&host, &ann, &id(&event), "bot").await.get("disposition"), None);
        bot.reply(&event, "restarted").await.unwrap();
        assert_eq!(receipt(&host, &ann, &id(&event), "bot").await["disposition"], "responded");

        // Who says nothing more is not waited for.
        let posted = host.say(&ann, &room, "@bot can you look at the log, too?").await;
        let mut event = bot.take().await;
        while event["eventId"] != posted["event_id"] {
            // It was reminded of the first.
            event = bot.take().await;
        }
        react(&mut bot, &event, signal, "soon").await;
        for _ in 0..10 {
            host.pass(29_900).await;
        }
        assert_eq!(moved_to(&host, &id(&event)).await, Value::Null);
        host.pass(1_100).await;
        assert_eq!(moved_to(&host, &id(&event)).await, "operator");
    }
}

// covers: ATT-321
#[tokio::test]
async fn an_acknowledgement_that_comes_late_is_one() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    host.say(&ann, &room, "@bot can you restart it?").await;
    let first = bot.delivery().await;
    host.pass(10_000).await;
    let second = bot.delivery().await;
    assert_eq!(second["params"]["reliability"]["attempt"], 2);
    host.pass(2_000).await;
    bot.acknowledge(&first).await;
    let event = id(&first["params"]);
    assert_eq!(receipt(&host, &ann, &event, "bot").await["state"], "accepted");
    host.pass(8_000).await;
    assert!(bot.is_quiet().await, "it has it");
    // What it says to the second changes nothing.
    bot.acknowledge(&second).await;
    host.pass(30_000).await;
    assert!(bot.is_quiet().await);
    bot.reply(&first["params"], "restarted").await.unwrap();
}

// covers: ATT-103, ATT-321
#[tokio::test]
async fn each_connection_is_asked_as_often() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut attempts = 0;
    host.say(&ann, &room, "@bot can you restart it?").await;
    for _ in 0..2 {
        let mut bot = host.connect(&token).await;
        let mut here = 0;
        for _ in 0..5 {
            let offer = bot.delivery().await;
            here += 1;
            attempts += 1;
            assert_eq!(offer["params"]["reliability"]["attempt"], attempts);
            host.pass(10_000).await;
        }
        assert_eq!(here, 5);
        drop(bot);
        host.until_metric("chorus_connections", 0).await;
    }
}

// covers: ATT-322
#[tokio::test]
async fn a_repeated_acknowledgement_moves_no_deadline() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    host.say(&ann, &room, "@bot can you restart it?").await;
    let event = take_in_silence(&host, &mut bot).await;
    for _ in 0..2 {
        host.pass(60_000).await;
        take_in_silence(&host, &mut bot).await;
    }
    host.pass(179_000).await;
    assert_eq!(moved_to(&host, &id(&event)).await, Value::Null);
    host.pass(1_100).await;
    assert_eq!(moved_to(&host, &id(&event)).await, "operator", "at 300 s, not at 480");
}

// covers: ATT-323, ATT-326
#[tokio::test]
async fn deferral_without_a_time_lasts_ten_minutes() {
    for how in ["queued", "blocked", "disposition", "tool"] {
        let host = TestHost::open().await;
        let room = host.room(&["bot"]).await;
        let (ann, token) = (host.token("ann").await, host.token("bot").await);
        let mut bot = host.connect(&token).await;
        host.say(&ann, &room, "@bot can you restart it?").await;
        let event = bot.take().await;
        let put_off = match how {
            "disposition" => {
                let params = json!({"eventId": event["eventId"], "disposition": "deferred",
                    "note": "no key yet"});
                bot.call("chat/disposition", params).await.unwrap()["disposition"].clone()
            }
            "tool" => {
                let args = json!({"eventId": event["eventId"], "reason": "no key yet"});
                bot.tool("chat.defer", args).await.unwrap()["disposition"].clone()
            }
            signal => react(&mut bot, &event, signal, "no key yet").await,
        };
        assert_eq!(put_off, "deferred", "{how}");
        let shown = receipt(&host, &ann, &id(&event), "bot").await;
        assert_eq!((&shown["state"], &shown["note"]), (&json!("deferred"), &json!("no key yet")));
        let until = chorus_wire::time::format(START.plus(600_000));
        assert_eq!(shown["deferred_until"], json!(until), "{how}");
        // It sleeps, over a restart too.
        host.pass(300_000).await;
        assert!(bot.is_quiet().await);
        let TestHost { running, folder, .. } = host;
        running.stop().await;
        let report = doctor(folder.path());
        assert!(report.is_clean(), "{report:?}");
        let host = TestHost::open_in(folder, START.plus(599_000)).await;
        let mut bot = host.connect(&token).await;
        assert!(bot.is_quiet().await);
        let shown = receipt(&host, &ann, &id(&event), "bot").await;
        assert_eq!(shown["note"], "no key yet", "{how}");
        host.pass(1_000).await;
        let again = bot.take().await;
        assert_eq!(again["reliability"]["attempt"], 2, "{how}");
        bot.reply(&again, "restarted").await.unwrap();
        assert_eq!(receipt(&host, &ann, &id(&event), "bot").await["disposition"], "responded");
    }
}

// covers: ATT-323
#[tokio::test]
async fn how_long_that_is_can_be_set() {
    let set = |config: &mut chorus_server::Config| {
        config.settings.deadlines.defer = chorus_server::config::kind::Span::minutes(2);
    };
    let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, set).await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    host.say(&ann, &room, "@bot can you restart it?").await;
    let event = bot.take().await;
    react(&mut bot, &event, "queued", "in a moment").await;
    host.pass(119_000).await;
    assert!(bot.is_quiet().await);
    host.pass(1_000).await;
    bot.take().await;
}

// covers: ATT-324, ATT-326
#[tokio::test]
async fn declined_delivery_goes_to_the_next_agent_with_its_reason() {
    for how in ["declined", "ignored", "superseded"] {
        let host = TestHost::open().await;
        let room = host.room(&["bot"]).await;
        let ann = host.token("ann").await;
        let mut bot = host.connect(&host.token("bot").await).await;
        host.say(&ann, &room, "@bot can you restart it?").await;
        let event = bot.take().await;
        let ended = match how {
            "declined" => react(&mut bot, &event, how, "not my machine").await,
            _ => {
                let params = json!({"eventId": event["eventId"], "disposition": how,
                    "note": "not my machine", "turn": event["turn"]["token"]});
                bot.call("chat/disposition", params).await.unwrap()["disposition"].clone()
            }
        };
        let expected = if how == "declined" { "ignored" } else { how };
        assert_eq!(ended, expected);
        let mine = receipt(&host, &ann, &id(&event), "bot").await;
        assert_eq!(
            (&mine["disposition"], &mine["note"]),
            (&json!(expected), &json!("not my machine"))
        );
        assert_eq!(moved_to(&host, &id(&event)).await, "operator", "{how}");
        let next = told(&host, &ann, &id(&event), "operator").await;
        assert_eq!(
            (&next["reason"], &next["policy"]),
            (&json!("escalated"), &json!("must_respond"))
        );
    }
}

// covers: ATT-325
#[tokio::test]
async fn an_agent_that_asked_hears_that_the_other_will_not() {
    for how in ["declined", "blocked", "ignored"] {
        let host = TestHost::open().await;
        let room = host.room(&["bot", "planner"]).await;
        let mut bot = host.connect(&host.token("bot").await).await;
        let planner_token = host.token("planner").await;
        let mut planner = host.connect(&planner_token).await;
        let args = json!({
            "target": {"conversation": room}, "idempotencyKey": "ask", "visibility": "channel",
            "directedness": "to_me", "text": "@bot can you restart it?",
        });
        planner.tool("chat.send_message", args).await.unwrap();
        let event = bot.take().await;
        assert_eq!(event["attention"]["policy"], "must_respond");
        if how == "ignored" {
            let params = json!({"eventId": event["eventId"], "disposition": how,
                "note": "not my machine"});
            bot.call("chat/disposition", params).await.unwrap();
        } else {
            react(&mut bot, &event, how, "not my machine").await;
        }
        let word = planner.take().await;
        assert_eq!(word["inReplyTo"], event["eventId"], "{word}");
        let attention = &word["attention"];
        assert_eq!(
            (&attention["reason"], &attention["policy"]),
            (&json!("reaction"), &json!("may_respond"))
        );
        let signal = if how == "blocked" { how } else { "declined" };
        let text = format!("(reacted: {signal}) not my machine");
        assert_eq!(word["content"][0]["text"], text, "{how}");
        let mine = receipt(&host, &planner_token, &id(&event), "bot").await;
        assert_eq!(mine["note"], "not my machine", "whoever asked sees why");
        assert!(planner.is_quiet().await, "told once");
    }
}

// covers: ATT-326
#[tokio::test]
async fn note_on_a_delivery_is_shown_with_secrets_redacted() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let mut bot = host.connect(&host.token("bot").await).await;
    let posted = host.say(&ann, &room, "@bot can you restart it?").await;
    let event = bot.take().await;
    let args = json!({"eventId": event["eventId"], "note": "it was up already"});
    bot.tool("chat.resolve", args).await.unwrap();
    let shown = receipt(&host, &ann, &id(&event), "bot").await;
    assert_eq!(
        (&shown["disposition"], &shown["note"]),
        (&json!("responded"), &json!("it was up already"))
    );
    // It goes with the message.
    let path = format!("/v1/messages/{}/erase", posted["event_id"].as_str().unwrap());
    host.post(&op, &path, json!({"reason": "request"})).await.ok();
    assert_eq!(receipt(&host, &ann, &id(&event), "bot").await.get("note"), None);
    host.say(&ann, &room, "@bot and now?").await;
    let event = bot.take().await;
    let key = format!("ghp_{}", "aB3dE6gH9j".repeat(4).split_at(36).0);
    let args = json!({"eventId": event["eventId"], "reason": format!("waits for {key}")});
    bot.tool("chat.defer", args).await.unwrap();
    let shown = receipt(&host, &ann, &id(&event), "bot").await["note"].to_string();
    assert!(!shown.contains(&key) && shown.contains("waits for"), "{shown}");
}
