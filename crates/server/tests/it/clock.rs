//! A clock that is set ahead by days and back again.

use serde_json::json;

use crate::test_host::{START, TestHost};

const DAYS: i64 = 3 * 24 * 3_600_000;

// covers: OPS-44
#[tokio::test]
async fn a_clock_set_ahead_and_back_turns_no_log_and_stops_no_timer() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let week = json!({"agent": "bot", "role": "worker", "ttl_s": 7 * 24 * 3_600});
    let token = host.post(&host.operator(), "/v1/tokens", week).await.ok();
    let token = token["token"].as_str().unwrap();
    let mut bot = host.connect(token).await;
    let first = host.say(&ann, &room, "@bot before?").await;
    let offered = bot.take().await;
    bot.reply(&offered, "yes").await.unwrap();

    host.clock.advance(DAYS);
    host.running.tick();
    // Tokens of a day have ended by this clock; the operator's have not.
    assert_eq!(host.get(&ann, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
    let op = host.operator();
    let ahead = host.say(&op, &room, "@bot in the future?").await;
    host.clock.advance(-DAYS);
    host.running.tick();
    host.get(&ann, "/v1/whoami").await.ok();
    let back = host.say(&ann, &room, "@bot and back?").await;
    let log = host.get(&op, &format!("/v1/events?conversation={room}")).await.ok();
    let times: Vec<_> =
        log["events"].as_array().unwrap().iter().map(|e| &e["created_at"]).collect();
    assert!(times.is_sorted_by_key(|t| t.as_str().unwrap().to_owned()), "{times:?}");

    // What is owed comes due by the clock as it is now, for both, and once.
    let state = async |id: &serde_json::Value| {
        let path = format!("/v1/events/{}/attention", id["event_id"].as_str().unwrap());
        host.get(&op, &path).await.ok()["told"][0]["receipt"].clone()
    };
    host.pass(2_000).await;
    for event in [&ahead, &back] {
        assert!(state(event).await["disposition"].is_null(), "not overdue yet");
    }
    let mut ids = [bot.take().await["eventId"].clone(), bot.take().await["eventId"].clone()];
    ids.sort_by_key(|id| id.to_string());
    let mut owed = [ahead["event_id"].clone(), back["event_id"].clone()];
    owed.sort_by_key(|id| id.to_string());
    assert_eq!(ids, owed);
    host.pass(301_000).await;
    let overdue = host.get(&op, "/v1/deliveries?state=overdue").await.ok();
    let overdue = overdue["deliveries"].as_array().unwrap().len();
    assert_eq!(overdue, 2, "overdue five minutes after the clock was set back, not three days");
    assert_eq!(state(&first).await["disposition"], json!("responded"));
}

// covers: OPS-447
#[tokio::test]
async fn a_retry_is_one_message_whatever_the_clock_did_in_between() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    let first = host.say(&ann, &room, "once").await;
    host.clock.advance(DAYS);
    host.running.tick();
    let op = host.operator();
    host.say(&op, &room, "in the future").await;
    host.clock.advance(-DAYS);
    host.running.tick();
    assert_eq!(host.say(&ann, &room, "once").await["event_id"], first["event_id"]);

    // A restart while it is wrong forgets nothing either.
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, START.plus(DAYS)).await;
    host.say(&host.operator(), &room, "in the future again").await;
    host.clock.advance(-DAYS);
    host.running.tick();
    assert_eq!(host.say(&ann, &room, "once").await["event_id"], first["event_id"]);
    let shown = host.get(&ann, &format!("/v1/messages?conversation={room}")).await.ok();
    let texts = shown["messages"].as_array().unwrap().iter().filter(|m| m["text"] == "once");
    assert_eq!(texts.count(), 1);
}
