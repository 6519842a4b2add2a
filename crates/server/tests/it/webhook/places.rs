//! How many posts are under way at once, end to end.

use std::time::{Duration, Instant};

use chorus_server::config::kind::Span;
use serde_json::{Value, json};

use super::neighbours::{Manner, Neighbour};
use super::{Remote, at_once, reached, text};
use crate::test_host::{START, TestHost};

// covers: WHK-39
#[tokio::test]
async fn waiting_for_a_post_slot_is_no_failure_and_a_hanging_endpoint_blocks_no_other() {
    let of = async |posts: usize| {
        let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
            at_once(config);
            (config.settings.webhook.posts, config.settings.webhook.timeout) =
                (posts, Span::seconds(2));
        })
        .await;
        let (remote, hangs) = (Remote::open().await, Neighbour::open(Manner::Hangs).await);
        let room = reached(&host, &remote).await;
        let (ann, op) = (host.token("ann").await, host.operator());
        let mut rooms = vec![room.clone()];
        let new = json!({"member": "hangs", "url": hangs.url(), "channels": [room]});
        host.post(&op, "/v1/endpoints", new).await.ok();
        for n in 0..3 {
            let new = json!({"title": format!("room {n}"), "members": ["ann", "hangs"]});
            rooms.push(text(&host.post(&op, "/v1/channels", new).await.ok()["id"]));
        }
        for room in rooms {
            host.say(&ann, &room, &format!("@hangs what of {room}?")).await;
        }
        let began = Instant::now();
        host.say(&ann, &room, "@weather and you?").await;
        (host, remote, hangs, began)
    };
    // Four places: of those who hang two are taken, and two wait.
    let (_house, mut remote, _hangs, began) = of(4).await;
    remote.take().await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    // One place: it waits for its turn, longer than a post may take, and is none the worse for it. There are four posts of the other
    // before it, of which two have their turn first.
    let (host, mut remote, _hangs, began) = of(1).await;
    let delivery = remote.take().await;
    let took = began.elapsed();
    assert!(took > Duration::from_secs(1) && took < Duration::from_secs(6), "{took:?}");
    assert_eq!(delivery["chorus"]["attempt"], 1);
    let shown = host.get(&host.operator(), "/v1/endpoints/weather").await.ok();
    assert_eq!((&shown["failures"], &shown["last_error"]), (&json!(0), &Value::Null));
}
