//! Searching over the transports: what is found, by whom, and what never is.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{Answer, PATIENCE, START, TestHost};

/// What a query found, once everything said so far is indexed.
async fn asked(host: &TestHost, token: &str, query: &[(&str, &str)]) -> Answer {
    assert!(host.running.searchable(PATIENCE).await);
    let pairs = query.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
    let path = format!("/v1/search?{}", pairs.collect::<Vec<_>>().join("&"));
    host.get(token, &path).await
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

async fn search(host: &TestHost, token: &str, query: &[(&str, &str)]) -> Value {
    asked(host, token, query).await.ok()
}

/// The texts of the snippets, best first.
async fn found(host: &TestHost, token: &str, query: &[(&str, &str)]) -> Vec<String> {
    let hits = search(host, token, query).await["hits"].clone();
    let text = |hit: &Value| {
        let pieces = hit["snippet"].as_array().unwrap().iter();
        pieces.map(|piece| piece["text"].as_str().unwrap()).collect()
    };
    hits.as_array().unwrap().iter().map(text).collect()
}

async fn channel(host: &TestHost, token: &str, new: Value) -> String {
    host.post(token, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned()
}

// covers: CHN-129
#[tokio::test]
async fn search_in_an_empty_workspace_finds_nothing() {
    let host = TestHost::open().await;
    let nothing = host.get(&host.operator(), "/v1/search?q=deploy").await.ok();
    assert_eq!(nothing["hits"], json!([]));
}

// covers: CHN-129
#[tokio::test]
async fn what_was_just_said_is_found_or_the_answer_says_that_it_is_behind() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    let mut behind = 0;
    for n in 0..60 {
        host.say(&ann, &room, &format!("word{n}")).await;
        let answer = host.get(&ann, &format!("/v1/search?q=word{n}")).await.ok();
        match answer["behind"] == true {
            true => behind += 1,
            false => assert_eq!(answer["hits"].as_array().unwrap().len(), 1, "{n}: {answer}"),
        }
    }
    assert!(behind < 30, "{behind}");
}

// covers: CHN-120, CHN-123, CHN-124
#[tokio::test]
async fn words_are_found_where_the_caller_may_see_them_the_best_first() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, bot, op) = (host.token("ann").await, host.token("bot").await, host.operator());
    let private = json!({"title": "secret plans", "visibility": "private", "members": ["ann"]});
    let private = channel(&host, &op, private).await;
    for text in [
        "the staging deploy failed twice, and then a lot of other things happened that day",
        "Deploy FAILED",
        "we deploy, and nothing has failed",
        "nothing of it",
        "東京タワーへ行く",
        "Grüße aus Köln",
    ] {
        host.say(&ann, &room, text).await;
    }
    host.say(&ann, &private, "the deploy failed in private").await;

    let best = search(&host, &ann, &[("q", "deploy failed")]).await;
    assert_eq!(best["hits"].as_array().unwrap().len(), 4, "{best}");
    let first = &best["hits"][0];
    assert_eq!(
        first["snippet"],
        json!([{"text": "Deploy", "found": true}, {"text": " "}, {"text": "FAILED", "found": true}])
    );
    assert_eq!((&first["author"]["id"], &first["title"]), (&json!("ann"), &json!("room")));
    assert!(best.get("next").is_none() && best.get("behind").is_none(), "{best}");
    let phrase = found(&host, &ann, &[("q", "\"the deploy failed\"")]).await;
    assert_eq!(phrase, ["the deploy failed in private"]);

    // Nobody finds what it may not see; an auditor sees everything.
    assert_eq!(found(&host, &bot, &[("q", "deploy failed")]).await.len(), 3);
    assert_eq!(found(&host, &bot, &[("q", "private")]).await, [""; 0]);
    let auditor = host.token_of("other", "auditor").await;
    assert_eq!(found(&host, &auditor, &[("q", "deploy failed")]).await.len(), 4);
    // Also not once it was shut out.
    host.send(&op, Method::DELETE, &format!("/v1/channels/{private}/members/ann"), None).await.ok();
    assert_eq!(found(&host, &ann, &[("q", "private")]).await, [""; 0]);

    for (query, text) in [
        ("京タ", "東京タワーへ行く"),
        ("タワー", "東京タワーへ行く"),
        ("grusse", ""),
        ("GRUẞE", "Grüße aus Köln"),
        ("gruße koln", "Grüße aus Köln"),
    ] {
        let texts = found(&host, &ann, &[("q", query)]).await;
        assert_eq!(texts.first().map_or("", |text| text), text, "{query}");
    }
}

// covers: CHN-128
#[tokio::test]
async fn author_place_and_time_narrow_a_search_and_mail_is_apart() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, bot, op) = (host.token("ann").await, host.token("bot").await, host.operator());
    let side = channel(&host, &op, json!({"title": "side", "members": ["ann", "bot"]})).await;
    let dm = json!({"title": "", "kind": "dm", "members": ["ann", "bot"]});
    let dm = channel(&host, &ann, dm).await;
    host.say(&ann, &room, "apples in the room").await;
    host.clock.advance(10_000);
    host.say(&ann, &side, "apples on the side").await;
    host.say(&bot, &room, "apples of the bot").await;
    host.say(&ann, &dm, "apples in a letter").await;
    let at = |ms| format!("2026-09-21T{}Z", ms);
    let (later, much_later) = (at("14:13:25"), at("14:14:00"));

    for (query, count) in [
        (vec![], 3),
        (vec![("author", "bot")], 1),
        (vec![("author", "op")], 0),
        (vec![("conversation", &*side)], 1),
        (vec![("conversation", &*room), ("author", "ann")], 1),
        (vec![("conversation", &*dm)], 1),
        (vec![("scope", "mail")], 1),
        (vec![("scope", "all")], 4),
        (vec![("scope", "channels"), ("author", "ann")], 2),
        (vec![("since", &*later)], 2),
        (vec![("until", &*later)], 1),
        (vec![("since", &*later), ("until", &*much_later)], 2),
        (vec![("since", &*much_later)], 0),
    ] {
        let mut query = query;
        query.retain(|(name, value)| *name != "author" || *value != "op");
        let count = if query.is_empty() { 3 } else { count };
        query.push(("q", "apples"));
        assert_eq!(found(&host, &ann, &query).await.len(), count, "{query:?}");
    }
    // To the operator, who has no seat in it, the letter is as unknown as one that does not exist.
    assert_eq!(found(&host, &op, &[("q", "letter"), ("scope", "all")]).await, [""; 0]);
    let refused = asked(&host, &op, &[("q", "letter"), ("conversation", &dm)]).await;
    assert_eq!(refused.refused(404), "NOT_FOUND");
}

// covers: CHN-125, CHN-126
#[tokio::test]
async fn search_finds_no_edited_deleted_erased_or_ephemeral_text() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let path = |said: &Value, rest: &str| {
        format!("/v1/messages/{}{rest}", said["message_id"].as_str().unwrap())
    };
    let edited = host.say(&ann, &room, "plums at first").await;
    let deleted = host.say(&ann, &room, "plums that were deleted").await;
    let erased = host.say(&ann, &room, "plums of quetzalcoatl").await;
    host.say(&ann, &room, "plums that stay").await;
    let hidden = json!({
        "conversation": room, "text": "plums for one", "idempotency_key": "e",
        "visibility": "ephemeral", "only": ["bot"],
    });
    host.post(&ann, "/v1/messages", hidden).await.ok();
    assert_eq!(found(&host, &ann, &[("q", "plums")]).await.len(), 4);
    assert_eq!(found(&host, &bot, &[("q", "plums")]).await.len(), 4);

    host.send(&ann, Method::PATCH, &path(&edited, ""), Some(json!({"text": "pears"}))).await.ok();
    host.send(&ann, Method::DELETE, &path(&deleted, ""), None).await.ok();
    host.post(&ann, &path(&erased, "/erase"), json!({"reason": "secret"})).await.ok();
    // At once, in every file of the index.
    for name in ["search.db", "search.db-wal"] {
        let bytes = std::fs::read(host.folder.path().join(name)).unwrap_or_default();
        assert!(!bytes.windows(12).any(|window| window == b"quetzalcoatl"), "{name}");
    }
    assert_eq!(found(&host, &ann, &[("q", "plums")]).await, ["plums that stay"]);
    assert_eq!(found(&host, &ann, &[("q", "pears")]).await, ["pears"]);
    assert_eq!(found(&host, &ann, &[("q", "quetzalcoatl")]).await, [""; 0]);

    // And after a restart, on an index made anew.
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    std::fs::remove_file(folder.path().join("search.db")).unwrap();
    let host = TestHost::open_in(folder, START).await;
    let ann = host.token("ann").await;
    assert_eq!(found(&host, &ann, &[("q", "plums")]).await, ["plums that stay"]);
    assert_eq!(found(&host, &ann, &[("q", "pears")]).await, ["pears"]);
}

// covers: CHN-127
#[tokio::test]
async fn pages_hold_every_hit_once_whatever_is_said_meanwhile() {
    let host = TestHost::open().await;
    let room = host.room(&[]).await;
    let ann = host.token("ann").await;
    for n in 0..530 {
        host.say(&ann, &room, &format!("cherry {n}")).await;
        host.clock.advance(700);
    }
    let (mut seen, mut after) = (Vec::new(), None::<String>);
    for page in 0.. {
        let mut query = vec![("q", "cherry"), ("limit", "100")];
        query.extend(after.as_deref().map(|after| ("after", after)));
        let found = search(&host, &ann, &query).await;
        let hits = found["hits"].as_array().unwrap();
        assert!(hits.len() <= 100);
        seen.extend(hits.iter().map(|hit| hit["event_id"].as_str().unwrap().to_owned()));
        host.say(&ann, &room, &format!("one more cherry, after page {page}")).await;
        match found["next"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen.len(), 530);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 530);
}

// covers: CHN-121
#[tokio::test]
async fn any_text_is_a_question_and_what_is_none_is_refused() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "a NEAR miss, OR not: {x} (y").await;
    for garbage in
        ["NEAR(miss, 2)", "\"near", "miss* OR", "x } {", "(y", "a AND", "-miss", "words:miss"]
    {
        let answer = asked(&host, &ann, &[("q", garbage)]).await;
        assert_eq!(answer.status, 200, "{garbage}: {answer:?}");
    }
    let long = "x".repeat(1_025);
    let many: String = (0..33).map(|n| format!("{n} ")).collect();
    for (query, status, code) in [
        (vec![("q", "")], 400, "VALIDATION_ERROR"),
        (vec![], 400, "VALIDATION_ERROR"),
        (vec![("q", "*** \"\" ''")], 400, "VALIDATION_ERROR"),
        (vec![("q", &*many)], 400, "VALIDATION_ERROR"),
        (vec![("q", &*long)], 413, "PAYLOAD_TOO_LARGE"),
        (vec![("q", "x"), ("author", "nobody")], 404, "NOT_FOUND"),
        (vec![("q", "x"), ("conversation", "ch_nothing")], 404, "NOT_FOUND"),
        (vec![("q", "x"), ("limit", "0")], 400, "VALIDATION_ERROR"),
        (vec![("q", "x"), ("limit", "-1")], 400, "VALIDATION_ERROR"),
        (vec![("q", "x"), ("after", "'; DROP TABLE doc")], 400, "VALIDATION_ERROR"),
        (vec![("q", "x"), ("since", "yesterday")], 400, "VALIDATION_ERROR"),
        (vec![("q", "x"), ("scope", "everything")], 400, "VALIDATION_ERROR"),
        (vec![("q", "x"), ("colour", "red")], 400, "VALIDATION_ERROR"),
    ] {
        assert_eq!(asked(&host, &ann, &query).await.refused(status), code, "{query:?}");
    }
    let nobody = TestHost::answer(host.request(Method::GET, "/v1/search?q=x")).await;
    assert_eq!(nobody.refused(401), "UNAUTHORIZED");
    // More than an address can carry is refused before it is read, and the host goes on.
    let megabyte = format!("/v1/search?q={}", "x".repeat(1024 * 1024));
    let request =
        host.request(Method::GET, &megabyte).bearer_auth(&ann).timeout(Duration::from_secs(5));
    if let Ok(answer) = request.send().await {
        assert!(answer.status().is_client_error(), "{}", answer.status());
    }
    assert_eq!(found(&host, &ann, &[("q", "miss")]).await.len(), 1);
}
