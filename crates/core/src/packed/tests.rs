use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::attention::{
    Attention, Decision, Directedness, Intent, Mode, Policy, Priority, Rule, Told,
};
use crate::claim::Claim;
use crate::delivery::{Delivery, Open, State};
use crate::event::{Change, Message, MessageKind};
use crate::ids::{MemberKey, Seq, SessionKey, ThreadKey, Timestamp, Uid};
use crate::reaction::Signal;

fn decision() -> impl Strategy<Value = Decision> {
    (0usize..21, any::<Option<u32>>()).prop_map(|(rule, deadline_ms)| Decision {
        rule: Rule::ALL[rule],
        directedness: Directedness::ToMe,
        policy: Policy::MustRespond,
        mode: Mode::Buffered,
        priority: Priority::High,
        deadline_ms,
    })
}

fn told() -> impl Strategy<Value = Attention> {
    prop::collection::vec((any::<u32>(), decision()), 0..5).prop_map(|told| Attention {
        intent: Intent::Question,
        rest: Directedness::Ambient,
        told: told
            .into_iter()
            .map(|(m, decision)| Told { member: MemberKey(m), decision })
            .collect(),
    })
}

fn state() -> impl Strategy<Value = State> {
    let time = any::<i64>().prop_map(Timestamp);
    let gone = prop::option::of(any::<i64>().prop_map(Timestamp));
    (0u8..5, any::<u32>(), time, gone).prop_map(|(which, session, at, gone)| {
        let session = SessionKey(session);
        match which {
            0 => State::Waiting,
            1 => State::Offered { session, at },
            2 => State::Accepted { session, at, life: at, gone },
            3 => State::Settled { disposition: crate::delivery::Disposition::Failed, at },
            _ => State::Dead { at },
        }
    })
}

proptest! {
    #[test]
    fn attention_round_trips(value in told()) {
        prop_assert_eq!(read_attention(&attention(&value)), Ok(value));
    }

    #[test]
    fn open_events_round_trip(
        told in told(),
        state in state(),
        uid in any::<u128>(),
        (seq, thread) in (any::<u64>(), prop::option::of(0..u64::MAX)),
        claim in prop::option::of((any::<u32>(), any::<u32>(), any::<i64>(), any::<bool>())),
    ) {
        let deliveries = told.told.iter().map(|t| Delivery { state, ..Delivery::new(t) }).collect();
        let value = Open {
            seq: Seq(seq),
            uid: Uid(uid),
            at: Timestamp(17),
            thread: thread.map(ThreadKey),
            author: MemberKey(3),
            hop: 2,
            attention: Arc::new(told),
            deliveries,
            claim: claim.map(|(holder, fence, expires, accepted)| Claim {
                holder: MemberKey(holder),
                fence,
                expires: Timestamp(expires),
                accepted,
            }),
            stored: true,
        };
        prop_assert_eq!(read_open(&open(&value)), Ok(value));
    }

    #[test]
    fn messages_round_trip(text in ".*", parts in prop::option::of(".*"), seq in any::<u64>()) {
        let message = Message {
            kind: MessageKind::Event,
            text: text.into(),
            parts: parts.map(Into::into),
            metadata: None,
            source: None,
        };
        let posted = Change::Posted(message.clone());
        let edited = Change::Edited { message: Seq(seq), content: message };
        let reacted = Change::Reacted { message: Seq(seq), signal: Signal::Queued, detail: None };
        for change in [posted, edited, reacted] {
            prop_assert_eq!(read_body(change.code(), &body(&change)), Ok(change));
        }
    }

    #[test]
    fn garbage_is_corrupt_or_canonical_and_never_a_panic(code in 0u8..16, bytes: Vec<u8>) {
        if let Ok(change) = read_body(code, &bytes) {
            prop_assert_eq!(body(&change), bytes.clone(), "one value, one encoding");
        }
        let _ = read_open(&bytes);
        if let Ok(value) = read_attention(&bytes) {
            prop_assert_eq!(attention(&value), bytes);
        }
    }
}
