//! REST: what is made is there, is shown, and stays.

use reqwest::Method;
use serde_json::json;

use crate::test_host::TestHost;

// covers: ATT-108
#[tokio::test]
async fn a_message_is_posted_once_read_edited_and_deleted() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let new = json!({"conversation": room, "text": "@bot is it up?", "idempotency_key": "k1",
        "metadata": {"b": 1, "a": [2]}});
    let posted = host.post(&ann, "/v1/messages", new.clone()).await;
    assert_eq!(posted.status, 201);
    let posted = posted.ok();
    assert_eq!(posted["told"][0]["member"], "bot");
    assert_eq!(posted["told"][0]["policy"], "must_respond");
    assert_eq!(posted["duplicate"], false);
    let again = host.post(&ann, "/v1/messages", new).await.ok();
    assert_eq!((&again["event_id"], &again["duplicate"]), (&posted["event_id"], &json!(true)));

    let id = posted["message_id"].as_str().unwrap();
    let path = format!("/v1/messages/{id}");
    let shown = host.get(&ann, &path).await.ok();
    assert_eq!(
        (&shown["text"], &shown["metadata"]),
        (&json!("@bot is it up?"), &json!({"a": [2], "b": 1}))
    );

    let edited =
        host.send(&ann, Method::PATCH, &path, Some(json!({"text": "@bot is it down?"}))).await.ok();
    assert_eq!(edited["text"], "@bot is it down?");
    assert!(edited["edited_at"].is_string());

    let reaction = format!("{path}/reactions/agree");
    let reacted = host.send(&ann, Method::PUT, &reaction, None).await.ok();
    assert!(reacted["event_id"].is_string());
    let shown = host.get(&ann, &path).await.ok();
    assert_eq!(shown["reactions"][0]["members"], json!(["ann"]));

    assert_eq!(host.send(&ann, Method::DELETE, &path, None).await.status, 204);
    let gone = host.get(&ann, &path).await.ok();
    assert!(gone["deleted_at"].is_string() && gone.get("text").is_none());
    let list = host.get(&ann, &format!("/v1/messages?conversation={room}")).await.ok();
    assert_eq!(list["messages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn pages_go_forward_and_back_and_say_whether_there_is_more() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    for n in 0..7 {
        host.say(&ann, &room, &format!("line {n}")).await;
    }
    let page = async |query: &str| {
        let path = format!("/v1/messages?conversation={room}&limit=3{query}");
        let page = host.get(&ann, &path).await.ok();
        let texts: Vec<_> =
            page["messages"].as_array().unwrap().iter().map(|m| m["text"].clone()).collect();
        let seqs: Vec<_> = page["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["seq"].as_u64().unwrap())
            .collect();
        (json!(texts), seqs, page["has_more"] == json!(true))
    };
    let (texts, seqs, more) = page("").await;
    assert_eq!((texts, more), (json!(["line 4", "line 5", "line 6"]), true));
    let (texts, _, more) = page(&format!("&before_seq={}", seqs[0])).await;
    assert_eq!((texts, more), (json!(["line 1", "line 2", "line 3"]), true));
    let (texts, _, more) = page(&format!("&after_seq={}", seqs[0])).await;
    assert_eq!((texts, more), (json!(["line 5", "line 6"]), false));
}

// covers: ATT-45
#[tokio::test]
async fn preview_tells_and_posts_nothing() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let before = host.length(&room).await;
    let ann = host.token("ann").await;
    let body = json!({"conversation": room, "text": "@bot can you look at this?"});
    let preview = host.post(&ann, "/v1/attention/preview", body).await.ok();
    assert_eq!(preview["told"].as_array().unwrap().len(), 1);
    assert_eq!(preview["told"][0]["member"], "bot");
    assert_eq!(preview["rest"], "to_other");
    assert_eq!(host.length(&room).await, before);
}

// covers: ATT-131
#[tokio::test]
async fn a_private_room_is_unknown_to_whoever_has_no_seat() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let op = host.operator();
    let new = json!({"title": "secret", "visibility": "private", "members": ["ann"]});
    let room = host.post(&op, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned();
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let auditor = host.token_of("watcher", "auditor").await;
    let event = host.say(&ann, &room, "between us").await["event_id"].as_str().unwrap().to_owned();
    for path in [
        format!("/v1/channels/{room}"),
        format!("/v1/messages?conversation={room}"),
        format!("/v1/messages/{event}"),
        format!("/v1/events?conversation={room}"),
        format!("/v1/events/{event}/attention"),
        format!("/v1/cursors/{room}"),
    ] {
        assert_eq!(host.get(&bot, &path).await.refused(404), "NOT_FOUND", "{path}");
        host.get(&ann, &path).await.ok();
        host.get(&auditor, &path).await.ok();
    }
    let seen = host.get(&bot, "/v1/channels").await.ok();
    assert!(!seen.to_string().contains("secret"));
    let args = json!({"conversation": room});
    assert_eq!(host.tool(&bot, "chat.read_thread", args).await, Err("NOT_FOUND".to_owned()));

    // A thread in it is as unknown as one that does not exist, to the words of the refusal.
    let new = json!({"conversation": room, "title": "between us"});
    let thread = host.post(&ann, "/v1/threads", new).await.ok();
    let (hidden, none) = (thread["id"].as_str().unwrap(), format!("th_{:032x}", 7));
    let mut refusals = Vec::new();
    for id in [hidden, &none] {
        let post = json!({"thread_id": id, "schema_version": 1, "kind": "chat", "body": "hello"});
        let params = json!({"name": "post_message", "arguments": post});
        let posted = host.rpc(&bot, "tools/call", params).await.ok();
        let go_on = host.post(&bot, &format!("/v1/threads/{id}/continue"), json!({})).await;
        let why = |error: &serde_json::Value| (error["code"].clone(), error["message"].clone());
        let posted = why(&posted["result"]["structuredContent"]["error"]);
        refusals.push((posted, go_on.status, why(&go_on.body["error"])));
    }
    assert_eq!(refusals[0], refusals[1]);
    assert_eq!(refusals[0].1, 404);
}

// covers: ATT-78
#[tokio::test]
async fn events_of_a_stream_are_those_of_its_conversations_alone() {
    let host = TestHost::open().await;
    let op = host.operator();
    let stream = host.post(&op, "/v1/streams", json!({"name": "release"})).await.ok();
    let stream = stream["id"].as_str().unwrap();
    let within = json!({"title": "within", "stream": stream});
    let mut rooms = Vec::new();
    for new in [json!({"title": "beside"}), within] {
        let made = host.post(&op, "/v1/channels", new).await.ok();
        rooms.push(made["id"].as_str().unwrap().to_owned());
        host.say(&op, rooms.last().unwrap(), "hello").await;
    }
    let of = async |room: &str, stream: &str| {
        let args = json!({"conversation": room, "stream": stream});
        let found = host.tool(&op, "chat.list_events", args).await?;
        Ok::<_, String>(found["events"].as_array().unwrap().len())
    };
    assert_eq!(of(&rooms[0], stream).await, Ok(0));
    assert_eq!(of(&rooms[1], stream).await, Ok(1));
    assert_eq!(of(&rooms[1], "x").await, Err("NOT_FOUND".to_owned()));
}

// covers: OPS-495
#[tokio::test]
async fn threads_have_their_own_seq_and_statuses() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let root = host.say(&ann, &room, "the deploy is slow").await;
    let new = json!({"conversation": room, "root": root["event_id"], "title": "deploy",
        "participants": ["bot"], "owner": "bot"});
    let thread = host.post(&ann, "/v1/threads", new).await;
    assert_eq!(thread.status, 201);
    let thread = thread.ok();
    assert_eq!((&thread["root"], &thread["owner"]), (&root["event_id"], &json!("bot")));
    let id = thread["id"].as_str().unwrap();
    for n in 1..=2 {
        let new = json!({"conversation": room, "thread": id, "text": format!("part {n}"),
            "idempotency_key": format!("t{n}")});
        let posted = host.post(&ann, "/v1/messages", new).await.ok();
        assert_eq!(posted["thread_seq"], n);
    }
    let path = format!("/v1/messages?conversation={room}&thread={id}");
    let shown = host.get(&ann, &path).await.ok();
    let texts: Vec<_> = shown["messages"].as_array().unwrap().iter().map(|m| &m["text"]).collect();
    assert_eq!(json!(texts), json!(["the deploy is slow", "part 1", "part 2"]));

    let path = format!("/v1/threads/{id}");
    let patch = json!({"status": "blocked", "reason": "waiting for a key"});
    assert_eq!(host.send(&ann, Method::PATCH, &path, Some(patch)).await.ok()["status"], "blocked");
    let close = json!({"status": "closed"});
    let refused = host.send(&ann, Method::PATCH, &path, Some(close.clone())).await;
    assert_eq!(refused.refused(403), "INSUFFICIENT_AUTHORITY");
    host.send(&host.operator(), Method::PATCH, &path, Some(close)).await.ok();
    let reopen = host.send(&ann, Method::PATCH, &path, Some(json!({"status": "active"}))).await;
    assert_eq!(reopen.refused(409), "CONFLICT");
    let home = json!({"title": "just us", "participants": ["bot"]});
    let nothing = json!({"participants": ["bot"]});
    let refused = host.post(&ann, "/v1/threads", nothing).await;
    let why = refused.body["error"]["message"].as_str().unwrap().to_owned();
    assert!(why.starts_with("give the thread a title, or the message that it is about"), "{why}");
    assert_eq!(refused.refused(400), "VALIDATION_ERROR");
    let said = host.say(&ann, &room, "and the tests are red").await;
    let about = json!({"conversation": room, "root": said["event_id"]});
    assert_eq!(host.post(&ann, "/v1/threads", about).await.ok()["title"], "");
    let own = host.post(&ann, "/v1/threads", home).await.ok();
    let conversation = own["conversation"].as_str().unwrap();
    let shown = host.get(&ann, &format!("/v1/channels/{conversation}")).await.ok();
    assert_eq!((&shown["kind"], &shown["visibility"]), (&json!("thread"), &json!("private")));
}

#[tokio::test]
async fn members_roles_and_streams_are_made_and_changed() {
    let host = TestHost::open().await;
    let op = host.operator();
    let new = json!({"id": "ann", "kind": "human", "display_name": "Ann", "token_role": "worker",
        "identities": [{"platform": "slack", "id": "U1"}]});
    let ann = host.post(&op, "/v1/members", new).await.ok();
    assert_eq!((&ann["handle"], &ann["identities"][0]["id"]), (&json!("ann"), &json!("U1")));
    let token = ann["token"].as_str().unwrap();
    assert_eq!(host.get(token, "/v1/whoami").await.ok()["member"]["id"], "ann");

    let patch = json!({"handle": "annie", "lead": true});
    let changed = host.send(&op, Method::PATCH, "/v1/members/ann", Some(patch)).await.ok();
    assert_eq!((&changed["handle"], &changed["lead"]), (&json!("annie"), &json!(true)));

    host.post(&op, "/v1/roles", json!({"name": "people"})).await.ok();
    let role = host.send(&op, Method::PUT, "/v1/roles/people/members/ann", None).await.ok();
    assert_eq!(role["members"], json!(["ann"]));
    let stream = host.post(&op, "/v1/streams", json!({"name": "migration", "owner": "ann"})).await;
    assert_eq!(stream.ok()["owner"], "ann");
    assert_eq!(host.get(token, "/v1/members/ann").await.ok()["roles"], json!(["people"]));

    assert_eq!(host.send(&op, Method::DELETE, "/v1/roles/people", None).await.status, 204);
    assert_eq!(host.send(&op, Method::DELETE, "/v1/members/ann", None).await.status, 204);
    assert_eq!(host.get(token, "/v1/whoami").await.refused(401), "UNAUTHORIZED");
}

#[tokio::test]
async fn seats_and_cursors() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "late", "kind": "agent"})).await.ok();
    let seat = format!("/v1/channels/{room}/members/late");
    let put = json!({"participation": "always_listen"});
    host.send(&op, Method::PUT, &seat, Some(put)).await.ok();
    let shown = host.get(&op, &format!("/v1/channels/{room}")).await.ok();
    let late = shown["members"].as_array().unwrap().iter().find(|s| s["member"] == "late").cloned();
    assert_eq!(late.unwrap()["participation"], "always_listen");
    assert_eq!(host.send(&op, Method::DELETE, &seat, None).await.status, 204);

    let ann = host.token("ann").await;
    host.say(&ann, &room, "one").await;
    let path = format!("/v1/cursors/{room}");
    let last = host.get(&ann, &path).await.ok()["last_seq"].as_u64().unwrap();
    let put = async |seq: u64| {
        host.send(&ann, Method::PUT, &path, Some(json!({"last_read_seq": seq}))).await
    };
    assert_eq!(put(last).await.ok()["last_read_seq"], last);
    assert_eq!(put(last - 1).await.refused(400), "VALIDATION_ERROR");
    assert_eq!(put(last + 1).await.refused(400), "VALIDATION_ERROR");
    assert_eq!(host.get(&ann, &path).await.ok()["last_read_seq"], last);
}
