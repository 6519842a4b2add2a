//! The example messages of the C2A draft are read correctly.

use chorus_core::model::attention::{Directedness, Mode, Policy, Priority};
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::reaction::Signal;
use chorus_wire::attention::deliver::{Deliver, Injection, Knock};
use chorus_wire::attention::initialize::{Capabilities, InitializeParams};
use chorus_wire::attention::notifications::{Cancelled, Progress};
use chorus_wire::attention::tools::{CallParams, React};
use chorus_wire::jsonrpc::{Id, Incoming, params};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The id, if any, the method and the params of an example.
fn read<P: DeserializeOwned>(example: &str) -> (Option<Id>, String, P) {
    match Incoming::parse(example).unwrap() {
        Incoming::Request { id, method, params: raw } => {
            (Some(id), method.into_owned(), params(raw).unwrap())
        }
        Incoming::Notification { method, params: raw } => {
            (None, method.into_owned(), params(raw).unwrap())
        }
        Incoming::Response { .. } => panic!("a response: {example}"),
    }
}

// covers: ATT-19, ATT-18
#[test]
fn initialize_of_the_spec_is_read() {
    let (id, method, params) = read::<InitializeParams>(
        r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{
            "protocolVersion":"2026-06-02",
            "clientInfo":{"name":"pear-chat-adapter","version":"0.1.0"},
            "capabilities":{
                "delivery":{"ack":true,"redelivery":true,"idempotency":true},
                "injection":{"immediate":true,"buffered":true,"notify":true,"tool_mailbox":true,
                             "digest":true,"interrupt":false},
                "chatTools":{"readThread":true,"sendMessage":true,"react":true,"reactionSignals":true,
                             "claim":true,"defer":true,"resolve":true},
                "utilities":{"progress":true,"cancellation":true,"logging":true}}}}"#,
    );
    assert_eq!((id, method.as_str()), (Some(Id::from("1")), "initialize"));
    assert_eq!(params.protocol_version, "2026-06-02");
    assert_eq!(params.client_info.name, "pear-chat-adapter");
    // The example leaves out two capabilities, which it then does not have.
    let mut expected = Capabilities::all();
    expected.chat_tools.list_events = false;
    expected.utilities.typing = false;
    assert_eq!(params.capabilities, expected);
    assert_eq!(Capabilities::all().and(expected), expected);
    assert_eq!(Capabilities::all().and(Capabilities::default()), Capabilities::default());
    assert_eq!((params.session, params.resume, params.glyphs), (None, None, None));
}

// covers: ATT-23
#[test]
fn deliver_of_the_spec_is_read() {
    let (id, method, event) = read::<Deliver>(
        r#"{"jsonrpc":"2.0","id":"deliver-456","method":"chat/deliver","params":{
            "eventId":"evt_123",
            "source":{"platform":"slack","workspaceId":"T123"},
            "conversation":{"id":"C123","kind":"dm","streamId":"stream_backend-migration",
                            "threadId":"1748890000.000100"},
            "author":{"id":"U123","kind":"human","displayName":"Will"},
            "target":{"mentions":["agent:lead"],"recipient":"agent:lead","directedness":"to_me"},
            "content":[{"type":"text","text":"Can you check whether the deploy is blocked?"}],
            "timing":{"createdAt":"2026-06-02T19:10:00Z","sequence":42},
            "attention":{"policy":"must_respond","reason":"direct_message","priority":"normal",
                         "deadlineMs":300000},
            "injection":{"mode":"buffered","context":"thread_window","role":"user"},
            "reliability":{"attempt":1,"idempotencyKey":"evt_123:agent_lead"}}}"#,
    );
    assert_eq!((id, method.as_str()), (Some(Id::from("deliver-456")), "chat/deliver"));
    assert_eq!(event.event_id, "evt_123");
    assert_eq!(event.conversation.kind, ConversationKind::Dm);
    assert_eq!(event.conversation.thread_id.as_deref(), Some("1748890000.000100"));
    assert_eq!(event.target.directedness, Directedness::ToMe);
    assert_eq!(event.target.recipient.as_deref(), Some("agent:lead"));
    assert_eq!(event.text().as_deref(), Some("Can you check whether the deploy is blocked?"));
    assert_eq!(chorus_wire::time::format(event.timing.created_at.0), "2026-06-02T19:10:00.000Z");
    assert_eq!(event.attention.policy, Policy::MustRespond);
    assert_eq!(
        (&*event.attention.reason, event.attention.deadline_ms),
        ("direct_message", Some(300_000))
    );
    assert_eq!(event.injection.mode, Mode::Buffered);
    assert_eq!(event.reliability.attempt, 1);
    assert_eq!((event.turn, event.knock, event.metadata), (None, None, None));
}

// covers: ATT-25
#[test]
fn knock_of_the_spec_is_read() {
    #[derive(Deserialize)]
    struct Example {
        injection: Injection,
        knock: Knock<'static>,
    }
    let example: Example = serde_json::from_str(
        r#"{"injection":{"mode":"notify"},
            "knock":{"from":"agent:worker-3","where":"thread:deploy-migration",
                     "directedness":"to_my_role","policy":"may_respond","priority":"normal",
                     "topic":"question about the rollback step","pullWith":"chat.read_thread"}}"#,
    )
    .unwrap();
    assert_eq!(example.injection.mode, Mode::Notify);
    assert_eq!(example.injection.context, None);
    assert_eq!(example.knock.place, "thread:deploy-migration");
    assert_eq!(example.knock.directedness, Directedness::ToMyRole);
    assert_eq!(example.knock.policy, Policy::MayRespond);
    assert_eq!(example.knock.priority, Priority::Normal);
    assert_eq!(example.knock.pull_with, "chat.read_thread");
}

#[test]
fn react_of_the_spec_is_read() {
    let call: CallParams = serde_json::from_str(
        r#"{"name":"chat.react","arguments":{"inReplyTo":"evt_123","signal":"queued",
            "eta":"after the deploy completes"}}"#,
    )
    .unwrap();
    assert_eq!(call.name, "chat.react");
    let react: React = params(call.arguments.as_deref()).unwrap();
    assert_eq!(react.signal, Signal::Queued);
    assert_eq!(react.eta.as_deref(), Some("after the deploy completes"));
    assert!(!react.remove);
}

// covers: ATT-120
#[test]
fn cancelled_of_the_spec_is_read() {
    let (id, method, cancelled) = read::<Cancelled>(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{
            "requestId":"deliver-456","reason":"Message was edited before response"}}"#,
    );
    assert_eq!((id, method.as_str()), (None, "notifications/cancelled"));
    assert_eq!(cancelled.request_id, Id::from("deliver-456"));
    assert_eq!(cancelled.reason.as_deref(), Some("Message was edited before response"));
}

// covers: ATT-122
#[test]
fn progress_of_the_spec_is_read() {
    let (id, method, progress) = read::<Progress>(
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{
            "progressToken":"deploy-check-1","progress":2,"total":5,"message":"Checked build status"}}"#,
    );
    assert_eq!((id, method.as_str()), (None, "notifications/progress"));
    assert_eq!(progress.progress_token, Id::from("deploy-check-1"));
    assert_eq!((progress.progress, progress.total), (2.into(), Some(5.into())));
}
