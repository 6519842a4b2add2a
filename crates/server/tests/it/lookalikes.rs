//! Names that are taken for others', and places that are not what they are called.

use reqwest::Method;
use serde_json::json;

use crate::house::House;

// covers: CHN-422
#[tokio::test]
async fn a_direct_conversation_takes_no_channels_name_and_is_never_public() {
    let house = House::open().await;
    let room = house.room(&["bot", "other"]).await;
    let (bot, op) = (house.token("bot").await, house.operator());
    let dm = |title: &str| json!({"title": title, "kind": "dm", "members": ["other"]});
    // As it is called, in another case, as it is written, and as it looks.
    for title in ["room", "ROOM", "#room", "r\u{43e}om"] {
        let refused = house.post(&bot, "/v1/channels", dm(title)).await;
        let message = refused.body["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(refused.refused(409), "CONFLICT", "{title}");
        assert!(message.contains("\"room\""), "{message}");
    }
    let public =
        json!({"title": "pair", "kind": "dm", "members": ["other"], "visibility": "public"});
    assert_eq!(house.post(&bot, "/v1/channels", public).await.refused(400), "VALIDATION_ERROR");
    let pair = house.post(&bot, "/v1/channels", dm("pair")).await.ok();
    let path = format!("/v1/channels/{}", pair["id"].as_str().unwrap());
    let boss = house.token_of("other", "orchestrator").await;
    for token in [&boss, &op] {
        let patch = json!({"visibility": "public"});
        let answer = house.send(token, Method::PATCH, &path, Some(patch)).await;
        // To an operator without a seat it is not there; what an agent makes public waits for a person.
        assert!([400, 403, 404].contains(&answer.status), "{answer:?}");
        let renamed = house.send(token, Method::PATCH, &path, Some(json!({"title": "room"}))).await;
        assert!([409, 403, 404].contains(&renamed.status), "{renamed:?}");
    }
    let shown = house.get(&bot, &path).await.ok();
    assert_eq!((&shown["visibility"], &shown["title"]), (&json!("private"), &json!("pair")));
    // The channel itself keeps its name, in any case.
    let own = json!({"title": "Room"});
    house.send(&op, Method::PATCH, &format!("/v1/channels/{room}"), Some(own)).await.ok();
}

// covers: CHN-423, CHN-430, ATT-423
#[tokio::test]
async fn a_name_that_looks_like_anothers_is_refused_and_says_whose() {
    let house = House::open().await;
    house.room(&["bot"]).await;
    let op = house.operator();
    house.post(&op, "/v1/roles", json!({"name": "reviewers"})).await.ok();
    let member = |id: &str, name: &str| json!({"id": id, "kind": "agent", "display_name": name});
    for (path, body, like) in [
        ("/v1/members", member("b\u{43e}t", "Bertha"), "bot"),
        ("/v1/members", member("bert", "\u{430}nn"), "ann"),
        ("/v1/members", member("rev\u{456}ewers", "Rita"), "reviewers"),
        ("/v1/roles", json!({"name": "\u{430}nn"}), "ann"),
        ("/v1/channels", json!({"title": "r\u{3bf}om"}), "room"),
        ("/v1/channels", json!({"title": "#room"}), "room"),
    ] {
        let refused = house.post(&op, path, body).await;
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
        assert_eq!(house.post(&op, path, body).await.refused(400), "VALIDATION_ERROR", "{path}");
    }
    let rename = json!({"display_name": "B\u{43e}t"});
    house.post(&op, "/v1/members", member("bert", "Bert")).await.ok();
    let renamed = house.send(&op, Method::PATCH, "/v1/members/bert", Some(rename)).await;
    assert_eq!(renamed.refused(409), "CONFLICT");
    // Scripts that need joiners, pictures, and one's own name in other letters.
    house
        .post(&op, "/v1/members", member("sara", "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}"))
        .await
        .ok();
    let family = json!({"title": "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}"});
    house.post(&op, "/v1/channels", family).await.ok();
    let own = json!({"display_name": "BOT"});
    house.send(&op, Method::PATCH, "/v1/members/bot", Some(own)).await.ok();
}

// covers: ATT-425
#[tokio::test]
async fn nobody_is_seated_under_anothers_name() {
    let house = House::open().await;
    let room = house.room(&["bot", "other"]).await;
    let op = house.operator();
    house.post(&op, "/v1/roles", json!({"name": "reviewers"})).await.ok();
    let alex = json!({"id": "alex", "kind": "human", "display_name": "Alexandra"});
    house.post(&op, "/v1/members", alex).await.ok();
    let seat = async |member: &str, name: &str| {
        let path = format!("/v1/channels/{room}/members/{member}");
        let named = json!({"display": "manual", "display_name": name});
        house.send(&op, Method::PUT, &path, Some(named)).await
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
    let house = House::open().await;
    let room = house.room(&["bot"]).await;
    let bot = house.token("bot").await;
    for title in ["ro\u{200b}om", "\u{202e}moor", "a\u{2060}b", "a\u{e0041}b"] {
        let args = json!({"title": title, "channel_id": room});
        let refused = house.tool(&bot, "create_thread", args).await.unwrap_err();
        assert_eq!(refused, "VALIDATION_ERROR");
        let new = json!({"conversation": room, "title": title});
        assert_eq!(house.post(&bot, "/v1/threads", new).await.refused(400), "VALIDATION_ERROR");
    }
    house.tool(&bot, "create_thread", json!({"title": "room", "channel_id": room})).await.unwrap();
}
