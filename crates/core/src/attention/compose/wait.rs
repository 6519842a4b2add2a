//! How long a window stays open after its last fragment.
//!
//! The waits are parts of [`Settings::quiet_ms`], so that one setting scales them all. They come from real
//! chat with seconds in its times: five seconds alone keep a quarter of the fragments that belong together;
//! these waits keep four in ten at the same mean delay, because a text that breaks off, and an author who
//! often goes on, are followed by more twice as often as others.

use crate::attention::intent::looks_unfinished;
use crate::ids::Timestamp;
use crate::limits;

/// The window's two settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Silence after which an ordinary fragment is taken for the last.
    pub quiet_ms: i64,
    /// The window closes so long after it opened, whatever happens.
    pub cap_ms: i64,
}

impl Default for Settings {
    /// 5 s and 30 s (design section 5; the C2A spec says 2 to 5, and up to 30).
    fn default() -> Self {
        Self { quiet_ms: 5_000, cap_ms: limits::FRAGMENT_CAP_MS }
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

/// How often an author goes on with what they said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habit {
    said: u32,
    went_on: u32,
}

impl Habit {
    /// The author spoke again after so long.
    pub fn note(&mut self, gap_ms: i64) {
        self.said += 1;
        self.went_on += u32::from(gap_ms <= limits::FRAGMENT_CAP_MS);
        // What is long past counts less.
        if self.said >= 64 {
            self.said /= 2;
            self.went_on /= 2;
        }
    }

    /// Whether more than half of what they say is gone on with, once a few messages are known.
    fn goes_on(self) -> bool {
        // One of four is the rule of the crowd, which a few messages alone do not outweigh.
        2 * (self.went_on + 1) >= self.said + 4
    }
}

/// A text that ends like one waits two fifths of the quiet time: 2 s, the least of the C2A spec.
const FINISHED: (i64, i64) = (2, 5);
/// One that breaks off waits twice the quiet time: 10 s, the median gap before a right continuation.
const UNFINISHED: (i64, i64) = (2, 1);
/// An author who mostly goes on is given three times: 15 s keep two thirds of their continuations.
const HABITUAL: (i64, i64) = (3, 1);
/// Who stops typing without having posted may have paused only.
const AFTER_TYPING_MS: i64 = 1_000;

/// When the window closes, if nothing happens before.
pub fn closes(settings: &Settings, last: Piece<'_>, typing: Typing, habit: Habit) -> Timestamp {
    let cap = last.opened.plus(settings.cap_ms);
    let quiet = last.changed.plus(wait(settings, last.text, habit));
    let due = match typing {
        Typing::Now => cap,
        Typing::Stopped(at) => quiet.max(at.plus(AFTER_TYPING_MS)),
        Typing::Unknown => quiet,
    };
    due.min(cap)
}

fn wait(settings: &Settings, text: &str, habit: Habit) -> i64 {
    let (times, of) = if habit.goes_on() {
        HABITUAL
    } else if looks_unfinished(text) {
        UNFINISHED
    } else if text.trim_end().ends_with(['.', '!', '?', ')', '。', '！', '？', '؟']) {
        FINISHED
    } else {
        (1, 1)
    };
    settings.quiet_ms.saturating_mul(times) / of
}
