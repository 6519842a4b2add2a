//! Settings of a conversation, with all that came later.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{member, text};
use crate::conversation::{Keep, Replies, Settings, Visibility};
use crate::ids::StreamKey;
use crate::packed::{later_settings, read_later_settings};
use crate::turn::Rules;

pub(super) fn settings() -> impl Strategy<Value = Settings> {
    let visibility = select(vec![Visibility::Public, Visibility::Private]);
    let stream = option::of(any::<u32>().prop_map(StreamKey));
    let keep = option::of(any::<u32>().prop_map(Keep::from_stored));
    let rest = (any::<bool>(), option::of(member()), option::of(any::<u32>()), keep);
    let heard = any::<[u16; 4]>().prop_map(|[pending, roots_per_hour, active_roots, ms]| {
        crate::stimulus::Rules { pending, roots_per_hour, active_roots, quiet_ms: ms.into() }
    });
    let later = (
        select(Replies::ALL.as_slice()),
        option::of(heard),
        option::of(0..i64::MAX),
        any::<bool>(),
    );
    let rest = (rest, option::of(rules()), later);
    (text(), text(), text(), visibility, stream, rest).prop_map(
        |(
            title,
            description,
            purpose,
            visibility,
            stream,
            (
                (archived, lead, agent_budget, keep),
                turns,
                (replies, stimuli, idle_followup, proactive),
            ),
        )| {
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
                turns,
                replies,
                stimuli,
                idle_followup,
                proactive,
            }
        },
    )
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
    fn later_settings_read_back(it in settings()) {
        let (turns, replies, stimuli) = (None, Replies::default(), None);
        let (idle_followup, proactive) = (None, false);
        let mut read =
            Settings { turns, replies, stimuli, idle_followup, proactive, ..it.clone() };
        prop_assert_eq!(read_later_settings(&later_settings(&it), &mut read), Ok(()));
        prop_assert_eq!(read, it);
    }
}
