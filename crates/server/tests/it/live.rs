//! Server-sent events: everything once, in order, from where the follower left off.

use std::collections::VecDeque;

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{PATIENCE, TestHost};

/// A follower that reads frames.
pub(crate) struct Tail {
    answer: reqwest::Response,
    text: String,
    ready: VecDeque<(String, Value)>,
}

impl Tail {
    pub(crate) async fn of(host: &TestHost, token: &str, query: &str) -> Self {
        Self::at(host, token, &format!("/v1/events?{query}")).await
    }

    pub(crate) async fn at(host: &TestHost, token: &str, path: &str) -> Self {
        Self::of_request(host.request(Method::GET, path).bearer_auth(token)).await
    }

    pub(crate) async fn of_request(request: reqwest::RequestBuilder) -> Self {
        let request = request.header("accept", "text/event-stream");
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Self { answer, text: String::new(), ready: VecDeque::new() }
    }

    /// The next event: its name and data.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let chunk = tokio::time::timeout(PATIENCE, self.answer.chunk()).await;
            let chunk = chunk.expect("an event in time").unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
            while let Some((frame, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    frame.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
                };
                if let (Some(name), Some(data)) = (field("event: "), field("data: ")) {
                    self.ready.push_back((name, serde_json::from_str(&data).unwrap()));
                }
                self.text = rest.to_owned();
            }
        }
    }
}

// covers: ATT-460
#[tokio::test]
async fn a_cursor_that_is_none_or_past_the_end_is_refused_and_a_huge_one_is_past_all() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "before").await;
    let follow = |query: &str, seen: Option<&'static str>| {
        let path = format!("/v1/events?conversation={room}{query}");
        let request = host.request(Method::GET, &path).bearer_auth(&ann);
        let request = request.header("accept", "text/event-stream");
        match seen {
            Some(seen) => request.header("last-event-id", seen),
            None => request,
        }
    };
    for (query, seen) in [
        ("", Some("junk")),
        ("", Some("-1")),
        ("", Some("999")),
        ("", Some("9223372036854775808")),
        ("&after=999", None),
        ("&after=18446744073709551615", None),
    ] {
        let answer = TestHost::answer(follow(query, seen)).await;
        assert_eq!(answer.refused(400), "VALIDATION_ERROR", "{query} {seen:?}");
    }
    assert_eq!(follow("", Some("1")).send().await.unwrap().status(), 200);
    for huge in ["9223372036854775808", "18446744073709551615"] {
        let path = format!("/v1/events?conversation={room}&after={huge}");
        assert_eq!(host.get(&ann, &path).await.ok()["events"], json!([]), "{huge}");
        let path = format!("/v1/messages?conversation={room}&before_seq={huge}");
        let all = host.get(&ann, &path).await.ok();
        assert_eq!(all["messages"].as_array().unwrap().len(), 1, "{huge}");
        let after = format!("/v1/messages?conversation={room}&after_seq={huge}");
        assert_eq!(host.get(&ann, &after).await.ok()["messages"], json!([]), "{huge}");
    }
}

#[tokio::test]
async fn a_follower_sees_everything_once_and_in_order() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "before").await;
    let mut tail = Tail::of(&host, &ann, &format!("conversation={room}&after=0")).await;
    let mut seq = 0;
    let mut names = Vec::new();
    for _ in 0..host.length(&room).await {
        let (name, event) = tail.next().await.unwrap();
        seq += 1;
        assert_eq!(event["seq"], seq);
        names.push(name);
    }
    assert_eq!(names.first().unwrap(), "conversation_created");
    assert_eq!(names.last().unwrap(), "message_posted");

    let posted = host.say(&ann, &room, "@bot live").await;
    let (name, event) = tail.next().await.unwrap();
    assert_eq!((&*name, &event["message"]["text"]), ("message_posted", &json!("@bot live")));
    assert_eq!(event["told"][0]["member"], "bot");
    let path = format!("/v1/messages/{}", posted["event_id"].as_str().unwrap());
    host.send(&ann, Method::PATCH, &path, Some(json!({"text": "@bot edited"}))).await.ok();
    let (name, event) = tail.next().await.unwrap();
    assert_eq!((&*name, &event["message"]["text"]), ("message_edited", &json!("@bot edited")));
    assert_eq!(event["about"], posted["event_id"]);
    for n in 0..600 {
        host.say(&ann, &room, &format!("burst {n}")).await;
    }
    for n in 0..600 {
        let (_, event) = tail.next().await.unwrap();
        assert_eq!(event["message"]["text"], format!("burst {n}"));
    }
}

// covers: ATT-112, ATT-122
#[tokio::test]
async fn progress_and_receipts_are_shown_to_whoever_asks() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let mut tail = Tail::of(&host, &ann, &format!("conversation={room}&activity=true")).await;
    host.say(&ann, &room, "@bot count to three").await;
    assert_eq!(tail.next().await.unwrap().0, "message_posted");
    let event = bot.take().await;
    let progress = json!({"progressToken": "t", "progress": 1, "total": 3, "message": "one\nforged",
        "eventId": event["eventId"]});
    bot.write(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}))
        .await;
    let (name, shown) = tail.next().await.unwrap();
    assert_eq!(
        (&*name, &shown["member"], &shown["message"]),
        ("progress", &json!("bot"), &json!("oneforged"))
    );
    bot.reply(&event, "one two three").await.unwrap();
    let mut names = vec![tail.next().await.unwrap().0, tail.next().await.unwrap().0];
    names.sort();
    assert_eq!(names, ["message_posted", "receipt"]);
}

#[tokio::test]
async fn a_stream_ends_when_the_follower_may_no_longer_see_it() {
    let host = TestHost::open().await;
    host.room(&[]).await;
    let op = host.operator();
    let new = json!({"title": "secret", "visibility": "private", "members": ["ann"]});
    let room = host.post(&op, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned();
    let ann = host.token("ann").await;
    let mut tail = Tail::of(&host, &ann, &format!("conversation={room}")).await;
    let seat = format!("/v1/channels/{room}/members/ann");
    assert_eq!(host.send(&op, Method::DELETE, &seat, None).await.status, 204);
    assert_eq!(tail.next().await, None);
}

#[tokio::test]
async fn streams_end_when_the_host_stops() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    let mut tail = Tail::of(&host, &ann, &format!("conversation={room}")).await;
    let TestHost { running, .. } = host;
    let begun = std::time::Instant::now();
    running.stop().await;
    assert!(begun.elapsed() < std::time::Duration::from_secs(2), "nothing is waited for in vain");
    assert!(tail.next().await.is_none());
}
