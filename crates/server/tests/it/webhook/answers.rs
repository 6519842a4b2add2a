//! What agents say by their callbacks (webhook spec section 3).

use reqwest::Method;
use serde_json::{Value, json};

use super::{Remote, accepted, asked, call, messages, open, post, reached, text, to_callback};
use crate::test_host::{PATIENCE, TestHost};

// covers: WHK-22, WHK-23, WHK-24
#[tokio::test]
async fn a_message_that_comes_again_is_known_by_its_id_or_key() {
    let (host, _remote, room, delivery) = asked("@weather and in Bergen?").await;
    let said = json!({"type": "message", "content": "Rain.", "id": "m1"});
    assert_eq!(call(&host, &delivery, said.clone()).await.ok()["duplicates"], 0);
    assert_eq!(call(&host, &delivery, said).await.ok()["duplicates"], 1);
    let other = json!({"type": "message", "content": "Snow.", "id": "m1"});
    assert_eq!(call(&host, &delivery, other).await.refused(409), "IDEMPOTENCY_CONFLICT");
    // By the header, for whoever has no ids.
    for duplicates in [0, 1] {
        let again = to_callback(&host, &delivery)
            .header("idempotency-key", "k1")
            .json(&json!({"type": "message", "content": "Wind, too."}));
        assert_eq!(TestHost::answer(again).await.ok()["duplicates"], duplicates);
    }
    // Two that are equal and have neither are two.
    for _ in 0..2 {
        let said = json!({"type": "message", "content": "Bye."});
        call(&host, &delivery, said).await.ok();
    }
    let all: Vec<_> = messages(&host, &room).await.into_iter().skip(1).map(|(_, t)| t).collect();
    assert_eq!(all, ["Rain.", "Wind, too.", "Bye.", "Bye."]);
    // A turn says at most five.
    call(&host, &delivery, json!({"type": "message", "content": "5"})).await.ok();
    let sixth = call(&host, &delivery, json!({"type": "message", "content": "6"})).await;
    assert_eq!(sixth.refused(429), "REPLY_BUDGET_SPENT");
}

// covers: WHK-25, WHK-26, WHK-27
#[tokio::test]
async fn lines_are_taken_in_order_and_what_is_no_chat_is_shown_as_activity() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    let mut events = host
        .request(Method::GET, &format!("/v1/events?conversation={room}&activity=true"))
        .bearer_auth(&ann)
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    host.say(&ann, &room, "@weather look it up, please").await;
    let delivery = remote.take().await;
    let lines = [
        json!({"type": "lifecycle", "state": "processing"}),
        json!({"type": "tool_call", "name": "web_search", "args": {"query": "oslo"}, "id": "tc_1"}),
        json!({"type": "tool_result", "id": "tc_1", "content": "3°C"}),
        json!({"type": "status", "status": "writing it up"}),
        json!({"type": "error", "message": "no map", "code": "tool_error"}),
        json!({"type": "message", "content": "3°C."}),
        json!({"type": "lifecycle", "state": "idle"}),
    ];
    let body = lines.map(|line| line.to_string()).join("\n");
    let posted = post(&host, &delivery, &body).await;
    assert_eq!(posted.ok()["accepted"], 7);
    let all = messages(&host, &room).await;
    assert_eq!(all.len(), 2, "only the message is chat");
    let mut shown = String::new();
    while !shown.contains("idle") {
        let chunk = tokio::time::timeout(PATIENCE, events.chunk()).await.unwrap().unwrap().unwrap();
        shown.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    let activity: Vec<Value> = shown
        .split("\n\n")
        .filter(|block| block.contains("event: activity"))
        .filter_map(|block| block.split_once("data: "))
        .map(|(_, data)| serde_json::from_str(data).unwrap())
        .collect();
    let types: Vec<_> = activity.iter().map(|a| text(&a["type"])).collect();
    assert_eq!(types, ["lifecycle", "tool_call", "tool_result", "status", "error", "lifecycle"]);
    assert!(
        activity.iter().all(|a| a["member"] == "weather" && a["conversation"] == room.as_str())
    );
    assert_eq!(activity[1]["name"], "web_search");

    // It has said that it is idle.
    let late = call(&host, &delivery, json!({"type": "message", "content": "P.S."})).await;
    assert_eq!(late.refused(409), "STALE_TURN");
    assert_eq!(messages(&host, &room).await.len(), 2);
}

// covers: WHK-28, WHK-30
#[tokio::test]
async fn invalid_event_is_refused_and_events_before_it_are_kept() {
    let (host, _remote, room, delivery) = asked("@weather now?").await;
    let post = async |body: String| post(&host, &delivery, &body).await;
    for bad in [
        "",
        "  \n \n",
        "hello",
        "[]",
        "{}",
        r#"{"type": "song"}"#,
        r#"{"type": "message"}"#,
        r#"{"type": "message", "content": 5}"#,
        r#"{"type": "message", "content": ""}"#,
        r#"{"type": "message", "content": "x", "id": ""}"#,
        r#"{"type": "lifecycle", "state": "asleep"}"#,
        r#"{"type": "message", "content": "x"#,
    ] {
        assert_eq!(post(bad.to_owned()).await.refused(400), "VALIDATION_ERROR", "{bad}");
    }
    let long = json!({"type": "message", "content": "x".repeat(200_000)}).to_string();
    assert_eq!(post(long).await.refused(413), "PAYLOAD_TOO_LARGE");
    assert_eq!(
        post(format!("{{\"{}", "x".repeat(2_000_000))).await.refused(413),
        "PAYLOAD_TOO_LARGE"
    );
    assert_eq!(messages(&host, &room).await.len(), 1, "nothing was changed by any of it");
    let cut = format!("{}\n{{\"type\": \"mess", json!({"type": "message", "content": "Yes."}));
    let refused = post(cut).await;
    assert!(text(&refused.body["error"]["message"]).starts_with("after 1 events"), "{refused:?}");
    assert_eq!(refused.refused(400), "VALIDATION_ERROR");
    assert_eq!(messages(&host, &room).await.len(), 2);
}

// covers: WHK-7, WHK-29
#[tokio::test]
async fn a_callback_is_of_one_delivery_for_a_day_and_void_with_its_string() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let other = host.post(&host.operator(), "/v1/channels", json!({"title": "other"})).await.ok();
    let ann = host.token("ann").await;
    host.say(&ann, &room, "@weather one?").await;
    let first = remote.take().await;
    let said = || json!({"type": "message", "content": "Well."});
    let url = text(&first["callback"]);
    let foreign = url.replace(&room, other["id"].as_str().unwrap());
    let mut garbage = url.clone();
    garbage.replace_range(url.len() - 5.., "AAAAA");
    let none = format!("{}/channels/{room}/inbox/tok_", host.running.url);
    for bad in [foreign, garbage, none] {
        let delivery = json!({"callback": bad});
        assert_eq!(call(&host, &delivery, said()).await.refused(401), "UNAUTHORIZED");
    }
    // An old one is void at once when the agent gets another string, and the new string is used.
    let mut moved = Remote::open().await;
    let rotate = json!({"url": moved.url()});
    host.post(&host.operator(), "/v1/endpoints/weather/rotate", rotate).await.ok();
    assert_eq!(call(&host, &first, said()).await.refused(401), "UNAUTHORIZED");
    host.say(&ann, &room, "@weather two?").await;
    let second = loop {
        // What the old one had taken is offered to the new one too, in its time.
        let delivery = moved.take().await;
        if text(&delivery["message"]["content"]).contains("two") {
            break delivery;
        }
    };
    remote.nothing().await;
    host.clock.advance(24 * 3_600_000);
    assert_eq!(call(&host, &second, said()).await.refused(401), "UNAUTHORIZED");
    assert!(!messages(&host, &room).await.iter().any(|(author, _)| author == "weather"));
}

// covers: WHK-31
#[tokio::test]
async fn a_channel_may_let_an_agent_speak_unasked() {
    let (host, _remote, room, delivery) = asked("@weather warn us of storms, please").await;
    let op = host.operator();
    let ask = || json!({"type": "request_callback"});
    assert_eq!(call(&host, &delivery, ask()).await.refused(403), "FORBIDDEN");
    let grant = json!({"proactive": true});
    host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(grant)).await.ok();
    let granted = call(&host, &delivery, ask()).await.ok();
    let standing = json!({"callback": granted["callback"]["url"]});
    call(&host, &standing, json!({"type": "message", "content": "By the way."})).await.ok();
    // That was no answer.
    let open = host.get(&op, "/v1/deliveries?member=weather").await.ok();
    assert_eq!(open["deliveries"].as_array().unwrap().len(), 1, "{open}");
    call(&host, &delivery, json!({"type": "message", "content": "I will."})).await.ok();
    host.clock.advance(25 * 3_600_000);
    let storm = json!({"type": "message", "content": "Storm tonight."});
    call(&host, &standing, storm).await.ok();
    let all = messages(&host, &room).await;
    assert_eq!(all.last().unwrap().1, "Storm tonight.");
    // Unasked it opens subjects, and of those it opens so many an hour.
    for n in 0..3 {
        call(&host, &standing, json!({"type": "message", "content": format!("gust {n}")}))
            .await
            .ok();
    }
    let fifth = json!({"type": "message", "content": "gust 9"});
    assert_eq!(call(&host, &standing, fifth).await.refused(429), "RATE_LIMITED");
}

// covers: WHK-32
#[tokio::test]
async fn the_first_attempt_that_answers_is_heard() {
    let (host, mut remote, room, first) = asked("@weather hm?").await;
    accepted(&host).await;
    // Nothing is heard for a minute: it is reminded.
    host.pass(61_000).await;
    let second = remote.take().await;
    assert_eq!(first["message"]["id"], second["event_id"]);
    assert_ne!(first["callback"], second["callback"]);
    call(&host, &first, json!({"type": "message", "content": "Hm."})).await.ok();
    let again = call(&host, &second, json!({"type": "message", "content": "Hm."})).await;
    assert_eq!(again.refused(409), "STALE_TURN");
    assert_eq!(messages(&host, &room).await.len(), 2);
}

// covers: WHK-33
#[tokio::test]
async fn a_run_that_never_says_idle_ends_by_quiet() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let put = json!({"participation": "always_listen"});
    let path = format!("/v1/channels/{room}/members/weather");
    host.send(&op, Method::PUT, &path, Some(put)).await.ok();
    host.say(&ann, &room, "I wonder whether it rains in Oslo today, does anybody know?").await;
    let delivery = remote.take().await;
    assert_ne!(delivery["chorus"]["attention"]["policy"], "must_respond", "{delivery}");
    let open = || async {
        let open = host.get(&op, "/v1/deliveries?member=weather").await.ok();
        open["deliveries"].as_array().unwrap().len()
    };
    accepted(&host).await;
    call(&host, &delivery, json!({"type": "status", "status": "looking"})).await.ok();
    // That it was heard of is handed on, and is known once something else is answered.
    assert_eq!(open().await, 1);
    host.pass(59_000).await;
    assert_eq!(open().await, 1);
    host.pass(2_000).await;
    assert_eq!(open().await, 0);
    // What comes late is not lost all the same.
    call(&host, &delivery, json!({"type": "message", "content": "It does."})).await.ok();
}

// covers: WHK-405
#[tokio::test]
async fn a_byte_order_mark_before_a_body_is_nothing() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    host.say(&host.token("ann").await, &room, "@weather now?").await;
    let delivery = remote.take().await;
    let path = delivery["callback"].as_str().unwrap().strip_prefix(&host.running.url).unwrap();
    let post = |body: String| TestHost::answer(host.request(Method::POST, path).body(body));
    let said = json!({"type": "message", "content": "Now."});
    assert_eq!(post(format!("\u{feff}{said}\n{said}")).await.ok()["accepted"], 2);
    assert_eq!(post(format!("\n\u{feff}{said}")).await.refused(400), "VALIDATION_ERROR");
    assert_eq!(messages(&host, &room).await.len(), 3);
}
