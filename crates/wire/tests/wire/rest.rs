//! REST bodies: what is written, and that requests refuse unknown fields.

use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::Code;
use chorus_core::model::event::MessageKind;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::member::MemberKind;
use chorus_wire::rest::attention::{Bounds, Flow, Receipt, Told, ToldReceipt, Why};
use chorus_wire::rest::body;
use chorus_wire::rest::channels::{ChannelPatch, NewChannel, SeatPut};
use chorus_wire::rest::claims::NewClaim;
use chorus_wire::rest::cursors::CursorPut;
use chorus_wire::rest::deliveries::{self, Delivery, ListDeliveries};
use chorus_wire::rest::events::Event;
use chorus_wire::rest::members::{MemberPatch, NewMember};
use chorus_wire::rest::messages::{
    ListMessages, Message, MessageAuthor, MessagePatch, NewMessage, Posted, ReactionPut,
};
use chorus_wire::rest::roles::NewRole;
use chorus_wire::rest::streams::NewStream;
use chorus_wire::rest::threads::{NewThread, ThreadPatch};
use chorus_wire::rest::tokens::NewToken;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const AT: Timestamp = Timestamp(1_780_427_400_000);

/// Reads a request as the transport does, and again with an extra field.
fn check<T: DeserializeOwned>(request: Value) {
    let read = |value: &Value| serde_json::from_str::<T>(&value.to_string()).map(|_| ());
    read(&request).unwrap_or_else(|e| panic!("{request}: {e}"));
    let mut more = request.clone();
    more["notAField"] = json!(1);
    assert!(read(&more).is_err(), "takes what it does not know: {more}");
}

#[test]
fn requests_are_read_and_refuse_unknown_fields() {
    check::<NewMember>(json!({"id": "scout", "kind": "agent"}));
    check::<NewMember>(
        json!({"id": "will", "kind": "human", "handle": "w", "display_name": "Will",
        "owner_id": "o", "identities": [{"platform": "slack", "id": "U1"}], "token_role": "operator"}),
    );
    check::<MemberPatch>(json!({"handle": "w", "lead": true}));
    check::<NewRole>(json!({"name": "backend"}));
    check::<NewStream>(json!({"name": "migration", "owner": "will"}));
    check::<NewChannel>(json!({"kind": "channel", "title": "deploys", "description": "d",
        "purpose": "p", "visibility": "private", "members": ["will"], "stream": "str_1"}));
    check::<NewChannel>(json!({"title": "deploys"}));
    check::<ChannelPatch>(json!({"title": "t", "archived": true}));
    check::<SeatPut>(json!({"participation": "always_listen"}));
    check::<NewMessage>(json!({"conversation": "ch_1", "text": "hi", "idempotency_key": "k",
        "thread": "th_1", "in_reply_to": "evt_1", "recipient": "scout", "mentions": ["scout"],
        "visibility": "channel", "directedness": "to_me", "metadata": {"a": 1},
        "source": {"platform": "slack", "workspace_id": "T1", "id": "123.4"}}));
    check::<MessagePatch>(json!({"text": "new"}));
    check::<ReactionPut>(json!({"eta": "soon"}));
    check::<ListMessages>(json!({"conversation": "ch_1", "after_seq": 3}));
    check::<NewThread>(json!({"conversation": "ch_1", "root": "msg_1", "title": "t",
        "type": "workflow", "participants": ["scout"], "owner": "will"}));
    check::<ThreadPatch>(json!({"status": "resolved", "reason": "done"}));
    check::<CursorPut>(json!({"last_read_seq": 4}));
    check::<NewClaim>(json!({"event": "evt_1"}));
    check::<ListDeliveries>(json!({"state": "dead", "member": "scout"}));
    check::<NewToken>(
        json!({"agent": "scout", "role": "worker", "session": "sess_1", "ttl_s": 60}),
    );
}

#[test]
fn wrong_types_are_refused() {
    let bad = [
        json!({"id": 1, "kind": "agent"}),
        json!({"id": "a", "kind": "robot"}),
        json!({"id": "a"}),
    ];
    for bad in bad {
        assert!(serde_json::from_value::<NewMember>(bad.clone()).is_err(), "{bad}");
    }
    // A list is no object, even where its items would fit the fields.
    assert!(body::<CursorPut>(b" {\"last_read_seq\":1}").is_ok());
    for bad in [
        &b"[1]"[..],
        b"",
        b"1",
        b"{}",
        b"{\"last_read_seq\":1}x",
        b"{\"last_read_seq\":1,\"\xff\":1}",
    ] {
        let refusal = body::<CursorPut>(bad).unwrap_err();
        assert_eq!(refusal.code, Code::ValidationError, "{}", refusal.message);
    }
    assert!(serde_json::from_value::<CursorPut>(json!({"last_read_seq": -1})).is_err());
    assert!(serde_json::from_value::<NewToken>(json!({"agent": "a", "role": "root"})).is_err());
}

#[test]
fn a_null_owner_differs_from_an_absent_one() {
    let read = |json: &str| serde_json::from_str::<ThreadPatch>(json).unwrap().owner;
    assert_eq!(read("{}"), None);
    assert_eq!(read(r#"{"owner":null}"#), Some(None));
    assert_eq!(read(r#"{"owner":"will"}"#), Some(Some("will".into())));
    let patch = ThreadPatch { owner: Some(None), ..ThreadPatch::default() };
    assert_eq!(serde_json::to_string(&patch).unwrap(), r#"{"owner":null}"#);
}

fn told() -> Told {
    Told {
        member: "scout".into(),
        directedness: Directedness::ToMe.into(),
        policy: Policy::MustRespond.into(),
        mode: Mode::Buffered.into(),
        reason: "mention".into(),
        priority: Priority::Normal.into(),
    }
}

fn message() -> Message {
    Message {
        only: Vec::new(),
        event_id: "evt_1".into(),
        message_id: "msg_1".into(),
        conversation: "ch_1".into(),
        thread_id: None,
        seq: 4,
        thread_seq: None,
        author: MessageAuthor {
            id: "will".into(),
            kind: MemberKind::Human.into(),
            display_name: "Will".into(),
        },
        kind: MessageKind::Chat.into(),
        text: Some("@scout is it blocked?".into()),
        content: None,
        in_reply_to: None,
        created_at: AT.into(),
        edited_at: None,
        deleted_at: None,
        erased: false,
        reactions: vec![],
        metadata: None,
        source: None,
        hop: 0,
    }
}

#[test]
fn responses_keep_their_shape() {
    let posted = Posted {
        event_id: "evt_1".into(),
        message_id: "msg_1".into(),
        conversation: "ch_1".into(),
        thread_id: None,
        seq: 4,
        thread_seq: None,
        created_at: AT.into(),
        duplicate: false,
        redacted: 0,
        told: vec![told()],
        unknown_names: vec![],
    };
    let event = Event {
        event_id: "evt_1".into(),
        conversation: "ch_1".into(),
        seq: 4,
        kind: "message_posted".into(),
        actor: message().author,
        created_at: AT.into(),
        thread_id: None,
        message: Some(message()),
        about: None,
        signal: None,
        glyph: None,
        detail: None,
        member: None,
        participation: None,
        status: None,
        reason: None,
        title: None,
        work: None,
        told: vec![told()],
    };
    let receipt = Receipt {
        state: "settled".into(),
        attempt: 1,
        fence: 1,
        offered_at: Some(AT.into()),
        accepted_at: Some(AT.plus(12).into()),
        retrieved_at: None,
        settled_at: Some(AT.plus(1500).into()),
        deferred_until: None,
        note: None,
        disposition: Some(Disposition::Responded.into()),
        stands_still_since: None,
    };
    let why = Why {
        wakes: Vec::new(),
        event_id: "evt_1".into(),
        conversation: "ch_1".into(),
        seq: 4,
        author: "will".into(),
        created_at: AT.into(),
        intent: Intent::Question.into(),
        rest: Directedness::ToOther.into(),
        hop: 0,
        cause: None,
        claimed_by: None,
        paused: false,
        newest_version: None,
        flow: Some(Flow {
            member: "scout".into(),
            confidence: 71,
            because: vec!["answer".into(), "lately".into()],
            against: vec!["shape".into()],
        }),
        nobody: None,
        bounds: Some(Bounds { sure: 70, likely: 40, perhaps: 25 }),
        told: vec![ToldReceipt {
            told: told(),
            deadline_ms: Some(300_000),
            receipt: Some(receipt.clone()),
        }],
    };
    let delivery = Delivery {
        id: deliveries::id("evt_1", "scout"),
        event_id: "evt_1".into(),
        conversation: "ch_1".into(),
        member: "scout".into(),
        author: "will".into(),
        created_at: AT.into(),
        due_at: None,
        overdue: false,
        moved_from: vec![],
        directedness: Directedness::ToMe.into(),
        policy: Policy::MustRespond.into(),
        mode: Mode::Buffered.into(),
        reason: "mention".into(),
        receipt,
    };
    let value = json!([posted, event, why, delivery]);
    insta::assert_json_snapshot!(value);
    assert_eq!(serde_json::from_value::<Posted>(value[0].clone()).unwrap(), posted);
    assert_eq!(serde_json::from_value::<Event>(value[1].clone()).unwrap(), event);
    assert_eq!(serde_json::from_value::<Why>(value[2].clone()).unwrap(), why);
    assert_eq!(serde_json::from_value::<Delivery>(value[3].clone()).unwrap(), delivery);
}

#[test]
fn delivery_ids_are_read_back() {
    assert_eq!(deliveries::read_id(&deliveries::id("evt_1", "scout")), Some(("evt_1", "scout")));
    for bad in ["", "evt_1", ":scout", "evt_1:"] {
        assert_eq!(deliveries::read_id(bad), None, "{bad}");
    }
}
