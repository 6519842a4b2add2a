//! The bytes of a plan for each kind of program, and the gate before it.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::injection::sanitised;
use super::super::typing::Typing;
use super::super::{Gate, Plan, Profile, Refusal};

fn bytes(profile: Profile, text: &str) -> Vec<(Vec<u8>, u128)> {
    let plan = Plan::new(profile, text, Gate::default());
    plan.steps().iter().map(|step| (step.bytes.clone(), step.pause.as_millis())).collect()
}

#[test]
fn each_program_gets_its_own_keys() {
    let paste = b"\x1b[200~a\nb\x1b[201~".to_vec();
    let apart = vec![(paste.clone(), 300), (b"\r".to_vec(), 0)];
    assert_eq!(bytes(Profile::Codex, "a\nb"), apart);
    assert_eq!(bytes(Profile::Gemini, "a\nb"), apart);
    assert_eq!(bytes(Profile::Claude, "a\nb"), [([paste, b"\r".to_vec()].concat(), 0)]);
    assert_eq!(bytes(Profile::Generic, "a\r\nb"), [(b"a b\r".to_vec(), 0)]);
}

#[test]
fn text_can_neither_end_the_paste_nor_press_keys() {
    let evil = "a\x1b[201~\rrm\x03\u{9b}201~\x7f\u{85}b";
    assert_eq!(sanitised(evil), "a[201~\nrm201~b");
}

#[test]
fn the_gate_waits_for_quiet_and_never_types_over_a_draft() {
    let gate = Gate::default();
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    let mut typing = Typing::default();
    assert_eq!(gate.refusal(&typing, start), None);
    typing.feed(b"x", start);
    assert_eq!(gate.refusal(&typing, after(3600)), Some(Refusal::Draft));
    assert_eq!(Gate::forced().refusal(&typing, after(3600)), Some(Refusal::Draft));
    typing.feed(b"\r", start);
    assert_eq!(gate.refusal(&typing, after(19)), Some(Refusal::Typing));
    assert_eq!(Gate::forced().refusal(&typing, after(19)), None);
    assert_eq!(gate.refusal(&typing, after(20)), None);
}

#[test]
fn tries_are_five_seconds_apart_and_end_after_sixty() {
    let gate = Gate::default();
    let start = Instant::now();
    let next = |seconds| gate.next_try(start, start + Duration::from_secs(seconds));
    assert_eq!(next(0), Some(Duration::from_secs(5)));
    assert_eq!(next(57), Some(Duration::from_secs(3)));
    assert_eq!(next(60), None);
    assert_eq!(next(61), None);
}

proptest! {
    #[test]
    fn a_paste_ends_once_and_enter_is_pressed_once(text: String) {
        for profile in [Profile::Codex, Profile::Claude, Profile::Gemini, Profile::Generic] {
            let all: Vec<u8> = bytes(profile, &text).into_iter().flat_map(|step| step.0).collect();
            let escapes = all.iter().filter(|b| **b == 0x1b).count();
            prop_assert_eq!(escapes, if profile == Profile::Generic { 0 } else { 2 });
            prop_assert_eq!(all.iter().filter(|b| **b == b'\r').count(), 1);
            prop_assert_eq!(all.last(), Some(&b'\r'));
        }
    }
}
