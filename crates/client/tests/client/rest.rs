//! REST: requests as the host sees them, and every kind of answer.

use axum::extract::{Path, RawQuery, Request};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use chorus_client::{Client, Error};
use chorus_core::model::error::Code;
use chorus_core::model::reaction::Signal;
use chorus_wire::rest::messages::{ListMessages, NewMessage};
use serde_json::{Value, json};

use crate::host::serve;

#[tokio::test]
async fn a_post_carries_bearer_and_body_and_gives_what_the_host_says() {
    let post = post(|headers: HeaderMap, Json(body): Json<Value>| async move {
        assert_eq!(headers["authorization"], "Bearer jwt");
        assert_eq!(body, json!({"conversation": "ch_1", "text": "hi", "idempotency_key": "k"}));
        let posted = json!({"event_id": "evt_1", "message_id": "msg_1", "conversation": "ch_1", "seq": 7,
            "created_at": "2026-06-02T19:10:00.000Z", "duplicate": false, "told": [], "newer": 1});
        (StatusCode::CREATED, Json(posted))
    });
    let host = serve(Router::new().route("/v1/messages", post)).await;
    let message = NewMessage {
        conversation: "ch_1".into(),
        text: Some("hi".into()),
        idempotency_key: Some("k".into()),
        ..NewMessage::default()
    };
    let posted = Client::new(&host, "jwt").unwrap().post(&message).await.unwrap();
    assert_eq!((posted.seq, posted.duplicate), (7, false));
}

#[tokio::test]
async fn a_refusal_keeps_status_code_message_and_request() {
    let refuse = || async {
        let envelope = json!({"error": {"code": "POLICY_FORBIDS_REPLY", "message": "stay silent",
            "request_id": "req_1"}});
        (StatusCode::FORBIDDEN, Json(envelope))
    };
    let host = serve(Router::new().route("/v1/whoami", get(refuse))).await;
    let error = Client::new(&host, "").unwrap().whoami().await.unwrap_err();
    assert_eq!(error.code(), Some(Code::PolicyForbidsReply));
    assert!(!error.is_retryable());
    assert_eq!(error.to_string(), "POLICY_FORBIDS_REPLY: stay silent (req_1)");
    assert!(matches!(error, Error::Refused { status: 403, .. }));
}

#[tokio::test]
async fn foreign_answer_is_reported_as_such() {
    let router = Router::new()
        .route("/v1/whoami", get(|| async { (StatusCode::BAD_GATEWAY, "<html>\n\u{1b}[31m") }))
        .route("/v1/members", get(|| async { "not json" }))
        .route("/v1/roles", get(|| async { Json(json!({"roles": [1]})) }))
        .route(
            "/v1/claims",
            get(|| async { (StatusCode::FOUND, [(LOCATION, "http://x.invalid/")]) }),
        );
    let client = Client::new(&serve(router).await, "jwt").unwrap();
    let errors = [
        client.whoami().await.unwrap_err(),
        client.members().await.unwrap_err(),
        client.roles().await.unwrap_err(),
        // A redirect would carry the token elsewhere.
        client.claims().await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(&error, Error::Protocol(_)), "{error}");
        assert!(!error.to_string().contains(['\n', '\u{1b}']), "{error}");
    }
}

#[tokio::test]
async fn unreachable_host_is_a_retryable_error() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let error = Client::new(&url, "").unwrap().ready().await.unwrap_err();
    assert!(error.is_retryable());
    let text = error.to_string();
    assert!(text.contains(&url) && text.contains("chorus serve"), "{text}");
}

#[tokio::test]
async fn names_in_paths_and_queries_are_escaped() {
    let router = Router::new()
        .route(
            "/v1/members/{id}",
            delete(|Path(id): Path<String>| async move {
                assert_eq!(id, "a/b?c#d %20é");
                StatusCode::NO_CONTENT
            }),
        )
        .route(
            "/v1/messages",
            get(|RawQuery(query): RawQuery| async move {
                assert_eq!(query.unwrap(), "after_seq=3&conversation=ch_1%26limit%3D9");
                Json(json!({"messages": [], "has_more": false}))
            }),
        );
    let client = Client::new(&serve(router).await, "").unwrap();
    client.remove_member("a/b?c#d %20é").await.unwrap();
    let query = ListMessages {
        conversation: "ch_1&limit=9".into(),
        after_seq: Some(3),
        ..ListMessages::default()
    };
    assert!(client.messages(&query).await.unwrap().messages.is_empty());
}

/// Every call goes to the path and with the method that the host has for it.
#[tokio::test]
async fn every_call_has_its_path() {
    let router = Router::new().fallback(|request: Request| async move {
        let line = format!("{} {}", request.method(), request.uri().path());
        let envelope = json!({"error": {"code": "NOT_FOUND", "message": line}});
        (StatusCode::NOT_FOUND, Json(envelope)).into_response()
    });
    let client = Client::new(&serve(router).await, "").unwrap();
    let mut calls = Vec::new();
    macro_rules! call {
        ($($call:expr),* $(,)?) => {$(
            match $call.await.map(|_| ()).unwrap_err() {
                Error::Refused { message, .. } => calls.push(message),
                other => panic!("{other}"),
            }
        )*};
    }
    call![
        client.ready(),
        client.whoami(),
        client.members(),
        client.member("m"),
        client.change_member("m", &Default::default()),
        client.remove_member("m"),
        client.agents(),
        client.add_role("r"),
        client.remove_role("r"),
        client.add_to_role("r", "m"),
        client.remove_from_role("r", "m"),
        client.streams(),
        client.sessions(),
        client.revoke_token("j"),
        client.create_channel(&Default::default()),
        client.channel("c"),
        client.change_channel("c", &Default::default()),
        client.seat("c", "m", &Default::default()),
        client.unseat("c", "m"),
        client.cursor("c"),
        client.set_cursor("c", 1),
        client.message("e"),
        client.edit_message("e", &Default::default()),
        client.delete_message("e"),
        client.react("e", Signal::Done, None),
        client.unreact("e", Signal::Done),
        client.threads(&Default::default()),
        client.open_thread(&Default::default()),
        client.thread("t"),
        client.change_thread("t", &Default::default()),
        client.why("e"),
        client.preview(&NewMessage::default()),
        client.events(&Default::default()),
        client.claims(),
        client.claim("e"),
        client.release("e"),
        client.deliveries(&Default::default()),
        client.redeliver("e:m"),
        client.end_delivery("e:m"),
        client.pause_agent("m"),
        client.continue_agent("m"),
    ];
    let expected = "\
        GET /readyz, GET /v1/whoami, GET /v1/members, GET /v1/members/m, PATCH /v1/members/m, \
        DELETE /v1/members/m, GET /v1/agents, POST /v1/roles, DELETE /v1/roles/r, \
        PUT /v1/roles/r/members/m, DELETE /v1/roles/r/members/m, GET /v1/streams, GET /v1/sessions, \
        DELETE /v1/tokens/j, POST /v1/channels, GET /v1/channels/c, PATCH /v1/channels/c, \
        PUT /v1/channels/c/members/m, DELETE /v1/channels/c/members/m, GET /v1/cursors/c, \
        PUT /v1/cursors/c, GET /v1/messages/e, PATCH /v1/messages/e, DELETE /v1/messages/e, \
        PUT /v1/messages/e/reactions/done, DELETE /v1/messages/e/reactions/done, GET /v1/threads, \
        POST /v1/threads, GET /v1/threads/t, PATCH /v1/threads/t, GET /v1/events/e/attention, \
        POST /v1/attention/preview, GET /v1/events, GET /v1/claims, POST /v1/claims, \
        DELETE /v1/claims/e, GET /v1/deliveries, POST /v1/deliveries/e:m/redeliver, \
        POST /v1/deliveries/e:m/end, POST /v1/members/m/pause, POST /v1/members/m/continue";
    assert_eq!(calls.join(", "), expected);
}

#[test]
fn an_address_of_the_door_is_one_of_its_host_and_nonsense_is_none() {
    let base = |url: &str| Client::new(url, "").map(|client| client.base_url().to_owned());
    for url in [
        "http://h:7600",
        "http://h:7600/",
        "http://h:7600/v1/c2a",
        "ws://h:7600/v1/c2a/",
        "http://h:7600/?names=underscore#x",
    ] {
        assert_eq!(base(url).unwrap(), "http://h:7600/", "{url}");
    }
    assert_eq!(base("wss://h/chorus/v1/c2a").unwrap(), "https://h/chorus/");
    for url in ["", "h:7600", "127.0.0.1:7600", "ftp://h", "file:///x", "http://", "http://u:p@h/"]
    {
        assert!(matches!(base(url), Err(Error::Address(_))), "{url}");
    }
    let shown = format!("{:?}", Client::new("http://h", "SECRET").unwrap());
    assert!(!shown.contains("SECRET"), "{shown}");
}
