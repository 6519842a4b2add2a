//! A log that the disk has changed far back, of a room whose newest entries are whole.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::retention::{days, set, show};
use crate::test_host::{Answer, TestHost, damage};

/// A host on a folder in which two rooms have had a few messages, and the disk has changed event 8 of the first: with the
/// ids of these messages, those of the first room first.
async fn damaged(sql: &str) -> (TestHost, [String; 2], [Vec<String>; 2]) {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let other = json!({"title": "other", "members": ["ann", "bot"]});
    let other = host.post(&op, "/v1/channels", other).await.ok()["id"].as_str().unwrap().to_owned();
    let rooms = [room, other];
    let mut said = [Vec::new(), Vec::new()];
    for (room, said) in rooms.iter().zip(&mut said) {
        for n in 0..12 {
            let message = host.say(&ann, room, &format!("number {n}")).await;
            said.push(message["message_id"].as_str().unwrap().to_owned());
        }
    }
    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let at = "WHERE workspace = 1 AND conversation = 1 AND seq = 8";
    damage(folder.path(), &format!("{sql} {at}"));
    let host = TestHost::open_in(folder, now).await;
    host.running.verified().await;
    (host, rooms, said)
}

/// Who did what to a message that cannot be read, or in a room that takes no posts.
fn unavailable(answer: Answer) {
    let message = answer.body["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("the database is damaged"), "{answer:?}");
    assert_eq!(answer.refused(503), "UNAVAILABLE");
}

// covers: OPS-449
#[tokio::test]
async fn a_log_that_is_damaged_far_back_takes_no_posts_and_is_read_where_it_is_whole() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    for n in 0..100 {
        host.say(&ann, &room, &format!("number {n}")).await;
    }
    let new = json!({"title": "other", "members": ["ann"]});
    let other = host.post(&host.operator(), "/v1/channels", new).await.ok();
    let other = other["id"].as_str().unwrap().to_owned();
    host.say(&ann, &other, "hello").await;
    let now = host.clock_now();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    damage(
        folder.path(),
        "UPDATE event SET hop = hop + 1 WHERE workspace = 1 AND conversation = 1 AND seq = 8",
    );

    let host = TestHost::open_in(folder, now).await;
    host.running.verified().await;
    let ann = host.token("ann").await;
    for (text, key) in [("is it here?", "a"), ("@bot or there?", "b")] {
        let new = json!({"conversation": room, "text": text, "idempotency_key": key});
        let refused = host.post(&ann, "/v1/messages", new).await;
        let why = refused.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(refused.refused(503), "UNAVAILABLE");
        let place = format!("conversation {room}, event 8");
        for word in [&*place, "takes no posts", "can be read", "chorus doctor"] {
            assert!(why.contains(word), "{word:?} is not in {why:?}");
        }
    }
    let page = format!("/v1/messages?conversation={room}&limit=20");
    let page = host.get(&ann, &page).await.ok();
    assert_eq!(page["messages"].as_array().unwrap().len(), 20);
    host.say(&ann, &other, "and on it goes here").await;
    let healthy = host.get(&host.operator(), "/readyz").await;
    assert_eq!(healthy.status, 200, "one conversation is not the host");
}

// covers: OPS-449
#[tokio::test]
async fn damaged_room_is_refused_alone_and_fails_no_batch() {
    let sql = "UPDATE event SET body = hash";
    let (host, [room, other], [said, _]) = damaged(sql).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let split = host.running.serving().unwrap().writer.stats().split;
    let post = |room: &str, n: usize| {
        let new = json!({"conversation": room, "text": "hello", "idempotency_key": format!("{room} {n}")});
        let (host, token) = (&host, if n.is_multiple_of(2) { &ann } else { &op });
        async move { host.post(token, "/v1/messages", new).await }
    };
    let here = join_all((0..20).map(|n| post(&room, n)));
    let there = join_all((0..20).map(|n| post(&other, n)));
    let react = |id: &String| {
        let path = format!("/v1/messages/{id}/reactions/seen");
        let (host, ann) = (&host, &ann);
        async move { host.send(ann, Method::PUT, &path, None).await }
    };
    let reacted = join_all(said.iter().map(react));
    let (here, there, reacted) = tokio::join!(here, there, reacted);
    here.into_iter().for_each(unavailable);
    reacted.into_iter().for_each(unavailable);
    there.into_iter().for_each(|posted| drop(posted.ok()));
    assert_eq!(
        host.running.serving().unwrap().writer.stats().split,
        split,
        "no batch was run one by one"
    );
}

// covers: OPS-449
#[tokio::test]
async fn an_operator_erases_unseats_and_archives_where_the_log_is_damaged() {
    for sql in ["UPDATE event SET hop = hop + 1", "UPDATE event SET body = hash"] {
        let (host, [room, _], [said, _]) = damaged(sql).await;
        let (ann, op) = (host.token("ann").await, host.operator());
        let newest = said.last().unwrap();
        let erase = format!("/v1/messages/{newest}/erase");
        let erased = host.post(&op, &erase, json!({"reason": "secret"})).await.ok();
        assert_eq!(erased["erased"], true);
        assert!(
            !host
                .get(&ann, &format!("/v1/messages/{newest}"))
                .await
                .ok()
                .to_string()
                .contains("number")
        );
        let seat = format!("/v1/channels/{room}/members/bot");
        host.send(&op, Method::DELETE, &seat, None).await.ok();
        let archived = set(&host, &room, json!({"archived": true})).await;
        assert_eq!(archived["archived"], true);
        assert!(!show(&host, &room).await["members"].to_string().contains("bot"));
        set(&host, &room, json!({"archived": false})).await;
        let new = json!({"conversation": room, "text": "hello", "idempotency_key": "k"});
        unavailable(host.post(&ann, "/v1/messages", new).await);
        // Nor is it taken for whole when the host has begun anew.
        let now = host.clock_now();
        let TestHost { running, folder, .. } = host;
        running.stop().await;
        let host = TestHost::open_in(folder, now).await;
        host.running.verified().await;
        let new = json!({"conversation": room, "text": "hello", "idempotency_key": "k"});
        unavailable(host.post(&host.token("ann").await, "/v1/messages", new).await);
    }
}

// covers: OPS-138
#[tokio::test]
async fn retention_goes_on_with_the_others_and_says_where_it_could_not() {
    let (host, [room, other], _) = damaged("UPDATE event SET hop = hop + 1").await;
    for room in [&room, &other] {
        set(&host, room, json!({"keep": "1d"})).await;
    }
    days(&host, 2).await;
    let here = show(&host, &room).await;
    assert_eq!((here.get("base_seq"), &here["held"]), (None, &json!({"seq": 1, "by": "damage"})));
    assert!(show(&host, &other).await["base_seq"].as_u64().unwrap() >= 12);
    assert_eq!(host.metric("chorus_retention_failing").await, 1);
    let lines = chorus_statements::lines();
    let said = lines
        .iter()
        .any(|l| l.contains("what is old was not dropped") && l.contains("conversation=1"));
    assert!(said, "{lines:#?}");
}
