//! What time does to deliveries, and what is listed of them.

use serde_json::{Value, json};

use crate::test_host::TestHost;

// covers: ATT-103
#[tokio::test]
async fn an_offer_that_is_not_acknowledged_is_made_again_with_a_higher_attempt() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    host.say(&ann, &room, "@bot hello?").await;
    let first = bot.delivery().await;
    host.pass(10_000).await;
    let second = bot.delivery().await;
    assert_eq!(second["params"]["eventId"], first["params"]["eventId"]);
    assert_eq!(second["params"]["reliability"]["attempt"], 2);
    assert_eq!(
        second["params"]["reliability"]["idempotencyKey"],
        first["params"]["reliability"]["idempotencyKey"]
    );
    assert_ne!(second["id"], first["id"]);
    // A refusal is not an acknowledgement.
    let error = json!({"code": -32000, "message": "full"});
    bot.write(json!({"jsonrpc": "2.0", "id": second["id"], "error": error})).await;
    bot.call("ping", json!({})).await.unwrap();
    host.pass(10_000).await;
    let third = bot.delivery().await;
    bot.acknowledge(&third).await;
    bot.reply(&third["params"], "here").await.unwrap();
}

// covers: ATT-11, ATT-103
#[tokio::test]
async fn offers_behind_a_full_window_are_sent_once_there_is_room_and_repeats_need_none() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    for n in 0..40 {
        host.say(&ann, &room, &format!("@bot can you check item {n}?")).await;
    }
    let event = |frame: &Value| frame["params"]["eventId"].as_str().unwrap().to_owned();
    let mut first = Vec::new();
    for _ in 0..32 {
        first.push(bot.delivery().await);
    }
    assert!(bot.is_quiet().await, "the window is full");
    // The repeats are of what is under way, and nothing else.
    for attempt in [2, 3] {
        host.pass(10_000).await;
        let mut again = Vec::new();
        for _ in 0..32 {
            let frame = bot.delivery().await;
            assert_eq!(frame["params"]["reliability"]["attempt"], attempt, "{frame}");
            again.push(event(&frame));
        }
        again.sort_unstable();
        let mut known: Vec<_> = first.iter().map(event).collect();
        known.sort_unstable();
        assert_eq!(again, known);
        assert!(bot.is_quiet().await);
    }
    let result = json!({"accepted": true});
    for frame in &first {
        for attempt in 1..=3 {
            let id = frame["id"].as_str().unwrap();
            let id = format!("{}{attempt}", &id[..id.len() - 1]);
            bot.write(json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
        }
    }
    // The rest comes once each, for the first time.
    for _ in 32..40 {
        let frame = bot.delivery().await;
        assert_eq!(frame["params"]["reliability"]["attempt"], 1, "{frame}");
        assert!(!first.iter().any(|known| event(known) == event(&frame)), "{frame}");
        bot.acknowledge(&frame).await;
    }
    host.pass(10_000).await;
    assert!(bot.is_quiet().await);
}

// covers: ATT-115, ATT-116
#[tokio::test]
async fn an_unanswered_obligation_moves_on_and_the_late_answer_is_judged() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let posted = host.say(&ann, &room, "@bot can you restart it?").await;
    let open = host.get(&host.operator(), "/v1/deliveries?member=bot").await.ok();
    assert_eq!(open["deliveries"][0]["state"], "waiting");
    assert_eq!(open["deliveries"][0]["policy"], "must_respond");
    host.pass(300_000).await;
    let id = posted["event_id"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    let told = why["told"].as_array().unwrap();
    let moved = told.iter().find(|t| t["reason"] == "escalated").expect("it has moved on");
    assert_eq!(moved["member"], "operator");
}

// covers: ATT-79, ATT-112
#[tokio::test]
async fn a_knock_whose_content_was_pulled_has_that_in_its_receipt() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    host.post(&op, "/v1/roles", json!({"name": "ops"})).await.ok();
    host.send(&op, reqwest::Method::PUT, "/v1/roles/ops/members/bot", None).await.ok();
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let posted = host.say(&ann, &room, "@ops anybody?").await;
    let knock = bot.take().await;
    assert_eq!(knock["injection"]["mode"], "notify");
    let read = bot.tool("chat.read_thread", json!({"eventId": knock["eventId"]})).await.unwrap();
    assert!(read.to_string().contains("anybody?"));
    bot.call("ping", json!({})).await.unwrap();
    let id = posted["event_id"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    assert!(why["told"][0]["receipt"]["retrieved_at"].is_string(), "{why}");
}

// covers: ATT-6, ATT-22
#[tokio::test]
async fn many_that_wait_all_arrive_in_order() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut said = Vec::new();
    for n in 0..300 {
        said.push(host.say(&ann, &room, &format!("@bot part {n}")).await["event_id"].clone());
    }
    let mut bot = host.connect(&host.token("bot").await).await;
    for (n, id) in said.iter().enumerate() {
        let event = bot.take().await;
        assert_eq!(&event["eventId"], id, "part {n}");
    }
}
