//! Single calls by POST.

use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use chorus_client::{Client, Error, c2a};
use chorus_core::model::error::Code;
use serde_json::{Value, json};

use crate::host::serve;

/// A transport that answers every call with this status and body.
async fn door(status: StatusCode, body: Value) -> Client {
    let handler = post(move |headers: HeaderMap, Json(call): Json<Value>| async move {
        assert_eq!(headers["authorization"], "Bearer turn_x");
        assert_eq!(call["jsonrpc"], "2.0");
        assert_eq!(call["method"], "tools/call");
        assert_eq!(call["params"]["arguments"]["eventId"], "evt_1");
        (status, Json(body))
    });
    let host = serve(Router::new().route("/v1/c2a", handler)).await;
    Client::new(&format!("{host}/v1/c2a"), "turn_x").unwrap()
}

async fn call(client: &Client) -> Result<Value, Error> {
    c2a::call_tool(client, "chat.claim", &json!({"eventId": "evt_1"})).await
}

#[tokio::test]
async fn a_tool_gives_its_structure() {
    let result = json!({"content": [], "structuredContent": {"fence": 2}, "isError": false});
    let client = door(StatusCode::OK, json!({"jsonrpc": "2.0", "id": 1, "result": result})).await;
    assert_eq!(call(&client).await, Ok(json!({"fence": 2})));
}

#[tokio::test]
async fn refusals_of_tool_protocol_and_door_are_one_error() {
    let envelope =
        json!({"error": {"code": "CLAIMED_BY_OTHER", "message": "m", "request_id": "r"}});
    let tool = json!({"jsonrpc": "2.0", "id": 1, "result":
        {"content": [], "structuredContent": envelope, "isError": true}});
    let protocol = json!({"jsonrpc": "2.0", "id": 1, "error":
        {"code": -32003, "message": "m", "data": envelope["error"]}});
    let bare = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32003, "message": "m"}});
    for (status, body) in [
        (StatusCode::OK, tool),
        (StatusCode::OK, protocol.clone()),
        (StatusCode::BAD_REQUEST, protocol),
        (StatusCode::BAD_REQUEST, bare),
        (StatusCode::CONFLICT, envelope),
    ] {
        let error = call(&door(status, body.clone()).await).await.unwrap_err();
        assert_eq!(error.code(), Some(Code::ClaimedByOther), "{body}");
        assert!(matches!(error, Error::Refused { status: 409, .. }), "{body}");
    }
}

#[tokio::test]
async fn anything_else_is_no_answer() {
    for (status, body) in [
        (StatusCode::OK, json!({"ok": true})),
        (StatusCode::OK, json!({"jsonrpc": "2.0", "id": 1, "result": "text"})),
        (StatusCode::BAD_GATEWAY, json!("bad gateway")),
    ] {
        let error = call(&door(status, body.clone()).await).await.unwrap_err();
        assert!(matches!(error, Error::Protocol(_)), "{body}: {error}");
    }
}
