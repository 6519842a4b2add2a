//! What goes back to the services: to which callback, in which order, how often, and what becomes of what is not taken.

use chorus_testing::eventually;
use serde_json::{Value, json};

use super::{deliver, full, minimal, with_inbox};
use crate::harness::Harness;
use crate::test_host::{START, TestHost, damage, doctor, verify};
use crate::webhook::{Post, Remote};

pub(super) fn says(id: &str, text: &str, callback: &str) -> Value {
    let mut body = minimal(callback);
    body["message"] = json!({"id": id, "sender": "alice", "content": text});
    body
}

async fn bot(host: &TestHost) -> Harness {
    host.connect(&host.token("bot").await).await
}

/// The next POST that is no word on how the run gets on.
async fn message(remote: &mut Remote) -> Post {
    loop {
        let post = remote.post().await;
        if post.json()["type"] == "message" {
            return post;
        }
    }
}

/// The next POST that is no word on how the run gets on, as time goes on.
async fn message_later(remote: &mut Remote, host: &TestHost) -> Post {
    loop {
        let post = remote.post_later(host).await;
        if post.json()["type"] == "message" {
            return post;
        }
    }
}

/// Where what was posted, as time goes on, up to this word.
async fn until(remote: &mut Remote, host: &TestHost, last: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    loop {
        let post = remote.post_later(host).await;
        let json = post.json();
        let said = json["content"].as_str().or(json["state"].as_str()).unwrap().to_owned();
        all.push((post.path, said));
        if all.last().is_some_and(|(_, said)| said == last) {
            return all;
        }
    }
}

/// Says something in the turn of an event, under a key of its own.
async fn say(bot: &mut Harness, event: &Value, text: &str) -> Value {
    let args = json!({
        "target": {"conversation": event["conversation"]["id"]},
        "inReplyTo": event["eventId"],
        "idempotencyKey": format!("say:{text}"),
        "visibility": "channel",
        "directedness": "to_other",
        "text": text,
        "turn": event["turn"]["token"],
    });
    bot.tool("chat.send_message", args).await.unwrap()
}

async fn last_error(host: &TestHost, id: &str) -> Value {
    let shown = host.get(&host.operator(), &format!("/v1/inboxes/{id}")).await.ok();
    shown["last_error"]["message"].clone()
}

/// Waits until the inbox shows what went wrong.
async fn until_error(host: &TestHost, id: &str, part: &str) {
    eventually(&format!("the inbox shows {part:?}"), async || {
        let shown = last_error(host, id).await;
        if shown.as_str().is_some_and(|text| text.contains(part)) { Ok(()) } else { Err(shown) }
    })
    .await;
}

// covers: WHK-78, WHK-80, WHK-84
#[tokio::test]
async fn the_specs_examples_are_answered_by_their_callbacks() {
    let (host, mut slack) = (TestHost::open().await, Remote::open().await);
    let (path, _) = with_inbox(&host, json!({})).await;
    let mut bot = bot(&host).await;
    deliver(&host, &path, &minimal(&slack.at("/cb/C04ABCDEF/tok_abc123"))).await.ok();
    let event = bot.take().await;
    let begun = slack.post().await;
    assert_eq!(begun.path, "/cb/C04ABCDEF/tok_abc123");
    assert_eq!(begun.json(), json!({"type": "lifecycle", "state": "processing"}));
    let progress = json!({"progressToken": "1", "progress": 1, "message": "looking\nup", "eventId": event["eventId"]});
    bot.write(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}))
        .await;
    assert_eq!(slack.take().await, json!({"type": "status", "status": "lookingup"}));
    let sent = say(&mut bot, &event, "Hello Alice!").await;
    let answer = slack.post().await;
    assert_eq!(answer.path, "/cb/C04ABCDEF/tok_abc123");
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.headers["idempotency-key"], sent["eventId"].as_str().unwrap());
    let whole = json!({"type": "message", "content": "Hello Alice!", "id": sent["eventId"]});
    assert_eq!(answer.json(), whole);
    slack.nothing().await;
    assert_eq!(slack.take_later(&host).await, json!({"type": "lifecycle", "state": "idle"}));

    // Of another channel, with tools; the agent says nothing.
    deliver(&host, &path, &full(&slack.at("/channels/01HX/inbox/tok_eyJhbG"))).await.ok();
    let event = bot.take().await;
    assert_eq!(slack.take().await["state"], "processing");
    let params = json!({"eventId": event["eventId"], "disposition": "ignored"});
    bot.call("chat/disposition", params).await.unwrap();
    let idle = slack.post().await;
    assert_eq!(idle.path, "/channels/01HX/inbox/tok_eyJhbG");
    assert_eq!(idle.json(), json!({"type": "lifecycle", "state": "idle"}));
    slack.nothing().await;
}

// covers: WHK-78, WHK-84
#[tokio::test]
async fn replies_go_to_their_callback_in_order_and_idle_is_last() {
    let host = TestHost::open().await;
    let mut slack = Remote::open().await;
    let (path, _) = with_inbox(&host, json!({})).await;
    let mut bot = bot(&host).await;
    deliver(&host, &path, &says("m1", "and the first?", &slack.at("/cb/1"))).await.ok();
    let first = bot.take().await;
    deliver(&host, &path, &says("m2", "and the second?", &slack.at("/cb/2"))).await.ok();
    let second = bot.take().await;
    // The same message once more: its newer callback counts.
    deliver(&host, &path, &says("m1", "and the first?", &slack.at("/cb/1b"))).await.ok();
    let mut all = Vec::new();
    say(&mut bot, &second, "two").await;
    // With its first words a run has answered, and it says more before it has been silent for half a minute.
    for text in ["one", "one and a half", "one and three quarters"] {
        say(&mut bot, &first, text).await;
        all.extend(until(&mut slack, &host, text).await);
        host.pass(29_000).await;
        slack.nothing().await;
    }
    all.extend(until(&mut slack, &host, "idle").await);
    all.extend(until(&mut slack, &host, "idle").await);
    let of = |path: &str| -> Vec<&str> {
        all.iter().filter(|(p, _)| p.starts_with(path)).map(|(_, said)| &**said).collect()
    };
    assert_eq!(
        of("/cb/1"),
        ["processing", "one", "one and a half", "one and three quarters", "idle"]
    );
    assert_eq!(of("/cb/2"), ["processing", "two", "idle"]);
    assert_eq!(all.iter().filter(|(path, _)| path == "/cb/1b").count(), 4, "{all:?}");
    slack.nothing().await;
}

// covers: WHK-80
#[tokio::test]
async fn a_callback_that_fails_is_tried_again_and_nothing_overtakes() {
    let (host, mut slack) = (TestHost::open().await, Remote::open().await);
    let (path, id) = with_inbox(&host, json!({})).await;
    let mut bot = bot(&host).await;
    deliver(&host, &path, &says("m1", "and?", &slack.at("/cb/1"))).await.ok();
    let event = bot.take().await;
    assert_eq!(slack.take().await["state"], "processing");
    slack.is_busy(20);
    slack.answers(&[429, 200]);
    for text in ["one", "two"] {
        say(&mut bot, &event, text).await;
    }
    let mut keys = Vec::new();
    let mut take = |post: Post, text: &str| {
        assert_eq!(post.json()["content"], text);
        keys.push(post.headers["idempotency-key"].clone());
    };
    take(message(&mut slack).await, "one");
    until_error(&host, &id, "a callback fails: HTTP 503").await;
    // It has asked for twenty seconds, of a time that stands still unless it is moved.
    host.pass(19_000).await;
    slack.nothing().await;
    for text in ["one", "one", "two"] {
        take(message_later(&mut slack, &host).await, text);
    }
    assert!(keys[0] == keys[1] && keys[1] == keys[2] && keys[2] != keys[3]);
    let shown = last_error(&host, &id).await;
    assert!(shown.as_str().unwrap().starts_with("a callback fails: HTTP "), "{shown}");
}

// covers: WHK-81
#[tokio::test]
async fn refused_callback_is_shown_and_not_retried() {
    let (host, mut slack) = (TestHost::open().await, Remote::open().await);
    let (path, id) = with_inbox(&host, json!({})).await;
    let mut bot = bot(&host).await;
    for (status, part) in [(404, "with 404"), (410, "410: it has ended"), (302, "with 302")] {
        let message_id = format!("m{status}");
        deliver(&host, &path, &says(&message_id, "and?", &slack.at("/cb"))).await.ok();
        let event = bot.take().await;
        assert_eq!(slack.take().await["state"], "processing");
        slack.answers(&[status]);
        say(&mut bot, &event, &format!("refused {status}")).await;
        assert_eq!(slack.take().await["content"], format!("refused {status}"));
        until_error(&host, &id, part).await;
        assert!(!last_error(&host, &id).await.to_string().contains("/cb"));
        assert_eq!(slack.take_later(&host).await["state"], "idle");
    }
    // What fails for hours is given up; until then nothing else of the channel is sent.
    deliver(&host, &path, &says("m9", "and?", &slack.at("/cb"))).await.ok();
    let event = bot.take().await;
    assert_eq!(slack.take().await["state"], "processing");
    slack.answers(&[500]);
    say(&mut bot, &event, "late").await;
    assert_eq!(slack.take().await["content"], "late");
    until_error(&host, &id, "a callback fails").await;
    slack.answers(&[500]);
    host.pass(7 * 3_600_000).await;
    assert_eq!(message(&mut slack).await.json()["content"], "late");
    until_error(&host, &id, "given up").await;
}

// covers: WHK-80, WHK-81
#[tokio::test]
async fn a_host_that_stops_in_the_middle_goes_on_where_it_was() {
    let (host, mut slack) = (TestHost::open().await, Remote::open().await);
    let (path, _) = with_inbox(&host, json!({})).await;
    let mut agent = bot(&host).await;
    deliver(&host, &path, &says("m1", "and?", &slack.at("/cb/1"))).await.ok();
    let event = agent.take().await;
    assert_eq!(slack.take().await["state"], "processing");
    say(&mut agent, &event, "one").await;
    assert_eq!(message(&mut slack).await.json()["content"], "one");
    // From here on nothing is taken; then the host goes.
    slack.answers(&[503; 64]);
    let two = say(&mut agent, &event, "two").await;
    say(&mut agent, &event, "three").await;
    let lost = message(&mut slack).await;
    assert_eq!(lost.json()["id"], two["eventId"]);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    slack.clear();
    assert!(verify(folder.path()).is_clean(), "{:?}", verify(folder.path()));

    let host = TestHost::open_in(folder, START.plus(5_000)).await;
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let post = message(&mut slack).await;
        let content = post.json()["content"].as_str().unwrap().to_owned();
        if !seen.contains(&content) {
            seen.push(content);
        }
    }
    assert_eq!(seen, ["two", "three"], "what was taken is not sent again");
    // The same string and conversation go on.
    let mut agent = bot(&host).await;
    let fresh = deliver(&host, &path, &says("m2", "and now?", &slack.at("/cb/2"))).await;
    assert_eq!(fresh.ok(), json!({}));
    let again = loop {
        let told = agent.take().await;
        if told["eventId"] != event["eventId"] {
            break told;
        }
    };
    assert_eq!(again["conversation"]["id"], event["conversation"]["id"]);
}

// covers: WHK-78
#[tokio::test]
async fn old_callbacks_are_dropped_and_what_has_none_is_given_up() {
    let (host, mut slack) = (TestHost::open().await, Remote::open().await);
    let (path, id) = with_inbox(&host, json!({})).await;
    let mut bot = bot(&host).await;
    deliver(&host, &path, &says("m1", "hi, fyi", &slack.at("/cb/1"))).await.ok();
    let event = bot.take().await;
    assert_eq!(slack.take().await["state"], "processing");
    let params = json!({"eventId": event["eventId"], "disposition": "ignored"});
    bot.call("chat/disposition", params).await.unwrap();
    assert_eq!(slack.take().await["state"], "idle");
    let conversation = event["conversation"]["id"].clone();
    let unasked = async |bot: &mut Harness, text: &str| {
        let args = json!({
            "target": {"conversation": conversation}, "idempotencyKey": text,
            "visibility": "channel", "directedness": "to_other", "text": text,
        });
        bot.tool("chat.send_message", args).await.unwrap();
    };
    // Unasked, to the newest there is.
    host.pass(3_600_000).await;
    unasked(&mut bot, "by the way").await;
    assert_eq!(message(&mut slack).await.json()["content"], "by the way");
    host.pass(24 * 3_600_000).await;
    host.running.drop_old().await;
    unasked(&mut bot, "too late").await;
    until_error(&host, &id, "no callback").await;
    slack.nothing().await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert!(verify(folder.path()).is_clean(), "{:?}", verify(folder.path()));
}

// covers: WHK-81
#[tokio::test]
async fn hanging_service_delays_only_its_own_inbox() {
    let (host, mut slack) = (TestHost::open().await, Remote::open().await);
    // Nobody answers what is sent here.
    let hole = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hangs = format!("http://{}/cb", hole.local_addr().unwrap());
    let (hung, _) = with_inbox(&host, json!({})).await;
    let op = host.operator();
    let other = host.post(&op, "/v1/inboxes", json!({"agent": "bot"})).await.ok();
    let other = other["url"].as_str().unwrap().strip_prefix(&host.running.url).unwrap().to_owned();
    let mut bot = bot(&host).await;
    for n in 0..20 {
        let mut body = says(&format!("m{n}"), "and?", &hangs);
        body["channel"]["id"] = json!(format!("C{n}"));
        deliver(&host, &hung, &body).await.ok();
        bot.take().await;
    }
    deliver(&host, &other, &says("m", "and?", &slack.at("/cb"))).await.ok();
    let event = bot.take().await;
    say(&mut bot, &event, "here").await;
    assert_eq!(message(&mut slack).await.json()["content"], "here");
}

#[tokio::test]
async fn the_doctor_knows_inboxes_and_their_channels() {
    let (host, slack) = (TestHost::open().await, Remote::open().await);
    let (path, id) = with_inbox(&host, json!({})).await;
    deliver(&host, &path, &says("m1", "and?", &slack.at("/cb/1"))).await.ok();
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    assert!(doctor(folder.path()).is_clean());
    let finds = |part: &str| {
        let report = doctor(folder.path());
        assert!(report.problems.iter().any(|p| p.what.contains(part)), "{part}: {report:?}");
    };
    damage(folder.path(), "UPDATE remote SET owed = 1 - owed WHERE workspace = 1");
    finds("the channel of conversation");
    damage(folder.path(), "DELETE FROM remote WHERE workspace = 1");
    finds(&format!("the inbox {id} counts 1 channels of 0"));
    finds("1 callbacks are of no channel's messages");
    damage(folder.path(), "UPDATE member SET removed = 1 WHERE workspace = 1 AND id = 'bot'");
    finds(&format!("the inbox {id}: it is for nobody who is an agent here"));
    damage(folder.path(), "UPDATE inbox SET packed = uid WHERE workspace = 1");
    finds(&format!("{id} cannot be read"));
}
