//! What a channel is: a resource that stays, with a log that is only added to, in which people and agents talk.

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{START, TestHost, verify};

async fn post(host: &TestHost, token: &str, room: &str, more: Value) -> Value {
    let mut new = json!({"conversation": room, "idempotency_key": more["text"]});
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    host.post(token, "/v1/messages", new).await.ok()
}

async fn patch(host: &TestHost, room: &str, patch: Value) -> Value {
    let path = format!("/v1/channels/{room}");
    host.send(&host.operator(), Method::PATCH, &path, Some(patch)).await.ok()
}

/// The log: each entry's seq, id, type and author.
async fn log(host: &TestHost, room: &str) -> Vec<[Value; 4]> {
    let path = format!("/v1/events?conversation={room}&after=0&limit=200");
    let all = host.get(&host.operator(), &path).await.ok();
    let entry = |e: &Value| {
        [e["seq"].clone(), e["event_id"].clone(), e["type"].clone(), e["actor"]["id"].clone()]
    };
    all["events"].as_array().unwrap().iter().map(entry).collect()
}

// covers: CHN-240, CHN-241, CHN-249
#[tokio::test]
async fn a_channel_stays_what_it_is_and_its_log_is_only_added_to() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, bot_token) = (host.token("ann").await, host.token("bot").await);
    let first = post(&host, &ann, &room, json!({"text": "the deploy failed"})).await;
    let message = format!("/v1/messages/{}", first["message_id"].as_str().unwrap());
    let mut before = log(&host, &room).await;
    let reaction = format!("{message}/reactions/agree");
    let steps = [
        (
            Method::PATCH,
            message.clone(),
            json!({"text": "the deploy failed twice"}),
            "message_edited",
        ),
        (Method::PUT, reaction.clone(), json!({}), "reaction_set"),
        (Method::DELETE, reaction, Value::Null, "reaction_cleared"),
        (Method::DELETE, message, Value::Null, "message_deleted"),
    ];
    for (method, path, body, kind) in steps {
        let body = (!body.is_null()).then_some(body);
        let answer = host.send(&ann, method, &path, body).await;
        assert!((200..300).contains(&answer.status), "{answer:?}");
        let after = log(&host, &room).await;
        assert_eq!(after[..before.len()], before, "what was logged stays");
        assert_eq!(after.len(), before.len() + 1);
        assert_eq!(after.last().unwrap()[2], kind);
        before = after;
    }
    let titled = json!({"title": "deploys", "description": "what goes out", "purpose": "to talk"});
    let shown = patch(&host, &room, titled.clone()).await;
    assert_eq!(log(&host, &room).await.last().unwrap()[2], "settings_changed");

    // Sessions come and go, and work; the channel knows nothing of it.
    let before = log(&host, &room).await;
    for _ in 0..2 {
        let mut bot = host.connect(&bot_token).await;
        bot.tool("chat.list_events", json!({})).await.unwrap();
    }
    assert_eq!(log(&host, &room).await, before);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert_eq!(verify(folder.path()).problems, [], "messages and reactions are what the log makes");
    let host = TestHost::open_in(folder, START.plus(1_000)).await;
    assert_eq!(log(&host, &room).await, before);
    let again = host.get(&host.operator(), &format!("/v1/channels/{room}")).await.ok();
    assert_eq!((&again["id"], &again["members"]), (&json!(room), &shown["members"]));
    for (field, value) in titled.as_object().unwrap() {
        assert_eq!(&again[field], value);
    }
}

// covers: CHN-242, CHN-243
#[tokio::test]
async fn visibility_and_archiving_of_a_channel_are_settings() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "carl", "kind": "human"})).await.ok();
    let (ann, carl) = (host.token("ann").await, host.token("carl").await);
    let said = post(&host, &ann, &room, json!({"text": "in the open"})).await;
    let path = format!("/v1/channels/{room}");
    let messages = format!("/v1/messages?conversation={room}");
    assert_eq!(host.get(&carl, &messages).await.ok()["messages"][0]["text"], "in the open");
    patch(&host, &room, json!({"visibility": "private"})).await;
    assert_eq!(host.get(&carl, &messages).await.refused(404), "NOT_FOUND");
    let seat = format!("{path}/members/carl");
    assert_eq!(
        host.send(&carl, Method::PUT, &seat, Some(json!({}))).await.refused(404),
        "NOT_FOUND"
    );
    patch(&host, &room, json!({"visibility": "public"})).await;
    host.send(&carl, Method::PUT, &seat, Some(json!({}))).await.ok();

    patch(&host, &room, json!({"archived": true})).await;
    let new = json!({"conversation": room, "text": "too late", "idempotency_key": "late"});
    assert_eq!(host.post(&ann, "/v1/messages", new.clone()).await.refused(409), "CONFLICT");
    let reaction = format!("/v1/messages/{}/reactions/agree", said["message_id"].as_str().unwrap());
    let refused = host.send(&ann, Method::PUT, &reaction, Some(json!({}))).await;
    assert_eq!(refused.refused(409), "CONFLICT");
    let idea = json!({"kind": "agent_idea", "text": "shall we?"});
    let refused = host.post(&host.token("bot").await, &format!("{path}/stimuli"), idea).await;
    assert_eq!(refused.refused(409), "CONFLICT");
    assert_eq!(host.get(&ann, &messages).await.ok()["messages"][0]["text"], "in the open");
    assert_eq!(host.get(&ann, &path).await.ok()["archived"], true);
    patch(&host, &room, json!({"archived": false})).await;
    host.post(&ann, "/v1/messages", new).await.ok();
}

// covers: CHN-244, CHN-245, CHN-246
#[tokio::test]
async fn people_and_agents_answer_anybody_and_react_without_a_word() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "aide"]).await;
    patch(&host, &room, json!({"replies": "thread", "turns": {"cooldown_ms": 0}})).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let mut bot = host.connect(&host.token("bot").await).await;
    let mut aide = host.connect(&host.token("aide").await).await;
    let meta = json!({"text": "@bot @aide is the cache cold?", "metadata": {"ticket": "OPS-7"}});
    let root = post(&host, &ann, &room, meta).await;
    let offer = bot.take().await;
    bot.reply(&offer, "it is. @aide is yours?").await.unwrap();
    let mut offers = [aide.take().await, aide.take().await];
    offers.sort_by_key(|offer| offer["timing"]["sequence"].as_u64());
    let [asked, named] = offers;
    aide.reply(&asked, "it was, an hour ago").await.unwrap();
    let path =
        |message: &Value| format!("/v1/messages/{}", message["message_id"].as_str().unwrap());
    let shown = host.get(&ann, &path(&root)).await.ok();
    assert_eq!(
        (&shown["author"]["id"], &shown["metadata"], shown.get("in_reply_to")),
        (&json!("ann"), &json!({"ticket": "OPS-7"}), None)
    );
    let thread = host.get(&ann, &format!("/v1/threads?conversation={room}")).await.ok();
    let thread = thread["threads"][0]["id"].as_str().unwrap().to_owned();
    let replies =
        host.get(&ann, &format!("/v1/messages?conversation={room}&thread={thread}")).await.ok();
    let replies = replies["messages"].as_array().unwrap().clone();
    let replies: Vec<_> = replies.into_iter().filter(|m| m["author"]["id"] != "ann").collect();
    assert_eq!(replies.len(), 2);
    for (reply, who) in replies.iter().zip(["bot", "aide"]) {
        assert_eq!(
            (&reply["author"]["id"], &reply["in_reply_to"], &reply["thread_id"]),
            (&json!(who), &root["event_id"], &json!(thread)),
            "both answer the root, in its thread"
        );
    }
    // To an agent's message, by another agent and by a person, who has no turn and needs none.
    let first = &replies[0];
    let by_aide = aide.reply(&named, "colder than mine").await.unwrap();
    let by_aide = format!("/v1/messages/{}", by_aide["eventId"].as_str().unwrap());
    let by_aide = host.get(&ann, &by_aide).await.ok();
    assert_eq!(
        (&by_aide["in_reply_to"], &by_aide["thread_id"]),
        (&first["event_id"], &json!(thread))
    );
    let answer = json!({"text": "how cold?", "in_reply_to": first["event_id"]});
    let by_ann = post(&host, &ann, &room, answer).await;
    let by_ann = host.get(&ann, &path(&by_ann)).await.ok();
    assert_eq!(
        (&by_ann["in_reply_to"], &by_ann["thread_id"]),
        (&first["event_id"], &json!(thread))
    );
    let turns = host.get(&op, &format!("/v1/channels/{room}/turns")).await.ok();
    assert!(!turns.to_string().contains("\"ann\""), "a person takes no turn: {turns}");
    let before = host.length(&room).await;
    for (token, signal) in [(&ann, "agree"), (&op, "agree"), (&ann, "seen")] {
        let at = format!("{}/reactions/{signal}", path(first));
        host.send(token, Method::PUT, &at, Some(json!({}))).await.ok();
    }
    let message = first["message_id"].clone();
    let react = json!({"message_id": message, "signal": "agree"});
    aide.tool("set_channel_reaction", react).await.unwrap();
    let shown = host.get(&ann, &path(first)).await.ok();
    let reactions = shown["reactions"].as_array().unwrap();
    let agree = reactions.iter().find(|r| r["signal"] == "agree").unwrap();
    assert_eq!(agree["members"], json!(["ann", "operator", "aide"]), "together, by signal");
    assert_eq!(reactions.len(), 2);
    assert_eq!(host.length(&room).await, before + 4, "and no message");
}

// covers: CHN-247
#[tokio::test]
async fn a_channel_wakes_nobody_by_being_there() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let before = host.length(&room).await;
    for _ in 0..48 {
        host.pass(1_800_000).await;
    }
    assert!(bot.is_quiet().await);
    assert_eq!(host.length(&room).await, before);
}

// covers: CHN-188
#[tokio::test]
async fn a_link_to_a_project_changes_nothing_of_the_channel() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "aide"]).await;
    let op = host.operator();
    let path = format!("/v1/channels/{room}");
    let alone = json!({"title": "alone", "members": ["bot"]});
    let alone = host.post(&op, "/v1/channels", alone).await.ok();
    let alone = format!("/v1/channels/{}", alone["id"].as_str().unwrap());
    let before = (host.get(&op, &path).await.ok(), host.get(&op, &alone).await.ok());
    let new = json!({
        "title": "the move", "members": ["aide"],
        "channels": [{"channel": room}, {"channel": before.1["id"]}],
    });
    let project = host.post(&op, "/v1/projects", new).await.ok();
    let after = (host.get(&op, &path).await.ok(), host.get(&op, &alone).await.ok());
    assert_eq!(after, before, "neither log nor roster: {project}");
}

/// A channel that is made with these members, and its id.
async fn made(host: &TestHost, token: &str, title: &str, more: Value) -> (Value, String) {
    let mut new = json!({"title": title});
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = host.post(token, "/v1/channels", new).await.ok();
    (made["replies"].clone(), made["id"].as_str().unwrap().to_owned())
}

// covers: CHN-340
#[tokio::test]
async fn a_channel_of_several_agents_answers_in_threads_unless_told_otherwise() {
    let host = TestHost::open().await;
    host.room(&["bot", "other", "chief"]).await;
    let (op, chief) = (host.operator(), host.token_of("chief", "orchestrator").await);
    let cases = [
        (&op, json!({"members": ["ann"]}), "line"),
        (&op, json!({"members": ["ann", "bot"]}), "line"),
        (&op, json!({"members": ["bot", "bot"]}), "line"),
        (&op, json!({"members": ["ann", "bot", "other"]}), "thread"),
        (&op, json!({"members": ["bot", "other"], "replies": "line"}), "line"),
        (&op, json!({"members": ["bot"], "replies": "thread"}), "thread"),
        (&op, json!({"members": ["bot", "other"], "kind": "dm"}), "line"),
        // Whoever makes it sits in it.
        (&chief, json!({"members": ["ann"]}), "line"),
        (&chief, json!({"members": ["bot"]}), "thread"),
    ];
    for (n, (token, new, expect)) in cases.into_iter().enumerate() {
        let title = format!("made {n}");
        assert_eq!(made(&host, token, &title, new.clone()).await.0, expect, "{new}");
    }
    // Whoever comes later changes nothing of it.
    let (_, small) = made(&host, &op, "small", json!({"members": ["bot"]})).await;
    let seat = format!("/v1/channels/{small}/members/other");
    host.send(&op, Method::PUT, &seat, Some(json!({}))).await.ok();
    assert_eq!(host.get(&op, &format!("/v1/channels/{small}")).await.ok()["replies"], "line");

    // There they take turns, and answer in the thread of what they were asked.
    let new = json!({"members": ["ann", "bot", "other"]});
    let (_, room) = made(&host, &op, "large", new).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    let asked = host.say(&ann, &room, "@bot @other is it up?").await;
    let offer = bot.take().await;
    let turns = host.get(&ann, &format!("/v1/channels/{room}/turns")).await.ok();
    assert_eq!(turns["subjects"][0]["holders"][0]["member"], "bot");
    assert_eq!(turns["subjects"][0]["waiting"][0]["member"], "other");
    bot.reply(&offer, "it is up").await.unwrap();
    let feed = host.get(&ann, &format!("/v1/channels/{room}/feed")).await.ok();
    assert_eq!(feed["entries"].as_array().unwrap().len(), 1);
    assert_eq!(feed["entries"][0]["event_id"], asked["event_id"]);
    assert_eq!(feed["entries"][0]["replies"], 1);
}
