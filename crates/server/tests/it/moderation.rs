//! What came of a channel's rules, in numbers: each of them made to happen, counted once, and the same after a restart.

use chorus_core::model::ids::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{START, TestHost};

async fn numbers(host: &TestHost, token: &str, room: &str) -> Value {
    host.get(token, &format!("/v1/channels/{room}/moderation")).await.ok()
}

fn expected(numbers: &Value, expect: [(&str, u64); 7]) {
    for (name, count) in expect {
        assert_eq!(numbers[name], count, "{name}: {numbers}");
    }
}

fn iso(at: Timestamp) -> String {
    chorus_wire::time::format(at)
}

// covers: CHN-210, CHN-211, CHN-212, CHN-213
#[tokio::test]
async fn moderation_outcomes_are_counted_once_and_survive_a_restart() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "aide"]).await;
    let other = host
        .post(
            &host.operator(),
            "/v1/channels",
            json!({"title": "other", "members": ["ann", "bot"]}),
        )
        .await
        .ok();
    let other = other["id"].as_str().unwrap().to_owned();
    let (ann, op) = (host.token("ann").await, host.operator());
    let (bot_token, aide_token) = (host.token("bot").await, host.token("aide").await);
    let patch = json!({"replies": "thread", "turns": {"cooldown_ms": 0}});
    host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(patch)).await.ok();
    let none = numbers(&host, &ann, &room).await;
    assert!(none.get("replies_per_human_message").is_none(), "{none}");

    let mut bot = host.connect(&bot_token).await;
    let mut aide = host.connect(&aide_token).await;
    let asked = host.say(&ann, &room, "@bot @aide can you look at the deploy?").await;
    assert_eq!(
        host.say(&ann, &room, "@bot @aide can you look at the deploy?").await["duplicate"],
        true
    );
    let offer = bot.take().await;
    let early = json!({"conversation": room, "text": "me first", "in_reply_to": asked["event_id"], "idempotency_key": "early"});
    assert_eq!(
        host.post(&aide_token, "/v1/messages", early).await.refused(409),
        "TURN_HELD_BY_OTHER"
    );
    bot.reply(&offer, "it is fine").await.unwrap();
    let second = aide.take().await;
    let ends = json!({"eventId": second["eventId"], "disposition": "acknowledged", "turn": second["turn"]["token"]});
    aide.call("chat/disposition", ends).await.unwrap();
    drop((bot, aide));
    // The first is said, the second waits, and the third takes its place.
    for _ in 0..3 {
        let idea = json!({"kind": "agent_idea", "text": "Shall we look at the cache?"});
        host.post(&bot_token, &format!("/v1/channels/{room}/stimuli"), idea).await.ok();
        host.pass(2_000).await;
        host.pass(2_000).await;
    }
    host.say(&ann, &room, "@bot @aide and at the build?").await;
    host.pass(61_000).await;
    // What is soft goes along with the next that is written.
    host.pass(2_000).await;
    let expect = [
        ("human_messages", 2),
        // The answer, and the idea that came of it.
        ("replies", 2),
        ("turns_granted", 4),
        ("turns_refused", 1),
        ("turns_expired", 1),
        ("duplicates_prevented", 2),
        ("silence_chosen", 1),
    ];
    let found = numbers(&host, &ann, &room).await;
    expected(&found, expect);
    assert_eq!(found["replies_per_human_message"], 1.0);
    expected(&numbers(&host, &ann, &other).await, expect.map(|(name, _)| (name, 0)));

    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, now.plus(1_000)).await;
    expected(&numbers(&host, &ann, &room).await, expect);
    // All of it is older than this.
    let since = iso(now.plus(500));
    let path = format!("/v1/channels/{room}/moderation?since={since}");
    let later = host.get(&ann, &path).await.ok();
    assert_eq!((&later["human_messages"], &later["turns_refused"]), (&json!(0), &json!(0)));
    assert_eq!(later["since"], since);
}

// covers: CHN-214
#[tokio::test]
async fn numbers_are_for_who_sees_the_channel_and_of_a_month_at_most() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "eve", "kind": "human"})).await.ok();
    let (ann, eve) = (host.token("ann").await, host.token("eve").await);
    let private = json!({"title": "private", "visibility": "private", "members": ["ann"]});
    let private = host.post(&op, "/v1/channels", private).await.ok()["id"].clone();
    let private = format!("/v1/channels/{}/moderation", private.as_str().unwrap());
    host.get(&ann, &private).await.ok();
    assert_eq!(host.get(&eve, &private).await.refused(404), "NOT_FOUND");
    let path = format!("/v1/channels/{room}/moderation");
    host.get(&eve, &path).await.ok();
    let old = iso(START.plus(-32 * 24 * 3_600_000));
    for (query, status, code) in [
        (format!("since={old}"), 400, "VALIDATION_ERROR"),
        ("since=yesterday".to_owned(), 400, "VALIDATION_ERROR"),
        ("until=now".to_owned(), 400, "VALIDATION_ERROR"),
    ] {
        let refused = host.get(&ann, &format!("{path}?{query}")).await.refused(status);
        assert_eq!(refused, code, "{query}");
    }
    let none = "/v1/channels/ch_00000000000070008000000000000001/moderation";
    assert_eq!(host.get(&ann, none).await.refused(404), "NOT_FOUND");
}
