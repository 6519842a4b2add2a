//! Settings of a conversation, with all that came later.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{member, text};
use crate::codec::{Corrupt, later_settings, read_later_settings};
use crate::model::conversation::{Keep, Replies, Settings, Terms, Visibility};
use crate::model::ids::{MemberKey, StreamKey, Uid};
use crate::model::turn::Rules;

pub(super) fn settings() -> impl Strategy<Value = Settings> {
    let visibility = select(vec![Visibility::Public, Visibility::Private]);
    let stream = option::of(any::<u32>().prop_map(StreamKey));
    let keep = option::of(any::<u32>().prop_map(Keep::from_stored));
    let rest = (any::<bool>(), option::of(member()), option::of(any::<u32>()), keep);
    (text(), text(), text(), visibility, stream, rest, later()).prop_map(
        |(title, description, purpose, visibility, stream, rest, later)| {
            let (archived, lead, agent_budget, keep) = rest;
            Settings {
                title,
                description,
                purpose,
                visibility,
                stream,
                archived,
                lead,
                agent_budget,
                keep,
                ..later
            }
        },
    )
}

/// Those that have no column of their own.
fn later() -> impl Strategy<Value = Settings> {
    let heard = any::<[u16; 4]>().prop_map(|[pending, roots_per_hour, active_roots, ms]| {
        crate::model::stimulus::Rules { pending, roots_per_hour, active_roots, quiet_ms: ms.into() }
    });
    let (turns, heard) = (option::of(rules()), option::of(heard));
    let (replies, idle) = (select(Replies::ALL.as_slice()), option::of(0..i64::MAX));
    let pins = vec(any::<u128>().prop_map(Uid), 0..4);
    (turns, replies, heard, any::<bool>(), idle, seats(), pins).prop_map(
        |(turns, replies, stimuli, proactive, idle_followup, seats, pins)| Settings {
            turns,
            replies,
            stimuli,
            proactive,
            idle_followup,
            seats,
            pins,
            ..Settings::default()
        },
    )
}

fn seats() -> impl Strategy<Value = BTreeMap<MemberKey, Terms>> {
    let session = option::of(any::<u128>().prop_map(Uid));
    let terms = (option::of(text()), session).prop_map(|(name, session)| Terms { name, session });
    btree_map(member(), terms.prop_filter("set", |t| *t != Terms::default()), 0..4)
}

fn rules() -> impl Strategy<Value = Rules> {
    let ms = || 0..i64::MAX;
    (any::<u8>(), any::<u16>(), ms(), ms()).prop_map(
        |(speakers, replies, cooldown_ms, acceptance_ms)| Rules {
            speakers,
            replies,
            cooldown_ms,
            acceptance_ms,
        },
    )
}

proptest! {
    #[test]
    fn later_settings_read_back(it in later()) {
        let mut read = Settings::default();
        prop_assert_eq!(read_later_settings(&later_settings(&it), &mut read), Ok(()));
        prop_assert_eq!(read, it);
    }
}

#[test]
fn what_has_a_column_is_not_said_beside_it() {
    let mut read = Settings::default();
    for lead_budget_or_keep in [[1, 9], [2, 9], [3, 9]] {
        assert_eq!(read_later_settings(&lead_budget_or_keep, &mut read), Err(Corrupt));
    }
    assert_eq!(read, Settings::default());
}
