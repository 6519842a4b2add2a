//! Server-sent events: chunks cut anywhere are the same stream.

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header::CONTENT_TYPE};
use axum::routing::get;
use chorus_client::sse::{Frame, Item, Parser};
use chorus_client::{Client, Error};
use proptest::prelude::*;

use crate::host::serve;

const STREAM: &str = ": hello\n\nid: 1\nevent: message_posted\ndata: {\"a\":1}\n\n\
    :\nid:2\r\ndata: two\r\ndata:\r\ndata:  lines é\r\n\r\nevent: empty\n\nretry: 5\ndata: x\n\ndata: cut";

fn frames() -> Vec<Frame> {
    let frame = |id: &str, event: &str, data: &str| Frame {
        id: Some(id.to_owned()).filter(|id| !id.is_empty()),
        event: Some(event.to_owned()).filter(|event| !event.is_empty()),
        data: data.to_owned(),
    };
    vec![
        frame("1", "message_posted", "{\"a\":1}"),
        frame("2", "", "two\n\n lines é"),
        frame("", "", "x"),
    ]
}

proptest! {
    #[test]
    fn chunks_cut_anywhere_are_the_same_stream(cuts in prop::collection::vec(0..STREAM.len(), 0..12)) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        let mut parser = Parser::default();
        let mut read = Vec::new();
        let mut start = 0;
        for end in cuts.into_iter().chain([STREAM.len()]) {
            parser.push(&STREAM.as_bytes()[start..end]).unwrap();
            read.extend(parser.by_ref());
            start = end;
        }
        prop_assert_eq!(read, frames());
    }

    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = Parser::default().push(&bytes);
    }
}

#[test]
fn an_event_without_end_is_refused() {
    let mut parser = Parser::default();
    let line = format!("data: {}\n", "x".repeat(1 << 20));
    let pushed: Result<(), _> = (0..4).try_for_each(|_| parser.push(line.as_bytes()));
    assert!(matches!(pushed, Err(Error::Protocol(_))));
}

const EVENT: &str = r#"{"event_id":"evt_1","conversation":"ch_1","seq":5,"type":"message_posted","actor":{"id":"will","kind":"human","display_name":"Will"},"created_at":"2026-06-02T19:10:00.000Z"}"#;

#[tokio::test]
async fn a_conversation_is_followed() {
    let events = get(|headers: HeaderMap| async move {
        assert_eq!(headers["accept"], "text/event-stream");
        let body = format!(": here\n\nid: 5\nevent: message_posted\ndata: {EVENT}\n\n");
        ([(CONTENT_TYPE, "text/event-stream")], body)
    });
    let host = serve(Router::new().route("/v1/events", events)).await;
    let client = Client::new(&host, "jwt").unwrap();
    let mut stream = client.events_stream("ch_1", Some(4)).await.unwrap();
    let event = stream.next().await.unwrap().unwrap();
    assert_eq!((event.seq, event.kind.as_str()), (5, "message_posted"));
    assert_eq!(stream.next().await.unwrap(), None);
}

#[tokio::test]
async fn live_events_come_between_logged_ones_on_request() {
    let events = get(|uri: axum::http::Uri| async move {
        let asked = uri.query().unwrap_or_default().contains("activity=true");
        let activity = "event: activity\ndata: {\"type\":\"status\",\"status\":\"looking\"}\n\n";
        let event = format!("id: 5\nevent: message_posted\ndata: {EVENT}\n\n");
        let body = if asked { format!("{activity}{event}") } else { event };
        ([(CONTENT_TYPE, "text/event-stream")], body)
    });
    let host = serve(Router::new().route("/v1/events", events)).await;
    let client = Client::new(&host, "jwt").unwrap();
    let mut stream = client.activity_stream("ch_1", Some(4)).await.unwrap();
    match stream.next_item().await.unwrap() {
        Some(Item::Activity { name, data }) => {
            assert_eq!((name.as_str(), data["status"].as_str()), ("activity", Some("looking")));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(stream.next_item().await.unwrap(), Some(Item::Event(e)) if e.seq == 5));
    let mut stream = client.activity_stream("ch_1", Some(4)).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap().seq, 5, "who asks for events gets those");
}

#[tokio::test]
async fn a_refused_stream_is_a_refusal_and_another_body_is_none() {
    let envelope =
        r#"{"error":{"code":"NOT_FOUND","message":"no such conversation","request_id":"r"}}"#;
    let refused = serve(
        Router::new()
            .route("/v1/events", get(move || async move { (StatusCode::NOT_FOUND, envelope) })),
    );
    let client = Client::new(&refused.await, "").unwrap();
    let error = client.events_stream("ch_1", None).await.unwrap_err();
    assert!(matches!(error, Error::Refused { status: 404, .. }), "{error}");

    let plain = serve(Router::new().route("/v1/events", get(|| async { "{}" }))).await;
    let error = Client::new(&plain, "").unwrap().events_stream("ch_1", None).await.unwrap_err();
    assert!(matches!(error, Error::Protocol(_)), "{error}");
}
