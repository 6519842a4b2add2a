//! How long a window stays open after its last fragment.
//!
//! In real chat with seconds in its times, who goes on does so at any time within half a minute, so that a fixed wait
//! either costs everybody or catches few. How likely an author is to go on is weighed instead, by what they mostly do
//! and by how the text looks ([`signs`], [`WEIGHTS`]), and one of four waits follows. They are parts of
//! [`Settings::quiet_ms`], so that one setting scales them all; five seconds make the mean wait just below five. On
//! four rooms of IRC they keep 46 of a hundred fragments that belong together, where five seconds alone keep a quarter.

use crate::ids::Timestamp;
use crate::limits;

/// How many signs there are.
pub const SIGNS: usize = 12;

/// One number a sign.
pub type Weights = [f32; SIGNS];

/// What each sign adds to the log-odds of going on within half a minute. Found from eight rooms by `cargo xtask bench
/// attention DIR --fit`.
pub const WEIGHTS: Weights =
    [-1.86, -0.44, 0.27, 0.20, 0.17, -0.23, 2.25, 0.94, 0.11, 0.17, 0.36, -0.35];

/// From this chance on an author is waited for as long as can be.
const WILL: f32 = 0.50;
/// From this chance on an author is waited for well past the median gap before a right continuation, 10 s.
const MAY: f32 = 0.34;

/// Waits, as parts of the quiet time.
const LONG: (i64, i64) = (28, 5);
const MIDDLE: (i64, i64) = (12, 5);
const SHORT: (i64, i64) = (1, 10);
/// Of a text that cannot be all that was meant, whatever its author mostly does.
const UNFINISHED: (i64, i64) = (1, 1);

/// The window's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Scales the waits; the mean of them is about as long.
    pub quiet_ms: i64,
    /// The window closes so long after it opened, whatever happens.
    pub cap_ms: i64,
    pub weights: &'static Weights,
}

impl Default for Settings {
    /// 5 s and 30 s (design section 5; the C2A spec says 2 to 5, and up to 30).
    fn default() -> Self {
        Self { quiet_ms: 5_000, cap_ms: limits::FRAGMENT_CAP_MS, weights: &WEIGHTS }
    }
}

/// What is known of the author's keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    Unknown,
    Now,
    Stopped(Timestamp),
}

/// The last fragment of a window.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    pub text: &'a str,
    /// When the first fragment of the window came.
    pub opened: Timestamp,
    /// When the last one came or was changed.
    pub changed: Timestamp,
}

/// How often an author goes on with what they said; what is long past counts less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Habit {
    /// Gaps, and those within half a minute.
    gaps: f32,
    went_on: f32,
    /// The same, forgotten sooner, with those within [`SOON_MS`].
    late_gaps: f32,
    soon: f32,
    /// Fragments in a row so far.
    row: u8,
    /// Messages so far.
    said: u8,
}

const SOON_MS: i64 = 12_000;

impl Default for Habit {
    /// As strangers do: the first three gaps of the crowd.
    fn default() -> Self {
        Self { gaps: 3.0, went_on: 1.0, late_gaps: 3.0, soon: 0.3, row: 0, said: 0 }
    }
}

impl Habit {
    /// The author spoke again after so long.
    pub fn note(&mut self, gap_ms: i64) {
        let goes_on = gap_ms <= limits::FRAGMENT_CAP_MS;
        let one = |on: bool| if on { 1.0 } else { 0.0 };
        self.gaps = self.gaps * 0.95 + 1.0;
        self.went_on = self.went_on * 0.95 + one(goes_on);
        self.late_gaps = self.late_gaps * 0.9 + 1.0;
        self.soon = self.soon * 0.9 + one(gap_ms <= SOON_MS);
        self.row = if goes_on { self.row.saturating_add(1) } else { 0 };
        self.said = self.said.saturating_add(1);
    }
}

/// When the window closes, if nothing happens before.
pub fn closes(settings: &Settings, last: Piece<'_>, typing: Typing, habit: Habit) -> Timestamp {
    let cap = last.opened.plus(settings.cap_ms);
    let quiet = last.changed.plus(wait(settings, last.text, habit));
    let due = match typing {
        Typing::Now => cap,
        // Who stops typing without having posted may have paused only.
        Typing::Stopped(at) => quiet.max(at.plus(AFTER_TYPING_MS)),
        Typing::Unknown => quiet,
    };
    due.min(cap)
}

const AFTER_TYPING_MS: i64 = 1_000;

fn wait(settings: &Settings, text: &str, habit: Habit) -> i64 {
    let odds: f32 = signs(text, habit).iter().zip(settings.weights).map(|(s, w)| s * w).sum();
    let chance = 1.0 / (1.0 + (-odds).exp());
    let (times, of) = match () {
        () if chance >= WILL => LONG,
        () if chance >= MAY => MIDDLE,
        () if is_unfinished(text) => UNFINISHED,
        () => SHORT,
    };
    settings.quiet_ms.saturating_mul(times) / of
}

/// Whether the text breaks off, or only says that something is to come: "could you please".
fn is_unfinished(text: &str) -> bool {
    let words = || words(text).map(|word| word.trim_end_matches(['!', ',', '.', '…']));
    let opens = |word| is(word, &OPENINGS) || is(word, &GREETINGS);
    breaks_off(text) || (words().next().is_some() && words().all(opens))
}

fn breaks_off(text: &str) -> bool {
    let ends = text.trim_end().ends_with([',', '，', '、', '،', ':', '：', '…']);
    ends || words(text).last().is_some_and(|word| is(word, &HANGING))
}

/// The first words, without the name of whom they are for.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let named = |word: &str| word.starts_with('@') || word.ends_with([':', ',']);
    let named = text.split_whitespace().next().is_some_and(named);
    text.split_whitespace().skip(usize::from(named)).take(WORDS)
}

fn is(word: &str, list: &[&str]) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// What is known of whether an author goes on, in the order of the weights.
pub fn signs(text: &str, habit: Habit) -> [f32; SIGNS] {
    let when = |on: bool| if on { 1.0 } else { 0.0 };
    let text = text.trim_end();
    let count = words(text).count();
    let first = words(text).next().unwrap_or_default();
    [
        1.0,
        // A question waits for its answer.
        when(text.ends_with(['?', '？', '؟', '⁇', '\u{37e}', '՞'])),
        when(breaks_off(text)),
        when(count <= 2),
        when((3..=5).contains(&count)),
        when(count > 14),
        habit.went_on / habit.gaps,
        habit.soon / habit.late_gaps,
        when(habit.row >= 4),
        when(is(first.trim_end_matches(['!', ',', '.']), &GREETINGS)),
        (1.0 + f32::from(habit.said)).ln() / 4.0,
        // It points to what is to be read.
        when(text.contains("://")),
    ]
}

/// So many words of a text are looked at.
const WORDS: usize = 64;

/// Words after which a sentence goes on.
const HANGING: [&str; 44] = [
    "and", "or", "but", "so", "because", "cause", "cuz", "with", "the", "a", "an", "to", "of",
    "for", "if", "when", "that", "is", "are", "was", "my", "your", "in", "on", "at", "like",
    "then", "as", "by", "from", "while", "which", "where", "i", "we", "also", "plus", "than",
    "about", "into", "have", "has", "can", "its",
];

/// With which a request begins.
const OPENINGS: [&str; 10] =
    ["can", "could", "would", "will", "you", "please", "pls", "plz", "one", "question"];

/// After which the matter comes.
const GREETINGS: [&str; 5] = ["hi", "hello", "hey", "hiya", "hallo"];
