//! A log that the disk has changed far back, of a room whose newest entries are whole.

use serde_json::json;

use crate::house::{House, damage};

// covers: OPS-449
#[tokio::test]
async fn a_log_that_is_damaged_far_back_takes_no_posts_and_is_read_where_it_is_whole() {
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let ann = house.token("ann").await;
    for n in 0..100 {
        house.say(&ann, &room, &format!("number {n}")).await;
    }
    let new = json!({"title": "other", "members": ["ann"]});
    let other = house.post(&house.operator(), "/v1/channels", new).await.ok();
    let other = other["id"].as_str().unwrap().to_owned();
    house.say(&ann, &other, "hello").await;
    let now = house.clock_now();
    let House { running, folder, .. } = house;
    running.stop().await;
    damage(
        folder.path(),
        "UPDATE event SET hop = hop + 1 WHERE workspace = 1 AND conversation = 1 AND seq = 8",
    );

    let house = House::open_in(folder, now).await;
    house.running.verified().await;
    let ann = house.token("ann").await;
    for (text, key) in [("is it here?", "a"), ("@bot or there?", "b")] {
        let new = json!({"conversation": room, "text": text, "idempotency_key": key});
        let refused = house.post(&ann, "/v1/messages", new).await;
        let why = refused.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(refused.refused(503), "UNAVAILABLE");
        for word in ["conversation 1, event 8", "takes no posts", "can be read", "chorus doctor"] {
            assert!(why.contains(word), "{word:?} is not in {why:?}");
        }
    }
    let page = format!("/v1/messages?conversation={room}&limit=20");
    let page = house.get(&ann, &page).await.ok();
    assert_eq!(page["messages"].as_array().unwrap().len(), 20);
    house.say(&ann, &other, "and on it goes here").await;
    let healthy = house.get(&house.operator(), "/readyz").await;
    assert_eq!(healthy.status, 200, "one conversation is not the host");
}
