//! C2A: a turn from delivery to reply, and everything else a harness says and hears.

use chorus_wire::tool_list;
use serde_json::json;

use crate::test_host::TestHost;

// covers: ATT-18, ATT-19, ATT-20, ATT-76
#[tokio::test]
async fn initialize_negotiates_and_tools_are_listed() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let token = host.token("bot").await;
    let mut bot = host.socket(&token).await;
    let first = bot.call("tools/list", json!({})).await.unwrap_err();
    assert_eq!(first["data"]["code"], "VALIDATION_ERROR");
    let hello = bot
        .call(
            "initialize",
            json!({"protocolVersion": "1999-01-01", "clientInfo": {"name": "t", "version": "1"},
                "capabilities": {"delivery": {"ack": true}, "injection": {"interrupt": true}},
                "session": {"runtime": "cmd", "resumable": true},
                "glyphs": {"done": ":check:", "unheard_of": "x"}}),
        )
        .await
        .unwrap();
    assert_eq!(hello["protocolVersion"], "2026-06-02");
    assert_eq!(
        hello["capabilities"]["delivery"],
        json!({"ack": true, "redelivery": false, "idempotency": false})
    );
    assert_eq!(hello["capabilities"]["injection"]["interrupt"], false);
    assert_eq!(hello["member"]["id"], "bot");
    assert_eq!(
        (&hello["glyphs"]["done"], &hello["glyphs"]["seen"]),
        (&json!(":check:"), &json!("👀"))
    );
    assert_eq!(hello["limits"]["unacked"], 32);
    assert_eq!(hello["turnUrl"], host.url("/v1/c2a"));
    let tools = bot.call("tools/list", json!({})).await.unwrap();
    assert_eq!(tools["tools"].as_array().unwrap().len(), tool_list::all().count());
    assert!(bot.call("initialize", json!({})).await.is_err());

    let listed = host.get(&token, "/v1/sessions").await.ok();
    assert_eq!(listed["sessions"][0]["runtime"], "cmd");
    assert_eq!(listed["sessions"][0]["connected"], true);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let under = host.post(&token, "/v1/c2a?names=underscore", call).await.ok();
    assert!(under.to_string().contains("chat_send_message"));
}

// covers: ATT-23, ATT-66
#[tokio::test]
async fn a_mention_is_delivered_answered_and_settled() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    let mut other = host.connect(&host.token("other").await).await;
    let posted = host.say(&ann, &room, "@bot is the deploy blocked?").await;
    let frame = bot.delivery().await;
    let event = &frame["params"];
    assert_eq!(event["eventId"], posted["event_id"]);
    assert_eq!(event["conversation"]["kind"], "channel");
    assert_eq!(event["target"], json!({"mentions": ["bot"], "directedness": "to_me"}));
    assert_eq!(event["attention"]["policy"], "must_respond");
    assert_eq!(event["attention"]["reason"], "mention");
    assert_eq!(event["attention"]["deadlineMs"], 300_000);
    assert_eq!(event["reliability"]["attempt"], 1);
    let key = format!("{}:bot", posted["event_id"].as_str().unwrap());
    assert_eq!(event["reliability"]["idempotencyKey"], key);
    assert_eq!(event["content"][0]["text"], "@bot is the deploy blocked?");
    assert!(event.get("knock").is_none());
    bot.acknowledge(&frame).await;

    let sent = bot.reply(event, "no, it went out at noon").await.unwrap();
    assert_eq!(sent["duplicate"], false);
    let again = bot.reply(event, "no, it went out at noon").await.unwrap();
    assert_eq!((&again["eventId"], &again["duplicate"]), (&sent["eventId"], &json!(true)));
    assert_eq!(bot.reply(event, "something else").await, Err("IDEMPOTENCY_CONFLICT".to_owned()));
    assert!(other.is_quiet().await, "only the one addressed is told");

    let id = posted["event_id"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    let told = &why["told"][0];
    assert_eq!((&told["member"], &told["reason"]), (&json!("bot"), &json!("mention")));
    assert_eq!(told["receipt"]["state"], "settled");
    assert_eq!(told["receipt"]["disposition"], "responded");
    assert!(
        told["receipt"]["offered_at"].is_string() && told["receipt"]["accepted_at"].is_string()
    );
    let reply = sent["eventId"].as_str().unwrap();
    let shown = host.get(&ann, &format!("/v1/messages/{reply}")).await.ok();
    assert_eq!((&shown["in_reply_to"], &shown["hop"]), (&posted["event_id"], &json!(1)));
}

// covers: ATT-92
#[tokio::test]
async fn a_runtime_speaks_with_its_turns_token_in_its_conversation_only() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let new = json!({"title": "elsewhere", "members": ["bot", "ann"]});
    let elsewhere = host.post(&host.operator(), "/v1/channels", new).await.ok();
    let elsewhere = elsewhere["id"].as_str().unwrap();
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    host.say(&ann, &room, "@bot please check").await;
    let event = bot.take().await;
    let turn = event["turn"]["token"].as_str().unwrap();

    let me = host.get(turn, "/v1/whoami").await.ok();
    assert_eq!(
        (&me["turn"]["event_id"], &me["turn"]["fence"]),
        (&event["eventId"], &event["turn"]["fence"])
    );
    let read =
        host.tool(turn, "chat.read_thread", json!({"eventId": event["eventId"]})).await.unwrap();
    assert_eq!(read["messages"][0]["text"], "@bot please check");
    let there = json!({"conversation": elsewhere});
    assert_eq!(host.tool(turn, "chat.read_thread", there).await, Err("FORBIDDEN".to_owned()));
    let say = |room: &str, key: &str| {
        json!({"target": {"conversation": room}, "idempotencyKey": key,
        "visibility": "channel", "directedness": "ambient", "text": "checked"})
    };
    assert_eq!(
        host.tool(turn, "chat.send_message", say(elsewhere, "a")).await,
        Err("FORBIDDEN".to_owned())
    );
    for path in ["/v1/members", "/v1/channels", "/v1/sessions"] {
        assert_eq!(host.get(turn, path).await.refused(403), "FORBIDDEN", "{path}");
    }
    assert_eq!(
        host.post(turn, "/v1/tokens", json!({"agent": "bot", "role": "worker"})).await.refused(403),
        "FORBIDDEN"
    );
    let sent = host.tool(turn, "chat.send_message", say(&room, "b")).await.unwrap();
    let rest = json!({"conversation": room, "text": "by REST", "idempotency_key": "c"});
    host.post(turn, "/v1/messages", rest).await.ok();
    let shown =
        host.get(&ann, &format!("/v1/messages/{}", sent["eventId"].as_str().unwrap())).await.ok();
    assert_eq!(shown["author"]["id"], "bot");
}

// covers: ATT-34, ATT-84, ATT-89
#[tokio::test]
async fn a_role_knocks_at_one_who_claims_and_gets_the_content() {
    let host = TestHost::open().await;
    let room = host.room(&["one", "two"]).await;
    let op = host.operator();
    host.post(&op, "/v1/roles", json!({"name": "ops"})).await.ok();
    for id in ["one", "two"] {
        let path = format!("/v1/roles/ops/members/{id}");
        host.send(&op, reqwest::Method::PUT, &path, None).await.ok();
    }
    let ann = host.token("ann").await;
    let mut harnesses = [
        host.connect(&host.token("one").await).await,
        host.connect(&host.token("two").await).await,
    ];
    let posted = host.say(&ann, &room, "@ops who can restart the queue?").await;
    let chosen = posted["told"].as_array().unwrap().iter().find(|t| t["mode"] == "notify").unwrap();
    let first = usize::from(chosen["member"] == "two");
    let (one, two) = harnesses.split_at_mut(1);
    let (chosen, other) =
        if first == 0 { (&mut one[0], &mut two[0]) } else { (&mut two[0], &mut one[0]) };

    let knock = chosen.take().await;
    assert_eq!(knock["injection"]["mode"], "notify");
    assert!(knock.get("content").is_none(), "a knock shows no content: {knock}");
    assert_eq!(knock["knock"]["from"], "human:ann");
    assert_eq!(knock["knock"]["pullWith"], "chat.read_thread");
    assert!(!knock.to_string().contains("restart the queue"));
    assert!(other.is_quiet().await, "one responder for a role");

    let claimed = chosen.tool("chat.claim", json!({"eventId": knock["eventId"]})).await.unwrap();
    assert_eq!(claimed["event"]["content"][0]["text"], "@ops who can restart the queue?");
    let late = other.tool("chat.claim", json!({"eventId": knock["eventId"]})).await;
    assert_eq!(late, Err("CLAIMED_BY_OTHER".to_owned()));
    let claims = host.get(&op, "/v1/claims").await.ok();
    assert_eq!(claims["claims"].as_array().unwrap().len(), 1);
    let barred = other.reply(&knock, "me!").await;
    assert!(barred.is_err(), "{barred:?}");
    let turn = json!({"eventId": knock["eventId"], "conversation": knock["conversation"],
        "turn": claimed["turn"]});
    chosen.reply(&turn, "done").await.unwrap();
    let claims = host.get(&op, "/v1/claims").await.ok();
    assert_eq!(claims["claims"], json!([]));
}

// covers: ATT-71, ATT-80, ATT-81
#[tokio::test]
async fn reactions_defer_and_resolve_end_deliveries() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let state = async |event: &serde_json::Value| {
        let id = event["eventId"].as_str().unwrap();
        let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
        why["told"][0]["receipt"]["disposition"].clone()
    };

    host.say(&ann, &room, "@bot can you take the first?").await;
    let event = bot.take().await;
    let reacted = bot
        .tool(
            "chat.react",
            json!({"inReplyTo": event["eventId"], "signal": "queued", "eta": "noon"}),
        )
        .await
        .unwrap();
    assert_eq!(reacted["disposition"], "deferred");
    assert_eq!(state(&event).await, "deferred");

    host.say(&ann, &room, "@bot can you take the second?").await;
    let event = bot.take().await;
    let args = json!({"eventId": event["eventId"], "reason": "no key yet", "until": "2h"});
    assert_eq!(bot.tool("chat.defer", args).await.unwrap()["disposition"], "deferred");
    for until in ["2027-01-01T00:00:00Z", "2020-01-01T00:00:00Z", "8d", "soon"] {
        let args = json!({"eventId": event["eventId"], "reason": "later", "until": until});
        assert_eq!(bot.tool("chat.defer", args).await, Err("VALIDATION_ERROR".into()), "{until}");
    }

    host.say(&ann, &room, "@bot can you take the third?").await;
    let event = bot.take().await;
    let args = json!({"eventId": event["eventId"], "note": "was done already"});
    assert_eq!(bot.tool("chat.resolve", args).await.unwrap()["disposition"], "responded");

    host.say(&ann, &room, "@bot can you take the fourth?").await;
    let event = bot.take().await;
    let params = json!({"eventId": event["eventId"], "disposition": "ignored", "note": "not mine"});
    let ended = bot.call("chat/disposition", params).await.unwrap();
    assert_eq!(ended["disposition"], "ignored");
    assert_eq!(state(&event).await, "ignored");
}

// covers: ATT-120, ATT-124, ATT-126
#[tokio::test]
async fn an_edit_and_a_deletion_take_the_offer_back() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let posted = host.say(&ann, &room, "@bot restart alpha please").await;
    let first = bot.take().await;
    let path = format!("/v1/messages/{}", posted["event_id"].as_str().unwrap());
    let patch = Some(json!({"text": "@bot restart beta please"}));
    host.send(&ann, reqwest::Method::PATCH, &path, patch).await.ok();
    let cancelled = bot.heard().await.unwrap();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["eventId"], first["eventId"]);
    let second = bot.take().await;
    assert_eq!(second["replaces"], first["eventId"]);
    assert_eq!(second["content"][0]["text"], "@bot restart beta please");
    assert_eq!(bot.reply(&first, "alpha it is").await, Err("STALE_TURN".to_owned()));

    host.send(&ann, reqwest::Method::DELETE, &path, None).await;
    let cancelled = bot.heard().await.unwrap();
    assert_eq!(cancelled["params"]["eventId"], second["eventId"]);
    assert_eq!(bot.reply(&second, "beta it is").await, Err("STALE_TURN".to_owned()));
}

// covers: ATT-122
