//! Turns over the transports: one agent is asked at a time, who waits is shown, and a restart changes nothing of it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{START, TestHost};

/// A room of bot and aide whose answers go into threads.
async fn room(host: &TestHost) -> String {
    let room = host.room(&["bot", "aide"]).await;
    let patch = json!({"replies": "thread", "turns": {"cooldown_ms": 0}});
    let op = host.operator();
    let changed =
        host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(patch)).await.ok();
    assert_eq!(
        (&changed["replies"], &changed["turns"]["cooldown_ms"]),
        (&json!("thread"), &json!(0))
    );
    room
}

async fn turns(host: &TestHost, token: &str, room: &str) -> Value {
    host.get(token, &format!("/v1/channels/{room}/turns")).await.ok()["subjects"].clone()
}

// covers: CHN-1, CHN-20, CHN-26, CHN-28
#[tokio::test]
async fn turn_holder_is_shown_survives_a_restart_and_can_be_revoked() {
    let host = TestHost::open().await;
    let room_id = room(&host).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let (bot_token, aide_token) = (host.token("bot").await, host.token("aide").await);
    let mut bot = host.connect(&bot_token).await;
    let session = bot.hello["session"]["id"].clone();
    let asked = host.say(&ann, &room_id, "@bot @aide can you look at the deploy?").await;
    let offer = bot.take().await;
    let shown = turns(&host, &ann, &room_id).await;
    assert_eq!(shown[0]["root"], asked["event_id"]);
    assert_eq!(shown[0]["holders"][0]["member"], "bot");
    assert_eq!(
        (&shown[0]["waiting"][0]["member"], &shown[0]["waiting"][0]["owed"]),
        (&json!("aide"), &json!(true))
    );
    let early = json!({"conversation": room_id, "text": "me first", "in_reply_to": asked["event_id"], "idempotency_key": "early"});
    assert_eq!(
        host.post(&aide_token, "/v1/messages", early).await.refused(409),
        "TURN_HELD_BY_OTHER"
    );
    let TestHost { running, folder, .. } = host;
    running.stop().await;

    let host = TestHost::open_in(folder, START.plus(5_000)).await;
    assert_eq!(turns(&host, &ann, &room_id).await[0]["holders"][0]["member"], "bot");
    let mut bot = host.connect_as(&bot_token, json!({"id": session})).await;
    bot.take().await;
    let mut aide = host.connect(&aide_token).await;
    let root = asked["event_id"].as_str().unwrap();
    let path = format!("/v1/channels/{room_id}/turns/{root}/bot");
    let refused = host.send(&bot_token, Method::DELETE, &path, None).await;
    assert_eq!(refused.refused(403), "INSUFFICIENT_AUTHORITY");
    assert_eq!(host.send(&op, Method::DELETE, &path, None).await.status, 204);
    assert_eq!(host.send(&op, Method::DELETE, &path, None).await.refused(409), "CONFLICT");
    let second = aide.take().await;
    assert_eq!(second["eventId"], asked["event_id"]);
    assert!(bot.reply(&offer, "still here").await.is_err(), "its turn was taken away");
    aide.reply(&second, "it is fine").await.unwrap();
    assert_eq!(turns(&host, &ann, &room_id).await, json!([]));
}

// covers: CHN-29
#[tokio::test]
async fn settings_out_of_bounds_change_nothing() {
    let host = TestHost::open().await;
    let room = room(&host).await;
    let (op, path) = (host.operator(), format!("/v1/channels/{room}"));
    let before = host.get(&op, &path).await.ok();
    for turns in [
        json!({"max_parallel_public_speakers": 0}),
        json!({"max_parallel_public_speakers": 9}),
        json!({"replies_per_human_message": 0}),
        json!({"replies_per_human_message": 101}),
        json!({"cooldown_ms": -1}),
        json!({"cooldown_ms": 3_600_001}),
        json!({"acceptance_ms": 4_999}),
        json!({"acceptance_ms": 600_001}),
        json!({"speakers": 1}),
        json!("fast"),
    ] {
        let patch = json!({"turns": turns, "title": "changed"});
        let refused = host.send(&op, Method::PATCH, &path, Some(patch)).await;
        assert_eq!(refused.refused(400), "VALIDATION_ERROR", "{turns}");
    }
    assert_eq!(host.get(&op, &path).await.ok(), before);
}

async fn said(host: &TestHost, token: &str, thread: &str) -> Vec<String> {
    let read = host.tool(token, "read_channel_thread", json!({"thread_id": thread})).await.unwrap();
    let all = read["messages"].as_array().unwrap().clone();
    all.iter().map(|m| m["text"].as_str().unwrap_or_default().to_owned()).collect()
}

// covers: CHN-40, CHN-43, CHN-44, CHN-46
#[tokio::test]
async fn a_run_says_once_what_it_put_out_last_and_nods_without_a_word() {
    let host = TestHost::open().await;
    let room = room(&host).await;
    let ann = host.token("ann").await;
    let (bot_token, aide_token) = (host.token("bot").await, host.token("aide").await);
    let (mut bot, mut aide) = (host.connect(&bot_token).await, host.connect(&aide_token).await);
    let asked = host.say(&ann, &room, "@bot @aide can you look at the deploy?").await;
    let mine = bot.take().await;
    let about = &mine["channel"];
    let ids = |list: &Value| -> Vec<String> {
        let all = list.as_array().unwrap().iter();
        all.map(|m| m["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(about["kind"], "channel_delivery");
    let members = ids(&about["members"]);
    assert!(["ann", "bot", "aide"].iter().all(|m| members.iter().any(|id| id == m)), "{about}");
    let output = json!(["emit_output", "set_channel_reaction", "nothing"]);
    let expected = json!({"speakers": 1, "turnsLeft": 3, "waiting": ["aide"], "output": output});
    assert_eq!(about["expectations"], expected);
    assert_eq!(about["recent"][0]["eventId"], asked["event_id"]);
    let turn = &mine["turn"]["token"];
    for text in ["it is red", "it is green"] {
        let kept = host
            .tool(&bot_token, "emit_output", json!({"text": text, "turn": turn}))
            .await
            .unwrap();
        assert_eq!(kept["kept"], true);
    }
    let root = asked["event_id"].as_str().unwrap();
    let read =
        host.tool(&aide_token, "read_channel_thread", json!({"message_id": root})).await.unwrap();
    assert_eq!(
        (&read["messages"][0]["text"], &read["thread_id"]),
        (&json!("@bot @aide can you look at the deploy?"), &Value::Null)
    );
    // The closing text of the runtime is not what is said: what it has put out is. Sent again it is the same.
    let closing = json!({"target": {"conversation": room}, "inReplyTo": root, "idempotencyKey": "close", "visibility": "channel",
        "directedness": "to_me", "text": "Done.", "turn": turn, "closing": true});
    let first = host.tool(&bot_token, "chat.send_message", closing.clone()).await.unwrap();
    let again = host.tool(&bot_token, "chat.send_message", closing).await.unwrap();
    assert_eq!((&again["eventId"], &again["duplicate"]), (&first["eventId"], &json!(true)));
    let thread = first["threadId"].as_str().unwrap().to_owned();
    let question = "@bot @aide can you look at the deploy?";
    assert_eq!(said(&host, &ann, &thread).await, [question, "it is green"]);

    // The next has nothing to add: it nods, and its turn is over.
    let second = aide.take().await;
    let about = &second["channel"];
    assert_eq!(
        (&about["expectations"]["turnsLeft"], &about["expectations"]["waiting"]),
        (&json!(2), &Value::Null)
    );
    assert_eq!(about["recent"][1]["text"], "it is green");
    let message = first["eventId"].as_str().unwrap().replace("evt_", "msg_");
    let nod = json!({"message_id": message, "signal": "agree", "turn": second["turn"]["token"]});
    host.tool(&aide_token, "set_channel_reaction", nod).await.unwrap();
    let end = json!({"eventId": second["eventId"], "disposition": "failed", "turn": second["turn"]["token"]});
    let ended = host.rpc(&aide_token, "chat/disposition", end).await.ok();
    assert_eq!(ended["result"]["disposition"], "acknowledged");
    let read = host.tool(&ann, "read_channel_thread", json!({"thread_id": thread})).await.unwrap();
    assert_eq!(read["messages"][1]["reactions"][0]["signal"], "agree");
    assert_eq!(read["messages"].as_array().unwrap().len(), 2, "nobody has said it twice");
    assert_eq!(turns(&host, &ann, &room).await, json!([]));
}

// covers: CHN-40, CHN-42
#[tokio::test]
async fn a_run_that_ends_without_a_word_says_what_it_put_out_or_nothing() {
    let host = TestHost::open().await;
    let room = room(&host).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut bot = host.connect(&token).await;
    for (emits, replies) in [(true, 1), (false, 1)] {
        host.say(&ann, &room, &format!("@bot what of {emits}?")).await;
        let event = bot.take().await;
        let turn = event["turn"]["token"].clone();
        if emits {
            host.tool(&token, "emit_output", json!({"text": "all is well", "turn": turn}))
                .await
                .unwrap();
        }
        let end = json!({"eventId": event["eventId"], "disposition": "ignored", "turn": turn});
        let ended = host.rpc(&token, "chat/disposition", end).await.ok();
        let expected = if emits { "responded" } else { "ignored" };
        assert_eq!(ended["result"]["disposition"], expected, "{ended}");
        let log = host.get(&ann, &format!("/v1/messages?conversation={room}")).await.ok();
        let all = log["messages"].as_array().unwrap();
        assert_eq!(all.iter().filter(|m| m["text"] == "all is well").count(), replies);
        assert_eq!(turns(&host, &ann, &room).await, json!([]));
    }
}

// covers: CHN-41
#[tokio::test]
async fn output_needs_a_public_turn_of_ones_own() {
    let host = TestHost::open().await;
    let room = room(&host).await;
    let op = host.operator();
    let ann = host.token("ann").await;
    let made = host
        .post(&op, "/v1/channels", json!({"title": "plain", "members": ["ann", "bot"]}))
        .await
        .ok();
    let plain = made["id"].as_str().unwrap().to_owned();
    let (bot_token, aide_token) = (host.token("bot").await, host.token("aide").await);
    let mut bot = host.connect(&bot_token).await;
    let emit = |turn: Value| json!({"text": "words", "turn": turn});
    let none = host.tool(&bot_token, "emit_output", json!({"text": "words"})).await.unwrap_err();
    assert!(none.contains("VALIDATION_ERROR"), "{none}");
    host.say(&ann, &plain, "@bot can you look?").await;
    let elsewhere = bot.take().await;
    let refused = host
        .tool(&bot_token, "emit_output", emit(elsewhere["turn"]["token"].clone()))
        .await
        .unwrap_err();
    assert!(refused.contains("CONFLICT"), "{refused}");
    host.say(&ann, &room, "@bot can you look?").await;
    let mine = bot.take().await;
    let turn = mine["turn"]["token"].clone();
    let stolen = host.tool(&aide_token, "emit_output", emit(turn.clone())).await;
    assert!(stolen.is_err(), "another's turn");
    for bad in [
        json!({"turn": turn}),
        json!({"text": "a", "words": "b", "turn": turn}),
        json!({"text": 1, "turn": turn}),
    ] {
        let refused = host.tool(&bot_token, "emit_output", bad).await.unwrap_err();
        assert!(refused.contains("VALIDATION_ERROR"), "{refused}");
    }
    bot.reply(&mine, "it is fine").await.unwrap();
    let late = host.tool(&bot_token, "emit_output", emit(turn)).await.unwrap_err();
    assert!(late.contains("STALE_TURN"), "{late}");
    for bad in [
        json!({}),
        json!({"thread_id": "th_1", "message_id": "msg_1"}),
        json!({"thread_id": "th_1"}),
    ] {
        assert!(host.tool(&bot_token, "read_channel_thread", bad).await.is_err());
    }
}
