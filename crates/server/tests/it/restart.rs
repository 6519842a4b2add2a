//! A host that stops and starts again: nothing that was answered is lost, nothing is done twice.

use serde_json::json;

use crate::test_host::{START, TestHost};

// covers: ATT-7, ATT-101, ATT-102
#[tokio::test]
async fn messages_offers_and_tokens_survive_a_restart() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let posted = host.say(&ann, &room, "@bot first?").await;
    let mut bot = host.connect(&token).await;
    let session = bot.hello["session"]["id"].clone();
    let before = bot.take().await;
    let second = host.say(&ann, &room, "@bot second?").await;
    let TestHost { running, folder, .. } = host;
    running.stop().await;

    let host = TestHost::open_in(folder, START.plus(5_000)).await;
    let mut bot = host.connect_as(&token, json!({"id": session})).await;
    let again = [bot.take().await, bot.take().await];
    assert_eq!(
        (&again[0]["eventId"], &again[1]["eventId"]),
        (&posted["event_id"], &second["event_id"])
    );
    assert!(
        again[0]["reliability"]["attempt"].as_u64() > before["reliability"]["attempt"].as_u64()
    );
    // The turn's token of the first run still speaks for the same turn.
    bot.reply(&before, "yes").await.unwrap();
    let same =
        json!({"conversation": room, "text": "@bot first?", "idempotency_key": "key:@bot first?"});
    let duplicate = host.post(&ann, "/v1/messages", same).await.ok();
    assert_eq!(
        (&duplicate["duplicate"], &duplicate["event_id"]),
        (&json!(true), &posted["event_id"])
    );
    let id = posted["event_id"].as_str().unwrap();
    let why = host.get(&ann, &format!("/v1/events/{id}/attention")).await.ok();
    assert_eq!(why["told"][0]["receipt"]["disposition"], "responded");
}

#[tokio::test]
async fn a_second_host_on_the_folder_is_refused() {
    let host = TestHost::open().await;
    let config = chorus_server::Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..chorus_server::Config::on(host.folder.path())
    };
    let refused = chorus_server::Host::start(config).await.err().expect("one host a folder");
    assert!(refused.to_string().contains(&*host.folder.path().to_string_lossy()), "{refused}");
}
