//! Agents behind connection strings: what is posted to them, and what they answer (webhook spec).

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, Uri};
use chorus_core::ids::Timestamp;
use chorus_server::Config;
use chorus_server::config::kind::Span;
use chorus_server::signature;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::house::{Answer, House, PATIENCE, START};

/// An agent somewhere: an HTTP server of its own.
pub(crate) struct Remote {
    addr: SocketAddr,
    posts: mpsc::UnboundedReceiver<Post>,
    /// What it answers next; 200 when nothing is said.
    answers: Arc<Mutex<VecDeque<u16>>>,
}

/// What was posted to it.
pub(crate) struct Post {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Post {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Remote {
    pub(crate) async fn open() -> Self {
        let (sent, posts) = mpsc::unbounded_channel();
        let answers = Arc::new(Mutex::new(VecDeque::new()));
        let next = answers.clone();
        let take = move |uri: Uri, headers: HeaderMap, body: Bytes| {
            let post = Post { path: uri.path().to_owned(), headers, body };
            sent.send(post).unwrap();
            let status = next.lock().unwrap().pop_front().unwrap_or(200);
            std::future::ready(StatusCode::from_u16(status).unwrap())
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let router = axum::Router::new().fallback(take);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { addr, posts, answers }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/inbox/sk_a1b2c3d4e5f6", self.addr)
    }

    fn answers(&self, statuses: &[u16]) {
        self.answers.lock().unwrap().extend(statuses);
    }

    /// The next POST.
    pub(crate) async fn post(&mut self) -> Post {
        tokio::time::timeout(PATIENCE, self.posts.recv()).await.unwrap().unwrap()
    }

    /// The next delivery.
    pub(crate) async fn take(&mut self) -> Value {
        self.post().await.json()
    }

    /// The next delivery, as time goes on.
    async fn take_later(&mut self, house: &House) -> Value {
        let began = std::time::Instant::now();
        loop {
            let next = tokio::time::timeout(Duration::from_millis(20), self.posts.recv()).await;
            if let Ok(Some(post)) = next {
                return post.json();
            }
            assert!(began.elapsed() < PATIENCE, "nothing came");
            house.pass(1_000).await;
        }
    }

    /// Nothing has come, and nothing comes for a while.
    async fn nothing(&mut self) {
        let next = tokio::time::timeout(Duration::from_millis(150), self.posts.recv()).await;
        assert!(next.is_err(), "{:?}", next.unwrap().map(|post| post.json()));
    }
}

/// Each message is posted at once.
pub(crate) fn at_once(config: &mut Config) {
    config.settings.webhook.quiet = Span::seconds(0);
}

pub(crate) async fn open() -> House {
    House::open_with(tempfile::tempdir().unwrap(), START, at_once).await
}

/// A room with ann, and the agent `weather` behind a string.
async fn reached(house: &House, remote: &Remote) -> String {
    let room = house.room(&[]).await;
    let new = json!({"member": "weather", "url": remote.url(), "channels": [room]});
    house.post(&house.operator(), "/v1/endpoints", new).await.ok();
    room
}

/// What an agent posts to a callback, as it is.
pub(crate) async fn call(house: &House, delivery: &Value, event: Value) -> Answer {
    let url = delivery["callback"].as_str().unwrap();
    let path = url.strip_prefix(&house.running.url).unwrap();
    House::answer(house.request(Method::POST, path).json(&event)).await
}

pub(crate) async fn messages(house: &House, room: &str) -> Vec<(String, String)> {
    let path = format!("/v1/messages?conversation={room}");
    let page = house.get(&house.operator(), &path).await.ok();
    let of = |m: &Value| (text(&m["author"]["id"]), text(&m["text"]));
    page["messages"].as_array().unwrap().iter().map(of).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

// covers: WHK-1, WHK-8, WHK-9, WHK-10, WHK-20, WHK-21
#[tokio::test]
async fn an_agent_joins_by_its_string_and_answers_by_the_callback() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "@weather what's the weather in Oslo?").await;
    let post = remote.post().await;
    assert_eq!(post.path, "/inbox/sk_a1b2c3d4e5f6");
    assert_eq!(post.headers["content-type"], "application/json");
    let delivery = post.json();
    assert_eq!(delivery["channel"]["id"], room.as_str());
    assert_eq!(delivery["channel"]["name"], "room");
    assert_eq!(delivery["channel"]["service"], "Chorus");
    assert_eq!(delivery["message"]["sender"], "ann");
    assert_eq!(delivery["message"]["content"], "@weather what's the weather in Oslo?");
    assert_eq!(post.headers["idempotency-key"], delivery["message"]["id"].as_str().unwrap());
    let more = &delivery["chorus"];
    assert_eq!(more["attention"]["policy"], "must_respond");
    assert_eq!(more["attention"]["directedness"], "to_me");
    assert_eq!((&more["hop"], &more["attempt"]), (&json!(0), &json!(1)));
    assert_eq!(more["sender"], json!({"id": "ann", "kind": "human"}));

    let said = json!({"type": "message", "content": "3°C and cloudy."});
    assert_eq!(call(&house, &delivery, said).await.ok()["accepted"], 1);
    let all = messages(&house, &room).await;
    assert_eq!(all.last().unwrap(), &("weather".to_owned(), "3°C and cloudy.".to_owned()));
    let open = house.get(&house.operator(), "/v1/deliveries?member=weather").await.ok();
    assert_eq!(open["deliveries"], json!([]), "the answer settles it");

    // What is for somebody else is not posted.
    house.post(&house.operator(), "/v1/members", json!({"id": "bob", "kind": "human"})).await.ok();
    house.say(&ann, &room, "@bob did you see that?").await;
    remote.nothing().await;
}

// covers: WHK-19
#[tokio::test]
async fn a_knock_has_no_word_of_anybody_and_its_content_is_pulled() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "@weather rain in Oslo?").await;
    let asked = remote.take().await;
    call(&house, &asked, json!({"type": "message", "content": "Yes."})).await.ok();
    house.say(&ann, &room, "thanks, swordfish").await;
    let post = remote.post().await;
    assert!(!String::from_utf8_lossy(&post.body).contains("swordfish"));
    let knock = post.json();
    assert_eq!(knock["chorus"]["attention"]["mode"], "notify");
    let tool = text(&knock["chorus"]["knock"]["pull_with"]);
    let bearer = text(&knock["mcp"]["headers"]["Authorization"]);
    let read = json!({"eventId": knock["message"]["id"]});
    let pulled = house.tool(bearer.strip_prefix("Bearer ").unwrap(), &tool, read).await.unwrap();
    assert!(pulled.to_string().contains("swordfish"));
    // That it was taken is all that was asked of it.
    let open = house.get(&house.operator(), "/v1/deliveries?member=weather").await.ok();
    assert_eq!(open["deliveries"], json!([]));
}

// covers: WHK-11
#[tokio::test]
async fn the_mcp_config_reaches_one_channel() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let other = house.post(&house.operator(), "/v1/channels", json!({"title": "other"})).await.ok();
    let ann = house.token("ann").await;
    house.say(&ann, &room, "@weather hello?").await;
    let delivery = remote.take().await;
    let mcp = &delivery["mcp"];
    assert_eq!(mcp["url"], format!("{}/mcp/{room}", house.running.url));
    let bearer = mcp["headers"]["Authorization"].as_str().unwrap();
    let token = bearer.strip_prefix("Bearer ").unwrap();
    let read = json!({"conversation": room});
    house.tool(token, "chat.read_thread", read).await.unwrap();
    let elsewhere = json!({"conversation": other["id"]});
    assert_eq!(house.tool(token, "chat.read_thread", elsewhere).await.unwrap_err(), "FORBIDDEN");
    // It is for reading and speaking, not for running the room.
    house.get(token, "/v1/endpoints").await.refused(403);
}

// covers: WHK-22, WHK-23, WHK-24
#[tokio::test]
async fn a_message_that_comes_again_is_known_by_its_id_or_key() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "@weather and in Bergen?").await;
    let delivery = remote.take().await;
    let said = json!({"type": "message", "content": "Rain.", "id": "m1"});
    assert_eq!(call(&house, &delivery, said.clone()).await.ok()["duplicates"], 0);
    assert_eq!(call(&house, &delivery, said).await.ok()["duplicates"], 1);
    let other = json!({"type": "message", "content": "Snow.", "id": "m1"});
    assert_eq!(call(&house, &delivery, other).await.refused(409), "IDEMPOTENCY_CONFLICT");
    // By the header, for whoever has no ids.
    let path = delivery["callback"].as_str().unwrap().strip_prefix(&house.running.url).unwrap();
    for duplicates in [0, 1] {
        let again = house
            .request(Method::POST, path)
            .header("idempotency-key", "k1")
            .json(&json!({"type": "message", "content": "Wind, too."}));
        assert_eq!(House::answer(again).await.ok()["duplicates"], duplicates);
    }
    // Two that are equal and have neither are two.
    for _ in 0..2 {
        let said = json!({"type": "message", "content": "Bye."});
        call(&house, &delivery, said).await.ok();
    }
    let all: Vec<_> = messages(&house, &room).await.into_iter().skip(1).map(|(_, t)| t).collect();
    assert_eq!(all, ["Rain.", "Wind, too.", "Bye.", "Bye."]);
    // A turn says at most five.
    call(&house, &delivery, json!({"type": "message", "content": "5"})).await.ok();
    let sixth = call(&house, &delivery, json!({"type": "message", "content": "6"})).await;
    assert_eq!(sixth.refused(429), "REPLY_BUDGET_SPENT");
}

// covers: WHK-25, WHK-26, WHK-27
#[tokio::test]
async fn lines_are_taken_in_order_and_what_is_no_chat_is_shown_as_activity() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let ann = house.token("ann").await;
    let mut events = house
        .request(Method::GET, &format!("/v1/events?conversation={room}&activity=true"))
        .bearer_auth(&ann)
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    house.say(&ann, &room, "@weather look it up, please").await;
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
    let path = delivery["callback"].as_str().unwrap().strip_prefix(&house.running.url).unwrap();
    let posted = House::answer(house.request(Method::POST, path).body(body)).await;
    assert_eq!(posted.ok()["accepted"], 7);
    let all = messages(&house, &room).await;
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
    let late = call(&house, &delivery, json!({"type": "message", "content": "P.S."})).await;
    assert_eq!(late.refused(409), "STALE_TURN");
    assert_eq!(messages(&house, &room).await.len(), 2);
}

// covers: WHK-28, WHK-30
#[tokio::test]
async fn what_is_no_event_is_refused_and_what_came_before_stands() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "@weather now?").await;
    let delivery = remote.take().await;
    let path = delivery["callback"].as_str().unwrap().strip_prefix(&house.running.url).unwrap();
    let post = |body: String| House::answer(house.request(Method::POST, path).body(body));
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
    assert_eq!(post("x".repeat(2_000_000)).await.refused(413), "PAYLOAD_TOO_LARGE");
    assert_eq!(messages(&house, &room).await.len(), 1, "nothing was changed by any of it");
    let cut = format!("{}\n{{\"type\": \"mess", json!({"type": "message", "content": "Yes."}));
    let refused = post(cut).await;
    assert!(text(&refused.body["error"]["message"]).starts_with("after 1 events"), "{refused:?}");
    assert_eq!(refused.refused(400), "VALIDATION_ERROR");
    assert_eq!(messages(&house, &room).await.len(), 2);
}

// covers: WHK-7, WHK-29
#[tokio::test]
async fn a_callback_is_of_one_delivery_for_a_day_and_void_with_its_string() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let other = house.post(&house.operator(), "/v1/channels", json!({"title": "other"})).await.ok();
    let ann = house.token("ann").await;
    house.say(&ann, &room, "@weather one?").await;
    let first = remote.take().await;
    let said = || json!({"type": "message", "content": "Well."});
    let url = text(&first["callback"]);
    let foreign = url.replace(&room, other["id"].as_str().unwrap());
    let mut garbage = url.clone();
    garbage.replace_range(url.len() - 5.., "AAAAA");
    let none = format!("{}/channels/{room}/inbox/tok_", house.running.url);
    for bad in [foreign, garbage, none] {
        let delivery = json!({"callback": bad});
        assert_eq!(call(&house, &delivery, said()).await.refused(401), "UNAUTHORIZED");
    }
    // An old one is void at once when the agent gets another string, and the new string is used.
    let mut moved = Remote::open().await;
    let rotate = json!({"url": moved.url()});
    house.post(&house.operator(), "/v1/endpoints/weather/rotate", rotate).await.ok();
    assert_eq!(call(&house, &first, said()).await.refused(401), "UNAUTHORIZED");
    house.say(&ann, &room, "@weather two?").await;
    let second = loop {
        // What the old one had taken is offered to the new one too, in its time.
        let delivery = moved.take().await;
        if text(&delivery["message"]["content"]).contains("two") {
            break delivery;
        }
    };
    remote.nothing().await;
    house.clock.advance(24 * 3_600_000);
    assert_eq!(call(&house, &second, said()).await.refused(401), "UNAUTHORIZED");
    assert!(!messages(&house, &room).await.iter().any(|(author, _)| author == "weather"));
}

// covers: WHK-13, WHK-15
#[tokio::test]
async fn what_an_endpoint_refuses_is_a_dead_letter_and_410_stops_it() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    remote.answers(&[400]);
    house.say(&ann, &room, "@weather poison?").await;
    let poison = remote.take().await;
    let dead = || async {
        let dead = house.get(&op, "/v1/deliveries?state=dead&member=weather").await.ok();
        dead["deliveries"].as_array().unwrap().clone()
    };
    let began = std::time::Instant::now();
    while dead().await.is_empty() {
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let shown = house.get(&op, "/v1/endpoints/weather").await.ok();
    assert_eq!(shown["last_error"]["why"], "HTTP 400");
    assert_eq!(shown["breaker"], "closed");
    // It can be sent again.
    let id = text(&dead().await[0]["id"]);
    house.post(&op, &format!("/v1/deliveries/{id}/redeliver"), json!({})).await.ok();
    let again = remote.take().await;
    assert_eq!(again["message"]["id"], poison["message"]["id"]);
    assert!(again["chorus"]["attempt"].as_u64() > poison["chorus"]["attempt"].as_u64());

    remote.answers(&[410]);
    house.say(&ann, &room, "@weather still there?").await;
    remote.take().await;
    let began = std::time::Instant::now();
    while house.get(&op, "/v1/endpoints/weather").await.ok()["state"] != "gone" {
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    house.say(&ann, &room, "@weather hello?").await;
    remote.nothing().await;
}

// covers: WHK-12, WHK-14
#[tokio::test]
async fn what_fails_is_posted_again_in_order() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let ann = house.token("ann").await;
    remote.answers(&[500, 503]);
    house.say(&ann, &room, "@weather first?").await;
    house.say(&ann, &room, "@weather second?").await;
    let mut seen = Vec::new();
    seen.push(text(&remote.take().await["message"]["content"]));
    remote.nothing().await;
    for _ in 0..2 {
        seen.push(text(&remote.take_later(&house).await["message"]["content"]));
    }
    seen.push(text(&remote.take().await["message"]["content"]));
    let first = "@weather first?";
    assert_eq!(seen, [first, first, first, "@weather second?"], "one waits for the other");
}

// covers: WHK-6, WHK-17
#[tokio::test]
async fn strings_are_checked_kept_secret_paused_and_removed() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    for (url, code) in [
        ("http://10.0.0.1/inbox/x", "ADDRESS_REFUSED"),
        ("http://169.254.169.254/latest", "ADDRESS_REFUSED"),
        ("http://[::ffff:10.0.0.1]/x", "ADDRESS_REFUSED"),
        ("http://0x0a000001/x", "ADDRESS_REFUSED"),
        ("ftp://example.com/x", "VALIDATION_ERROR"),
        ("https://user:pw@example.com/x", "VALIDATION_ERROR"),
        ("not a url", "VALIDATION_ERROR"),
    ] {
        let new = json!({"member": "spy", "url": url});
        let refused = house.post(&op, "/v1/endpoints", new).await;
        assert_eq!(refused.body["error"]["code"], code, "{url}");
    }
    house.get(&op, "/v1/endpoints/spy").await.refused(404);
    let new = json!({"member": "weather", "url": remote.url()});
    assert_eq!(house.post(&op, "/v1/endpoints", new.clone()).await.refused(409), "CONFLICT");
    let worker = house.token("weather").await;
    assert_eq!(
        house.post(&worker, "/v1/endpoints", new).await.refused(403),
        "INSUFFICIENT_AUTHORITY"
    );
    let person = json!({"member": "ann", "url": remote.url()});
    assert_eq!(house.post(&op, "/v1/endpoints", person).await.refused(400), "VALIDATION_ERROR");
    let all = house.get(&op, "/v1/endpoints").await.ok();
    assert!(!all.to_string().contains("sk_a1b2"), "{all}");

    let patch = |paused| json!({"paused": paused});
    let path = "/v1/endpoints/weather";
    house.send(&op, Method::PATCH, path, Some(patch(true))).await.ok();
    house.say(&ann, &room, "@weather are you there?").await;
    remote.nothing().await;
    house.send(&op, Method::PATCH, path, Some(patch(false))).await.ok();
    let delivery = remote.take().await;
    assert_eq!(delivery["message"]["content"], "@weather are you there?");
    house.send(&op, Method::DELETE, path, None).await.ok();
    let said = json!({"type": "message", "content": "Yes."});
    assert_eq!(call(&house, &delivery, said).await.refused(401), "UNAUTHORIZED");
    house.say(&ann, &room, "@weather and now?").await;
    remote.nothing().await;
}

// covers: WHK-18
#[tokio::test]
async fn a_connection_can_be_tried() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let op = house.operator();
    let tested = house.post(&op, "/v1/endpoints/weather/test", json!({})).await.ok();
    assert_eq!(tested["taken"], true);
    let delivery = remote.take().await;
    assert_eq!(delivery["chorus"]["test"], true);
    call(&house, &delivery, json!({"type": "message", "content": "I hear you."})).await.ok();
    let shown = house.get(&op, "/v1/endpoints/weather").await.ok();
    assert!(shown["answered_test_at"].is_string());
    assert!(messages(&house, &room).await.is_empty(), "it is shown to nobody");
    remote.answers(&[404]);
    let tested = house.post(&op, "/v1/endpoints/weather/test", json!({})).await.ok();
    assert_eq!((&tested["taken"], &tested["why"]), (&json!(false), &json!("HTTP 404")));
}

// covers: WHK-31
#[tokio::test]
async fn a_channel_may_let_an_agent_speak_unasked() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    house.say(&ann, &room, "@weather warn us of storms, please").await;
    let delivery = remote.take().await;
    let ask = || json!({"type": "request_callback"});
    assert_eq!(call(&house, &delivery, ask()).await.refused(403), "FORBIDDEN");
    let grant = json!({"proactive": true});
    house.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(grant)).await.ok();
    let granted = call(&house, &delivery, ask()).await.ok();
    call(&house, &delivery, json!({"type": "message", "content": "I will."})).await.ok();
    house.clock.advance(25 * 3_600_000);
    let standing = json!({"callback": granted["callback"]["url"]});
    let storm = json!({"type": "message", "content": "Storm tonight."});
    call(&house, &standing, storm).await.ok();
    let all = messages(&house, &room).await;
    assert_eq!(all.last().unwrap().1, "Storm tonight.");
    // Unasked it opens subjects, and of those it opens so many an hour.
    for n in 0..3 {
        call(&house, &standing, json!({"type": "message", "content": format!("gust {n}")}))
            .await
            .ok();
    }
    let fifth = json!({"type": "message", "content": "gust 9"});
    assert_eq!(call(&house, &standing, fifth).await.refused(429), "RATE_LIMITED");
}

// covers: WHK-32
#[tokio::test]
async fn the_first_attempt_that_answers_is_heard() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "@weather hm?").await;
    let first = remote.take().await;
    // Nothing is heard for a minute: it is asked again.
    house.pass(61_000).await;
    let second = remote.take().await;
    assert_eq!(first["message"], second["message"]);
    assert_ne!(first["callback"], second["callback"]);
    call(&house, &first, json!({"type": "message", "content": "Hm."})).await.ok();
    let again = call(&house, &second, json!({"type": "message", "content": "Hm."})).await;
    assert_eq!(again.refused(409), "STALE_TURN");
    assert_eq!(messages(&house, &room).await.len(), 2);
}

// covers: WHK-33
#[tokio::test]
async fn a_run_that_never_says_idle_ends_by_quiet() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    let put = json!({"participation": "always_listen"});
    let path = format!("/v1/channels/{room}/members/weather");
    house.send(&op, Method::PUT, &path, Some(put)).await.ok();
    house.say(&ann, &room, "I wonder whether it rains in Oslo today, does anybody know?").await;
    let delivery = remote.take().await;
    assert_ne!(delivery["chorus"]["attention"]["policy"], "must_respond", "{delivery}");
    let open = || async {
        let open = house.get(&op, "/v1/deliveries?member=weather").await.ok();
        open["deliveries"].as_array().unwrap().len()
    };
    let began = std::time::Instant::now();
    while !house
        .get(&op, "/v1/deliveries?member=weather")
        .await
        .body
        .to_string()
        .contains("accepted")
    {
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    call(&house, &delivery, json!({"type": "status", "status": "looking"})).await.ok();
    house.pass(59_000).await;
    assert_eq!(open().await, 1);
    house.pass(2_000).await;
    assert_eq!(open().await, 0);
    // What comes late is not lost all the same.
    call(&house, &delivery, json!({"type": "message", "content": "It does."})).await.ok();
}

// covers: WHK-34
#[tokio::test]
async fn what_one_author_says_in_pieces_is_one_delivery() {
    let house = House::open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    house.say(&ann, &room, "@weather I am going to Oslo").await;
    house.pass(100).await;
    house.say(&ann, &room, "@weather do I need an umbrella?").await;
    remote.nothing().await;
    house.pass(31_000).await;
    let delivery = remote.take().await;
    assert_eq!(delivery["message"]["content"], "@weather do I need an umbrella?");
    let earlier = delivery["chorus"]["earlier"].as_array().unwrap();
    assert_eq!(earlier.len(), 1);
    assert_eq!(earlier[0]["content"], "@weather I am going to Oslo");
    call(&house, &delivery, json!({"type": "message", "content": "Yes."})).await.ok();
    let open = house.get(&op, "/v1/deliveries?member=weather").await.ok();
    assert_eq!(open["deliveries"], json!([]), "the answer is to all of it");
    // What is urgent waits for nothing.
    house.say(&ann, &room, "@weather urgent: stop!").await;
    assert_eq!(remote.take().await["chorus"]["attention"]["mode"], "immediate");
}

// covers: WHK-16
#[tokio::test]
async fn an_endpoint_that_stays_down_is_let_be_and_tried_now_and_then() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    let breaker = || async { text(&house.get(&op, "/v1/endpoints/weather").await.ok()["breaker"]) };
    remote.answers(&[500; 6]);
    house.say(&ann, &room, "@weather one?").await;
    for _ in 0..5 {
        remote.take_later(&house).await;
    }
    let began = std::time::Instant::now();
    while breaker().await != "open" {
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    remote.nothing().await;
    // Its rest is over: one post tries, and fails; the next rest is longer.
    house.pass(40_000).await;
    remote.take_later(&house).await;
    while breaker().await != "open" {
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    house.pass(40_000).await;
    remote.nothing().await;
    house.pass(40_000).await;
    let again = remote.take_later(&house).await;
    assert_eq!(again["message"]["content"], "@weather one?");
    let began = std::time::Instant::now();
    while breaker().await != "closed" {
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

// covers: WHK-35
#[tokio::test]
async fn deliveries_are_signed_where_a_secret_is_set() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = house.room(&[]).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    let new = json!({"member": "weather", "url": remote.url(), "channels": [room], "sign": true});
    let added = house.post(&op, "/v1/endpoints", new).await.ok();
    let secret = text(&added["signing_secret"]);
    let shown = house.get(&op, "/v1/endpoints/weather").await.ok();
    assert_eq!(shown["signed"], true);
    assert!(!shown.to_string().contains("whsec_"), "shown once");
    house.say(&ann, &room, "@weather signed?").await;
    let post = remote.post().await;
    let secret = signature::Secret::parse(&secret).unwrap();
    signature::verify(&secret, &post.headers, &post.body, house.clock_now()).unwrap();
    let other = [&post.body[..], b" "].concat();
    assert!(signature::verify(&secret, &post.headers, &other, house.clock_now()).is_err());
    for (sign, given) in [(true, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), (false, "secret")] {
        let new = json!({"url": remote.url(), "sign": sign, "signing_secret": given});
        let refused = house.post(&op, "/v1/endpoints/weather/rotate", new).await;
        assert_eq!(refused.refused(400), "VALIDATION_ERROR");
    }
}

// covers: WHK-36
#[tokio::test]
async fn after_a_restart_what_was_not_taken_is_posted_again_and_what_was_goes_on() {
    let house = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&house, &remote).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "@weather one?").await;
    let one = remote.take().await;
    house.pass(2_000).await;
    remote.answers(&[500]);
    house.say(&ann, &room, "@weather two?").await;
    remote.take().await;
    let House { running, folder, .. } = house;
    let now = Timestamp(START.0 + 10_000);
    let url = running.url.clone();
    running.stop().await;
    let house = House::open_with(folder, now, at_once).await;
    let again = remote.take().await;
    assert_eq!(again["message"]["content"], "@weather two?");
    assert!(again["chorus"]["attempt"].as_u64().unwrap() > 1);
    remote.nothing().await;
    // What was given out before the restart still answers.
    let moved = text(&one["callback"]).replace(&url, &house.running.url);
    let said = json!({"type": "message", "content": "One."});
    call(&house, &json!({"callback": moved}), said).await.ok();
    assert_eq!(messages(&house, &room).await.last().unwrap().1, "One.");
}
