//! A queue of stimuli under a random load: it stays within its bounds, and what was replaced is never said.

use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::ids::Uid;
use chorus_core::model::requests::NewStimulus;
use chorus_core::model::stimulus::{StimulusState, queue};
use proptest::prelude::*;

use crate::house::{ALICE, House, REVIEWER, SCOUT};
use crate::stimuli::{PENDING, QUIET, ROOTS, ask, end, idea, said, steer, stimuli, threads};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // covers: CHN-83, CHN-86, CHN-87
    #[test]
    fn a_queue_stays_within_its_bounds_whatever_happens(
        steps in prop::collection::vec((0_u8..10, 0_u8..4, 0_i64..900_000), 1..60),
    ) {
        let mut house = House::new();
        let mut replaced: Vec<Uid> = Vec::new();
        for (what, key, ms) in steps {
            let word: Arc<str> = format!("key {key}").into();
            let base = idea(&house, &format!("about {key}"));
            let mine: Vec<Uid> = stimuli(&house).keys().copied().collect();
            let pick = mine.get(usize::from(key)).copied();
            match what {
                0 => { let _ = ask(SCOUT, base, &mut house); }
                1 => { let _ = ask(REVIEWER, NewStimulus { progress_key: Some(word), ..base }, &mut house); }
                2 => { let _ = ask(SCOUT, NewStimulus { dedupe_key: Some(word), text: format!("{ms}").into(), ..base }, &mut house); }
                3 => { let _ = ask(SCOUT, NewStimulus { initiative_key: Some(word), text: format!("{ms}").into(), ..base }, &mut house); }
                4 => { if let Some(uid) = pick { let _ = steer(&mut house, ALICE, uid, false); } }
                5 => { if let Some(uid) = pick { let _ = steer(&mut house, ALICE, uid, true); } }
                6 => { if let Some(t) = threads(&house).last() { let t = t.uid; if threads(&house).last().is_some_and(|t| t.is_live()) { end(&mut house, t); } } }
                7 => house.restart(),
                _ => house.pass(ms),
            }
            let now = stimuli(&house);
            prop_assert!(queue::waiting(&now) <= PENDING);
            prop_assert!(now.values().filter(|s| s.state == StimulusState::Claimed).count() <= 1);
            for s in now.values() {
                let bytes = codec::stimulus(s);
                prop_assert_eq!(codec::read_stimulus(&bytes), Ok((**s).clone()));
                if matches!(s.state, StimulusState::Superseded | StimulusState::Coalesced) {
                    replaced.push(s.uid);
                }
            }
            for uid in &replaced {
                let key: [u8; 16] = uid.0.to_be_bytes();
                let told = said(&house).iter().any(|e| e.idempotency.is_some_and(|i| i.key == key));
                prop_assert!(!told, "a superseded stimulus is never said");
            }
        }
        // Of what opened a subject, never two within the quiet, nor five within an hour.
        let mut roots: Vec<_> = said(&house).iter().filter(|e| e.thread.is_none()).map(|e| e.at).collect();
        roots.sort_unstable();
        for pair in roots.windows(2) {
            prop_assert!(pair[1].since(pair[0]) >= QUIET);
        }
        for five in roots.windows(ROOTS + 1) {
            prop_assert!(five[ROOTS].since(five[0]) >= 3_600_000);
        }
    }
}
