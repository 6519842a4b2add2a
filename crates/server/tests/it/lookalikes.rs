//! Names that are taken for others', and places that are not what they are called.

use reqwest::Method;
use serde_json::json;

use crate::test_host::TestHost;

// covers: CHN-422
#[tokio::test]
async fn a_direct_conversation_takes_no_channels_name_and_is_never_public() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (bot, op) = (host.token("bot").await, host.operator());
    let dm = |title: &str| json!({"title": title, "kind": "dm", "members": ["other"]});
    // As it is called, in another case, as it is written, and as it looks.
    for title in ["room", "ROOM", "#room", "r\u{43e}om"] {
        let refused = host.post(&bot, "/v1/channels", dm(title)).await;
        let message = refused.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(refused.refused(409), "CONFLICT", "{title}");
        assert!(message.contains("\"room\""), "{message}");
    }
    let public =
        json!({"title": "pair", "kind": "dm", "members": ["other"], "visibility": "public"});
    assert_eq!(host.post(&bot, "/v1/channels", public).await.refused(400), "VALIDATION_ERROR");
    let pair = host.post(&bot, "/v1/channels", dm("pair")).await.ok();
    let path = format!("/v1/channels/{}", pair["id"].as_str().unwrap());
    let boss = host.token_of("other", "orchestrator").await;
    for token in [&boss, &op] {
        let patch = json!({"visibility": "public"});
        let answer = host.send(token, Method::PATCH, &path, Some(patch)).await;
        // To an operator without a seat it is not there; what an agent makes public waits for a person.
        assert!([400, 403, 404].contains(&answer.status), "{answer:?}");
        let renamed = host.send(token, Method::PATCH, &path, Some(json!({"title": "room"}))).await;
        assert!([409, 403, 404].contains(&renamed.status), "{renamed:?}");
    }
    let shown = host.get(&bot, &path).await.ok();
    assert_eq!((&shown["visibility"], &shown["title"]), (&json!("private"), &json!("pair")));
    // The channel itself keeps its name, in any case.
    let own = json!({"title": "Room"});
    host.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(own)).await.ok();
}

// covers: CHN-423, CHN-430, ATT-423
#[tokio::test]
async fn a_name_that_looks_like_anothers_is_refused_and_says_whose() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let op = host.operator();
    host.post(&op, "/v1/roles", json!({"name": "reviewers"})).await.ok();
    let member = |id: &str, name: &str| json!({"id": id, "kind": "agent", "display_name": name});
    for (path, body, like) in [
        ("/v1/members", member("b\u{43e}t", "Bertha"), "bot"),
        ("/v1/members", member("bert", "\u{430}nn"), "ann"),
        ("/v1/members", member("rev\u{456}ewers", "Rita"), "reviewers"),
        ("/v1/roles", json!({"name": "\u{430}nn"}), "ann"),
        ("/v1/channels", json!({"title": "r\u{3bf}om"}), "room"),
        ("/v1/channels", json!({"title": "#room"}), "room"),
    ] {
        let refused = host.post(&op, path, body).await;
        let message = refused.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(refused.refused(409), "CONFLICT", "{path}");
        assert!(message.contains(&format!("\"{like}\"")), "{message}");
    }
    for (path, body) in [
        ("/v1/members", member("bert", "Be\u{200b}rt")),
        ("/v1/members", member("bert", "\u{202e}treB")),
        ("/v1/members", member("be\u{200b}rt", "Bert")),
        ("/v1/roles", json!({"name": "be\u{2066}rt"})),
        ("/v1/channels", json!({"title": "o\u{feff}ps"})),
    ] {
        assert_eq!(host.post(&op, path, body).await.refused(400), "VALIDATION_ERROR", "{path}");
    }
    let rename = json!({"display_name": "B\u{43e}t"});
    host.post(&op, "/v1/members", member("bert", "Bert")).await.ok();
    let renamed = host.send(&op, Method::PATCH, "/v1/members/bert", Some(rename)).await;
    assert_eq!(renamed.refused(409), "CONFLICT");
    // Scripts that need joiners, pictures, and one's own name in other letters.
    host.post(&op, "/v1/members", member("sara", "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}"))
        .await
        .ok();
    let family = json!({"title": "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}"});
    host.post(&op, "/v1/channels", family).await.ok();
    let own = json!({"display_name": "BOT"});
    host.send(&op, Method::PATCH, "/v1/members/bot", Some(own)).await.ok();
}

// covers: ATT-425
#[tokio::test]
async fn no_member_joins_under_the_name_of_another() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let op = host.operator();
    host.post(&op, "/v1/roles", json!({"name": "reviewers"})).await.ok();
    let alex = json!({"id": "alex", "kind": "human", "display_name": "Alexandra"});
    host.post(&op, "/v1/members", alex).await.ok();
    let seat = async |member: &str, name: &str| {
        let path = format!("/v1/channels/{room}/members/{member}");
        let named = json!({"display": "manual", "display_name": name});
        host.send(&op, Method::PUT, &path, Some(named)).await
    };
    for name in ["ann", "ANN", "Alexandra", "alex", "other", "Reviewers", "\u{430}nn"] {
        assert_eq!(seat("bot", name).await.refused(409), "CONFLICT", "{name}");
    }
    seat("bot", "Bot").await.ok();
    seat("bot", "Scout").await.ok();
    for name in ["Scout", "scout", "Sc\u{43e}ut"] {
        assert_eq!(seat("other", name).await.refused(409), "CONFLICT", "{name}");
    }
    seat("other", "Ranger").await.ok();
    seat("bot", "Scout").await.ok();
}

// covers: THR-421
#[tokio::test]
async fn a_title_of_a_thread_shows_all_its_letters() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let bot = host.token("bot").await;
    for title in ["ro\u{200b}om", "\u{202e}moor", "a\u{2060}b", "a\u{e0041}b"] {
        let args = json!({"title": title, "channel_id": room});
        let refused = host.tool(&bot, "create_thread", args).await.unwrap_err();
        assert_eq!(refused, "VALIDATION_ERROR");
        let new = json!({"conversation": room, "title": title});
        assert_eq!(host.post(&bot, "/v1/threads", new).await.refused(400), "VALIDATION_ERROR");
    }
    host.tool(&bot, "create_thread", json!({"title": "room", "channel_id": room})).await.unwrap();
}
