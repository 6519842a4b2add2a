//! Each rule of the flow of talk, where it speaks: shown among the reasons for a guess or against it, and switched off.

use chorus_core::model::attention::Attention;
use chorus_core::model::flow::{Clue, Clues, Settings};
use chorus_core::model::ids::MemberKey;

use crate::house::{ALICE, BOB, House};

/// What a rule does in its talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    /// For whom is meant.
    For,
    /// Against whom is meant nevertheless: without it the guess is surer.
    Against,
    /// For nobody in particular.
    ForNobody,
}

use Speaks::{Against, For, ForNobody};

/// Who says what after how many seconds; the last line names nobody, and is what is asked about.
type Talk = &'static [(i64, MemberKey, &'static str)];

const TALK: Talk = &[
    (0, ALICE, "@bob is the build red?"),
    (20, BOB, "alice: the compiler is too old"),
    (20, ALICE, "and which compiler do you have?"),
];
const NEW: Talk = &[(0, BOB, "the build is red"), (20, ALICE, "oh, bob is right?")];
const ADVICE: Talk =
    &[(0, BOB, "does anybody know why the build is red?"), (20, ALICE, "try an older compiler")];
const THANKS: Talk = &[
    (0, ALICE, "@bob is the build red?"),
    (20, BOB, "alice: the compiler is too old"),
    (20, ALICE, "thanks a lot"),
];
const TO_ALL: Talk = &[(0, BOB, "the build is red"), (20, ALICE, "oh, bob is right, guys?")];
const HELLO: Talk = &[
    (0, BOB, "the build is red"),
    (
        3_000,
        ALICE,
        "hi guys, does anybody know how to install the old compiler? I need help with it",
    ),
];

const RULES: [(Clue, Speaks, Talk); 18] = [
    (Clue::Lately, Against, NEW),
    (Clue::Answer, For, TALK),
    (Clue::OwnLine, For, TALK),
    (Clue::Exchange, For, TALK),
    (Clue::JustBefore, For, NEW),
    (Clue::OpenQuestion, For, ADVICE),
    (Clue::SharedWords, For, TALK),
    (Clue::Passing, For, NEW),
    (Clue::FirstWords, Against, NEW),
    (Clue::SecondPerson, For, TALK),
    (Clue::ToAll, Against, TO_ALL),
    (Clue::Courtesy, For, THANKS),
    (Clue::Assent, For, NEW),
    (Clue::Shape, Against, NEW),
    (Clue::Lately, ForNobody, HELLO),
    (Clue::FirstWords, ForNobody, HELLO),
    (Clue::ToAll, ForNobody, HELLO),
    (Clue::Shape, ForNobody, HELLO),
];

/// How the last line is decided.
fn decided(talk: Talk, off: Clues) -> Attention {
    let mut house = House::new();
    house.ws = std::mem::take(&mut house.ws).with_flow(Settings { off, ..Settings::default() });
    let mut last = None;
    for (seconds, author, text) in talk {
        house.pass(seconds * 1_000);
        last = Some(house.says(*author, text));
    }
    house.attention(last.expect("a talk has lines")).clone()
}

// covers: ATT-196
#[test]
fn each_rule_shows_where_it_speaks_and_is_silent_when_switched_off() {
    let named: Vec<_> = RULES.iter().take(14).map(|(clue, ..)| *clue).collect();
    assert_eq!(named, Clue::ALL, "a row for each rule");
    for (clue, speaks, talk) in RULES {
        let name = clue.name();
        assert_eq!(Clue::from_name(name), Some(clue));
        let (with, off) = (decided(talk, Clues::NONE), Clues::NONE.with(clue));
        let without = decided(talk, off);
        let shown = match speaks {
            ForNobody => with.nobody.map(|n| (n.because, n.against)),
            For => with.meant.map(|m| (m.because, m.against)),
            Against => with.meant.map(|m| (m.against, m.because)),
        };
        let (shows, not) = shown.unwrap_or_else(|| panic!("{name}: a guess"));
        assert!(shows.has(clue) && !not.has(clue), "{name}: {with:?}");
        let silent = |clues: [Clues; 2]| clues.iter().all(|clues| !clues.has(clue));
        assert!(
            without.meant.is_none_or(|m| silent([m.because, m.against])),
            "{name}: {without:?}"
        );
        assert!(
            without.nobody.is_none_or(|n| silent([n.because, n.against])),
            "{name}: {without:?}"
        );
        if speaks == Against {
            let sure = |attention: &Attention| attention.meant.map(|m| m.confidence);
            assert!(sure(&without) > sure(&with), "{name}: {with:?}, without it {without:?}");
        }
    }
}
