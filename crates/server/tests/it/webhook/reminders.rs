//! An agent that has taken a message and is silent is reminded, and not asked anew.

use serde_json::json;

use super::{Remote, accepted, asked, bearer, call, messages, nothing_owed, open, reached};

// covers: WHK-408, WHK-409
#[tokio::test]
async fn a_silent_agent_is_sent_a_signal_and_not_the_message() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "@weather what will it be like, swordfish?").await;
    let post = remote.post().await;
    let (first, key) = (post.json(), post.headers["idempotency-key"].clone());
    accepted(&host).await;
    host.pass(61_000).await;
    let reminded = remote.post().await;
    assert_ne!(reminded.headers["idempotency-key"], key, "it is another thing");
    assert!(!String::from_utf8_lossy(&reminded.body).contains("swordfish"));
    let signal = reminded.json();
    assert_eq!((&signal["kind"], signal.get("message")), (&json!("reminder"), None));
    assert_eq!(signal["event_id"], first["message"]["id"]);
    assert_eq!(signal["channel"]["id"], room.as_str());
    assert!(signal["chorus"]["attempt"].as_u64() > first["chorus"]["attempt"].as_u64());
    // The run answers as if nothing had come.
    call(&host, &first, json!({"type": "message", "content": "Rain."})).await.ok();
    nothing_owed(&host).await;
    host.pass(120_000).await;
    remote.nothing().await;
    assert_eq!(messages(&host, &room).await.len(), 2);
}

// covers: WHK-408
#[tokio::test]
async fn a_run_that_has_lost_its_own_goes_on_by_the_reminder() {
    let (host, mut remote, _, _) = asked("@weather swordfish?").await;
    accepted(&host).await;
    host.pass(61_000).await;
    let signal = remote.take().await;
    let read = json!({"eventId": signal["event_id"]});
    let read = host.tool(&bearer(&signal), "chat.read_thread", read).await.unwrap();
    assert!(read.to_string().contains("swordfish"));
    call(&host, &signal, json!({"type": "message", "content": "Yes."})).await.ok();
    nothing_owed(&host).await;
}

// covers: WHK-409
#[tokio::test]
async fn endpoint_that_refuses_reminders_keeps_its_run() {
    let (host, mut remote, _, first) = asked("@weather hm?").await;
    accepted(&host).await;
    remote.answers(&[400]);
    host.pass(61_000).await;
    assert_eq!(remote.take().await["kind"], "reminder");
    accepted(&host).await;
    // The second comes as well: the run was not given up.
    host.pass(61_000).await;
    assert_eq!(remote.take().await["kind"], "reminder");
    let dead = host.get(&host.operator(), "/v1/deliveries?state=dead&member=weather").await.ok();
    assert_eq!(dead["deliveries"], json!([]));
    call(&host, &first, json!({"type": "message", "content": "Hm."})).await.ok();
    nothing_owed(&host).await;
}

// covers: WHK-408
#[tokio::test]
async fn another_string_is_another_agent_and_gets_the_message() {
    // At the very instant at which the old one took it, too.
    for ms in [10_000, 0] {
        let (host, _remote, _, _) = asked("@weather hm?").await;
        accepted(&host).await;
        host.pass(ms).await;
        let mut other = Remote::open().await;
        let rotate = json!({"url": other.url()});
        host.post(&host.operator(), "/v1/endpoints/weather/rotate", rotate).await.ok();
        assert_eq!(other.take_later(&host).await["message"]["content"], "@weather hm?");
    }
}

// covers: WHK-408
#[tokio::test]
async fn strings_that_change_twice_in_an_instant_are_reminded_like_any() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    for _ in 0..3 {
        let rotate = json!({"url": remote.url()});
        host.post(&host.operator(), "/v1/endpoints/weather/rotate", rotate).await.ok();
    }
    host.say(&host.token("ann").await, &room, "@weather hm?").await;
    assert_eq!(remote.take().await["message"]["content"], "@weather hm?");
    accepted(&host).await;
    host.pass(61_000).await;
    assert_eq!(remote.take().await["kind"], "reminder");
}
