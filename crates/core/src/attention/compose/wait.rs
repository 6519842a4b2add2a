//! How long a window stays open after its last fragment.
//!
//! In real chat with seconds in its times, who goes on does so at any time within half a minute, so that a fixed wait
//! either costs everybody or catches few. How likely an author is to go on is weighed instead, by what they mostly do
//! and by how the text looks ([`signs`], [`WEIGHTS`]), and the window stays open for as long as that is worth its
//! price ([`PRICE`]): half a minute for who surely goes on, a third of a second for who hardly does. The times are
//! scaled by [`Settings::quiet_ms`]; five seconds make the mean wait just below five. On four rooms of IRC they keep
//! 51 of a hundred fragments that belong together, where five seconds alone keep a quarter.

use crate::ids::Timestamp;
use crate::limits;

/// How many signs there are.
pub const SIGNS: usize = 20;

/// One number a sign.
pub type Weights = [f32; SIGNS];

/// What each sign adds to the log-odds of going on within half a minute. Found from eight rooms by `cargo xtask bench
/// attention DIR --fit`.
pub const WEIGHTS: Weights = [
    -1.29, -0.34, 0.24, -0.15, 0.02, -0.02, 2.35, 0.97, 0.15, 0.21, 0.33, -0.32, -0.19, -0.82,
    -0.23, 0.15, 0.15, -0.08, 0.12, -0.32,
];

/// The waits that are weighed, in seconds where [`Settings::quiet_ms`] is five.
const WAITS: [f32; 14] =
    [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0, 26.0, 28.0];

/// How soon the fragments come that belong to the one before, in seconds: after t of them 1 - exp(-t / PACE) have come,
/// as far as they come within half a minute. From the same rooms, where they can say when not to merge.
pub const PACE: f32 = 17.0;

/// What a second of waiting costs, in fragments kept. The lowest with a mean wait below five seconds in those rooms.
pub const PRICE: f32 = 0.023;

/// The least wait, in seconds of the same.
const LEAST: f32 = 0.2;
/// The least for a text that cannot be all that was meant, whatever its author mostly does.
const UNFINISHED: f32 = 5.0;

/// The window's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Scales the waits; the mean of them is about as long.
    pub quiet_ms: i64,
    /// The window closes so long after it opened, whatever happens.
    pub cap_ms: i64,
    pub weights: &'static Weights,
    /// See [`PACE`].
    pub pace: f32,
    /// See [`PRICE`].
    pub price: f32,
}

impl Default for Settings {
    /// 5 s and 30 s (design section 5; the C2A spec says 2 to 5, and up to 30).
    fn default() -> Self {
        Self {
            quiet_ms: 5_000,
            cap_ms: limits::FRAGMENT_CAP_MS,
            weights: &WEIGHTS,
            pace: PACE,
            price: PRICE,
        }
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
    /// The last gap.
    gap_ms: i64,
}

const SOON_MS: i64 = 12_000;

impl Default for Habit {
    /// As strangers do: the first three gaps of the crowd.
    fn default() -> Self {
        Self {
            gaps: 3.0,
            went_on: 1.0,
            late_gaps: 3.0,
            soon: 0.3,
            row: 0,
            said: 0,
            gap_ms: i64::MAX,
        }
    }
}

impl Habit {
    /// The author spoke again after so long.
    pub fn note(&mut self, gap_ms: i64) {
        let goes_on = gap_ms <= limits::FRAGMENT_CAP_MS;
        let one = |on: bool| if on { 1.0 } else { 0.0 };
        self.gap_ms = gap_ms;
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
    let come = |wait: f32| 1.0 - (-wait / settings.pace).exp();
    // What is kept by waiting so long, less the price of it where nothing comes.
    let worth = |wait: f32| {
        let kept = chance * come(wait) / come(30.0);
        kept - settings.price * wait * (1.0 - kept)
    };
    let least = if is_unfinished(text) { UNFINISHED } else { LEAST };
    let best = |best, wait| if worth(wait) > worth(best) { wait } else { best };
    let wait = WAITS.into_iter().fold(LEAST, best).max(least);
    (settings.quiet_ms as f64 * f64::from(wait) / 5.0).round() as i64
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
    let first = words(text).next().unwrap_or_default().trim_end_matches(['!', ',', '.']);
    let asks = text.ends_with(['?', '？', '؟', '⁇', '\u{37e}', '՞']);
    let mostly = habit.went_on / habit.gaps;
    [
        1.0,
        // A question waits for its answer.
        when(asks),
        when(breaks_off(text)),
        when(count <= 2),
        when((3..=5).contains(&count)),
        when(count > 14),
        mostly,
        habit.soon / habit.late_gaps,
        when(habit.row >= 4),
        when(is(first, &GREETINGS)),
        (1.0 + f32::from(habit.said)).ln() / 4.0,
        // It points to what is to be read.
        when(text.contains("://")),
        // It ends as a whole sentence does.
        when(text.ends_with(['.', '!', '。'])),
        (1.0 + count as f32).ln() / 3.0,
        when(habit.gap_ms <= limits::FRAGMENT_CAP_MS),
        when(habit.gap_ms <= 3 * limits::FRAGMENT_CAP_MS),
        when(is(first, &GOING_ON)),
        when(is(first, &ANSWERS)),
        // Who speaks of themselves has more to tell.
        when(words(text).any(|word| is(word, &FIRST_PERSON))),
        if asks { mostly } else { 0.0 },
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

/// With which one goes on with what was said.
const GOING_ON: [&str; 8] = ["and", "but", "so", "or", "because", "then", "also", "well"];

/// With which one answers.
const ANSWERS: [&str; 12] =
    ["yes", "yeah", "ok", "no", "lol", "ah", "oh", "yep", "hm", "hmm", "right", "thanks"];

const FIRST_PERSON: [&str; 6] = ["i", "i'm", "my", "im", "i've", "me"];

/// After which the matter comes.
const GREETINGS: [&str; 5] = ["hi", "hello", "hey", "hiya", "hallo"];
