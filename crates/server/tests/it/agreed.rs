//! What is agreed on at `initialize` holds for what goes out and comes in; what one side cancels ends; and what is owed
//! comes before what is new.

use chorus_testing::eventually;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::live::Tail;
use crate::test_host::TestHost;

/// The capabilities that the protocol's own example states, with one group changed.
fn all_but(group: &str, changed: Value) -> Value {
    let mut all = json!({
        "delivery": {"ack": true, "redelivery": true, "idempotency": true},
        "injection": {"immediate": true, "buffered": true, "notify": true, "tool_mailbox": true, "digest": true, "interrupt": false},
        "chatTools": {"readThread": true, "sendMessage": true, "react": true, "reactionSignals": true, "claim": true, "defer": true, "resolve": true},
        "utilities": {"progress": true, "cancellation": true, "logging": true},
    });
    for (name, value) in changed.as_object().unwrap() {
        all[group][name] = value.clone();
    }
    all
}

async fn connect(host: &TestHost, token: &str, capabilities: Value, session: Value) -> Harness {
    let mut harness = host.socket(token).await;
    let params = json!({
        "protocolVersion": "2026-06-02",
        "clientInfo": {"name": "test", "version": "0"},
        "capabilities": capabilities,
        "session": session,
    });
    harness.hello = harness.call("initialize", params).await.unwrap();
    harness
}

async fn unsettled(host: &TestHost, token: &str) -> Vec<Value> {
    let listed = host.tool(token, "chat.list_events", json!({"unsettled": true})).await.unwrap();
    listed["events"].as_array().unwrap().clone()
}

// covers: ATT-348, ATT-19
#[tokio::test]
async fn a_mode_that_a_harness_does_not_claim_comes_as_one_that_it_does() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let urgent = "@bot urgent: stop the deploy now!";
    let asked = "@bot can you look at the deploy?";
    let none = json!({"immediate": false, "buffered": false, "notify": false});
    for (n, (can, said, mode)) in [
        (json!({"immediate": false}), urgent, Some("buffered")),
        (json!({"immediate": false, "buffered": false}), urgent, Some("notify")),
        (json!({"buffered": false}), asked, Some("immediate")),
        (json!({"buffered": false, "immediate": false}), asked, Some("notify")),
        (none, asked, None),
    ]
    .into_iter()
    .enumerate()
    {
        let mut bot = connect(&host, &token, all_but("injection", can.clone()), json!({})).await;
        let posted = host.say(&ann, &room, &format!("{said} {n}")).await;
        let Some(mode) = mode else {
            assert!(bot.is_quiet().await, "{can}");
            let mine = unsettled(&host, &token).await;
            assert_eq!(mine.last().unwrap()["eventId"], posted["event_id"], "it is in the mailbox");
            continue;
        };
        let event = bot.take().await;
        assert_eq!(event["injection"]["mode"], mode, "{can}");
        let knocks = mode == "notify";
        assert_eq!((event["content"].is_null(), event["knock"].is_object()), (knocks, knocks));
        bot.reply(&event, "done").await.unwrap();
    }
}

// covers: ATT-348
#[tokio::test]
async fn a_knock_is_not_made_more_than_a_knock() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    host.post(&op, "/v1/roles", json!({"name": "ops"})).await.ok();
    host.send(&op, Method::PUT, "/v1/roles/ops/members/bot", None).await.ok();
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let can = all_but("injection", json!({"notify": false}));
    let mut bot = connect(&host, &token, can, json!({})).await;
    let posted = host.say(&ann, &room, "@ops who can restart the queue?").await;
    assert!(bot.is_quiet().await);
    assert_eq!(unsettled(&host, &token).await[0]["eventId"], posted["event_id"]);
}

// covers: ATT-346
#[tokio::test]
async fn a_harness_that_acknowledges_nothing_is_told_and_has_it() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let can = all_but("delivery", json!({"ack": false}));
    let mut bot = connect(&host, &token, can, json!({})).await;
    let posted = host.say(&ann, &room, "@bot can you look?").await;
    let frame = bot.delivery().await;
    assert!(frame.get("id").is_none(), "nothing is to be answered: {frame}");
    let path = format!("/v1/events/{}/attention", posted["event_id"].as_str().unwrap());
    eventually("what was sent is accepted", async || {
        host.get(&ann, &path).await.ok()["told"][0]["receipt"]["accepted_at"].is_string()
    })
    .await;
    host.pass(30_000).await;
    assert!(bot.is_quiet().await, "it is not offered again for want of an acknowledgement");
    bot.reply(&frame["params"], "it is fine").await.unwrap();
}

// covers: ATT-346
#[tokio::test]
async fn a_harness_that_takes_nothing_twice_is_offered_nothing_twice() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let can = || all_but("delivery", json!({"redelivery": false}));
    let mut bot = connect(&host, &token, can(), json!({})).await;
    let session = bot.hello["session"]["id"].clone();
    let posted = host.say(&ann, &room, "@bot can you look?").await;
    let first = bot.delivery().await;
    host.pass(10_000).await;
    host.pass(50_000).await;
    assert!(bot.is_quiet().await, "neither unacknowledged nor as a reminder");
    bot.acknowledge(&first).await;
    drop(bot);
    let mut bot = connect(&host, &token, can(), json!({"id": session})).await;
    assert!(bot.is_quiet().await, "it has taken it before");
    assert_eq!(unsettled(&host, &token).await[0]["eventId"], posted["event_id"]);
}

// covers: ATT-347
#[tokio::test]
async fn a_harness_without_cancellation_is_sent_none_and_learns_it_from_the_refusal() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let can = all_but("utilities", json!({"cancellation": false}));
    let mut bot = connect(&host, &token, can, json!({})).await;
    let posted = host.say(&ann, &room, "@bot can you look?").await;
    let event = bot.take().await;
    let path = format!("/v1/messages/{}", posted["event_id"].as_str().unwrap());
    host.send(&ann, Method::DELETE, &path, None).await;
    assert_eq!(bot.reply(&event, "it is fine").await, Err("STALE_TURN".to_owned()));
    host.say(&ann, &room, "@bot and the queue?").await;
    // What comes next is the next delivery, and no notification before it.
    let next = bot.heard().await.unwrap();
    assert_eq!(next["method"], "chat/deliver", "{next}");
}

// covers: ATT-347, ATT-149
#[tokio::test]
async fn a_harness_without_digests_is_sent_none() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let path = format!("/v1/channels/{room}/members/bot");
    let seat = Some(json!({"participation": "always_listen"}));
    host.send(&host.operator(), Method::PUT, &path, seat).await.ok();
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let can = all_but("injection", json!({"digest": false}));
    let mut without = connect(&host, &token, can, json!({})).await;
    let mut with = host.connect(&token).await;
    host.say(&ann, &room, "deploy is at 40 percent").await;
    host.pass(15 * 60_000).await;
    while with.heard().await.unwrap()["method"] != "notifications/digest" {}
    without.call("ping", json!({})).await.unwrap();
    without.write(json!({"jsonrpc": "2.0", "id": 77, "method": "ping"})).await;
    loop {
        let frame = without.heard().await.unwrap();
        assert_ne!(frame["method"], "notifications/digest");
        if frame["id"] == 77 {
            break;
        }
    }
}

async fn shown(tail: &mut Tail) -> Value {
    loop {
        let (name, event) = tail.next().await.unwrap();
        if name == "progress" {
            return event;
        }
    }
}

// covers: ATT-344, ATT-122
#[tokio::test]
async fn progress_is_shown_at_the_run_it_belongs_to() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut tail = Tail::of(&host, &ann, &format!("conversation={room}&activity=true")).await;
    let mut bot = host.connect(&token).await;
    host.say(&ann, &room, "@bot can you check the deploy?").await;
    let frame = bot.delivery().await;
    bot.acknowledge(&frame).await;
    let event = &frame["params"]["eventId"];
    // As the protocol's own example has it: no event is named.
    let params = json!({"progressToken": "deploy-check-1", "progress": 2, "total": 5, "message": "Checked build status"});
    let told = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
    bot.write(told.clone()).await;
    let seen = shown(&mut tail).await;
    assert_eq!((&seen["event_id"], &seen["conversation"]), (event, &json!(room)));
    assert_eq!(
        [&seen["progress"], &seen["total"], &seen["message"]],
        [&json!(2), &json!(5), &json!("Checked build status")]
    );
    // By the delivery that its token is of, and by POST in the turn.
    let mut of_delivery = told.clone();
    of_delivery["params"]["progressToken"] = frame["id"].clone();
    bot.write(of_delivery).await;
    assert_eq!(&shown(&mut tail).await["event_id"], event);
    let turn = frame["params"]["turn"]["token"].as_str().unwrap();
    assert_eq!(host.post(turn, "/v1/c2a", told.clone()).await.status, 202);
    assert_eq!(&shown(&mut tail).await["event_id"], event);
    let length = host.length(&room).await;
    bot.write(told.clone()).await;
    shown(&mut tail).await;
    assert_eq!(host.length(&room).await, length, "it is no chat");
    // A harness that did not claim it is not heard.
    let can = all_but("utilities", json!({"progress": false}));
    let mut mute = connect(&host, &token, can, json!({})).await;
    let mut unheard = told.clone();
    unheard["params"]["eventId"] = event.clone();
    unheard["params"]["message"] = json!("unheard");
    mute.write(unheard).await;
    mute.call("ping", json!({})).await.unwrap();
    bot.write(told).await;
    assert_eq!(shown(&mut tail).await["message"], "Checked build status");
}

// covers: ATT-345
#[tokio::test]
async fn run_that_a_harness_cancels_ends() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    let posted = host.say(&ann, &room, "@bot can you check the deploy?").await;
    let frame = bot.delivery().await;
    bot.acknowledge(&frame).await;
    let params = json!({"requestId": frame["id"], "reason": "stopped by its operator"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    bot.write(cancel).await;
    bot.call("ping", json!({})).await.unwrap();
    let id = posted["event_id"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    let told = why["told"].as_array().unwrap();
    let mine = told.iter().find(|t| t["member"] == "bot").unwrap();
    assert_eq!(mine["receipt"]["disposition"], "failed", "{why}");
    let moved = told.iter().any(|t| t["reason"] == "escalated");
    assert!(moved, "what was owed goes on to somebody else: {why}");
    assert!(unsettled(&host, &token).await.is_empty());
    // What it says of one that is not its own changes nothing, and its connection stands.
    for unknown in ["dlv_00000000000000000000000000000001.1", "nothing", id] {
        let params = json!({"requestId": unknown});
        bot.write(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
    }
    bot.call("ping", json!({})).await.unwrap();
}

// covers: ATT-22, ATT-350
#[tokio::test]
async fn backlog_of_all_conversations_precedes_new_offers() {
    let host = TestHost::open().await;
    let first = host.room(&["bot"]).await;
    let new = json!({"title": "elsewhere", "members": ["bot", "ann"]});
    let second = host.post(&host.operator(), "/v1/channels", new).await.ok();
    let second = second["id"].as_str().unwrap().to_owned();
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    let session = bot.hello["session"]["id"].clone();
    let mut said = Vec::new();
    for n in 0..3 {
        let room = if n % 2 == 0 { &second } else { &first };
        said.push(host.say(&ann, room, &format!("@bot what about {n}?")).await["event_id"].clone());
        host.clock.advance(1_000);
        let taken = bot.take().await;
        assert_eq!(taken["eventId"], said[n]);
    }
    let last = said[2].clone();
    drop(bot);
    for n in 3..6 {
        let room = if n % 2 == 0 { &second } else { &first };
        said.push(host.say(&ann, room, &format!("@bot what about {n}?")).await["event_id"].clone());
        host.clock.advance(1_000);
    }
    let mut bot = host.socket(&token).await;
    let params = json!({
        "protocolVersion": "2026-06-02", "clientInfo": {"name": "test", "version": "0"},
        "session": {"id": session}, "resume": {"lastEventId": last},
    });
    bot.call("initialize", params).await.unwrap();
    for event in &said {
        assert_eq!(&bot.take().await["eventId"], event, "{said:?}");
    }
}
