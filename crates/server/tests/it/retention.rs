//! Retention over the transports: what is old goes, by the host's clock; what is owed stays; what is read and followed
//! afterwards is whole.

use chorus_core::model::conversation::Keep;
use reqwest::Method;
use serde_json::{Value, json};

use crate::house::{House, START, verify};

pub(crate) const DAY: i64 = 24 * 3_600_000;

pub(crate) async fn set(house: &House, room: &str, patch: Value) -> Value {
    let path = format!("/v1/channels/{room}");
    house.send(&house.operator(), Method::PATCH, &path, Some(patch)).await.ok()
}

pub(crate) async fn show(house: &House, room: &str) -> Value {
    house.get(&house.operator(), &format!("/v1/channels/{room}")).await.ok()
}

/// Days pass, and the host looks what is old.
pub(crate) async fn days(house: &House, count: i64) {
    house.pass(count * DAY).await;
    house.running.drop_old().await;
}

pub(crate) fn texts(page: &Value) -> Vec<&str> {
    let messages = page["messages"].as_array().unwrap();
    messages.iter().map(|m| m["text"].as_str().unwrap_or("-")).collect()
}

pub(crate) async fn sound(house: House) -> tempfile::TempDir {
    let House { running, folder, .. } = house;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, []);
    folder
}

// covers: OPS-130, OPS-134, OPS-135
#[tokio::test]
async fn what_is_old_goes_and_what_is_left_is_whole() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let ann = house.token("ann").await;
    let old = house.say(&ann, &room, "long ago").await;
    let event = old["event_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/messages?conversation={room}");
    // Read often enough to be kept as bytes.
    for _ in 0..8 {
        assert_eq!(texts(&house.get(&ann, &path).await.ok()), ["long ago"]);
    }
    assert_eq!(set(&house, &room, json!({"keep": "90d"})).await["keep"], "90d");
    let cursor = json!({"conversation": room, "read_seq": old["seq"]});
    house.post(&ann, "/v1/cursors", cursor).await;
    days(&house, 60).await;
    let ann = house.token("ann").await;
    assert_eq!(show(&house, &room).await.get("base_seq"), None, "none is old enough");
    let reply = json!({"conversation": room, "text": "later", "idempotency_key": "later", "in_reply_to": event});
    let later = house.post(&ann, "/v1/messages", reply).await.ok();
    days(&house, 31).await;
    let (ann, op) = (house.token("ann").await, house.operator());

    let base = show(&house, &room).await["base_seq"].as_u64().unwrap();
    assert_eq!(base, later["seq"].as_u64().unwrap() - 1);
    for _ in 0..8 {
        let page = house.get(&ann, &path).await.ok();
        assert_eq!((texts(&page), &page["base_seq"]), (vec!["later"], &json!(base)));
    }
    // A cursor below goes on from the base, and the page says so.
    for cursor in [0, 1, base] {
        let page = house.get(&ann, &format!("{path}&after_seq={cursor}")).await.ok();
        assert_eq!((texts(&page), &page["base_seq"]), (vec!["later"], &json!(base)));
        let log = house.get(&ann, &format!("/v1/events?conversation={room}&after={cursor}")).await;
        let log = log.ok();
        assert_eq!((&log["events"][0]["seq"], &log["base_seq"]), (&later["seq"], &json!(base)));
    }
    let before = house.get(&ann, &format!("{path}&before_seq=3")).await.ok();
    assert_eq!((texts(&before), &before["has_more"]), (vec![], &json!(false)));
    let window = house.tool(&ann, "chat.read_thread", json!({"conversation": room})).await.unwrap();
    assert_eq!(window["baseSequence"], json!(base));

    // Whatever is done to what is gone is refused, and says why.
    let gone = |path: String| format!("/v1/messages/{event}{path}");
    let reply =
        json!({"conversation": room, "text": "x", "idempotency_key": "x", "in_reply_to": event});
    let thread = json!({"conversation": room, "root": event, "title": "x"});
    for answer in [
        house.get(&ann, &gone(String::new())).await,
        house.send(&ann, Method::PATCH, &gone(String::new()), Some(json!({"text": "y"}))).await,
        house.send(&ann, Method::DELETE, &gone(String::new()), None).await,
        house.send(&ann, Method::PUT, &gone("/reactions/agree".into()), Some(json!({}))).await,
        house.post(&op, &gone("/erase".into()), json!({"reason": "secret"})).await,
        house.get(&ann, &format!("/v1/events/{event}/attention")).await,
        house.post(&ann, "/v1/messages", reply).await,
        house.post(&ann, "/v1/threads", thread).await,
    ] {
        let why = answer.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(answer.refused(404), "NOT_FOUND");
        assert!(why.contains("archived before 2026-"), "{why}");
    }
    // What refers to it is edited all the same.
    let path = format!("/v1/messages/{}", later["event_id"].as_str().unwrap());
    let edited = house.send(&ann, Method::PATCH, &path, Some(json!({"text": "later still"}))).await;
    assert_eq!(edited.ok()["text"], "later still");
    assert_eq!(house.metric("chorus_dropped_events_total").await, base);

    let audit = house.get(&op, "/v1/audit?kind=history_dropped").await.ok();
    let entry = &audit["entries"][0];
    assert_eq!((&entry["subject"], &entry["seq"]), (&json!(room), &json!(base)));
    assert_eq!(entry.get("by"), None, "the host itself");

    let now = house.clock_now();
    let folder = sound(house).await;
    let house = House::open_in(folder, now).await;
    assert_eq!(show(&house, &room).await["base_seq"], json!(base));
    house.say(&ann, &room, "and on it goes").await;
    sound(house).await;
}

// covers: OPS-131
#[tokio::test]
async fn what_is_owed_stays_with_all_that_came_after_it() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "before").await;
    let asked = house.say(&ann, &room, "@bot can you look?").await;
    house.say(&house.operator(), &room, "lunch is at noon").await;
    set(&house, &room, json!({"keep": "1d"})).await;
    days(&house, 30).await;
    let shown = show(&house, &room).await;
    let seq = asked["seq"].as_u64().unwrap();
    assert_eq!(shown["base_seq"], json!(seq - 1));
    assert_eq!(shown["held"], json!({"seq": seq, "by": "owed"}));
    days(&house, 30).await;
    assert_eq!(show(&house, &room).await["base_seq"], json!(seq - 1), "it is still owed");

    // A restart knows it too.
    let now = house.clock_now();
    let house = House::open_in(sound(house).await, now).await;
    house.running.drop_old().await;
    assert_eq!(show(&house, &room).await["held"]["by"], "owed");

    let token = house.token("bot").await;
    let mut bot = house.connect(&token).await;
    let offer = bot.take().await;
    assert_eq!(offer["eventId"], asked["event_id"]);
    bot.reply(&offer, "I did").await.unwrap();
    // Its claim ends with its turn.
    house.pass(10 * 60_000).await;
    house.running.drop_old().await;
    let shown = show(&house, &room).await;
    assert_eq!(shown.get("held"), None);
    assert!(shown["base_seq"].as_u64().unwrap() > seq, "{shown}");
    sound(house).await;
}

// covers: OPS-131
#[tokio::test]
async fn a_thread_that_is_not_done_and_a_request_that_waits_hold_the_base() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "before").await;
    let root = house.say(&ann, &room, "we must move the database").await;
    let thread = json!({"conversation": room, "root": root["event_id"], "title": "move"});
    let thread = house.post(&ann, "/v1/threads", thread).await.ok();
    house.say(&ann, &room, "after").await;
    set(&house, &room, json!({"keep": "2d"})).await;
    days(&house, 9).await;
    let ann = house.token("ann").await;
    let shown = show(&house, &room).await;
    let seq = root["seq"].as_u64().unwrap();
    assert_eq!(shown["held"], json!({"seq": seq, "by": "thread"}));
    assert_eq!(shown["base_seq"], json!(seq - 1));
    let path = format!("/v1/threads/{}", thread["id"].as_str().unwrap());
    house.send(&ann, Method::PATCH, &path, Some(json!({"status": "resolved"}))).await.ok();
    house.running.drop_old().await;
    assert!(show(&house, &room).await["base_seq"].as_u64().unwrap() > seq);
    // It is done, and still known; it can be taken up again.
    let shown = house.get(&ann, &path).await.ok();
    assert_eq!((&shown["status"], shown.get("root")), (&json!("resolved"), None));
    house.send(&ann, Method::PATCH, &path, Some(json!({"status": "active"}))).await.ok();
    let new = json!({"conversation": room, "thread": thread["id"], "text": "again", "idempotency_key": "again"});
    let said = house.post(&ann, "/v1/messages", new).await.ok();
    assert_eq!(said["thread_seq"], 1);
    sound(house).await;
}

// covers: OPS-131
#[tokio::test]
async fn what_a_request_that_waits_is_about_stays() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open_with(folder, START, |config| {
        config.settings.approvals.expire_hours = 168;
        config.settings.retention.keep = Keep::Days(1);
    })
    .await;
    let room = house.room(&["bot"]).await;
    let (ann, token) = (house.token("ann").await, house.token("bot").await);
    let dm = json!({"kind": "dm", "members": ["bot"]});
    let dm = house.post(&ann, "/v1/channels", dm).await.ok()["id"].as_str().unwrap().to_owned();
    let asked = house.say(&ann, &dm, "the merger is off, tell the others").await;
    let mut bot = house.connect(&token).await;
    let offer = bot.take().await;
    let carried = json!({
        "conversation": room, "text": "the merger is off", "in_reply_to": asked["event_id"],
        "idempotency_key": "carried",
    });
    let held = house.post(&token, "/v1/messages", carried).await;
    assert_eq!(held.refused(403), "APPROVAL_REQUIRED");
    bot.reply(&offer, "I asked whether I may").await.unwrap();
    days(&house, 3).await;
    let ann = house.token("ann").await;
    let path = format!("/v1/channels/{dm}");
    let shown = house.get(&ann, &path).await.ok();
    assert_eq!(shown["held"], json!({"seq": asked["seq"], "by": "approval"}));
    let waits = house.get(&ann, "/v1/approvals").await.ok();
    let approval = format!("/v1/approvals/{}", waits["approvals"][0]["id"].as_str().unwrap());
    house.post(&ann, &approval, json!({"approved": true})).await.ok();
    house.running.drop_old().await;
    let shown = house.get(&ann, &path).await.ok();
    assert_eq!((shown.get("held"), &shown["base_seq"]), (None, &shown["last_seq"]));
    sound(house).await;
}

// covers: OPS-130
#[tokio::test]
async fn how_long_is_checked_and_may_be_left_to_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open_with(folder, START, |config| {
        config.settings.retention.keep = Keep::Days(30);
    })
    .await;
    let room = house.room(&["bot"]).await;
    let (ann, op) = (house.token("ann").await, house.operator());
    let path = format!("/v1/channels/{room}");
    for bad in
        ["0d", "36501d", "90", "90 d", "-1d", "+1d", "d", "", "12h", "forever", "99999999999d"]
    {
        let patch = json!({"keep": bad});
        let answer = house.send(&op, Method::PATCH, &path, Some(patch)).await;
        assert_eq!(answer.refused(400), "VALIDATION_ERROR", "{bad}");
    }
    let patch = json!({"keep": "1d"});
    let answer = house.send(&ann, Method::PATCH, &path, Some(patch)).await;
    assert_eq!(answer.refused(403), "INSUFFICIENT_AUTHORITY");
    assert_eq!(show(&house, &room).await.get("keep"), None);
    house.say(&ann, &room, "long ago").await;
    set(&house, &room, json!({"keep": "all"})).await;
    days(&house, 170).await;
    let op = house.operator();
    let shown = show(&house, &room).await;
    assert_eq!((&shown["keep"], shown.get("base_seq")), (&json!("all"), None));
    let listed = house.get(&op, "/v1/channels").await.ok();
    assert_eq!(listed["channels"][0]["keep"], "all");
    assert_eq!(set(&house, &room, json!({"keep": null})).await.get("keep"), None);
    house.running.drop_old().await;
    assert!(show(&house, &room).await["base_seq"].is_u64());
    sound(house).await;
}

// covers: OPS-134
#[tokio::test]
async fn a_follower_with_an_old_cursor_goes_on_from_the_base() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let ann = house.token("ann").await;
    house.say(&ann, &room, "long ago").await;
    set(&house, &room, json!({"keep": "1d"})).await;
    let path = format!("/v1/events?conversation={room}&after=2");
    days(&house, 3).await;
    let (ann, token) = (house.token("ann").await, house.token("bot").await);
    let base = house.length(&room).await;
    assert_eq!(show(&house, &room).await["base_seq"], json!(base), "all is gone");
    let request = house.request(Method::GET, &path).bearer_auth(&ann);
    let mut stream = request.header("accept", "text/event-stream").send().await.unwrap();
    let said = house.say(&ann, &room, "@bot good morning, are you up?").await;
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
    let mut bot = house.connect(&token).await;
    let offer = bot.take().await;
    bot.reply(&offer, "good morning").await.unwrap();
    let args = json!({"conversation": room, "afterSequence": 1});
    let events = house.tool(&token, "chat.list_events", args).await.unwrap();
    assert_eq!(events["events"].as_array().unwrap().len(), 2);
    sound(house).await;
}

// covers: OPS-136
#[tokio::test]
async fn much_that_is_old_goes_by_commands_of_bounded_size() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let ann = house.token("ann").await;
    for n in 0..600 {
        house.say(&ann, &room, &format!("number {n}")).await;
    }
    set(&house, &room, json!({"keep": "1d"})).await;
    days(&house, 2).await;
    let end = house.length(&room).await;
    assert_eq!(show(&house, &room).await["base_seq"], json!(end));
    let audit = house.get(&house.operator(), "/v1/audit?kind=history_dropped").await.ok();
    let through: Vec<u64> =
        audit["entries"].as_array().unwrap().iter().map(|e| e["seq"].as_u64().unwrap()).collect();
    let steps = [vec![0], through.clone()].concat();
    assert!(steps.windows(2).all(|pair| pair[1] - pair[0] <= 250), "{through:?}");
    assert_eq!(through.last(), Some(&end));
    sound(house).await;
}

// covers: OPS-137
#[tokio::test]
async fn an_archived_channel_is_read_and_not_written_until_it_is_taken_up_again() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let ann = house.token("ann").await;
    let said = house.say(&ann, &room, "so far").await;
    let message = format!("/v1/messages/{}", said["event_id"].as_str().unwrap());
    assert_eq!(set(&house, &room, json!({"archived": true})).await["archived"], true);
    let before = house.length(&room).await;
    let new = json!({"conversation": room, "text": "more", "idempotency_key": "more"});
    let thread = json!({"conversation": room, "root": said["event_id"], "title": "x"});
    for answer in [
        house.post(&ann, "/v1/messages", new).await,
        house.send(&ann, Method::PATCH, &message, Some(json!({"text": "y"}))).await,
        house.send(&ann, Method::DELETE, &message, None).await,
        house.send(&ann, Method::PUT, &format!("{message}/reactions/agree"), Some(json!({}))).await,
        house.post(&ann, "/v1/threads", thread).await,
    ] {
        let why = answer.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(answer.refused(409), "CONFLICT");
        assert!(why.contains("archived: false"), "{why}");
    }
    assert_eq!(house.length(&room).await, before);
    let page = house.get(&ann, &format!("/v1/messages?conversation={room}")).await.ok();
    assert_eq!(texts(&page), ["so far"]);
    let path = format!("/v1/channels/{room}");
    let patch = Some(json!({"archived": false}));
    let answer = house.send(&ann, Method::PATCH, &path, patch).await;
    assert_eq!(answer.refused(403), "INSUFFICIENT_AUTHORITY");
    assert_eq!(set(&house, &room, json!({"archived": false})).await["archived"], false);
    house.say(&ann, &room, "go on").await;
    sound(house).await;
}
