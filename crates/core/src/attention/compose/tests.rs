#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use proptest::prelude::*;

type Window = Compose<&'static str, ()>;

fn at(ms: i64) -> Timestamp {
    Timestamp(1_000_000 + ms)
}

fn fragment(id: u128, author: &'static str, text: &str) -> Fragment<&'static str, ()> {
    Fragment {
        id: Uid(id),
        author,
        text: text.into(),
        posted: None,
        immediate: false,
        names_other: false,
        item: (),
    }
}

/// A fragment posted now, by an author whose habit is learned.
fn posted(id: u128, author: &'static str, text: &str, ms: i64) -> Fragment<&'static str, ()> {
    Fragment { posted: Some(at(ms)), ..fragment(id, author, text) }
}

fn window() -> Window {
    Compose::new(Settings::default())
}

/// The texts of the next turn that is due.
fn turn(compose: &mut Window, ms: i64) -> Option<String> {
    let turn = compose.poll(at(ms))?;
    Some(turn.iter().map(|f| f.text.as_str()).collect::<Vec<_>>().join(" / "))
}

/// The example of the C2A spec, typed by a new author at an ordinary pace and slowly.
// covers: ATT-49, ATT-50
#[test]
fn pieces_become_one_turn() {
    for pause in [1_500, 1_900, 3_000] {
        let mut compose = window();
        let pieces = ["when someone types", "in", "pieces", "like this", "the agent should wait"];
        for (n, text) in pieces.into_iter().enumerate() {
            let now = pause * n as i64;
            assert_eq!(turn(&mut compose, now), None, "before {text}, {pause} ms apart");
            compose.push(posted(n as u128, "will", text, now), at(now));
        }
        let last = 4 * pause;
        assert_eq!(compose.next_wake(), Some(at(last + 2_000)));
        assert_eq!(compose.poll(at(last + 2_000)).unwrap().len(), 5);
        assert!(compose.is_empty() && compose.next_wake().is_none());
    }
}

// covers: ATT-49, ATT-52, ATT-300
#[test]
fn a_complete_text_waits_two_seconds_and_no_text_longer_than_five() {
    let habit = |gaps: &[i64]| {
        let mut habit = Habit::default();
        gaps.iter().for_each(|gap| habit.note(*gap));
        habit
    };
    let wait = |text: &str, habit: Habit| {
        let piece = Piece { text, opened: at(0), changed: at(0) };
        closes(&Settings::default(), piece, Typing::Unknown, habit).since(at(0))
    };
    let (stranger, hasty, calm) = (habit(&[]), habit(&[1_000; 8]), habit(&[60_000; 8]));
    for (text, of_stranger, of_hasty, of_calm) in [
        ("Is the deploy blocked?", 2_000, 2_000..=2_000, 2_000..=2_000),
        ("the deploy to staging seems slow today", 2_000, 2_000..=2_000, 2_000..=2_000),
        ("@scout could you please", 5_000, 5_000..=5_000, 5_000..=5_000),
        ("the deploy to the", 5_000, 5_000..=5_000, 5_000..=5_000),
        ("run the tests", 3_500, 4_500..=5_000, 2_000..=2_500),
    ] {
        assert_eq!(wait(text, stranger), of_stranger, "{text}");
        assert!(of_hasty.contains(&wait(text, hasty)), "{text}: {}", wait(text, hasty));
        assert!(of_calm.contains(&wait(text, calm)), "{text}: {}", wait(text, calm));
    }
    // Both waits are settings, and nothing passes the cap.
    let settings = Settings { quiet_ms: 100, unfinished_ms: 700, cap_ms: 500 };
    for (text, ms) in [("Done.", 100), ("and", 500)] {
        let piece = Piece { text, opened: at(0), changed: at(0) };
        assert_eq!(closes(&settings, piece, Typing::Unknown, stranger), at(ms), "{text}");
    }
}

// covers: ATT-50
#[test]
fn nothing_waits_past_the_cap() {
    let mut compose = window();
    for n in 0..20 {
        compose.push(fragment(n, "will", "and"), at(1_600 * n as i64));
    }
    assert_eq!(compose.next_wake(), Some(at(30_000)));
    assert_eq!(compose.poll(at(30_400)).unwrap().len(), 20);
}

// covers: ATT-51
#[test]
fn typing_holds_the_window_up_to_the_cap() {
    let mut compose = window();
    compose.push(fragment(1, "will", "Done."), at(0));
    compose.typing(&"will", true, at(1_000));
    compose.typing(&"ann", true, at(1_000));
    assert_eq!(compose.next_wake(), Some(at(30_000)));
    compose.typing(&"will", false, at(20_000));
    assert_eq!(compose.next_wake(), Some(at(21_000)));
    compose.typing(&"will", true, at(20_500));
    compose.push(fragment(2, "will", "Really done."), at(22_000));
    assert_eq!(turn(&mut compose, 23_999), None);
    assert_eq!(turn(&mut compose, 24_000).as_deref(), Some("Done. / Really done."));
}

// covers: ATT-53
#[test]
fn an_edit_comes_out_and_a_deletion_does_not() {
    let mut compose = window();
    compose.push(fragment(1, "will", "Deploy to prod."), at(0));
    compose.push(fragment(2, "will", "Thanks."), at(1_000));
    assert!(compose.edit(Uid(1), "Deploy to staging.".into(), (), at(2_000)));
    assert!(compose.delete(Uid(2)).is_some());
    assert!(compose.delete(Uid(2)).is_none());
    assert!(!compose.edit(Uid(2), "x".into(), (), at(2_000)));
    assert!(compose.next_wake().unwrap() > at(2_000));
    assert_eq!(turn(&mut compose, 2_000), None);
    assert_eq!(turn(&mut compose, 30_000).as_deref(), Some("Deploy to staging."));
    compose.push(fragment(3, "will", "Never mind."), at(5_000));
    compose.delete(Uid(3));
    assert!(compose.is_empty());
}

// covers: ATT-52
#[test]
fn naming_somebody_else_closes_the_thought_before() {
    let mut compose = window();
    compose.push(fragment(1, "will", "look at the logs"), at(0));
    compose
        .push(Fragment { names_other: true, ..fragment(2, "will", "@ann and you too") }, at(500));
    assert_eq!(turn(&mut compose, 500).as_deref(), Some("look at the logs"));
    assert_eq!(turn(&mut compose, 500), None);
    compose.close(&"will");
    assert_eq!(turn(&mut compose, 600).as_deref(), Some("@ann and you too"));
}

// covers: ATT-47
#[test]
fn what_is_immediate_takes_the_rest_along() {
    let mut compose = window();
    compose.push(fragment(1, "will", "about the deploy"), at(0));
    compose.push(Fragment { immediate: true, ..fragment(2, "will", "stop it") }, at(100));
    assert!(compose.next_wake().unwrap() <= at(100));
    assert_eq!(turn(&mut compose, 100).as_deref(), Some("about the deploy / stop it"));
}

#[test]
fn authors_do_not_close_each_other() {
    let mut compose = window();
    compose.push(fragment(1, "will", "so the thing is"), at(0));
    compose.push(fragment(2, "ann", "I agree."), at(1_000));
    compose.push(fragment(3, "will", "it broke in the"), at(2_000));
    assert_eq!(turn(&mut compose, 3_000).as_deref(), Some("I agree."));
    assert_eq!(turn(&mut compose, 6_999), None);
    assert_eq!(turn(&mut compose, 7_000).as_deref(), Some("so the thing is / it broke in the"));
}

/// How long the window stays open after this fragment.
fn waits(compose: &mut Window, n: u128, is_edit: bool, ms: i64) -> i64 {
    let said = posted(n, "will", "run it", ms);
    let said = Fragment { posted: said.posted.filter(|_| !is_edit), ..said };
    compose.push(said, at(ms));
    let wake = compose.next_wake().unwrap().since(at(ms));
    compose.close(&"will");
    while compose.poll(at(ms)).is_some() {}
    wake
}

// covers: ATT-302
#[test]
fn a_habit_is_learned_while_the_recipient_is_silent_and_never_from_edits() {
    let mut compose = window();
    let first = waits(&mut compose, 0, false, 0);
    let second = waits(&mut compose, 1, false, 1_000);
    assert!(second > first, "{first} {second}");
    // Edits in quick succession are not noted.
    for n in 2..9 {
        waits(&mut compose, n, true, 1_000 + 100 * n as i64);
    }
    assert_eq!(waits(&mut compose, 9, true, 2_000), second);
    // An answer resets every habit, and the gap that contains the answer is not noted.
    compose.answered();
    assert_eq!(waits(&mut compose, 10, false, 3_000), first);
}

#[derive(Clone, Debug)]
enum Act {
    Push { author: usize, text: usize, immediate: bool, other: bool },
    Type(usize, bool),
    Edit(u128),
    Delete(u128),
    Poll,
}

fn acts() -> impl Strategy<Value = Vec<(i64, Act)>> {
    let act = prop_oneof![
        4 => (0..2usize, 0..4usize, prop::bool::weighted(0.1), prop::bool::weighted(0.1))
            .prop_map(|(author, text, immediate, other)| Act::Push { author, text, immediate, other }),
        1 => (0..2usize, any::<bool>()).prop_map(|(a, on)| Act::Type(a, on)),
        1 => (0..40u128).prop_map(Act::Edit),
        1 => (0..40u128).prop_map(Act::Delete),
        2 => Just(Act::Poll),
    ];
    prop::collection::vec((0..9_000i64, act), 1..40)
}

proptest! {
    #[test]
    fn each_fragment_comes_out_once_in_order_and_in_time(acts in acts()) {
        const AUTHORS: [&str; 2] = ["will", "ann"];
        const TEXTS: [&str; 4] = ["Done.", "and", "some ordinary words of a message", "?"];
        let mut compose = window();
        let (mut now, mut next) = (0, 0u128);
        let mut inside: Vec<(u128, i64)> = Vec::new();
        let mut out: Vec<(usize, u128)> = Vec::new();
        for (gap, act) in acts.into_iter().chain([(40_000, Act::Poll)]) {
            now += gap;
            match act {
                Act::Push { author, text, immediate, other } => {
                    let fragment = Fragment { immediate, names_other: other, ..posted(next, AUTHORS[author], TEXTS[text], now) };
                    compose.push(fragment, at(now));
                    inside.push((next, now));
                    next += 1;
                }
                Act::Type(author, on) => compose.typing(&AUTHORS[author], on, at(now)),
                Act::Edit(id) => {
                    let here = inside.iter().any(|(i, _)| *i == id);
                    prop_assert_eq!(compose.edit(Uid(id), "edited".into(), (), at(now)), here);
                }
                Act::Delete(id) => {
                    let here = inside.iter().any(|(i, _)| *i == id);
                    prop_assert_eq!(compose.delete(Uid(id)).is_some(), here);
                    inside.retain(|(i, _)| *i != id);
                }
                Act::Poll => {
                    while let Some(turn) = compose.poll(at(now)) {
                        prop_assert!(!turn.is_empty() && turn.iter().all(|f| f.author == turn[0].author));
                        for fragment in turn {
                            prop_assert!(inside.iter().any(|(i, _)| *i == fragment.id.0));
                            inside.retain(|(i, _)| *i != fragment.id.0);
                            out.push((AUTHORS.iter().position(|a| *a == fragment.author).unwrap(), fragment.id.0));
                        }
                    }
                    prop_assert!(inside.iter().all(|(_, since)| now - since <= 30_000));
                }
            }
        }
        prop_assert!(inside.is_empty() && compose.is_empty());
        for author in 0..2 {
            let ids: Vec<u128> = out.iter().filter(|(a, _)| *a == author).map(|(_, i)| *i).collect();
            prop_assert!(ids.is_sorted(), "{ids:?}");
        }
    }
}
