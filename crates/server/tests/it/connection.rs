//! C2A connections: what a session hears, finds and keeps when it comes and goes.

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};

use crate::test_host::TestHost;

#[tokio::test]
async fn typing_is_told_to_whoever_composes_from_it() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let ann = host.token("ann").await;
    let mut bot = host.connect(&host.token("bot").await).await;
    host.say(&ann, &room, "@bot one more thing").await;
    bot.take().await;
    let typing = json!({"conversation": room, "typing": true});
    assert_eq!(host.post(&ann, "/v1/typing", typing).await.status, 204);
    let heard = bot.heard().await.unwrap();
    assert_eq!(heard["method"], "notifications/typing");
    assert_eq!(
        (&heard["params"]["author"], &heard["params"]["typing"]),
        (&json!("ann"), &json!(true))
    );
}

// covers: FAIL-10, ATT-78
#[tokio::test]
async fn mail_is_there_before_anybody_connects_and_is_never_falsely_empty() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    host.say(&ann, &room, "just talk").await;
    host.say(&ann, &room, "@bot are you there?").await;
    let mail = host.tool(&token, "chat.list_events", json!({"unsettled": true})).await.unwrap();
    assert_eq!(mail["events"].as_array().unwrap().len(), 1);
    assert_eq!(mail["events"][0]["attention"]["policy"], "must_respond");
    let all = host.tool(&token, "chat.list_events", json!({})).await.unwrap();
    assert_eq!(all["events"].as_array().unwrap().len(), 2);
    let directed = json!({"directedness": "to_me", "conversation": room});
    let directed = host.tool(&token, "chat.list_events", directed).await.unwrap();
    assert_eq!(directed["events"].as_array().unwrap().len(), 1);

    let mut bot = host.connect(&token).await;
    let event = bot.take().await;
    bot.reply(&event, "yes").await.unwrap();
    let mail = bot.tool("chat.list_events", json!({"unsettled": true})).await.unwrap();
    assert_eq!(mail["events"], json!([]));
}

// covers: ATT-12
#[tokio::test]
async fn the_newer_connection_of_a_session_takes_over() {
    let host = TestHost::open().await;
    let room = host.room(&["bot"]).await;
    let (ann, token) = (host.token("ann").await, host.token("bot").await);
    let mut old = host.connect(&token).await;
    host.say(&ann, &room, "@bot are you there?").await;
    let first = old.take().await;
    let session = json!({"id": old.hello["session"]["id"]});
    let mut new = host.connect_as(&token, session).await;
    assert_eq!(old.heard().await.unwrap()["method"], "notifications/closing");
    assert!(old.heard().await.is_none());
    let again = new.take().await;
    assert_eq!(again["eventId"], first["eventId"]);
    assert_eq!(again["reliability"]["idempotencyKey"], first["reliability"]["idempotencyKey"]);
    assert!(again["reliability"]["attempt"].as_u64() > first["reliability"]["attempt"].as_u64());
    new.reply(&again, "I am").await.unwrap();
}

// covers: ATT-16
#[tokio::test]
async fn a_closing_handshake_is_completed_and_a_text_that_is_none_has_its_code() {
    let host = TestHost::open().await;
    host.room(&["bot"]).await;
    let token = host.token("bot").await;
    let mut bot = host.connect(&token).await;
    let bye = CloseFrame { code: CloseCode::Normal, reason: "bye".into() };
    bot.raw(Message::Close(Some(bye))).await;
    assert!(bot.frame().await.is_none());
    assert_eq!(bot.closed, Some(1000), "the close frame is answered");
    let mut bot = host.connect(&token).await;
    let text = Frame::message(vec![0xff, 0xfe], OpCode::Data(Data::Text), true);
    bot.raw(Message::Frame(text)).await;
    assert_eq!(bot.heard().await.unwrap()["method"], "notifications/closing");
    assert!(bot.frame().await.is_none());
    assert_eq!(bot.closed, Some(1007));
}
