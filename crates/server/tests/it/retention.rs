//! Retention over the transports: what is old goes, by the host's clock; what is owed stays; what is read and followed
//! afterwards is whole.

use chorus_core::model::conversation::Keep;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{START, TestHost, verify};

pub(crate) const DAY: i64 = 24 * 3_600_000;

pub(crate) async fn set(host: &TestHost, room: &str, patch: Value) -> Value {
    let path = format!("/v1/channels/{room}");
    host.send(&host.operator(), Method::PATCH, &path, Some(patch)).await.ok()
}

pub(crate) async fn show(host: &TestHost, room: &str) -> Value {
    host.get(&host.operator(), &format!("/v1/channels/{room}")).await.ok()
}

/// Days pass, and the host looks what is old.
pub(crate) async fn days(host: &TestHost, count: i64) {
    host.pass(count * DAY).await;
    host.running.drop_old().await;
}

pub(crate) fn texts(page: &Value) -> Vec<&str> {
    let messages = page["messages"].as_array().unwrap();
    messages.iter().map(|m| m["text"].as_str().unwrap_or("-")).collect()
}

pub(crate) async fn sound(host: TestHost) -> tempfile::TempDir {
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    folder
}

// covers: OPS-130, OPS-134, OPS-135
#[tokio::test]
async fn old_messages_are_removed_and_the_log_stays_whole() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let old = host.say(&ann, &room, "long ago").await;
    let event = old["event_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/messages?conversation={room}");
    // Read often enough to be kept as bytes.
    for _ in 0..8 {
        assert_eq!(texts(&host.get(&ann, &path).await.ok()), ["long ago"]);
    }
    assert_eq!(set(&host, &room, json!({"keep": "90d"})).await["keep"], "90d");
    let cursor = json!({"conversation": room, "read_seq": old["seq"]});
    host.post(&ann, "/v1/cursors", cursor).await;
    days(&host, 60).await;
    let ann = host.token("ann").await;
    assert_eq!(show(&host, &room).await.get("base_seq"), None, "none is old enough");
    let reply = json!({"conversation": room, "text": "later", "idempotency_key": "later", "in_reply_to": event});
    let later = host.post(&ann, "/v1/messages", reply).await.ok();
    days(&host, 31).await;
    let (ann, op) = (host.token("ann").await, host.operator());

    let base = show(&host, &room).await["base_seq"].as_u64().unwrap();
    assert_eq!(base, later["seq"].as_u64().unwrap() - 1);
    for _ in 0..8 {
        let page = host.get(&ann, &path).await.ok();
        assert_eq!((texts(&page), &page["base_seq"]), (vec!["later"], &json!(base)));
    }
    // A cursor below goes on from the base, and the page says so.
    for cursor in [0, 1, base] {
        let page = host.get(&ann, &format!("{path}&after_seq={cursor}")).await.ok();
        assert_eq!((texts(&page), &page["base_seq"]), (vec!["later"], &json!(base)));
        let log = host.get(&ann, &format!("/v1/events?conversation={room}&after={cursor}")).await;
        let log = log.ok();
        assert_eq!((&log["events"][0]["seq"], &log["base_seq"]), (&later["seq"], &json!(base)));
    }
    let before = host.get(&ann, &format!("{path}&before_seq=3")).await.ok();
    assert_eq!((texts(&before), &before["has_more"]), (vec![], &json!(false)));
    let window = host.tool(&ann, "chat.read_thread", json!({"conversation": room})).await.unwrap();
    assert_eq!(window["baseSequence"], json!(base));

    // Whatever is done to what is gone is refused, and says why.
    let gone = |path: String| format!("/v1/messages/{event}{path}");
    let reply =
        json!({"conversation": room, "text": "x", "idempotency_key": "x", "in_reply_to": event});
    let thread = json!({"conversation": room, "root": event, "title": "x"});
    for answer in [
        host.get(&ann, &gone(String::new())).await,
        host.send(&ann, Method::PATCH, &gone(String::new()), Some(json!({"text": "y"}))).await,
        host.send(&ann, Method::DELETE, &gone(String::new()), None).await,
        host.send(&ann, Method::PUT, &gone("/reactions/agree".into()), Some(json!({}))).await,
        host.post(&op, &gone("/erase".into()), json!({"reason": "secret"})).await,
        host.get(&ann, &format!("/v1/events/{event}/attention")).await,
        host.post(&ann, "/v1/messages", reply).await,
        host.post(&ann, "/v1/threads", thread).await,
    ] {
        let why = answer.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(answer.refused(404), "NOT_FOUND");
        assert!(why.contains("archived before 2026-"), "{why}");
    }
    // What refers to it is edited all the same.
    let path = format!("/v1/messages/{}", later["event_id"].as_str().unwrap());
    let edited = host.send(&ann, Method::PATCH, &path, Some(json!({"text": "later still"}))).await;
    assert_eq!(edited.ok()["text"], "later still");
    assert_eq!(host.metric("chorus_dropped_events_total").await, base);

    let audit = host.get(&op, "/v1/audit?kind=history_dropped").await.ok();
    let entry = &audit["entries"][0];
    assert_eq!((&entry["subject"], &entry["seq"]), (&json!(room), &json!(base)));
    assert_eq!(entry.get("by"), None, "the host itself");

    let now = host.clock_now();
    let folder = sound(host).await;
    let host = TestHost::open_in(folder, now).await;
    assert_eq!(show(&host, &room).await["base_seq"], json!(base));
    host.say(&ann, &room, "and on it goes").await;
    sound(host).await;
}

// covers: OPS-131
#[tokio::test]
async fn retention_stops_at_an_open_delivery() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "before").await;
    let asked = host.say(&ann, &room, "@bot can you look?").await;
    host.say(&host.operator(), &room, "lunch is at noon").await;
    set(&host, &room, json!({"keep": "1d"})).await;
    days(&host, 30).await;
    let shown = show(&host, &room).await;
    let seq = asked["seq"].as_u64().unwrap();
    assert_eq!(shown["base_seq"], json!(seq - 1));
    assert_eq!(shown["held"], json!({"seq": seq, "by": "owed"}));
    days(&host, 30).await;
    assert_eq!(show(&host, &room).await["base_seq"], json!(seq - 1), "it is still owed");

    // A restart knows it too.
    let now = host.clock_now();
    let host = TestHost::open_in(sound(host).await, now).await;
    host.running.drop_old().await;
    assert_eq!(show(&host, &room).await["held"]["by"], "owed");

    let token = host.token("bot").await;
    let mut bot = host.connect(&token).await;
    let offer = bot.take().await;
    assert_eq!(offer["eventId"], asked["event_id"]);
    bot.reply(&offer, "I did").await.unwrap();
    // Its claim ends with its turn.
    host.pass(10 * 60_000).await;
    host.running.drop_old().await;
    let shown = show(&host, &room).await;
    assert_eq!(shown.get("held"), None);
    assert!(shown["base_seq"].as_u64().unwrap() > seq, "{shown}");
    sound(host).await;
}

// covers: OPS-131
#[tokio::test]
async fn a_thread_that_is_not_done_and_a_request_that_waits_hold_the_base() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "before").await;
    let root = host.say(&ann, &room, "we must move the database").await;
    let thread = json!({"conversation": room, "root": root["event_id"], "title": "move"});
    let thread = host.post(&ann, "/v1/threads", thread).await.ok();
    host.say(&ann, &room, "after").await;
    set(&host, &room, json!({"keep": "2d"})).await;
    days(&host, 9).await;
    let ann = host.token("ann").await;
    let shown = show(&host, &room).await;
    let seq = root["seq"].as_u64().unwrap();
    assert_eq!(shown["held"], json!({"seq": seq, "by": "thread"}));
    assert_eq!(shown["base_seq"], json!(seq - 1));
    let path = format!("/v1/threads/{}", thread["id"].as_str().unwrap());
    host.send(&ann, Method::PATCH, &path, Some(json!({"status": "resolved"}))).await.ok();
    host.running.drop_old().await;
    assert!(show(&host, &room).await["base_seq"].as_u64().unwrap() > seq);
    // It is done, and still known; it can be taken up again.
    let shown = host.get(&ann, &path).await.ok();
    assert_eq!((&shown["status"], shown.get("root")), (&json!("resolved"), None));
    host.send(&ann, Method::PATCH, &path, Some(json!({"status": "active"}))).await.ok();
    let new = json!({"conversation": room, "thread": thread["id"], "text": "again", "idempotency_key": "again"});
    let said = host.post(&ann, "/v1/messages", new).await.ok();
    assert_eq!(said["thread_seq"], 1);
    sound(host).await;
}

// covers: OPS-131
#[tokio::test]
async fn retention_keeps_the_subject_of_a_pending_approval() {
    let folder = tempfile::tempdir().unwrap();
    let host = TestHost::open_with(folder, START, |config| {
        config.settings.approvals.expire_hours = 168;
        config.settings.retention.keep = Keep::Days(1);
    })
    .await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let dm = json!({"kind": "dm", "members": ["bot"]});
    let dm = host.post(&ann, "/v1/channels", dm).await.ok()["id"].as_str().unwrap().to_owned();
    let asked = host.say(&ann, &dm, "the merger is off, tell the others").await;
    let mut bot = host.connect(&token).await;
    let offer = bot.take().await;
    let carried = json!({
        "conversation": room, "text": "the merger is off", "in_reply_to": asked["event_id"],
        "idempotency_key": "carried",
    });
    let held = host.post(&token, "/v1/messages", carried).await;
    assert_eq!(held.refused(403), "APPROVAL_REQUIRED");
    bot.reply(&offer, "I asked whether I may").await.unwrap();
    days(&host, 3).await;
    let ann = host.token("ann").await;
    let path = format!("/v1/channels/{dm}");
    let shown = host.get(&ann, &path).await.ok();
    assert_eq!(shown["held"], json!({"seq": asked["seq"], "by": "approval"}));
    let waits = host.get(&ann, "/v1/approvals").await.ok();
    let approval = format!("/v1/approvals/{}", waits["approvals"][0]["id"].as_str().unwrap());
    host.post(&ann, &approval, json!({"approved": true})).await.ok();
    host.running.drop_old().await;
    let shown = host.get(&ann, &path).await.ok();
    assert_eq!((shown.get("held"), &shown["base_seq"]), (None, &shown["last_seq"]));
    sound(host).await;
}

// covers: OPS-130
#[tokio::test]
async fn how_long_is_checked_and_may_be_left_to_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let host = TestHost::open_with(folder, START, |config| {
        config.settings.retention.keep = Keep::Days(30);
    })
    .await;
    let room = host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let path = format!("/v1/channels/{room}");
    for bad in
        ["0d", "36501d", "90", "90 d", "-1d", "+1d", "d", "", "12h", "forever", "99999999999d"]
    {
        let patch = json!({"keep": bad});
        let answer = host.send(&op, Method::PATCH, &path, Some(patch)).await;
        assert_eq!(answer.refused(400), "VALIDATION_ERROR", "{bad}");
    }
    let patch = json!({"keep": "1d"});
    let answer = host.send(&ann, Method::PATCH, &path, Some(patch)).await;
    assert_eq!(answer.refused(403), "INSUFFICIENT_AUTHORITY");
    assert_eq!(show(&host, &room).await.get("keep"), None);
    host.say(&ann, &room, "long ago").await;
    set(&host, &room, json!({"keep": "all"})).await;
    days(&host, 170).await;
    let op = host.operator();
    let shown = show(&host, &room).await;
    assert_eq!((&shown["keep"], shown.get("base_seq")), (&json!("all"), None));
    let listed = host.get(&op, "/v1/channels").await.ok();
    assert_eq!(listed["channels"][0]["keep"], "all");
    assert_eq!(set(&host, &room, json!({"keep": null})).await.get("keep"), None);
    host.running.drop_old().await;
    assert!(show(&host, &room).await["base_seq"].is_u64());
    sound(host).await;
}

// covers: OPS-134
#[tokio::test]
async fn a_follower_with_an_old_cursor_goes_on_from_the_base() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "long ago").await;
    set(&host, &room, json!({"keep": "1d"})).await;
    let path = format!("/v1/events?conversation={room}&after=2");
    days(&host, 3).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let base = host.length(&room).await;
    assert_eq!(show(&host, &room).await["base_seq"], json!(base), "all is gone");
    let request = host.request(Method::GET, &path).bearer_auth(&ann);
    let mut stream = request.header("accept", "text/event-stream").send().await.unwrap();
    let said = host.say(&ann, &room, "@bot good morning, are you up?").await;
    assert_eq!(said["seq"], json!(base + 1));
    let mut heard = String::new();
    while !heard.contains("good morning") {
        let chunk = stream.chunk().await.unwrap().unwrap();
        heard.push_str(&String::from_utf8_lossy(&chunk));
    }
    assert!(
        heard.contains(&format!("id: {}", base + 1)) || heard.contains(&format!("id:{}", base + 1)),
        "{heard}"
    );
    let mut bot = host.connect(&token).await;
    let offer = bot.take().await;
    bot.reply(&offer, "good morning").await.unwrap();
    let args = json!({"conversation": room, "afterSequence": 1});
    let events = host.tool(&token, "chat.list_events", args).await.unwrap();
    assert_eq!(events["events"].as_array().unwrap().len(), 2);
    sound(host).await;
}

// covers: OPS-136
#[tokio::test]
async fn much_that_is_old_goes_by_commands_of_bounded_size() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    for n in 0..600 {
        host.say(&ann, &room, &format!("number {n}")).await;
    }
    set(&host, &room, json!({"keep": "1d"})).await;
    days(&host, 2).await;
    let end = host.length(&room).await;
    assert_eq!(show(&host, &room).await["base_seq"], json!(end));
    let audit = host.get(&host.operator(), "/v1/audit?kind=history_dropped").await.ok();
    let through: Vec<u64> =
        audit["entries"].as_array().unwrap().iter().map(|e| e["seq"].as_u64().unwrap()).collect();
    let steps = [vec![0], through.clone()].concat();
    assert!(steps.windows(2).all(|pair| pair[1] - pair[0] <= 250), "{through:?}");
    assert_eq!(through.last(), Some(&end));
    sound(host).await;
}

// covers: OPS-137
#[tokio::test]
async fn an_archived_channel_is_read_and_not_written_until_it_is_taken_up_again() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let said = host.say(&ann, &room, "so far").await;
    let message = format!("/v1/messages/{}", said["event_id"].as_str().unwrap());
    assert_eq!(set(&host, &room, json!({"archived": true})).await["archived"], true);
    let before = host.length(&room).await;
    let new = json!({"conversation": room, "text": "more", "idempotency_key": "more"});
    let thread = json!({"conversation": room, "root": said["event_id"], "title": "x"});
    for answer in [
        host.post(&ann, "/v1/messages", new).await,
        host.send(&ann, Method::PATCH, &message, Some(json!({"text": "y"}))).await,
        host.send(&ann, Method::DELETE, &message, None).await,
        host.send(&ann, Method::PUT, &format!("{message}/reactions/agree"), Some(json!({}))).await,
        host.post(&ann, "/v1/threads", thread).await,
    ] {
        let why = answer.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(answer.refused(409), "CONFLICT");
        assert!(why.contains("archived: false"), "{why}");
    }
    assert_eq!(host.length(&room).await, before);
    let page = host.get(&ann, &format!("/v1/messages?conversation={room}")).await.ok();
    assert_eq!(texts(&page), ["so far"]);
    let path = format!("/v1/channels/{room}");
    let patch = Some(json!({"archived": false}));
    let answer = host.send(&ann, Method::PATCH, &path, patch).await;
    assert_eq!(answer.refused(403), "INSUFFICIENT_AUTHORITY");
    assert_eq!(set(&host, &room, json!({"archived": false})).await["archived"], false);
    host.say(&ann, &room, "go on").await;
    sound(host).await;
}
