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
        immediate: false,
        names_other: false,
        item: (),
    }
}

fn window() -> Window {
    Compose::new(Settings::default())
}

/// The texts of the next turn that is due.
fn turn(compose: &mut Window, ms: i64) -> Option<String> {
    let turn = compose.poll(at(ms))?;
    Some(turn.iter().map(|f| f.text.as_str()).collect::<Vec<_>>().join(" / "))
}

// covers: ATT-49, ATT-50
#[test]
fn pieces_become_one_turn() {
    let mut compose = window();
    used(&mut compose);
    for (n, text) in ["when someone types", "in", "pieces", "like this, the agent waits."]
        .into_iter()
        .enumerate()
    {
        let now = 3_000 * n as i64;
        compose.push(fragment(n as u128, "will", text), at(now));
        assert_eq!(turn(&mut compose, now + 2_900), None, "{text}");
    }
    let wake = compose.next_wake().unwrap();
    assert!(compose.poll(wake.plus(-1)).is_none());
    assert_eq!(compose.poll(wake).unwrap().len(), 4);
    assert!(compose.is_empty() && compose.next_wake().is_none());
}

// covers: ATT-52
#[test]
fn the_wait_follows_habit_and_text() {
    let habit = |gap: i64| {
        let mut habit = Habit::default();
        (0..8).for_each(|_| habit.note(gap));
        habit
    };
    let wait = |text: &str, habit: Habit, quiet_ms: i64| {
        let settings = Settings { quiet_ms, ..Settings::default() };
        let piece = Piece { text, opened: at(0), changed: at(0) };
        closes(&settings, piece, Typing::Unknown, habit).since(at(0))
    };
    for (text, gap, ms) in [
        ("the deploy to staging seems slow today", 60_000, 200..=200),
        ("the deploy to staging seems slow today", 5_000, 24_000..=28_000),
        ("the deploy to staging seems slow", 20_000, 24_000..=28_000),
        ("Is the deploy blocked?", 60_000, 200..=200),
    ] {
        let waits = wait(text, habit(gap), 5_000);
        assert!(ms.contains(&waits), "{text} {gap}: {waits}");
    }
    // Of a stranger, and of who sometimes goes on, the text decides.
    let mut sometimes = habit(60_000);
    (0..3).for_each(|_| sometimes.note(9_000));
    let waits = wait("and then the", sometimes, 5_000);
    assert!((6_000..=28_000).contains(&waits), "{waits}");
    assert_eq!(wait("did you see that the whole of it is gone?", sometimes, 5_000), 200);
    assert_eq!(wait("Is the deploy blocked?", Habit::default(), 5_000), 200);
    // What cannot be all that was meant is waited for whoever says it.
    for text in ["@scout could you please", "rename the flag, move the file,", "Hey", "because the"]
    {
        assert_eq!(wait(text, habit(60_000), 5_000), 5_000, "{text}");
    }
    assert_eq!(wait("could you please rename it", habit(60_000), 5_000), 200);
    // One setting scales them all, and nothing passes the cap.
    assert_eq!(5 * wait("and then the", sometimes, 1_000), waits);
    assert_eq!(wait("and", habit(5_000), 60_000), 30_000);
    assert_eq!(wait("and", habit(5_000), 0), 0);
    // What is weighed is bounded, whatever the text is.
    for text in ["", " ", "🙂", "scout:", "\u{202e}tuocs", &"and ".repeat(300_000)] {
        assert!(signs(text, Habit::default()).iter().all(|sign| (0.0..=2.0).contains(sign)));
    }
}

/// Will is known to write in pieces.
fn used(compose: &mut Window) {
    for n in 0..8 {
        compose.push(fragment(1_000 + n, "will", "so"), at(-100_000 + 4_000 * n as i64));
    }
    while compose.poll(at(-1)).is_some() {}
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
    assert_eq!(turn(&mut compose, 30_000).as_deref(), Some("Done. / Really done."));
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
    used(&mut compose);
    compose.push(fragment(1, "will", "so the thing is"), at(0));
    compose.push(fragment(2, "ann", "I agree."), at(1_000));
    compose.push(fragment(3, "will", "it broke."), at(2_000));
    assert_eq!(turn(&mut compose, 3_000).as_deref(), Some("I agree."));
    assert_eq!(turn(&mut compose, 3_000), None);
    assert_eq!(turn(&mut compose, 30_000).as_deref(), Some("so the thing is / it broke."));
}

#[test]
fn who_mostly_goes_on_is_given_time() {
    let mut compose = window();
    for n in 0..12 {
        compose.push(fragment(n, "will", "Done."), at(4_000 * n as i64));
        while compose.poll(at(4_000 * n as i64)).is_some() {}
    }
    compose.close(&"will");
    while compose.poll(at(44_000)).is_some() {}
    compose.push(fragment(99, "will", "Done."), at(200_000));
    assert!(compose.next_wake() >= Some(at(224_000)), "{:?}", compose.next_wake());
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
                    let fragment = Fragment { immediate, names_other: other, ..fragment(next, AUTHORS[author], TEXTS[text]) };
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
