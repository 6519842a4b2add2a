//! What time does to deliveries, and what is listed of them.

use serde_json::json;

use crate::house::House;

// covers: ATT-103
#[tokio::test]
async fn an_offer_that_is_not_acknowledged_is_made_again_with_a_higher_attempt() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let ann = house.token("ann").await;
    let mut bot = house.connect(&house.token("bot").await).await;
    house.say(&ann, &room, "@bot hello?").await;
    let first = bot.delivery().await;
    house.pass(10_000).await;
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
    house.pass(10_000).await;
    let third = bot.delivery().await;
    bot.acknowledge(&third).await;
    bot.reply(&third["params"], "here").await.unwrap();
}

// covers: ATT-115, ATT-116
#[tokio::test]
async fn an_unanswered_obligation_moves_on_and_the_late_answer_is_judged() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let ann = house.token("ann").await;
    let posted = house.say(&ann, &room, "@bot can you restart it?").await;
    let open = house.get(&house.operator(), "/v1/deliveries?member=bot").await.ok();
    assert_eq!(open["deliveries"][0]["state"], "waiting");
    assert_eq!(open["deliveries"][0]["policy"], "must_respond");
    house.pass(300_000).await;
    let id = posted["event_id"].as_str().unwrap();
    let why = house.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    let told = why["told"].as_array().unwrap();
    let moved = told.iter().find(|t| t["reason"] == "escalated").expect("it has moved on");
    assert_eq!(moved["member"], "operator");
}

// covers: ATT-79, ATT-112
#[tokio::test]
async fn a_knock_whose_content_was_pulled_has_that_in_its_receipt() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let op = house.operator();
    house.post(&op, "/v1/roles", json!({"name": "ops"})).await.ok();
    house.send(&op, reqwest::Method::PUT, "/v1/roles/ops/members/bot", None).await.ok();
    let ann = house.token("ann").await;
    let mut bot = house.connect(&house.token("bot").await).await;
    let posted = house.say(&ann, &room, "@ops anybody?").await;
    let knock = bot.take().await;
    assert_eq!(knock["injection"]["mode"], "notify");
    let read = bot.tool("chat.read_thread", json!({"eventId": knock["eventId"]})).await.unwrap();
    assert!(read.to_string().contains("anybody?"));
    bot.call("ping", json!({})).await.unwrap();
    let id = posted["event_id"].as_str().unwrap();
    let why = house.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    assert!(why["told"][0]["receipt"]["retrieved_at"].is_string(), "{why}");
}

// covers: ATT-6, ATT-22
#[tokio::test]
async fn many_that_wait_all_arrive_in_order() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let ann = house.token("ann").await;
    let mut said = Vec::new();
    for n in 0..300 {
        said.push(house.say(&ann, &room, &format!("@bot part {n}")).await["event_id"].clone());
    }
    let mut bot = house.connect(&house.token("bot").await).await;
    for (n, id) in said.iter().enumerate() {
        let event = bot.take().await;
        assert_eq!(&event["eventId"], id, "part {n}");
    }
}
