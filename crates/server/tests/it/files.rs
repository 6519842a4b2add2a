//! Files for agents: a turn's token reads those that its conversation shows, and no others.

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::TestHost;

async fn upload(host: &TestHost, token: &str, name: &str, body: Vec<u8>) -> String {
    let request = host.request(Method::POST, &format!("/v1/assets?name={name}"));
    let kept = TestHost::answer(request.bearer_auth(token).body(body)).await.ok();
    kept["asset_id"].as_str().unwrap().to_owned()
}

async fn show(host: &TestHost, token: &str, room: &str, text: &str, file: &str, only: &[&str]) {
    let parts = json!([{"type": "text", "text": text}, {"type": "asset", "asset_id": file}]);
    let mut args = json!({"target": {"conversation": room}, "idempotencyKey": file,
        "directedness": "to_me", "visibility": "channel", "content": parts});
    if !only.is_empty() {
        args["visibility"] = json!("ephemeral");
        args["only"] = json!(only);
    }
    host.tool(token, "chat.send_message", args).await.unwrap();
}

async fn fetch(host: &TestHost, token: &str, file: &str) -> (u16, Vec<u8>) {
    let request = host.request(Method::GET, &format!("/v1/assets/{file}")).bearer_auth(token);
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.bytes().await.unwrap().to_vec())
}

// covers: CHN-313, CHN-314, CHN-315
#[tokio::test]
async fn a_turn_reads_the_files_that_it_shows_and_no_others() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let other = json!({"title": "other", "members": ["ann", "bot"]});
    let other = host.post(&host.operator(), "/v1/channels", other).await.ok();
    let other = other["id"].as_str().unwrap().to_owned();
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let log = "line\u{e9}\n".repeat(30_000);
    let text = upload(&host, &ann, "deploy.log", log.clone().into_bytes()).await;
    let png: Vec<u8> = [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 100]].concat();
    let picture = upload(&host, &ann, "screen.png", png.clone()).await;
    let elsewhere = upload(&host, &ann, "other.txt", b"of the other room".to_vec()).await;
    let hidden = upload(&host, &ann, "hidden.txt", b"for ann alone".to_vec()).await;
    let unsent = upload(&host, &ann, "unsent.txt", b"never shown".to_vec()).await;
    show(&host, &ann, &other, "for the record", &elsewhere, &[]).await;
    show(&host, &ann, &room, "a note", &hidden, &["operator"]).await;
    show(&host, &ann, &room, "it looks so", &picture, &[]).await;
    let mut bot = host.connect(&token).await;
    show(&host, &ann, &room, "@bot can you read this?", &text, &[]).await;
    let event = bot.take().await;
    let turn = event["turn"]["token"].as_str().unwrap().to_owned();

    // By the turn's token, or by the agent's own with the turn.
    let listed = host.tool(&turn, "chat.read_asset", json!({})).await.unwrap();
    assert_eq!(host.tool(&token, "chat.read_asset", json!({"turn": turn})).await.unwrap(), listed);
    let all = listed["assets"].as_array().unwrap();
    let of = |field: &str| all.iter().map(|a| a[field].clone()).collect::<Vec<Value>>();
    assert_eq!(of("name"), [json!("deploy.log"), json!("screen.png")], "{listed}");
    assert_eq!(of("mediaType"), [json!("text/plain; charset=utf-8"), json!("image/png")]);
    assert_eq!(of("bytes"), [json!(log.len()), json!(png.len())]);
    assert_eq!(all[0]["eventId"], event["eventId"]);
    let one = json!({"eventId": event["eventId"]});
    let one = host.tool(&turn, "chat.read_asset", one).await.unwrap();
    assert_eq!(one["assets"].as_array().unwrap().len(), 1);

    // A text comes in pieces, and is whole.
    let (mut read, mut args) = (String::new(), json!({"assetId": text}));
    loop {
        let given = host.tool(&turn, "chat.read_asset", args.clone()).await.unwrap();
        read += given["assets"][0]["text"].as_str().unwrap();
        let Some(next) = given["assets"][0].get("nextOffset") else { break };
        args["offset"] = next.clone();
    }
    assert_eq!(read, log);
    let given = host.tool(&turn, "chat.read_asset", json!({"assetId": picture})).await.unwrap();
    use base64::Engine;
    let data = base64::engine::general_purpose::STANDARD
        .decode(given["assets"][0]["data"].as_str().unwrap())
        .unwrap();
    assert_eq!(data, png);
    assert_eq!(fetch(&host, &turn, &picture).await, (200, png));
    assert!(given["assets"][0]["url"].as_str().unwrap().ends_with(&format!("/{picture}")));

    // What the turn does not show is unknown to it, though its agent may see it elsewhere.
    for file in [&elsewhere, &hidden, &unsent] {
        assert_eq!(fetch(&host, &turn, file).await.0, 404);
        for (by, args) in
            [(&turn, json!({"assetId": file})), (&token, json!({"assetId": file, "turn": turn}))]
        {
            let refused = host.tool(by, "chat.read_asset", args).await.unwrap_err();
            assert!(refused.contains("NOT_FOUND"), "{refused}");
        }
    }
    assert_eq!(fetch(&host, &token, &elsewhere).await.0, 200);
    let refused =
        host.tool(&turn, "chat.read_asset", json!({"conversation": other})).await.unwrap_err();
    assert!(refused.contains("FORBIDDEN"), "{refused}");
    for bad in [
        json!({"offset": 1}),
        json!({"assetId": text, "offset": 9_000_000}),
        json!({"assetId": text, "eventId": event["eventId"]}),
        json!({"assetId": text, "offset": 5}),
        json!({"assetId": "x"}),
        json!({"file": text}),
    ] {
        assert!(host.tool(&turn, "chat.read_asset", bad.clone()).await.is_err(), "{bad}");
    }
    let refused = host.tool(&token, "chat.read_asset", json!({})).await.unwrap_err();
    assert!(refused.contains("VALIDATION_ERROR"), "{refused}");
}
