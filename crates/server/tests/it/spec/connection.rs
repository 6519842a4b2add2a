//! Sections 2 and 3: the connection, its beginning, its bounds and its end.

use std::collections::BTreeMap;

use chorus_client::c2a::{Incoming, connect};
use chorus_core::model::caller::Authority;
use chorus_core::model::error::Code;
use chorus_core::model::limits;
use chorus_wire::attention::initialize::{InitializeParams, SessionHello};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::client_host::ClientHost;

// covers: ATT-17, ATT-9, ATT-16
#[tokio::test]
async fn no_frame_precedes_initialize() {
    let host = ClientHost::open().await;
    host.says("@scout is it done?").await;
    let token = host.token("scout", Authority::Worker).await.token;
    let url = format!("{}/v1/c2a", host.running.url.replace("http", "ws"));
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let ask = |id: u32, method: &str, params: Value| {
        Message::text(
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        )
    };
    for (frame, code) in [
        (ask(1, "tools/list", json!({})), -32_020),
        (Message::text("{not json"), -32_700),
        (Message::text("[1,2]"), -32_600),
        (Message::text(r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#), -32_600),
        (ask(2, "initialize", json!({"protocolVersion": 3})), -32_602),
    ] {
        socket.send(frame).await.unwrap();
        let answer = read(&mut socket).await;
        assert_eq!(answer["error"]["code"], json!(code), "{answer}");
        assert!(answer["error"]["data"]["code"].is_string(), "{answer}");
    }
    let hello =
        json!({"protocolVersion": "1999-01-01", "clientInfo": {"name": "x", "version": "0"}});
    socket.send(ask(3, "initialize", hello)).await.unwrap();
    let answer = read(&mut socket).await;
    assert_eq!(answer["id"], json!(3), "the answer comes before what is owed: {answer}");
    assert_eq!(answer["result"]["protocolVersion"], json!("2026-06-02"));
    let delivery = read(&mut socket).await;
    assert_eq!(delivery["method"], json!("chat/deliver"));
}

async fn read<S>(socket: &mut S) -> Value
where
    S: StreamExt<Item = Result<Message, tokio_tungstenite::tungstenite::Error>> + Unpin,
{
    loop {
        if let Message::Text(text) = socket.next().await.unwrap().unwrap() {
            return serde_json::from_str(&text).unwrap();
        }
    }
}

// covers: ATT-18, ATT-19, ATT-20
#[tokio::test]
async fn version_capabilities_and_glyphs_are_agreed_on() {
    let host = ClientHost::open().await;
    let mut params = InitializeParams::new("test", "0");
    params.protocol_version = "2031-01-01".into();
    params.capabilities.chat_tools.resolve = false;
    params.capabilities.injection.interrupt = true;
    let wanted = [("queued", "⏳"), ("unheard_of", "🦄")];
    params.glyphs = Some(wanted.map(|(s, g)| (s.to_owned(), g.to_owned())).into_iter().collect());
    let token = host.token("scout", Authority::Worker).await.token;
    let agent = host.join_with(&token, params).await;
    let hello = agent.connection.hello();
    assert_eq!(hello.protocol_version, "2026-06-02");
    assert!(!hello.capabilities.chat_tools.resolve && hello.capabilities.chat_tools.claim);
    assert!(!hello.capabilities.injection.interrupt, "the host does not offer it");
    let glyphs: BTreeMap<_, _> = hello.glyphs.iter().collect();
    assert_eq!(glyphs.len(), 9);
    assert_eq!(hello.glyphs["queued"], "⏳");
    assert_eq!(hello.glyphs["seen"], "👀");
    assert_eq!(hello.member.id, "scout");
    assert_eq!(hello.limits.unacked as usize, limits::UNACKED_PER_CONNECTION);
}

// covers: ATT-8, ATT-13
#[tokio::test]
async fn a_connection_ends_with_its_token() {
    let host = ClientHost::open().await;
    let token = host.token("scout", Authority::Worker).await;
    let mut agent = host.join_with(&token.token, InitializeParams::new("test", "0")).await;
    host.operator.revoke_token(&token.jti).await.unwrap();
    let reason = loop {
        if let Incoming::Closed { reason } = agent.next().await {
            break reason;
        }
    };
    assert!(reason.contains("token"), "{reason}");
    for bad in [token.token.as_str(), "", "nonsense", "eyJhbGciOiJub25lIn0.e30."] {
        let refused = connect(&host.running.url, bad, &InitializeParams::new("test", "0")).await;
        assert_eq!(refused.unwrap_err().code(), Some(Code::Unauthorized), "{bad}");
    }
}

// covers: ATT-12, ATT-21
#[tokio::test]
async fn a_newer_connection_of_a_session_ends_the_older() {
    let host = ClientHost::open().await;
    let mut old = host.join("scout").await;
    let session = old.connection.hello().session.id.clone();
    let mut params = InitializeParams::new("test", "0");
    params.session = Some(SessionHello { id: Some(session.clone()), ..SessionHello::default() });
    let token = host.token("scout", Authority::Worker).await.token;
    let new = host.join_with(&token, params.clone()).await;
    assert_eq!(new.connection.hello().session.id, session);
    while !matches!(old.next().await, Incoming::Closed { .. }) {}
    let other = host.token("reviewer", Authority::Worker).await.token;
    let refused = connect(&host.running.url, &other, &params).await;
    assert_eq!(refused.unwrap_err().code(), Some(Code::NotFound));
}

// covers: ATT-11, ATT-6
#[tokio::test]
async fn thirty_two_are_under_way_and_the_rest_waits_in_order() {
    let host = ClientHost::open().await;
    let mut scout = host.join("scout").await;
    let most = limits::UNACKED_PER_CONNECTION;
    let mut asked = Vec::new();
    for n in 0..most + 8 {
        asked.push(host.says(&format!("@scout what about {n}?")).await.event_id);
    }
    let mut ids = Vec::new();
    for event in asked.iter().take(most) {
        let (id, deliver) = scout.offered().await;
        assert_eq!(&deliver.event_id, event, "in order");
        ids.push(id);
    }
    assert!(scout.is_quiet().await, "the thirty-third waits");
    for (id, event) in ids.iter().zip(&asked[most..]) {
        scout.connection.ack(id).await.unwrap();
        assert_eq!(&scout.offered().await.1.event_id, event);
    }
}

// covers: ATT-14
#[tokio::test]
async fn slow_reader_delays_no_other() {
    let host = ClientHost::open().await;
    let token = host.token("reviewer", Authority::Worker).await.token;
    let url = format!("{}/v1/c2a", host.running.url.replace("http", "ws"));
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    let (mut deaf, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let params = InitializeParams::new("deaf", "0");
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    deaf.send(Message::text(hello.to_string())).await.unwrap();
    let mut scout = host.join("scout").await;
    let long = "x".repeat(100_000);
    let mut asked = Vec::new();
    for n in 0..80 {
        let posted = host.says(&format!("@scout @reviewer what about {n}? {long}")).await;
        asked.push(posted.event_id);
        assert_eq!(scout.taken().await.event_id, asked[n]);
    }
    drop(deaf);
    // It comes back, and finds all of it in the log.
    let mut reviewer = host.join("reviewer").await;
    for event in &asked {
        assert_eq!(&reviewer.taken().await.event_id, event);
    }
}

// covers: ATT-15, ATT-133
#[tokio::test]
async fn too_large_message_is_refused() {
    let host = ClientHost::open().await;
    let client = host.client("scout").await;
    let http = reqwest::Client::new();
    for path in ["/v1/c2a", "/v1/messages"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"x":"{}"}}"#, "x".repeat(1 << 20));
        let request = http.post(format!("{}{path}", host.running.url)).body(body);
        let request = request.header("content-type", "application/json");
        let answer = request.bearer_auth(client.token().unwrap()).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 413, "{path}");
        let envelope: Value = answer.json().await.unwrap();
        assert_eq!(envelope["error"]["code"], json!("PAYLOAD_TOO_LARGE"));
    }
}
