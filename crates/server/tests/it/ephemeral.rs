//! Ephemeral messages: shown to the members they name and to their author, and to nobody else at any transport.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::test_host::{START, TestHost};

/// Every route that reads, as one caller sees it: all answers in one text.
async fn all_answers(host: &TestHost, token: &str, room: &str, ids: &[String]) -> String {
    let mut paths = vec![
        format!("/v1/messages?conversation={room}"),
        format!("/v1/messages?conversation={room}&after_seq=0"),
        format!("/v1/messages?conversation={room}&before_seq=1000"),
        format!("/v1/messages?conversation={room}&before_seq=1000&limit=1"),
        format!("/v1/events?conversation={room}&after=0"),
        format!("/v1/events?conversation={room}&after=0&limit=1"),
        format!("/v1/channels/{room}"),
        format!("/v1/cursors/{room}"),
        "/v1/channels".into(),
        "/v1/threads".into(),
        "/v1/deliveries".into(),
        "/v1/deliveries?state=all".into(),
        "/v1/deliveries?state=dead".into(),
        "/v1/claims".into(),
        "/v1/agents".into(),
        "/v1/sessions".into(),
        "/v1/pauses".into(),
    ];
    for id in ids {
        paths.push(format!("/v1/messages/{id}"));
        paths.push(format!("/v1/events/{id}/attention"));
    }
    let mut all = String::new();
    for path in paths {
        all += &host.get(token, &path).await.body.to_string();
    }
    let mut tools = vec![
        ("chat.list_events", json!({})),
        ("chat.list_events", json!({"conversation": room})),
        ("chat.list_events", json!({"conversation": room, "afterSequence": 0})),
        ("chat.list_events", json!({"unsettled": true})),
        ("chat.read_thread", json!({"conversation": room})),
        ("chat.read_thread", json!({"conversation": room, "beforeSequence": 1000})),
    ];
    for id in ids {
        tools.push(("chat.read_thread", json!({"eventId": id})));
        tools.push(("chat.claim", json!({"eventId": id})));
        tools.push(("chat.react", json!({"inReplyTo": id, "signal": "seen"})));
        tools.push(("chat.defer", json!({"eventId": id, "reason": "later"})));
        tools.push(("chat.resolve", json!({"eventId": id})));
    }
    for (name, arguments) in tools {
        all += &format!("{:?}", host.tool(token, name, arguments).await);
    }
    // The live log, from its beginning and as it goes on.
    let sse = host
        .request(Method::GET, &format!("/v1/events?conversation={room}&after=0&activity=true"))
        .bearer_auth(token)
        .header("accept", "text/event-stream");
    let mut stream = sse.send().await.unwrap();
    while let Ok(Ok(Some(chunk))) =
        tokio::time::timeout(std::time::Duration::from_millis(300), stream.chunk()).await
    {
        all += &String::from_utf8_lossy(&chunk);
    }
    all
}

fn id(posted: &Value) -> String {
    posted["event_id"].as_str().unwrap().to_owned()
}

async fn whisper(host: &TestHost, token: &str, room: &str, text: &str, only: &[&str]) -> Value {
    let new = json!({"conversation": room, "text": text, "visibility": "ephemeral", "only": only,
        "idempotency_key": text});
    host.post(token, "/v1/messages", new).await.ok()
}

// covers: ATT-180, ATT-181, ATT-182, ATT-183
#[tokio::test]
async fn ephemeral_message_is_invisible_to_others_at_every_transport() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "aide"]).await;
    let op = host.operator();
    host.post(&op, "/v1/members", json!({"id": "bob", "kind": "human"})).await.ok();
    let seat = format!("/v1/channels/{room}/members/bob");
    host.send(&op, Method::PUT, &seat, Some(json!({}))).await.ok();
    let (ann, bob) = (host.token("ann").await, host.token("bob").await);
    let (bot, aide) = (host.token("bot").await, host.token("aide").await);
    let auditor = host.token_of("eve", "auditor").await;
    let mut beside = host.connect(&aide).await;
    let mut named: Harness = host.connect(&bot).await;

    // Said, answered, edited, reacted to and deleted; each time with a word that stands nowhere else.
    let said = whisper(&host, &ann, &room, "@aide zq-first-7731 can you look?", &["bot"]).await;
    let event = named.take().await;
    assert_eq!(event["eventId"], said["event_id"]);
    assert_eq!(event["attention"]["policy"], "must_respond");
    let answer = named.reply(&event, "zq-answer-7732").await.unwrap();
    let edited = whisper(&host, &ann, &room, "zq-before-7733", &["bot", "operator"]).await;
    let path = format!("/v1/messages/{}", id(&edited));
    host.send(&ann, Method::PATCH, &path, Some(json!({"text": "zq-after-7734"}))).await.ok();
    let react = format!("{path}/reactions/agree");
    host.send(&op, Method::PUT, &react, Some(json!({"eta": "zq-eta-7735"}))).await.ok();
    let gone = whisper(&host, &ann, &room, "zq-gone-7736", &["bot"]).await;
    let path = format!("/v1/messages/{}", id(&gone));
    host.send(&ann, Method::DELETE, &path, None).await.ok();
    let open = whisper(&host, &ann, &room, "zq-open-7737 what do you think?", &["bot"]).await;
    let ids: Vec<String> = [&said, &edited, &gone, &open].map(id).into_iter().collect();
    let mut ids = ids;
    ids.push(answer["eventId"].as_str().unwrap().to_owned());

    let turns = format!("/v1/channels/{room}/turns");
    let seen = host.get(&bot, &turns).await.ok().to_string();
    assert!(seen.contains(&id(&open)), "{seen}");
    for token in [&bob, &aide] {
        let seen = host.get(token, &turns).await.ok().to_string();
        assert!(!ids.iter().any(|id| seen.contains(id)), "{seen}");
    }
    let seen = host.get(&op, &turns).await.ok().to_string();
    assert!(!seen.contains(&id(&open)), "{seen}");
    for (who, token) in [("bob", &bob), ("aide", &aide)] {
        let all = all_answers(&host, token, &room, &ids).await;
        assert!(!all.contains("zq-"), "{who}: {all}");
        for id in &ids {
            // The caller's own ids in refusals are all there is of them.
            assert!(!all.contains(&format!("\"event_id\":\"{id}\"")), "{who}: {all}");
        }
    }
    // The operator has a seat and is named once: it sees that one, and none of the others.
    let all = all_answers(&host, &op, &room, &ids).await;
    assert!(all.contains("zq-after-7734"));
    for word in ["zq-first", "zq-answer", "zq-gone", "zq-open"] {
        assert!(!all.contains(word), "{word}: {all}");
    }
    // Whoever is named, and the author, see all of it; so does an auditor, who reads everything.
    for token in [&ann, &bot, &auditor] {
        let path = format!("/v1/messages?conversation={room}");
        let all = host.get(token, &path).await.ok().to_string();
        for word in ["zq-first-7731", "zq-answer-7732", "zq-after-7734", "zq-open-7737"] {
            assert!(all.contains(word), "{word}: {all}");
        }
    }
    // Those that are not named change nothing of it.
    for (method, tail) in
        [(Method::PATCH, ""), (Method::DELETE, ""), (Method::PUT, "/reactions/agree")]
    {
        let path = format!("/v1/messages/{}{tail}", id(&said));
        let body = (method != Method::DELETE).then(|| match tail {
            "" => json!({"text": "mine"}),
            _ => json!({}),
        });
        let answer = host.send(&op, method, &path, body).await;
        assert_eq!(answer.refused(404), "NOT_FOUND");
    }
    // Nobody else was offered anything, also when nobody answers: it moves on to nobody.
    host.pass(600_000).await;
    beside.call("ping", json!({})).await.unwrap();
    let owed = host.get(&op, "/v1/deliveries?state=all").await.ok().to_string();
    assert!(!owed.contains(&id(&open)), "{owed}");

    // A restart changes none of this, and the doctor finds all in order.
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let host = TestHost::open_in(folder, START.plus(700_000)).await;
    let all = all_answers(&host, &bob, &room, &ids).await;
    assert!(!all.contains("zq-"), "{all}");
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let report = crate::test_host::doctor(folder.path());
    assert!(report.is_clean(), "{:?}", report.problems);
}

// covers: ATT-180, ATT-182, ATT-184
#[tokio::test]
async fn an_ephemeral_message_names_members_with_a_seat_and_its_answers_stay_as_it_is() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let op = host.operator();
    let ann = host.token("ann").await;
    host.post(&op, "/v1/members", json!({"id": "far", "kind": "human"})).await.ok();
    let before = host.length(&room).await;
    for (only, visibility) in [
        (json!([]), json!("ephemeral")),
        (json!(["far"]), json!("ephemeral")),
        (json!(["nobody"]), json!("ephemeral")),
        (json!(["bot"]), json!("channel")),
        (json!(["bot"]), Value::Null),
    ] {
        let mut new = json!({"conversation": room, "text": "psst", "idempotency_key": "k"});
        new["only"] = only;
        if !visibility.is_null() {
            new["visibility"] = visibility;
        }
        let refused = host.post(&ann, "/v1/messages", new.clone()).await;
        assert!([400, 404].contains(&refused.status), "{new} {refused:?}");
    }
    assert_eq!(host.length(&room).await, before);
    let said = whisper(&host, &ann, &room, "can you look?", &["bot"]).await;
    // An agent cannot take it into the open, whatever it says of its audience; with C2A as over REST.
    let bot = host.token("bot").await;
    let args = json!({"target": {"conversation": room}, "inReplyTo": said["event_id"], "text": "it is red",
        "idempotencyKey": "a", "visibility": "channel", "directedness": "to_me"});
    let sent = host.tool(&bot, "chat.send_message", args).await.unwrap();
    let path = format!("/v1/messages/{}", sent["eventId"].as_str().unwrap());
    let shown = host.get(&ann, &path).await.ok();
    let mut only = shown["only"].as_array().unwrap().clone();
    only.sort_by_key(Value::to_string);
    assert_eq!(only, [json!("ann"), json!("bot")]);
    assert_eq!(host.get(&op, &path).await.refused(404), "NOT_FOUND");
    // So is a person's answer, unless it says channel in so many words.
    let reply = json!({"conversation": room, "in_reply_to": said["event_id"], "text": "thanks",
        "idempotency_key": "b"});
    let reply = host.post(&ann, "/v1/messages", reply).await.ok();
    assert_eq!(host.get(&op, &format!("/v1/messages/{}", id(&reply))).await.status, 404);
    let open = json!({"conversation": room, "in_reply_to": said["event_id"], "text": "all fine",
        "visibility": "channel", "idempotency_key": "c"});
    let open = host.post(&ann, "/v1/messages", open).await.ok();
    host.get(&op, &format!("/v1/messages/{}", id(&open))).await.ok();
    // The same key with another audience is another message.
    let other = json!({"conversation": room, "text": "can you look?", "visibility": "ephemeral",
        "only": ["operator"], "idempotency_key": "can you look?"});
    assert_eq!(host.post(&ann, "/v1/messages", other).await.refused(409), "IDEMPOTENCY_CONFLICT");
}
