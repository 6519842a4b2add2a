//! `chat.list_events` and edits: what is owed is shown under its own id, no more is hidden than is said, and an edit
//! keeps what was stated and who has answered.

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::TestHost;

async fn edit(host: &TestHost, token: &str, posted: &Value, text: &str) -> Value {
    let path = format!("/v1/messages/{}", posted["event_id"].as_str().unwrap());
    host.send(token, Method::PATCH, &path, Some(json!({"text": text}))).await.ok()
}

async fn unsettled(host: &TestHost, token: &str) -> Vec<Value> {
    let listed = host.tool(token, "chat.list_events", json!({"unsettled": true})).await.unwrap();
    assert_eq!(listed["hasMore"], false);
    listed["events"].as_array().unwrap().clone()
}

// covers: ATT-351, ATT-78
#[tokio::test]
async fn after_an_edit_the_inbox_shows_the_event_that_is_owed_and_it_can_be_answered() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let posted = host.say(&ann, &room, "@bot can you restart alpha?").await;
    for text in ["@bot can you restart beta?", "@bot can you restart gamma?"] {
        edit(&host, &ann, &posted, text).await;
        let mine = unsettled(&host, &token).await;
        assert_eq!(mine.len(), 1);
        assert_eq!((&mine[0]["text"], &mine[0]["replaces"]), (&json!(text), &posted["event_id"]));
        assert_ne!(mine[0]["eventId"], posted["event_id"], "the edit's own");
        assert_eq!(mine[0]["attention"]["policy"], "must_respond");
    }
    let owed = unsettled(&host, &token).await[0].clone();
    let by_policy = json!({"unsettled": true, "policy": "must_respond"});
    let listed = host.tool(&token, "chat.list_events", by_policy).await.unwrap();
    assert_eq!(listed["events"][0]["eventId"], owed["eventId"]);
    // It is the one that was delivered, and the one that an answer settles.
    let mut bot = host.connect(&token).await;
    assert_eq!(bot.take().await["eventId"], owed["eventId"]);
    let reply = json!({"target": {"conversation": room}, "inReplyTo": owed["eventId"],
        "idempotencyKey": "a", "visibility": "channel", "directedness": "to_me", "text": "gamma it is"});
    host.tool(&token, "chat.send_message", reply).await.unwrap();
    assert!(unsettled(&host, &token).await.is_empty());
    let id = owed["eventId"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    assert_eq!(why["told"][0]["receipt"]["disposition"], "responded");
}

// covers: ATT-351
#[tokio::test]
async fn an_obligation_that_has_moved_is_listed_with_what_it_is_now() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "chief"]).await;
    let path = format!("/v1/channels/{room}");
    host.send(&host.operator(), Method::PATCH, &path, Some(json!({"lead": "chief"}))).await.ok();
    let (ann, chief) = (host.token("ann").await, host.token("chief").await);
    let posted = host.say(&ann, &room, "@bot can you restart it?").await;
    host.pass(300_000).await;
    let filter = json!({"unsettled": true, "policy": "must_respond"});
    let listed = host.tool(&chief, "chat.list_events", filter).await.unwrap();
    assert_eq!(listed["events"][0]["eventId"], posted["event_id"]);
    assert_eq!(listed["events"][0]["attention"]["reason"], "escalated");
}

// covers: ATT-352
#[tokio::test]
async fn an_inbox_of_more_rooms_than_are_looked_through_says_that_there_is_more() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann, token) = (host.operator(), host.token("ann").await, host.token("bot").await);
    let mut rooms = vec![room];
    for n in 1..70 {
        let new = json!({"title": format!("room {n}"), "members": ["bot", "ann"]});
        let made = host.post(&op, "/v1/channels", new).await.ok();
        rooms.push(made["id"].as_str().unwrap().to_owned());
    }
    for (n, room) in rooms.iter().enumerate() {
        host.say(&ann, room, &format!("the deploy of {n} is through")).await;
        if n == 9 {
            let all = host.tool(&token, "chat.list_events", json!({"limit": 100})).await.unwrap();
            assert_eq!(all["events"].as_array().unwrap().len(), 10);
        }
    }
    let listed = host.tool(&token, "chat.list_events", json!({"limit": 100})).await.unwrap();
    assert_eq!(
        (listed["events"].as_array().unwrap().len(), &listed["hasMore"]),
        (64, &json!(true))
    );
    // The rest is had room by room.
    let one = json!({"conversation": rooms[0], "limit": 100});
    let listed = host.tool(&token, "chat.list_events", one).await.unwrap();
    assert_eq!(
        (listed["events"].as_array().unwrap().len(), &listed["hasMore"]),
        (1, &json!(false))
    );
}

// covers: ATT-78
#[tokio::test]
async fn a_page_of_what_is_owed_says_that_there_is_more_only_when_there_is() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann, token) = (host.operator(), host.token("ann").await, host.token("bot").await);
    for n in 0..9 {
        let said = match n % 3 {
            1 => format!("@bot can you look at {n}?"),
            _ => format!("@ann number {n} is through"),
        };
        let by = if n % 3 == 1 { &ann } else { &op };
        host.say(by, &room, &said).await;
    }
    for (limit, shown, more) in [(2, 2, true), (3, 3, false), (4, 3, false), (1, 1, true)] {
        let page = json!({"conversation": room, "policy": "must_respond", "limit": limit});
        let listed = host.tool(&token, "chat.list_events", page).await.unwrap();
        let events = listed["events"].as_array().unwrap().len();
        assert_eq!((events, &listed["hasMore"]), (shown, &json!(more)), "limit {limit}");
    }
}

// covers: ATT-343
#[tokio::test]
async fn stated_addressing_holds_for_edits_after_a_restart() {
    let mut host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let new = json!({"conversation": room, "text": "@bot can you look at the deploy?",
        "idempotency_key": "a", "directedness": "ambient"});
    let posted = host.post(&ann, "/v1/messages", new).await.ok();
    assert_eq!(posted["told"][0]["policy"], "may_respond");
    for n in 0..3 {
        edit(&host, &ann, &posted, &format!("@bot can you look at deploy {n}?")).await;
        let mine = unsettled(&host, &token).await;
        assert_eq!(mine[0]["attention"]["policy"], "may_respond", "{n}");
        if n == 0 {
            let now = host.clock_now();
            let TestHost { running, folder, .. } = host;
            running.stop().await;
            host = TestHost::open_in(folder, now).await;
        }
    }
}

// covers: ATT-342
#[tokio::test]
async fn edit_does_not_ask_again_after_an_answer() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    let posted = host.say(&ann, &room, "@bot can you look at deploy 0?").await;
    let event = bot.take().await;
    bot.reply(&event, "it is fine").await.unwrap();
    for n in 1..4 {
        let text = format!("@bot can you look at deploy {n}?");
        edit(&host, &ann, &posted, &text).await;
        let again = bot.take().await;
        assert_eq!(again["attention"]["reason"], "edited_after_response", "{n}");
        assert_eq!(again["attention"]["policy"], "may_respond", "{n}");
        let length = host.length(&room).await;
        edit(&host, &ann, &posted, &text).await;
        assert_eq!(host.length(&room).await, length, "the same again is no event");
    }
    assert!(bot.is_quiet().await);
}
