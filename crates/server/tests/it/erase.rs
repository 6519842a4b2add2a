//! Erasure over the transports: who may, and that nobody is shown what was said.

use reqwest::Method;
use serde_json::json;

use crate::test_host::TestHost;

const SECRET: &str = "hunter2-is-my-password";

// covers: OPS-1
#[tokio::test]
async fn an_erased_message_is_shown_to_nobody_by_any_door() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let agent = host.token("bot").await;
    let mut bot = host.connect(&agent).await;
    let said = host.say(&ann, &room, &format!("@bot what is {SECRET}?")).await;
    let id = said["message_id"].as_str().unwrap();
    let event = said["event_id"].as_str().unwrap();
    let path = format!("/v1/messages/{id}");
    let thread = json!({"conversation": room, "root": event, "title": "about it"});
    let thread = host.post(&ann, "/v1/threads", thread).await.ok();
    let thread = thread["id"].as_str().unwrap();
    let patch = json!({"text": format!("@bot and {SECRET}?")});
    host.send(&ann, Method::PATCH, &path, Some(patch)).await.ok();
    let offered = bot.delivery().await;

    let erased = host.post(&ann, &format!("{path}/erase"), json!({"reason": "secret"})).await.ok();
    assert_eq!((&erased["erased"], &erased["message_id"]), (&json!(true), &json!(id)));
    assert!(erased["deleted_at"].is_string() && erased.get("text").is_none());

    for path in [
        path.clone(),
        format!("/v1/messages?conversation={room}"),
        format!("/v1/messages?conversation={room}&thread={thread}"),
        format!("/v1/events?conversation={room}&after=0"),
        format!("/v1/events/{event}/attention"),
        format!("/v1/threads/{thread}"),
        "/v1/deliveries?state=open".to_owned(),
    ] {
        let shown = host.get(&op, &path).await.ok().to_string();
        assert!(!shown.contains(SECRET), "{path}: {shown}");
    }
    for (tool, args) in [
        ("chat.list_events", json!({})),
        ("chat.read_thread", json!({"conversation": room})),
        ("chat.read_thread", json!({"thread": thread})),
    ] {
        let shown = bot.tool(tool, args).await;
        assert!(!format!("{shown:?}").contains(SECRET), "{tool}: {shown:?}");
    }
    // Its harness is told to drop it, and what it says of it is refused.
    let mut heard = Vec::new();
    while let Some(frame) = bot.heard().await {
        let reason = frame["params"]["reason"].clone();
        heard.push(frame);
        if reason == "erased" {
            break;
        }
    }
    assert_eq!(heard.last().unwrap()["method"], "notifications/cancelled");
    let offered = offered["params"].clone();
    assert_eq!(bot.reply(&offered, "I know it").await.unwrap_err(), "STALE_TURN");

    let log = host.get(&op, &format!("/v1/events?conversation={room}&after=0")).await.ok();
    let last = log["events"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["type"], &last["reason"]), (&json!("message_erased"), &json!("secret")));
    assert_eq!((&last["about"], &last["actor"]["id"]), (&json!(event), &json!("ann")));

    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, crate::test_host::START).await;
    let shown = host.get(&host.operator(), &path).await.ok();
    assert_eq!(shown["erased"], true);
    assert!(!shown.to_string().contains(SECRET));
}

// covers: OPS-6
#[tokio::test]
async fn an_operator_erases_anything_a_person_its_own_and_an_agent_nothing() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, bot, op) = (host.token("ann").await, host.token("bot").await, host.operator());
    let of_ann = host.say(&ann, &room, "mine").await["message_id"].as_str().unwrap().to_owned();
    let of_bot = host.say(&bot, &room, "its own").await["message_id"].as_str().unwrap().to_owned();
    let why = || json!({"reason": "request"});
    let path = |id: &str| format!("/v1/messages/{id}/erase");
    let auditor = host.token_of("other", "auditor").await;
    for (token, id) in [(&bot, &of_bot), (&bot, &of_ann), (&ann, &of_bot), (&auditor, &of_ann)] {
        assert_eq!(host.post(token, &path(id), why()).await.refused(403), "FORBIDDEN");
    }
    for (body, status) in [
        (json!({}), 400),
        (json!({"reason": "because I said so"}), 400),
        (json!({"reason": "legal", "note": "x"}), 400),
    ] {
        assert_eq!(host.post(&ann, &path(&of_ann), body).await.refused(status), "VALIDATION_ERROR");
    }
    let unknown = "msg_00000000000000000000000000000001";
    assert_eq!(host.post(&op, &path(unknown), why()).await.refused(404), "NOT_FOUND");
    for id in [&of_ann, &of_bot] {
        let shown = host.get(&ann, &format!("/v1/messages/{id}")).await.ok();
        assert!(shown["text"].is_string(), "a refusal changed nothing");
    }
    host.post(&ann, &path(&of_ann), why()).await.ok();

    // In a conversation that the operator has no seat in, and that is archived.
    let dm = json!({"kind": "dm", "members": ["bot"]});
    let dm = host.post(&ann, "/v1/channels", dm).await.ok()["id"].as_str().unwrap().to_owned();
    let private =
        host.say(&ann, &dm, "between us").await["message_id"].as_str().unwrap().to_owned();
    let hidden = host.get(&op, &format!("/v1/messages/{private}")).await;
    assert_eq!(hidden.refused(404), "NOT_FOUND");
    host.post(&op, &path(&private), why()).await.ok();
    let shown = host.get(&ann, &format!("/v1/messages/{private}")).await.ok();
    assert_eq!(shown["erased"], true);
    let patch = json!({"archived": true});
    host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(patch)).await.ok();
    host.post(&op, &path(&of_bot), why()).await.ok();
}

// covers: OPS-2
#[tokio::test]
async fn a_file_goes_with_the_erased_message_that_alone_showed_it() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    let upload = async |name: &str| {
        let path = format!("/v1/assets?name={name}");
        let request = host.request(Method::POST, &path).bearer_auth(&ann);
        let kept = TestHost::answer(request.body(format!("{SECRET} {name}"))).await.ok();
        kept["asset_id"].as_str().unwrap().to_owned()
    };
    let show = async |file: &str, key: &str| {
        let parts = json!([{"type": "text", "text": key}, {"type": "asset", "asset_id": file}]);
        let message = json!({"conversation": room, "content": parts, "idempotency_key": key});
        let said = host.post(&ann, "/v1/messages", message).await.ok();
        said["message_id"].as_str().unwrap().to_owned()
    };
    let (once, twice) = (upload("once").await, upload("twice").await);
    let erased = [show(&once, "a").await, show(&twice, "b").await];
    show(&twice, "c").await;
    for message in erased {
        let path = format!("/v1/messages/{message}/erase");
        host.post(&ann, &path, json!({"reason": "secret"})).await.ok();
    }
    host.get(&ann, &format!("/v1/assets/{once}")).await.refused(404);
    let kept = host.request(Method::GET, &format!("/v1/assets/{twice}")).bearer_auth(&ann);
    assert!(kept.send().await.unwrap().status().is_success());
}
