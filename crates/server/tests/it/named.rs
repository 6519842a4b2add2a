//! Tools take names where they take ids, and list what may be named: the same by C2A and by MCP.

use serde_json::{Value, json};

use crate::mcp::clients::WIRES;
use crate::test_host::TestHost;

/// Ann, bob and the agent bot in #ops; a channel #secret without any of them.
async fn furnished() -> (TestHost, String, String) {
    let host = TestHost::open().await;
    let op = host.operator();
    for (id, kind, handle) in
        [("ann", "human", "ann"), ("bob", "human", "bobby"), ("bot", "agent", "bot")]
    {
        let member = json!({"id": id, "kind": kind, "handle": handle});
        host.post(&op, "/v1/members", member).await.ok();
    }
    let ops = channel(&host, "ops", "public", &["ann", "bob", "bot"]).await;
    channel(&host, "secret", "private", &[]).await;
    let token = host.token("bot").await;
    (host, ops, token)
}

async fn channel(host: &TestHost, title: &str, visibility: &str, members: &[&str]) -> String {
    let new = json!({"title": title, "visibility": visibility, "members": members,
        "purpose": format!("all of {title}"), "replies": "line"});
    let made = host.post(&host.operator(), "/v1/channels", new).await.ok();
    made["id"].as_str().unwrap().to_owned()
}

/// The code and the sentence of a refusal.
async fn refused(host: &TestHost, token: &str, tool: &str, arguments: Value) -> (String, String) {
    let params = json!({"name": tool, "arguments": arguments});
    let answer = host.rpc(token, "tools/call", params).await.ok();
    let error = &answer["result"]["structuredContent"]["error"];
    let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    (text("code"), text("message"))
}

fn message(to: &str, key: &str) -> Value {
    json!({"target": {"conversation": to}, "idempotencyKey": key, "visibility": "channel",
        "directedness": "to_me", "mentions": ["@bobby"], "text": "look",
        "metadata": {"n": 1.0, "big": 18446744073709551615u64}})
}

// covers: OPS-545
#[tokio::test]
async fn channels_and_members_are_listed_as_far_as_they_may_be_seen() {
    let (host, ops, token) = furnished().await;
    let listed = host.tool(&token, "chat.list_channels", json!({})).await.unwrap();
    let channels = listed["channels"].as_array().unwrap();
    let titles: Vec<&str> = channels.iter().map(|c| c["title"].as_str().unwrap()).collect();
    assert!(titles.contains(&"ops") && !titles.contains(&"secret"), "{listed}");
    let shown = channels.iter().find(|c| c["title"] == "ops").unwrap();
    assert_eq!((&shown["conversation"], &shown["purpose"]), (&json!(ops), &json!("all of ops")));

    let everybody = host.tool(&token, "chat.list_members", json!({})).await.unwrap();
    let bob = everybody["members"].as_array().unwrap().iter().find(|m| m["member"] == "bob");
    assert_eq!(bob.unwrap()["handle"], "bobby");
    channel(&host, "small", "public", &["ann"]).await;
    let here = json!({"conversation": "#small"});
    let here = host.tool(&token, "chat.list_members", here).await.unwrap();
    assert!(here.to_string().contains("ann") && !here.to_string().contains("bob"), "{here}");

    // The endpoint of one channel shows that channel.
    for wire in WIRES {
        let client = host.mcp_at(&token, wire, &format!("/mcp/{ops}")).await;
        let only = client.call("chat.list_channels", json!({})).await.unwrap();
        assert_eq!(only["channels"].as_array().unwrap().len(), 1, "{only}");
        let there = client.call("chat.list_members", json!({})).await.unwrap();
        assert!(there.to_string().contains("bobby"), "{there}");
        let elsewhere = json!({"conversation": "small"});
        assert_eq!(client.call("chat.list_members", elsewhere).await.unwrap_err(), "FORBIDDEN");
    }
}

// covers: OPS-546
#[tokio::test]
async fn a_name_stands_wherever_an_id_may() {
    let (host, ops, token) = furnished().await;
    for (n, name) in ["ops", "#ops", "#Ops", &ops].into_iter().enumerate() {
        let sent = host.tool(&token, "chat.send_message", message(name, &format!("k{n}"))).await;
        let sent = sent.unwrap();
        assert_eq!(sent["conversation"], json!(ops), "{name}");
        assert_eq!(sent["told"][0]["member"], "bob", "{sent}");
    }
    // A name and an id are the same to a retry.
    let again = host.tool(&token, "chat.send_message", message(&ops, "k0")).await.unwrap();
    assert_eq!(again["duplicate"], true);
    for wire in WIRES {
        let client = host.mcp(&token, wire).await;
        let read = client.call("chat.read_thread", json!({"conversation": "#ops"})).await.unwrap();
        assert_eq!(read["messages"].as_array().unwrap().len(), 4, "{read}");
        let new = json!({"title": "t", "channel_id": "ops", "participants": ["@bobby", "ann"]});
        let made = client.call("create_thread", new).await.unwrap();
        assert_eq!(made["channel_id"], json!(ops));
        let thread = json!({"thread_id": made["thread_id"]});
        let thread = client.call("get_thread", thread).await.unwrap();
        assert!(thread["participants"].to_string().contains("\"bob\""), "{thread}");
        let events = client.call("chat.list_events", json!({"conversation": "ops"})).await;
        assert!(!events.unwrap()["events"].as_array().unwrap().is_empty());
        let files = client.call("chat.read_asset", json!({"conversation": "#ops"})).await;
        assert_eq!(files.unwrap()["assets"], json!([]));
    }
    let idea = json!({"channel_id": "#ops", "kind": "agent_idea", "text": "shall we?",
        "targets": ["@bobby"], "source": "@bot"});
    host.tool(&token, "create_channel_stimulus", idea).await.unwrap();
    let client = host.mcp_at(&token, WIRES[0], &format!("/mcp/{ops}")).await;
    let by = json!({"q": "look", "author": "@bot"});
    client.call("search_messages", by).await.unwrap();
}

// covers: OPS-547, OPS-548
#[tokio::test]
async fn a_name_that_nobody_has_is_answered_with_the_nearest_that_may_be_seen() {
    let (host, _, token) = furnished().await;
    let read = |name: &str| json!({"conversation": name});
    let (code, why) = refused(&host, &token, "chat.read_thread", read("#opps")).await;
    assert_eq!(code, "NOT_FOUND");
    assert!(why.contains("did you mean #ops?"), "{why}");
    // A channel that may not be seen is as unknown as any, and is never suggested.
    for hidden in ["secret", "secrets"] {
        let (code, why) = refused(&host, &token, "chat.read_thread", read(hidden)).await;
        assert_eq!(code, "NOT_FOUND");
        assert!(!why.contains("#secret") && why.contains("chat.list_channels"), "{why}");
    }
    let mut to_nobody = message("ops", "k");
    to_nobody["mentions"] = json!(["@boby"]);
    let (code, why) = refused(&host, &token, "chat.send_message", to_nobody).await;
    assert_eq!(code, "NOT_FOUND");
    assert!(why.contains("did you mean @bobby?"), "{why}");

    // Two people may each call a private channel so, and not know of the other.
    let new = json!({"title": "deploy", "visibility": "private", "members": ["bot"]});
    let (ann, op) = (host.token_of("ann", "orchestrator").await, host.operator());
    let first = host.post(&ann, "/v1/channels", new.clone()).await.ok();
    host.tool(&token, "chat.read_thread", read("deploy")).await.unwrap();
    let second = host.post(&op, "/v1/channels", new).await.ok();
    let (code, why) = refused(&host, &token, "chat.read_thread", read("deploy")).await;
    assert_eq!(code, "CONFLICT");
    for channel in [first, second] {
        assert!(why.contains(channel["id"].as_str().unwrap()), "{why}");
    }
}

// covers: OPS-548
#[tokio::test]
async fn a_turns_token_names_what_is_in_its_conversation() {
    let (host, ops, token) = furnished().await;
    let ann = host.token("ann").await;
    channel(&host, "elsewhere", "public", &["bot"]).await;
    let eve = json!({"id": "eve", "kind": "human"});
    host.post(&host.operator(), "/v1/members", eve).await.ok();
    let said = host.say(&ann, &ops, "@bot can you look?").await;
    let claim = host.post(&token, "/v1/claims", json!({"event": said["event_id"]})).await.ok();
    let turn = claim["turn_token"].as_str().unwrap();
    let only = host.tool(turn, "chat.list_channels", json!({})).await.unwrap();
    assert_eq!(only["channels"].as_array().unwrap().len(), 1, "{only}");
    let here = host.tool(turn, "chat.list_members", json!({})).await.unwrap();
    assert!(here.to_string().contains("bobby") && !here.to_string().contains("eve"), "{here}");
    let read = |name: &str| json!({"conversation": name});
    host.tool(turn, "chat.read_thread", read("#ops")).await.unwrap();
    let (code, why) = refused(&host, turn, "chat.read_thread", read("#elsewhere")).await;
    assert_eq!(code, "NOT_FOUND");
    assert!(!why.contains("#elsewhere"), "{why}");
    let mut to_eve = message("ops", "k");
    to_eve["mentions"] = json!(["@eve"]);
    assert_eq!(refused(&host, turn, "chat.send_message", to_eve).await.0, "NOT_FOUND");
    // Not even whether there is such a member.
    let mut refusals = Vec::new();
    for id in ["eve", "evx"] {
        let mut to_nobody = message("ops", "k");
        to_nobody["only"] = json!([id]);
        refusals.push(refused(&host, turn, "chat.send_message", to_nobody).await);
    }
    let same = refusals[0].1.replace("eve", "evx");
    assert_eq!((&*refusals[0].0, &*same), ("NOT_FOUND", &*refusals[1].1));
    let mut to_bob = message("ops", "by-id");
    to_bob["mentions"] = json!(["bob"]);
    host.tool(turn, "chat.send_message", to_bob).await.unwrap();
}

// covers: OPS-498
#[tokio::test]
async fn an_unknown_member_is_answered_with_the_one_that_was_meant() {
    let (host, ops, token) = furnished().await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "alice", "kind": "human"})).await.ok();
    host.post(&op, "/v1/members", json!({"id": "alise2", "kind": "human"})).await.ok();
    host.send(&op, reqwest::Method::DELETE, "/v1/members/alise2", None).await;
    let why = async |token: &str, path: &str| {
        let answer = host.get(token, path).await;
        let message = answer.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(answer.refused(404), "NOT_FOUND");
        message
    };
    let meant = "no such member: \"alise\"; did you mean alice?";
    assert_eq!(why(&op, "/v1/members/alise").await, meant);
    assert_eq!(why(&token, "/v1/members/alise").await, meant);
    assert_eq!(why(&op, "/v1/members/zzz").await, "no such member: \"zzz\"");
    let seat = format!("/v1/channels/{ops}/members/alise");
    let refused = host.send(&op, reqwest::Method::PUT, &seat, Some(json!({}))).await;
    assert_eq!(refused.body["error"]["message"], meant);

    // A turn's token is told of nobody outside of its conversation.
    let mut bot = host.connect(&token).await;
    host.say(&host.token("ann").await, &ops, "@bot can you look at it?").await;
    let event = bot.take().await;
    let turn = event["turn"]["token"].as_str().unwrap();
    let new =
        json!({"conversation": ops, "text": "x", "idempotency_key": "k", "mentions": ["alise"]});
    let refused = host.post(turn, "/v1/messages", new).await;
    assert_eq!(refused.body["error"]["message"], "no such member: \"alise\"", "{refused:?}");
}
