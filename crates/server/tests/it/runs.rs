//! Runs over the transports: what they put out is kept, and whoever asked sees when they fail.

use serde_json::{Value, json};

use crate::test_host::{START, TestHost};

/// A channel of the operator and these agents, and nobody else.
async fn alone_with(host: &TestHost, agents: &[&str]) -> String {
    let op = host.operator();
    for agent in agents {
        host.post(&op, "/v1/members", json!({"id": agent, "kind": "agent"})).await.ok();
    }
    let new = json!({"title": "room", "members": agents});
    host.post(&op, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned()
}

async fn messages(host: &TestHost, room: &str) -> Vec<Value> {
    let path = format!("/v1/messages?conversation={room}");
    host.get(&host.operator(), &path).await.ok()["messages"].as_array().unwrap().clone()
}

async fn reports(host: &TestHost, room: &str) -> Vec<Value> {
    let all = messages(host, room).await;
    all.into_iter().filter(|message| message["kind"] == "system").collect()
}

async fn dispose(host: &TestHost, token: &str, event: &Value, how: &str, note: &str) -> Value {
    let params = json!({"eventId": event["eventId"], "disposition": how, "note": note,
        "turn": event["turn"]["token"]});
    host.rpc(token, "chat/disposition", params).await.ok()["result"]["disposition"].clone()
}

// covers: ATT-380, ATT-381, ATT-382
#[tokio::test]
async fn author_reads_why_a_run_failed() {
    let host = TestHost::open().await;
    let room = alone_with(&host, &["bot", "aide"]).await;
    let (op, token, aide) = (host.operator(), host.token("bot").await, host.token("aide").await);
    let mut bot = host.connect(&token).await;
    let mut aide = host.connect(&aide).await;
    let asked = host.say(&op, &room, "@bot can you look at the deploy?").await;
    let event = bot.take().await;
    let note = format!(
        "the runtime ended with exit status: 3: boom\u{1b}[31m @aide AKIAIOSFODNN7EXAMPLE\n{}",
        "x".repeat(2_000)
    );
    assert_eq!(dispose(&host, &token, &event, "failed", &note).await, "failed");
    let said = reports(&host, &room).await;
    assert_eq!(said.len(), 1, "{said:?}");
    let text = said[0]["text"].as_str().unwrap();
    let begins = "The run failed, and nobody else can answer: the runtime ended with exit status: 3: \
                  boom\\u{1b}[31m @aide ";
    assert!(text.starts_with(begins) && text.ends_with('…'), "{text}");
    assert!(text.chars().count() < 700 && !text.contains('\n'), "{text}");
    assert!(!text.contains("AKIAIOSFODNN7EXAMPLE"), "{text}");
    assert_eq!(
        (&said[0]["author"]["id"], &said[0]["in_reply_to"]),
        (&json!("bot"), &asked["event_id"])
    );
    // It is said once, wakes nobody, and stands in the way of nothing that is said next.
    assert_eq!(dispose(&host, &token, &event, "failed", "again").await, "failed");
    assert!(bot.is_quiet().await && aide.is_quiet().await);
    let dead = host.get(&op, "/v1/deliveries?state=dead").await.ok();
    assert_eq!(dead["deliveries"][0]["event_id"], asked["event_id"], "{dead}");
    let why = format!("/v1/events/{}/attention", asked["event_id"].as_str().unwrap());
    let why = host.get(&op, &why).await.ok();
    let told = why["told"].as_array().unwrap().iter().find(|told| told["member"] == "bot").unwrap();
    for receipt in [&dead["deliveries"][0], &told["receipt"]] {
        let note = receipt["note"].as_str().unwrap();
        assert!(note.contains("boom") && !note.contains("AKIAIOSFODNN7EXAMPLE"), "{receipt}");
    }
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, START.plus(5_000)).await;
    assert_eq!(reports(&host, &room).await.len(), 1);
    let mut bot = host.connect(&token).await;
    host.say(&op, &room, "@bot and now?").await;
    let event = bot.take().await;
    bot.reply(&event, "now it works").await.unwrap();
    assert_eq!(reports(&host, &room).await.len(), 1);
}

// covers: ATT-345, ATT-380
#[tokio::test]
async fn author_reads_that_a_run_was_cancelled() {
    let host = TestHost::open().await;
    let room = alone_with(&host, &["bot"]).await;
    let token = host.token("bot").await;
    let mut bot = host.connect(&token).await;
    host.say(&host.operator(), &room, "@bot can you look at the deploy?").await;
    let frame = bot.delivery().await;
    bot.acknowledge(&frame).await;
    let params = json!({"requestId": frame["id"]});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    bot.write(cancel.clone()).await;
    bot.write(cancel).await;
    bot.call("ping", json!({})).await.unwrap();
    let said = reports(&host, &room).await;
    let texts: Vec<&Value> = said.iter().map(|message| &message["text"]).collect();
    let expected = "The run failed, and nobody else can answer: its program cancelled the run";
    assert_eq!(texts, [expected]);
    let dead = host.get(&host.operator(), "/v1/deliveries?state=dead").await.ok();
    assert_eq!(dead["deliveries"][0]["note"], "its program cancelled the run", "{dead}");
}

// covers: ATT-380
#[tokio::test]
async fn no_failure_is_reported_while_another_agent_can_answer() {
    let host = TestHost::open().await;
    // Ann asks; where the run fails the operator owes it.
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    host.say(&ann, &room, "@bot can you look at the deploy?").await;
    let event = bot.take().await;
    assert_eq!(dispose(&host, &token, &event, "failed", "boom").await, "failed");
    assert_eq!(reports(&host, &room).await, Vec::<Value>::new());
}

// covers: ATT-450
#[tokio::test]
async fn author_reads_no_codes_and_of_a_denied_answer_that_it_was_denied() {
    let host = TestHost::open().await;
    let room = alone_with(&host, &["bot"]).await;
    let (op, token) = (host.operator(), host.token("bot").await);
    let mut bot = host.connect(&token).await;
    for (note, expected) in [
        (
            "the conversation could not be read: NOT_FOUND: no such thread (req_0192f0c1a2b3)",
            "The run failed, and nobody else can answer: the conversation could not be read: no such \
             thread",
        ),
        (
            "FORBIDDEN: a person has denied it: not yet (req_0192f0c1a2b3)",
            "The answer is not posted: a person has denied it: not yet",
        ),
    ] {
        host.say(&op, &room, &format!("@bot can you look at {note}?")).await;
        let event = bot.take().await;
        dispose(&host, &token, &event, "failed", note).await;
        let said = reports(&host, &room).await;
        assert_eq!(said.last().unwrap()["text"], expected);
    }
    let dead = host.get(&op, "/v1/deliveries?state=dead").await.ok();
    assert!(!dead.to_string().contains("req_"), "{dead}");
}

/// A question in a room whose answers go into threads, taken by bot; its session, and its turn.
async fn asked_in_public(host: &TestHost) -> (String, crate::harness::Harness, String, Value) {
    let room = alone_with(host, &["bot", "aide"]).await;
    let token = host.token("bot").await;
    let mut bot = host.connect(&token).await;
    host.say(&host.operator(), &room, "@bot can you look at the deploy?").await;
    let event = bot.take().await;
    (room, bot, token, event)
}

async fn emit(
    host: &TestHost,
    token: &str,
    event: &Value,
    content: Value,
) -> Result<Value, String> {
    let args = json!({"content": content, "turn": event["turn"]["token"]});
    host.tool(token, "emit_output", args).await
}

// covers: CHN-40, CHN-310
#[tokio::test]
async fn output_of_a_run_survives_its_connection_and_a_restart() {
    let host = TestHost::open().await;
    let (room, bot, token, event) = asked_in_public(&host).await;
    let session = bot.hello["session"]["id"].clone();
    let text = json!([{"type": "text", "text": "it is green"}]);
    assert_eq!(emit(&host, &token, &event, text).await.unwrap()["kept"], true);
    // The connection goes, and comes back.
    drop(bot);
    let mut bot = host.connect_as(&token, json!({"id": session})).await;
    assert_eq!(bot.take().await["eventId"], event["eventId"]);
    // The host goes, and comes back.
    drop(bot);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, START.plus(5_000)).await;
    let mut bot = host.connect_as(&token, json!({"id": session})).await;
    let event = bot.take().await;
    assert_eq!(dispose(&host, &token, &event, "ignored", "").await, "responded");
    let said = messages(&host, &room).await;
    assert_eq!(said.iter().filter(|m| m["text"] == "it is green").count(), 1, "{said:?}");
}

// covers: CHN-311, CHN-312
#[tokio::test]
async fn output_that_cannot_be_posted_is_refused_at_once() {
    let host = TestHost::open().await;
    let (room, mut bot, token, event) = asked_in_public(&host).await;
    let op = host.operator();
    let good = json!([{"type": "text", "text": "it is green"}]);
    emit(&host, &token, &event, good).await.unwrap();
    let file = host.request(reqwest::Method::POST, "/v1/assets?name=a.txt").bearer_auth(&op);
    let file = TestHost::answer(file.body("secret")).await.ok()["asset_id"].clone();
    for unseen in [file.clone(), json!("ast_00000000000000000000000000")] {
        let parts = json!([{"type": "text", "text": "see"}, {"type": "asset", "asset_id": unseen}]);
        let refused = emit(&host, &token, &event, parts).await.unwrap_err();
        assert!(refused.contains("NOT_FOUND"), "{refused}");
    }
    // What was kept before stands.
    assert_eq!(dispose(&host, &token, &event, "ignored", "").await, "responded");
    assert!(messages(&host, &room).await.iter().any(|m| m["text"] == "it is green"));

    // What was fit to be posted and is not any more: the run has not answered, whatever it says.
    let shown = json!({"conversation": room, "idempotency_key": "file",
        "content": [{"type": "text", "text": "for the record"}, {"type": "asset", "asset_id": file}]});
    let shown = host.post(&op, "/v1/messages", shown).await.ok();
    let asked = host.say(&op, &room, "@bot what does the file say?").await;
    let event = loop {
        let event = bot.take().await;
        if event["eventId"] == asked["event_id"] {
            break event;
        }
    };
    let parts = json!([{"type": "text", "text": "this"}, {"type": "asset", "asset_id": file}]);
    emit(&host, &token, &event, parts).await.unwrap();
    let path = format!("/v1/messages/{}", shown["message_id"].as_str().unwrap());
    host.send(&op, reqwest::Method::DELETE, &path, None).await;
    assert_eq!(dispose(&host, &token, &event, "responded", "").await, "failed");
    assert!(messages(&host, &room).await.iter().all(|m| m["text"] != "this"));
    assert_eq!(reports(&host, &room).await.len(), 1, "whoever asked is told");
}
