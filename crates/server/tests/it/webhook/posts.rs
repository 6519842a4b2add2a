//! What is posted to agents, and when (webhook spec sections 1 and 2).

use chorus_core::model::ids::Timestamp;
use chorus_server::signature;
use chorus_testing::eventually;
use reqwest::Method;
use serde_json::json;

use super::{Remote, asked, at_once, bearer, call, messages, nothing_owed, open, reached, text};
use crate::test_host::{START, TestHost};

// covers: WHK-1, WHK-8, WHK-9, WHK-10, WHK-20, WHK-21
#[tokio::test]
async fn an_agent_joins_by_its_string_and_answers_by_the_callback() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "@weather what's the weather in Oslo?").await;
    let post = remote.post().await;
    assert_eq!(post.path, "/inbox/sk_a1b2c3d4e5f6");
    assert_eq!(post.headers["content-type"], "application/json");
    let delivery = post.json();
    assert_eq!(delivery["channel"]["id"], room.as_str());
    assert_eq!(delivery["channel"]["name"], "room");
    assert_eq!(delivery["channel"]["service"], "Chorus");
    assert_eq!(delivery["message"]["sender"], "ann");
    assert_eq!(delivery["message"]["content"], "@weather what's the weather in Oslo?");
    assert_eq!(post.headers["idempotency-key"], delivery["message"]["id"].as_str().unwrap());
    let more = &delivery["chorus"];
    assert_eq!(more["attention"]["policy"], "must_respond");
    assert_eq!(more["attention"]["directedness"], "to_me");
    assert_eq!((&more["hop"], &more["attempt"]), (&json!(0), &json!(1)));
    assert_eq!(more["sender"], json!({"id": "ann", "kind": "human"}));

    let said = json!({"type": "message", "content": "3°C and cloudy."});
    assert_eq!(call(&host, &delivery, said).await.ok()["accepted"], 1);
    let all = messages(&host, &room).await;
    assert_eq!(all.last().unwrap(), &("weather".to_owned(), "3°C and cloudy.".to_owned()));
    let open = host.get(&host.operator(), "/v1/deliveries?member=weather").await.ok();
    assert_eq!(open["deliveries"], json!([]), "the answer settles it");

    // What is for somebody else is not posted.
    host.post(&host.operator(), "/v1/members", json!({"id": "bob", "kind": "human"})).await.ok();
    host.say(&ann, &room, "@bob did you see that?").await;
    remote.nothing().await;
}

// covers: WHK-19
#[tokio::test]
async fn a_knock_has_no_word_of_anybody_and_its_content_is_pulled() {
    let (host, mut remote, room, asked) = asked("@weather rain in Oslo?").await;
    let ann = host.token("ann").await;
    call(&host, &asked, json!({"type": "message", "content": "Yes."})).await.ok();
    host.say(&ann, &room, "thanks, swordfish").await;
    let post = remote.post().await;
    assert!(!String::from_utf8_lossy(&post.body).contains("swordfish"));
    let knock = post.json();
    assert_eq!(knock["chorus"]["attention"]["mode"], "notify");
    let tool = text(&knock["chorus"]["knock"]["pull_with"]);
    let read = json!({"eventId": knock["message"]["id"]});
    let pulled = host.tool(&bearer(&knock), &tool, read).await.unwrap();
    assert!(pulled.to_string().contains("swordfish"));
    // That it was taken is all that was asked of it.
    nothing_owed(&host).await;
}

// covers: WHK-11
#[tokio::test]
async fn the_mcp_config_reaches_one_channel() {
    let (host, _remote, room, delivery) = asked("@weather hello?").await;
    let other = host.post(&host.operator(), "/v1/channels", json!({"title": "other"})).await.ok();
    assert_eq!(delivery["mcp"]["url"], format!("{}/mcp/{room}", host.running.url));
    let token = &bearer(&delivery);
    let read = json!({"conversation": room});
    host.tool(token, "chat.read_thread", read).await.unwrap();
    let elsewhere = json!({"conversation": other["id"]});
    assert_eq!(host.tool(token, "chat.read_thread", elsewhere).await.unwrap_err(), "FORBIDDEN");
    // It is for reading and speaking, not for running the room.
    host.get(token, "/v1/endpoints").await.refused(403);
}

// covers: WHK-13, WHK-15
#[tokio::test]
async fn refused_post_is_a_dead_letter_and_410_stops_the_endpoint() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    remote.answers(&[400]);
    host.say(&ann, &room, "@weather poison?").await;
    let poison = remote.take().await;
    let dead = || async {
        let dead = host.get(&op, "/v1/deliveries?state=dead&member=weather").await.ok();
        dead["deliveries"].as_array().unwrap().clone()
    };
    eventually("it is a dead letter", async || !dead().await.is_empty()).await;
    let shown = host.get(&op, "/v1/endpoints/weather").await.ok();
    assert_eq!(shown["last_error"]["why"], "HTTP 400");
    assert_eq!(shown["breaker"], "closed");
    // It can be sent again.
    let id = text(&dead().await[0]["id"]);
    host.post(&op, &format!("/v1/deliveries/{id}/redeliver"), json!({})).await.ok();
    let again = remote.take().await;
    assert_eq!(again["message"]["id"], poison["message"]["id"]);
    assert!(again["chorus"]["attempt"].as_u64() > poison["chorus"]["attempt"].as_u64());

    remote.answers(&[410]);
    host.say(&ann, &room, "@weather still there?").await;
    remote.take().await;
    let shown = async || host.get(&op, "/v1/endpoints/weather").await.ok();
    eventually("the endpoint is gone", async || shown().await["state"] == "gone").await;
    host.say(&ann, &room, "@weather hello?").await;
    remote.nothing().await;
}

// covers: WHK-12, WHK-14
#[tokio::test]
async fn failed_posts_are_retried_in_order() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    remote.answers(&[500, 503]);
    host.say(&ann, &room, "@weather first?").await;
    host.say(&ann, &room, "@weather second?").await;
    let mut seen = Vec::new();
    seen.push(text(&remote.take().await["message"]["content"]));
    remote.nothing().await;
    for _ in 0..2 {
        seen.push(text(&remote.take_later(&host).await["message"]["content"]));
    }
    seen.push(text(&remote.take().await["message"]["content"]));
    let first = "@weather first?";
    assert_eq!(seen, [first, first, first, "@weather second?"], "one waits for the other");
}

// covers: WHK-6, WHK-17
#[tokio::test]
async fn strings_are_checked_kept_secret_paused_and_removed() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    for (url, code) in [
        ("http://10.0.0.1/inbox/x", "ADDRESS_REFUSED"),
        ("http://169.254.169.254/latest", "ADDRESS_REFUSED"),
        ("http://[::ffff:10.0.0.1]/x", "ADDRESS_REFUSED"),
        ("http://0x0a000001/x", "ADDRESS_REFUSED"),
        ("ftp://example.com/x", "VALIDATION_ERROR"),
        ("https://user:pw@example.com/x", "VALIDATION_ERROR"),
        ("not a url", "VALIDATION_ERROR"),
    ] {
        let new = json!({"member": "spy", "url": url});
        let refused = host.post(&op, "/v1/endpoints", new).await;
        assert_eq!(refused.body["error"]["code"], code, "{url}");
    }
    host.get(&op, "/v1/endpoints/spy").await.refused(404);
    let new = json!({"member": "weather", "url": remote.url()});
    assert_eq!(host.post(&op, "/v1/endpoints", new.clone()).await.refused(409), "CONFLICT");
    let worker = host.token("weather").await;
    assert_eq!(
        host.post(&worker, "/v1/endpoints", new).await.refused(403),
        "INSUFFICIENT_AUTHORITY"
    );
    let person = json!({"member": "ann", "url": remote.url()});
    assert_eq!(host.post(&op, "/v1/endpoints", person).await.refused(400), "VALIDATION_ERROR");
    let all = host.get(&op, "/v1/endpoints").await.ok();
    assert!(!all.to_string().contains("sk_a1b2"), "{all}");

    let patch = |paused| json!({"paused": paused});
    let path = "/v1/endpoints/weather";
    host.send(&op, Method::PATCH, path, Some(patch(true))).await.ok();
    host.say(&ann, &room, "@weather are you there?").await;
    remote.nothing().await;
    host.send(&op, Method::PATCH, path, Some(patch(false))).await.ok();
    let delivery = remote.take().await;
    assert_eq!(delivery["message"]["content"], "@weather are you there?");
    host.send(&op, Method::DELETE, path, None).await.ok();
    let said = json!({"type": "message", "content": "Yes."});
    assert_eq!(call(&host, &delivery, said).await.refused(401), "UNAUTHORIZED");
    host.say(&ann, &room, "@weather and now?").await;
    remote.nothing().await;
}

// covers: WHK-18
#[tokio::test]
async fn a_connection_can_be_tried() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let op = host.operator();
    let tested = host.post(&op, "/v1/endpoints/weather/test", json!({})).await.ok();
    assert_eq!(tested["taken"], true);
    let delivery = remote.take().await;
    assert_eq!(delivery["chorus"]["test"], true);
    call(&host, &delivery, json!({"type": "message", "content": "I hear you."})).await.ok();
    let shown = host.get(&op, "/v1/endpoints/weather").await.ok();
    assert!(shown["answered_test_at"].is_string());
    assert!(messages(&host, &room).await.is_empty(), "it is shown to nobody");
    remote.answers(&[404]);
    let tested = host.post(&op, "/v1/endpoints/weather/test", json!({})).await.ok();
    assert_eq!((&tested["taken"], &tested["why"]), (&json!(false), &json!("HTTP 404")));
}

// covers: WHK-34
#[tokio::test]
async fn fragments_of_one_author_are_one_delivery() {
    let host = TestHost::open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "@weather I am going to Oslo").await;
    host.pass(100).await;
    host.say(&ann, &room, "@weather do I need an umbrella?").await;
    remote.nothing().await;
    host.pass(31_000).await;
    let delivery = remote.take().await;
    assert_eq!(delivery["message"]["content"], "@weather do I need an umbrella?");
    let earlier = delivery["chorus"]["earlier"].as_array().unwrap();
    assert_eq!(earlier.len(), 1);
    assert_eq!(earlier[0]["content"], "@weather I am going to Oslo");
    call(&host, &delivery, json!({"type": "message", "content": "Yes."})).await.ok();
    // The answer is to all of it.
    nothing_owed(&host).await;
    // What is urgent waits for nothing.
    host.say(&ann, &room, "@weather urgent: stop!").await;
    assert_eq!(remote.take().await["chorus"]["attention"]["mode"], "immediate");
}

// covers: WHK-16
#[tokio::test]
async fn breaker_opens_for_a_failing_endpoint_and_probes_it() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = reached(&host, &remote).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let breaker = || async { text(&host.get(&op, "/v1/endpoints/weather").await.ok()["breaker"]) };
    remote.answers(&[500; 6]);
    host.say(&ann, &room, "@weather one?").await;
    for _ in 0..5 {
        remote.take_later(&host).await;
    }
    eventually("the breaker opens", async || breaker().await == "open").await;
    remote.nothing().await;
    // Its rest is over: one post tries, and fails; the next rest is longer.
    host.pass(40_000).await;
    remote.take_later(&host).await;
    eventually("the breaker opens again", async || breaker().await == "open").await;
    host.pass(40_000).await;
    remote.nothing().await;
    host.pass(40_000).await;
    let again = remote.take_later(&host).await;
    assert_eq!(again["message"]["content"], "@weather one?");
    eventually("the breaker closes", async || breaker().await == "closed").await;
}

// covers: WHK-35
#[tokio::test]
async fn deliveries_are_signed_where_a_secret_is_set() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let room = host.room(&[]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let new = json!({"member": "weather", "url": remote.url(), "channels": [room], "sign": true});
    let added = host.post(&op, "/v1/endpoints", new).await.ok();
    let secret = text(&added["signing_secret"]);
    let shown = host.get(&op, "/v1/endpoints/weather").await.ok();
    assert_eq!(shown["signed"], true);
    assert!(!shown.to_string().contains("whsec_"), "shown once");
    host.say(&ann, &room, "@weather signed?").await;
    let post = remote.post().await;
    let secret = signature::Secret::parse(&secret).unwrap();
    signature::verify(&secret, &post.headers, &post.body, host.clock_now()).unwrap();
    let other = [&post.body[..], b" "].concat();
    assert!(signature::verify(&secret, &post.headers, &other, host.clock_now()).is_err());
    for (sign, given) in [(true, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), (false, "secret")] {
        let new = json!({"url": remote.url(), "sign": sign, "signing_secret": given});
        let refused = host.post(&op, "/v1/endpoints/weather/rotate", new).await;
        assert_eq!(refused.refused(400), "VALIDATION_ERROR");
    }
}

// covers: WHK-36
#[tokio::test]
async fn after_a_restart_what_was_not_taken_is_posted_again_and_what_was_goes_on() {
    let (host, mut remote, room, one) = asked("@weather one?").await;
    let ann = host.token("ann").await;
    host.pass(2_000).await;
    remote.answers(&[500]);
    host.say(&ann, &room, "@weather two?").await;
    remote.take().await;
    let TestHost { running, folder, .. } = host;
    let now = Timestamp(START.0 + 10_000);
    let url = running.url.clone();
    running.stop().await;
    let host = TestHost::open_with(folder, now, at_once).await;
    let again = remote.take().await;
    assert_eq!(again["message"]["content"], "@weather two?");
    assert!(again["chorus"]["attempt"].as_u64().unwrap() > 1);
    remote.nothing().await;
    // What was given out before the restart still answers.
    let moved = text(&one["callback"]).replace(&url, &host.running.url);
    let said = json!({"type": "message", "content": "One."});
    call(&host, &json!({"callback": moved}), said).await.ok();
    assert_eq!(messages(&host, &room).await.last().unwrap().1, "One.");
}

// covers: WHK-37
#[tokio::test]
async fn agents_of_a_thread_are_posted_to_in_turn() {
    let host = open().await;
    let (mut sun, mut rain) = (Remote::open().await, Remote::open().await);
    let (room, op) = (host.room(&[]).await, host.operator());
    for (id, remote) in [("sun", &sun), ("rain", &rain)] {
        let new = json!({"member": id, "url": remote.url(), "channels": [room]});
        host.post(&op, "/v1/endpoints", new).await.ok();
    }
    let threads = json!({"replies": "thread"});
    host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(threads)).await.ok();
    let ann = host.token("ann").await;
    host.say(&ann, &room, "@sun @rain what do you think of tomorrow?").await;
    // The one that is here longer speaks; the other is told nothing before that.
    let first = sun.take().await;
    rain.nothing().await;
    let turn = &first["chorus"]["turn"];
    assert_eq!(turn["kind"], "channel_delivery");
    assert_eq!(turn["expectations"]["waiting"], json!(["rain"]));
    call(&host, &first, json!({"type": "message", "content": "Bright."})).await.ok();
    call(&host, &first, json!({"type": "lifecycle", "state": "idle"})).await.ok();
    let second = rain.take().await;
    let recent = second["chorus"]["turn"]["recent"].to_string();
    assert!(recent.contains("Bright."), "it is shown what was said: {recent}");
    call(&host, &second, json!({"type": "message", "content": "Wet."})).await.ok();
    assert_eq!(messages(&host, &room).await.len(), 3);
}

// covers: OPS-496
#[tokio::test]
async fn an_agent_behind_a_string_is_online_once_it_has_taken_something() {
    let host = open().await;
    let mut remote = Remote::open().await;
    let op = host.operator();
    let shown = async || {
        let agents = host.get(&op, "/v1/agents").await.ok();
        let agent = agents["agents"].as_array().unwrap().iter().find(|a| a["id"] == "weather");
        let agent = agent.unwrap_or_else(|| panic!("{agents}"));
        (text(&agent["reach"]), agent["online"].as_bool().unwrap())
    };
    let room = reached(&host, &remote).await;
    eventually("the host serves it", async || {
        let agents = host.get(&op, "/v1/agents").await.ok();
        if agents.to_string().contains("\"runtime\":\"webhook\"") { Ok(()) } else { Err(agents) }
    })
    .await;
    assert_eq!(shown().await, ("not_tried".to_owned(), false));
    remote.answers(&[503]);
    let tested = host.post(&op, "/v1/endpoints/weather/test", json!({})).await.ok();
    assert_eq!(tested["taken"], false);
    assert_eq!(shown().await, ("unreachable".to_owned(), false));
    host.post(&op, "/v1/endpoints/weather/test", json!({})).await.ok();
    assert_eq!(shown().await, ("reachable".to_owned(), true));
    // Another string is another place.
    let other = json!({"url": remote.at("/inbox/sk_other")});
    host.post(&op, "/v1/endpoints/weather/rotate", other).await.ok();
    assert_eq!(shown().await.0, "not_tried");
    for _ in 0..2 {
        remote.take().await;
    }
    host.say(&host.token("ann").await, &room, "@weather will it rain?").await;
    remote.take().await;
    eventually("it has taken the delivery", async || {
        let shown = shown().await;
        if shown == ("reachable".to_owned(), true) { Ok(()) } else { Err(shown) }
    })
    .await;
}
