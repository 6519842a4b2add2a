//! A harness can read the frames that the host assembles from encoded texts.

use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::ids::{MemberKey, Timestamp, Uid};
use chorus_core::model::member::MemberKind;
use chorus_wire::attention::content::{Author, ConversationRef, Source, Timing, TurnGrant};
use chorus_wire::attention::deliver::{Deliver, Knock};
use chorus_wire::attention::shared::{
    Body, DeliverFor, DeliverShared, Shared, delivery_id, read_delivery_id,
};
use chorus_wire::attention::told::Told;
use chorus_wire::jsonrpc::{Id, Incoming, params};
use chorus_wire::part::Part;
use proptest::prelude::*;
use serde_json::Value;

const EVENT: Uid = Uid(0x0199_aabb_0000_7000_8000_0000_0000_0001);

const SCOUT: MemberKey = MemberKey(1);
const OPS: MemberKey = MemberKey(2);

fn shared(text: &str, title: &str, metadata: Option<&str>) -> Shared {
    DeliverShared {
        event: EVENT,
        source: Source { platform: "chorus".into(), workspace_id: "wk_1".into() },
        conversation: ConversationRef {
            id: "ch_1".into(),
            kind: ConversationKind::Channel.into(),
            title: Some(title.into()),
            stream_id: None,
            thread_id: Some("th_1".into()),
        },
        author: Author {
            id: "will".into(),
            kind: MemberKind::Human.into(),
            display_name: title.into(),
        },
        timing: Timing {
            created_at: Timestamp(1_780_427_400_000).into(),
            sequence: 42,
            thread_sequence: Some(3),
        },
        mentions: &["scout", "ops"],
        content: Body::Text(text),
        intent: Intent::Question,
        replaces: None,
        in_reply_to: Some(Uid(7)),
        metadata,
        recipient: None,
        told: Told::new([(SCOUT, "scout"), (OPS, "ops")]),
    }
    .encode()
}

fn directed<'a>() -> DeliverFor<'a> {
    DeliverFor {
        receiver: SCOUT,
        member: "scout",
        is_recipient: false,
        directedness: Directedness::ToMe,
        policy: Policy::MustRespond,
        reason: "mention",
        priority: Priority::Normal,
        deadline_ms: Some(300_000),
        mode: Mode::Buffered,
        attempt: 2,
        turn: Some(TurnGrant { token: "turn_x".into(), fence: 1, hop: 0 }),
        channel: None,
        knock: None,
        mcp: &[],
        channel_context: None,
    }
}

fn knocked<'a>() -> DeliverFor<'a> {
    DeliverFor {
        directedness: Directedness::ToMyRole,
        policy: Policy::MayRespond,
        reason: "role_mention",
        mode: Mode::Notify,
        deadline_ms: None,
        turn: None,
        knock: Some(Knock {
            from: "human:will".into(),
            place: "channel:deploys".into(),
            directedness: Directedness::ToMyRole.into(),
            policy: Policy::MayRespond.into(),
            priority: Priority::Normal.into(),
            topic: "a question in a channel".into(),
            pull_with: "chat.read_thread".into(),
        }),
        is_recipient: true,
        ..directed()
    }
}

/// Reads a frame as a harness does, and checks that writing it again gives the same JSON.
fn read(frame: &str) -> (Id, Deliver) {
    let Ok(Incoming::Request { id, method, params: raw }) = Incoming::parse(frame) else {
        panic!("{frame}")
    };
    assert_eq!(method, "chat/deliver");
    let deliver: Deliver = params(raw).unwrap();
    let written: Value = params(raw).unwrap();
    assert_eq!(serde_json::to_value(&deliver).unwrap(), written);
    (id, deliver)
}

// covers: ATT-23
#[test]
fn a_frame_has_the_shared_part_and_the_receivers_own() {
    let shared = shared("is it blocked?", "deploys", Some(r#"{"k":[1,2]}"#));
    let frame = shared.frame(&directed());
    let (id, deliver) = read(&frame);
    assert_eq!(id, Id::from(delivery_id(EVENT, 2)));
    assert_eq!(deliver.content, Some(vec![Part::text("is it blocked?")]));
    assert_eq!(deliver.reliability.idempotency_key, format!("{}:scout", shared.event_id()));
    let value: Value = serde_json::from_str(&frame).unwrap();
    insta::assert_json_snapshot!(value);
}

// covers: ATT-23, ATT-24, ATT-25
#[test]
fn a_knock_contains_nothing_of_the_content() {
    let frame = shared("SECRET words", "deploys", Some(r#"{"k":"SECRET"}"#)).frame(&knocked());
    assert!(!frame.contains("SECRET"), "{frame}");
    let (_, deliver) = read(&frame);
    assert_eq!((deliver.content, deliver.metadata), (None, None));
    let value: Value = serde_json::from_str(&frame).unwrap();
    insta::assert_json_snapshot!(value);
}

// covers: ATT-28
#[test]
fn frames_of_two_receivers_differ_only_in_their_own_parts() {
    let shared = shared("text", "title", None);
    let other = DeliverFor { receiver: OPS, member: "ops", ..directed() };
    let (_, mut a) = read(&shared.frame(&directed()));
    let (_, b) = read(&shared.frame(&other));
    assert_ne!(a, b);
    a.audience.clone_from(&b.audience);
    a.reliability.clone_from(&b.reliability);
    assert_eq!(a, b);
}

#[test]
fn parts_are_inserted_verbatim() {
    let parts = r#"[{"text":"see","type":"text"},{"asset_id":"ast_1","type":"asset"}]"#;
    let shared = DeliverShared {
        event: EVENT,
        source: Source { platform: "slack".into(), workspace_id: "T1".into() },
        conversation: ConversationRef {
            id: "ch_1".into(),
            kind: ConversationKind::Dm.into(),
            title: None,
            stream_id: Some("str_1".into()),
            thread_id: None,
        },
        author: Author { id: "a".into(), kind: MemberKind::Agent.into(), display_name: "A".into() },
        timing: Timing { created_at: Timestamp(0).into(), sequence: 1, thread_sequence: None },
        mentions: &[],
        content: Body::Parts(parts),
        intent: Intent::Statement,
        replaces: Some(Uid(9)),
        in_reply_to: None,
        metadata: None,
        recipient: None,
        told: Told::default(),
    }
    .encode();
    let (_, deliver) = read(&shared.frame(&directed()));
    assert_eq!(deliver.text().as_deref(), Some("see"));
    assert_eq!(deliver.content.unwrap().len(), 2);
    assert_eq!(deliver.replaces.as_deref(), Some("evt_00000000000000000000000000000009"));
}

#[test]
fn only_delivery_ids_are_read_as_such() {
    assert_eq!(read_delivery_id(&delivery_id(EVENT, 1)), Some((EVENT, 1)));
    assert_eq!(read_delivery_id(&delivery_id(Uid(0), u16::MAX)), Some((Uid(0), u16::MAX)));
    let hex = "0".repeat(32);
    for bad in ["", "dlv_", "1", "dlv_0.1", "evt_1.1"] {
        assert_eq!(read_delivery_id(bad), None, "{bad}");
    }
    for attempt in ["", "0", "01", "+1", "-1", "65536", "1.1"] {
        assert_eq!(read_delivery_id(&format!("dlv_{hex}.{attempt}")), None, "{attempt}");
    }
}

proptest! {
    /// Whatever text members put into messages, titles and names, it stays within its field.
    #[test]
    fn no_text_breaks_a_frame(text: String, title: String, reason in ".{0,20}", fence: u32, attempt in 1u16..) {
        let to = DeliverFor {
            reason: &reason,
            attempt,
            turn: Some(TurnGrant { token: text.as_str().into(), fence, hop: 3 }),
            ..directed()
        };
        let (_, deliver) = read(&shared(&text, &title, None).frame(&to));
        prop_assert_eq!(deliver.text().unwrap(), text.clone());
        prop_assert_eq!(deliver.conversation.title.unwrap(), title.clone());
        prop_assert_eq!(deliver.author.display_name, title);
        prop_assert_eq!(deliver.attention.reason, reason);
        prop_assert_eq!(deliver.turn.unwrap(), TurnGrant { token: text.into(), fence, hop: 3 });
    }
}
