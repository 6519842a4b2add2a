//! `/v1/live`: everything that the caller may see in one stream, and nothing that it may not.

use std::collections::HashSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::live::Tail;
use crate::test_host::TestHost;

/// A follower of everything, and the heads it begins with.
async fn follow(host: &TestHost, token: &str) -> (Tail, Value) {
    let mut tail = Tail::at(host, token, "/v1/live").await;
    let (name, hello) = tail.next().await.unwrap();
    assert_eq!(name, "hello");
    (tail, hello["heads"].clone())
}

/// The next that is no hint.
async fn next(tail: &mut Tail) -> Option<(String, Value)> {
    loop {
        let (name, data) = tail.next().await?;
        if name != "changed" {
            return Some((name, data));
        }
    }
}

/// The texts of what is posted next.
async fn texts(tail: &mut Tail, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.len() < count {
        let (_, event) = next(tail).await.expect("an event");
        texts.extend(event["message"]["text"].as_str().map(str::to_owned));
    }
    texts
}

/// Reads hints until these lists were named.
async fn hinted(tail: &mut Tail, lists: &[&str]) {
    let mut missing: HashSet<&str> = lists.iter().copied().collect();
    while !missing.is_empty() {
        let (name, data) = tail.next().await.unwrap();
        if name == "changed" {
            for list in data["what"].as_array().unwrap() {
                missing.remove(list.as_str().unwrap());
            }
        }
    }
}

/// A private channel of the operator and these members; its id.
async fn private(host: &TestHost, title: &str, members: &[&str]) -> String {
    let new = json!({"title": title, "visibility": "private", "members": members});
    let made = host.post(&host.operator(), "/v1/channels", new).await.ok();
    made["id"].as_str().unwrap().to_owned()
}

async fn seat(host: &TestHost, method: Method, room: &str, member: &str) {
    let path = format!("/v1/channels/{room}/members/{member}");
    let body = (method == Method::PUT).then(|| json!({}));
    let answer = host.send(&host.operator(), method, &path, body).await;
    assert!(matches!(answer.status, 200 | 204), "{answer:?}");
}

// covers: ATT-480a, ATT-480b
#[tokio::test]
async fn one_stream_has_all_that_each_of_two_members_may_see() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann, bot) = (host.operator(), host.token("ann").await, host.token("bot").await);
    let secret = private(&host, "secret", &["ann"]).await;
    host.say(&ann, &room, "before").await;
    let (mut of_ann, heads) = follow(&host, &ann).await;
    let (mut of_bot, bots) = follow(&host, &bot).await;
    assert_eq!(heads[&room], host.length(&room).await);
    assert!(heads.get(&secret).is_some() && bots.get(&secret).is_none());
    let plain = host.get(&ann, "/v1/live").await.ok();
    assert_eq!(plain["heads"], heads);

    host.say(&op, &secret, "between us").await;
    let said = host.say(&op, &room, "for all").await;
    let (name, event) = next(&mut of_ann).await.unwrap();
    assert_eq!((&*name, &event["conversation"]), ("message_posted", &json!(secret)));
    let (name, event) = next(&mut of_bot).await.unwrap();
    assert_eq!((&*name, &event["event_id"]), ("message_posted", &said["event_id"]));
    // As `/v1/events` shows it.
    let path = format!("/v1/events?conversation={room}&after={}", heads[&room]);
    assert_eq!(host.get(&bot, &path).await.ok()["events"], json!([event]));
    assert_eq!(next(&mut of_ann).await.unwrap().1, event);

    for n in 0..300 {
        host.say(&op, if n % 2 == 0 { &room } else { &secret }, &format!("burst {n}")).await;
    }
    let all: Vec<_> = (0..300).map(|n| format!("burst {n}")).collect();
    let public: Vec<_> = (0..300).step_by(2).map(|n| format!("burst {n}")).collect();
    let mut shown = texts(&mut of_ann, 300).await;
    shown.sort_by_key(|text| text[6..].parse::<u32>().unwrap());
    assert_eq!(shown, all);
    assert_eq!(texts(&mut of_bot, 150).await, public);
}

// covers: ATT-481a, ATT-481b
#[tokio::test]
async fn who_comes_in_is_told_from_where_on_and_who_is_shut_out_sees_nothing_after() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let secret = private(&host, "secret", &[]).await;
    host.say(&op, &secret, "before ann").await;
    let (mut tail, heads) = follow(&host, &ann).await;
    assert!(heads.get(&secret).is_none());
    host.say(&op, &secret, "still before ann").await;
    seat(&host, Method::PUT, &secret, "ann").await;
    let (name, joined) = next(&mut tail).await.unwrap();
    assert_eq!((&*name, &joined["conversation"]), ("joined", &json!(secret)));
    assert!(joined["head"].as_u64().unwrap() >= 4, "her coming in is before it: {joined}");
    host.say(&op, &secret, "to ann").await;
    assert_eq!(texts(&mut tail, 1).await, ["to ann"]);

    let seen = host.length(&secret).await;
    seat(&host, Method::DELETE, &secret, "ann").await;
    host.say(&op, &secret, "without ann").await;
    let (name, left) = next(&mut tail).await.unwrap();
    assert_eq!(name, "left");
    assert_eq!(left, json!({"conversation": secret, "head": seen}), "no more than she saw");
    let other = private(&host, "other", &["ann"]).await;
    let (name, joined) = next(&mut tail).await.unwrap();
    assert_eq!((&*name, &joined["conversation"]), ("joined", &json!(other)), "a new one too");
    // Shown to everybody: known now without a seat.
    let open = json!({"visibility": "public"});
    host.send(&op, Method::PATCH, &format!("/v1/channels/{secret}"), Some(open)).await.ok();
    assert_eq!(next(&mut tail).await.unwrap().0, "joined");
    host.say(&op, &secret, "in the open").await;
    assert_eq!(texts(&mut tail, 1).await, ["in the open"]);
}

// covers: ATT-482a
#[tokio::test]
async fn what_is_meant_for_others_is_not_shown() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let bot = host.token("bot").await;
    let (mut of_ann, _) = follow(&host, &ann).await;
    let (mut of_bot, _) = follow(&host, &bot).await;
    let hidden = json!({"conversation": room, "text": "for bot alone", "visibility": "ephemeral",
        "only": ["bot"], "idempotency_key": "e1"});
    host.post(&op, "/v1/messages", hidden).await.ok();
    host.say(&op, &room, "for all").await;
    assert_eq!(texts(&mut of_ann, 1).await, ["for all"]);
    assert_eq!(texts(&mut of_bot, 2).await, ["for bot alone", "for all"]);
}

// covers: ATT-482b
#[tokio::test]
async fn what_was_on_its_way_when_it_was_erased_is_not_shown() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let (op, ann) = (host.operator(), host.token("ann").await);
    let (mut tail, _) = follow(&host, &ann).await;
    // Far more than a connection holds whose other end does not read: the last of it waits in the host.
    let long = "and so on ".repeat(6_000);
    let mut last = String::new();
    for n in 0..200 {
        let new = json!({"conversation": room, "text": format!("hunter2 {n} {long}"),
            "idempotency_key": format!("long {n}")});
        let said = host.post(&op, "/v1/messages", new).await.ok();
        last = said["message_id"].as_str().unwrap().to_owned();
    }
    host.post(&op, &format!("/v1/messages/{last}/erase"), json!({"reason": "secret"})).await.ok();
    host.say(&op, &room, "the end").await;
    let mut shown = Vec::new();
    loop {
        let (name, event) = next(&mut tail).await.unwrap();
        let text = event["message"]["text"].as_str().unwrap_or_default().to_owned();
        if text == "the end" {
            break;
        }
        shown.push((name, text.split(' ').nth(1).unwrap_or_default().to_owned()));
    }
    assert_eq!(shown[198], ("message_posted".to_owned(), "198".to_owned()));
    assert_eq!(shown[199], ("message_posted".to_owned(), String::new()));
    assert_eq!(shown[200].0, "message_erased");
}

// covers: ATT-480c
#[tokio::test]
async fn what_is_missed_between_two_streams_is_found_by_the_heads() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    let (mut tail, first) = follow(&host, &ann).await;
    host.say(&ann, &room, "one").await;
    assert_eq!(texts(&mut tail, 1).await, ["one"]);
    drop(tail);
    host.say(&ann, &room, "two").await;
    host.say(&ann, &room, "three").await;
    let (mut tail, heads) = follow(&host, &ann).await;
    let had = first[&room].as_u64().unwrap() + 1;
    let path = format!("/v1/events?conversation={room}&after={had}");
    let missed = host.get(&ann, &path).await.ok();
    let missed = missed["events"].as_array().unwrap();
    assert_eq!(missed.last().unwrap()["seq"], heads[&room]);
    assert_eq!(missed.len() as u64, heads[&room].as_u64().unwrap() - had);
    host.say(&ann, &room, "four").await;
    assert_eq!(texts(&mut tail, 1).await, ["four"]);
}

// covers: ATT-483
#[tokio::test]
async fn activity_is_shown_to_whom_it_is_meant_and_says_where_it_is() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let mut bot = host.connect(&host.token("bot").await).await;
    let (mut of_ann, _) = follow(&host, &ann).await;
    let (mut of_op, _) = follow(&host, &op).await;
    host.say(&ann, &room, "@bot count to three").await;
    assert_eq!(next(&mut of_ann).await.unwrap().0, "message_posted");
    let event = bot.take().await;
    let progress =
        json!({"progressToken": "t", "progress": 1, "message": "one", "eventId": event["eventId"]});
    bot.write(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}))
        .await;
    bot.reply(&event, "one two three").await.unwrap();
    let mut ann_saw = Vec::new();
    while ann_saw.len() < 3 {
        let (name, shown) = next(&mut of_ann).await.unwrap();
        assert_eq!(shown["conversation"], json!(room), "{name}: {shown}");
        if !ann_saw.contains(&name) {
            ann_saw.push(name);
        }
    }
    ann_saw.sort();
    assert_eq!(ann_saw, ["message_posted", "progress", "receipt"]);
    host.say(&ann, &room, "thanks").await;
    let mut op_saw = HashSet::new();
    loop {
        let (name, shown) = next(&mut of_op).await.unwrap();
        op_saw.insert(name);
        if shown["message"]["text"] == "thanks" {
            break;
        }
    }
    assert!(op_saw.contains("progress") && !op_saw.contains("receipt"), "{op_saw:?}");
}

// covers: ATT-484a
#[tokio::test]
async fn a_stream_of_everything_ends_with_its_token() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let (mut tail, _) = follow(&host, &ann).await;
    let (mut other, _) = follow(&host, &op).await;
    host.send(&op, Method::DELETE, "/v1/members/ann/tokens", None).await.ok();
    assert_eq!(next(&mut tail).await, None);
    let room = private(&host, "after", &[]).await;
    let (name, joined) = next(&mut other).await.unwrap();
    assert_eq!((&*name, &joined["conversation"]), ("joined", &json!(room)));
}

// covers: ATT-484b
#[tokio::test]
async fn a_stream_of_everything_ends_when_the_host_stops() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let (mut tail, _) = follow(&host, &host.operator()).await;
    let TestHost { running, .. } = host;
    running.stop().await;
    assert!(next(&mut tail).await.is_none());
}

// covers: ATT-485a, ATT-485b
#[tokio::test]
async fn lists_that_changed_are_hinted_at_where_the_caller_may_look() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let secret = private(&host, "secret", &["bot"]).await;
    let (mut tail, _) = follow(&host, &ann).await;
    host.post(&op, "/v1/members", json!({"id": "eve", "kind": "agent"})).await.ok();
    hinted(&mut tail, &["members", "agents"]).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    hinted(&mut tail, &["sessions", "agents"]).await;

    let mut of_op = follow(&host, &op).await.0;
    host.say(&op, &secret, "@bot between us").await;
    hinted(&mut of_op, &["deliveries", "turns"]).await;
    // That it has begun is another state of the same.
    bot.take().await;
    hinted(&mut of_op, &["deliveries"]).await;
    // Of what happens in there ann is told nothing: the next hint is of what she does.
    let begun = host.say(&ann, &room, "ann speaks").await;
    seat(&host, Method::PUT, &room, "eve").await;
    let mut seen = HashSet::new();
    loop {
        let (name, data) = tail.next().await.unwrap();
        if name != "changed" {
            assert_eq!(data["conversation"], begun["conversation"], "{name} {data}");
            continue;
        }
        let what = data["what"].as_array().unwrap();
        seen.extend(what.iter().map(|list| list.as_str().unwrap().to_owned()));
        if seen.contains("channels") {
            break;
        }
    }
    assert!(!seen.contains("turns"), "{seen:?}");
}
