//! What ends an obligation and what does not, over the transports.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::test_host::TestHost;

fn id(event: &Value) -> String {
    event["event_id"].as_str().unwrap().to_owned()
}

async fn receipt(host: &TestHost, token: &str, event: &str, member: &str) -> Value {
    let why = host.get(token, &format!("/v1/events/{event}/attention")).await.ok();
    let all = why["told"].as_array().unwrap();
    all.iter().find(|one| one["member"] == member).map_or(Value::Null, |one| one["receipt"].clone())
}

async fn ended(host: &TestHost, token: &str, event: &str, member: &str) -> Value {
    receipt(host, token, event, member).await["disposition"].clone()
}

async fn listed(host: &TestHost, token: &str, state: &str) -> Vec<Value> {
    let path = format!("/v1/deliveries?state={state}");
    host.get(token, &path).await.ok()["deliveries"].as_array().unwrap().clone()
}

/// Who has it, of what is overdue.
async fn moved_to(host: &TestHost, event: &str) -> Value {
    let all = listed(host, &host.operator(), "overdue").await;
    all.iter().find(|d| d["event_id"] == event).map_or(Value::Null, |d| d["member"].clone())
}

/// Posts as the member, over plain REST.
async fn post(host: &TestHost, token: &str, room: &str, text: &str, beside: Value) -> Value {
    let key = text.replace(|c: char| !c.is_ascii_alphabetic(), "");
    let mut new = json!({"conversation": room, "text": text, "idempotency_key": key});
    new.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
    host.post(token, "/v1/messages", new).await.ok()
}

/// A direct conversation of ann and bot.
async fn direct(host: &TestHost) -> String {
    let ann = host.token("ann").await;
    let new = json!({"title": "pair", "kind": "dm", "members": ["bot"]});
    let made = host.post(&ann, "/v1/channels", new).await.ok();
    made["id"].as_str().unwrap().to_owned()
}

async fn asked(host: &TestHost, bot: &mut Harness, room: &str, text: &str) -> (String, Value) {
    let posted = host.say(&host.token("ann").await, room, text).await;
    loop {
        let event = bot.take().await;
        if event["eventId"] == posted["event_id"] {
            return (id(&posted), event);
        }
    }
}

// covers: ATT-390
#[tokio::test]
async fn a_note_in_passing_leaves_the_question_open() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    let (event, delivered) = asked(&host, &mut bot, &room, "@bot can you restart it?").await;
    let word = host.say(&host.operator(), &room, "the disk is full").await;
    post(&host, &token, &room, "it rains", json!({"directedness": "ambient"})).await;
    post(&host, &token, &room, "@operator it rains", json!({})).await;
    let turn = &delivered["turn"]["token"];
    for (key, text, to) in
        [("a", "@operator look", Value::Null), ("b", "I see", word["event_id"].clone())]
    {
        let args = json!({"target": {"conversation": room}, "idempotencyKey": key, "text": text,
            "visibility": "channel", "directedness": "to_me", "inReplyTo": to, "turn": turn});
        bot.tool("chat.send_message", args).await.unwrap();
    }
    assert_eq!(ended(&host, &ann, &event, "bot").await, Value::Null);
    // A plain text is the answer.
    post(&host, &token, &room, "restarted", json!({})).await;
    assert_eq!(ended(&host, &ann, &event, "bot").await, "responded");
}

// covers: ATT-391
#[tokio::test]
async fn a_reply_that_the_asker_does_not_see_is_none() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (op, ann, token) = (host.operator(), host.token("ann").await, host.token("bot").await);
    let new = json!({"title": "elsewhere", "members": ["bot"]});
    let elsewhere =
        host.post(&op, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned();
    let mut bot = host.connect(&token).await;
    let (event, delivered) = asked(&host, &mut bot, &room, "@bot can you restart it?").await;
    post(&host, &token, &elsewhere, "restarted", json!({"in_reply_to": event})).await;
    assert_eq!(ended(&host, &ann, &event, "bot").await, Value::Null);
    bot.reply(&delivered, "restarted").await.unwrap();
    assert_eq!(ended(&host, &ann, &event, "bot").await, "responded");
}

// covers: ATT-392
#[tokio::test]
async fn deferred_delivery_can_be_given_up_or_deferred_again() {
    for how in ["ignored", "failed", "acknowledged", "superseded", "cancelled"] {
        let host = TestHost::open().await;
        let room = host.room(&["bot"]).await;
        let ann = host.token("ann").await;
        let mut bot = host.connect(&host.token("bot").await).await;
        let posted = host.say(&ann, &room, "@bot can you restart it?").await;
        let frame = bot.delivery().await;
        bot.acknowledge(&frame).await;
        let event = id(&posted);
        for (until, ms) in [("1h", 3_600_000), ("2h", 7_200_000)] {
            let args = json!({"eventId": event, "reason": "after the deploy", "until": until});
            assert_eq!(bot.tool("chat.defer", args).await.unwrap()["disposition"], "deferred");
            let until = chorus_wire::time::format(crate::test_host::START.plus(ms));
            assert_eq!(receipt(&host, &ann, &event, "bot").await["deferred_until"], json!(until));
        }
        if how == "cancelled" {
            let params = json!({"requestId": frame["id"]});
            let cancel =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            bot.write(cancel).await;
            bot.call("ping", json!({})).await.unwrap();
            assert_eq!(ended(&host, &ann, &event, "bot").await, "failed");
        } else {
            let params = json!({"eventId": event, "disposition": how, "note": "no access"});
            assert_eq!(bot.call("chat/disposition", params).await.unwrap()["disposition"], how);
            let mine = receipt(&host, &ann, &event, "bot").await;
            assert_eq!((&mine["disposition"], &mine["note"]), (&json!(how), &json!("no access")));
        }
        let next = if how == "acknowledged" { Value::Null } else { json!("operator") };
        assert_eq!(moved_to(&host, &event).await, next, "{how}");
    }
}

// covers: ATT-393
#[tokio::test]
async fn a_cancellation_is_of_the_attempt_that_it_names() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let event = id(&host.say(&ann, &room, "@bot can you restart it?").await);
    let first = bot.delivery().await;
    bot.acknowledge(&first).await;
    let args = json!({"eventId": event, "reason": "after the deploy", "until": "1m"});
    bot.tool("chat.defer", args).await.unwrap();
    host.pass(60_000).await;
    let second = bot.delivery().await;
    bot.acknowledge(&second).await;
    for params in
        [json!({"requestId": first["id"]}), json!({"requestId": first["id"], "eventId": event})]
    {
        bot.write(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
        bot.call("ping", json!({})).await.unwrap();
        assert_eq!(ended(&host, &ann, &event, "bot").await, Value::Null);
    }
    let params = json!({"requestId": second["id"], "eventId": event});
    bot.write(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
    bot.call("ping", json!({})).await.unwrap();
    assert_eq!(ended(&host, &ann, &event, "bot").await, "failed");
}

// covers: ATT-394, ATT-395
#[tokio::test]
async fn a_dead_letter_ends_by_a_late_answer_and_is_sent_again_by_whoever_asked() {
    for how in ["reply", "resolve", "disposition", "done", "again"] {
        let host = TestHost::open().await;
        host.room(&["bot"]).await;
        let (ann, token) = (host.token("ann").await, host.token("bot").await);
        let room = direct(&host).await;
        let mut bot = host.connect(&token).await;
        let (event, delivered) = asked(&host, &mut bot, &room, "can you restart it?").await;
        host.pass(300_000).await;
        assert_eq!(receipt(&host, &ann, &event, "bot").await["state"], "dead");
        assert_eq!(listed(&host, &ann, "overdue").await.len(), 1);
        let dead = listed(&host, &ann, "dead").await;
        assert_eq!(dead.len(), 1, "it is the asker's concern");
        let as_expected = if how == "done" { "superseded" } else { "responded" };
        match how {
            "reply" => drop(bot.reply(&delivered, "restarted").await.unwrap()),
            "resolve" => {
                let args = json!({"eventId": event, "note": "it was up"});
                assert_eq!(
                    bot.tool("chat.resolve", args).await.unwrap()["disposition"],
                    "responded"
                );
            }
            "disposition" => {
                let params = json!({"eventId": event, "disposition": "responded"});
                bot.call("chat/disposition", params).await.unwrap();
            }
            "done" => {
                let message = event.replace("evt_", "msg_");
                let path = format!("/v1/messages/{message}/reactions/done");
                host.send(&ann, Method::PUT, &path, None).await.ok();
            }
            _ => {
                let path = format!("/v1/deliveries/{}/redeliver", dead[0]["id"].as_str().unwrap());
                let foreign = host.post(&token, &path, json!({})).await;
                assert_eq!(foreign.refused(403), "INSUFFICIENT_AUTHORITY");
                host.post(&ann, &path, json!({})).await.ok();
                let again = loop {
                    let again = bot.take().await;
                    if again["attention"]["policy"] == "may_respond" {
                        break again;
                    }
                };
                bot.reply(&again, "restarted").await.unwrap();
            }
        }
        assert_eq!(ended(&host, &ann, &event, "bot").await, as_expected, "{how}");
        assert_eq!(listed(&host, &ann, "overdue").await, Vec::<Value>::new(), "{how}");
        assert_eq!(listed(&host, &host.operator(), "dead").await, Vec::<Value>::new(), "{how}");
    }
}

// covers: ATT-396
#[tokio::test]
async fn late_done_settles_an_overdue_delivery() {
    for how in ["resolve", "disposition", "reaction"] {
        let host = TestHost::open().await;
        let room = host.room(&["bot"]).await;
        let ann = host.token("ann").await;
        let mut bot = host.connect(&host.token("bot").await).await;
        let (event, _) = asked(&host, &mut bot, &room, "@bot can you restart it?").await;
        host.pass(300_000).await;
        assert_eq!(moved_to(&host, &event).await, "operator");
        match how {
            "resolve" => drop(bot.tool("chat.resolve", json!({"eventId": event})).await.unwrap()),
            "disposition" => {
                let params = json!({"eventId": event, "disposition": "responded"});
                bot.call("chat/disposition", params).await.unwrap();
            }
            _ => {
                let args = json!({"inReplyTo": event, "signal": "done"});
                assert_eq!(bot.tool("chat.react", args).await.unwrap()["disposition"], "responded");
            }
        }
        assert_eq!(moved_to(&host, &event).await, Value::Null, "{how}");
        assert_eq!(ended(&host, &ann, &event, "bot").await, "responded");
    }
}

// covers: ATT-397
#[tokio::test]
async fn the_id_that_a_thread_shows_is_good_for_what_is_owed_after_an_edit() {
    for how in ["done", "declined", "queued", "resolve"] {
        let host = TestHost::open().await;
        let room = host.room(&["bot"]).await;
        let (ann, token) = (host.token("ann").await, host.token("bot").await);
        let mut bot = host.connect(&token).await;
        let (first, _) = asked(&host, &mut bot, &room, "@bot can you restart it?").await;
        let path = format!("/v1/messages/{}", first.replace("evt_", "msg_"));
        let edit = json!({"text": "@bot can you restart the host?"});
        host.send(&ann, Method::PATCH, &path, Some(edit)).await.ok();
        let edited = bot.take().await;
        let newest = edited["eventId"].as_str().unwrap();
        assert_ne!(newest, first);
        let read = json!({"conversation": room});
        let shown = host.tool(&token, "chat.read_thread", read).await.unwrap();
        let messages = shown["messages"].as_array().unwrap();
        let shown =
            messages.iter().find(|m| m["text"] == "@bot can you restart the host?").unwrap();
        let given = match how {
            "resolve" => {
                let args = json!({"eventId": shown["eventId"]});
                bot.tool("chat.resolve", args).await.unwrap()
            }
            signal => {
                let args = json!({"inReplyTo": shown["eventId"], "signal": signal});
                bot.tool("chat.react", args).await.unwrap()
            }
        };
        let expected = match how {
            "declined" => "ignored",
            "queued" => "deferred",
            _ => "responded",
        };
        assert_eq!(given["disposition"], expected);
        assert_eq!(ended(&host, &ann, newest, "bot").await, expected, "{how}");
    }
}

// covers: ATT-398
#[tokio::test]
async fn read_only_member_owes_no_answer() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let ann = host.token_of("ann", "orchestrator").await;
    let new = json!({"title": "open", "visibility": "public", "members": ["bot"]});
    let room = host.post(&ann, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned();
    let mut bot = host.connect(&host.token("bot").await).await;
    let (event, _) = asked(&host, &mut bot, &room, "@bot can you restart it?").await;
    host.pass(300_000).await;
    assert_eq!(receipt(&host, &ann, &event, "bot").await["state"], "dead");
    let path = format!("/v1/messages?conversation={room}");
    let all = host.get(&ann, &path).await.ok();
    let reports = all["messages"].as_array().unwrap().iter().filter(|m| m["kind"] == "system");
    let texts: Vec<&Value> = reports.map(|m| &m["text"]).collect();
    assert_eq!(texts, ["No answer came in time, and nobody else can answer."]);
}
