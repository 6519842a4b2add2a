//! Each rule of the flow of talk, where it speaks: shown among the reasons, or against everybody, and switched off.

use chorus_core::attention::flow::Meant;
use chorus_core::attention::flow::{Clue, Clues, Settings};
use chorus_core::ids::MemberKey;

use crate::house::{ALICE, BOB, House};

/// What a rule does in its talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    /// For whom is meant: it stands among the reasons.
    For,
    /// Against everybody, more or less: it is no reason, and without it the guess is surer.
    Against,
}

use Speaks::{Against, For};

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

const RULES: [(Clue, Speaks, Talk); 14] = [
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
];

/// Whom the last line is taken to be for.
fn guess(talk: Talk, off: Clues) -> Option<Meant> {
    let mut house = House::new();
    house.ws = std::mem::take(&mut house.ws).with_flow(Settings { off, ..Settings::default() });
    let mut last = None;
    for (seconds, author, text) in talk {
        house.pass(seconds * 1_000);
        last = Some(house.says(*author, text));
    }
    house.attention(last.expect("a talk has lines")).meant
}

// covers: ATT-196
#[test]
fn each_rule_shows_where_it_speaks_and_is_silent_when_switched_off() {
    let named: Vec<_> = RULES.iter().map(|(clue, ..)| *clue).collect();
    assert_eq!(named, Clue::ALL, "a row for each rule");
    for (clue, speaks, talk) in RULES {
        let name = clue.name();
        assert_eq!(Clue::from_name(name), Some(clue));
        let with = guess(talk, Clues::NONE).unwrap_or_else(|| panic!("{name}: a guess"));
        assert_eq!(with.because.has(clue), speaks == For, "{name}: {:?}", with.because);
        let reasons: Vec<_> = with.because.iter().map(Clue::name).collect();
        let without = guess(talk, Clues::NONE.with(clue));
        assert!(without.is_none_or(|m| !m.because.has(clue)), "{name}: {reasons:?}");
        if speaks == Against {
            let surer = without.is_some_and(|m| m.confidence > with.confidence);
            assert!(surer, "{name}: {with:?}, without it {without:?}");
        }
    }
}
