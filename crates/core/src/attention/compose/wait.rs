//! How long a window stays open after its last fragment (design section 5, "Compose window").
//!
//! People notice the window as the time they wait for an answer. So it closes
//! [`Settings::quiet_ms`] after a text that looks complete, and at most [`Settings::unfinished_ms`]
//! after one that does not. Only a typing author keeps it open longer. A fragment that arrives
//! later delays nobody: it joins the run that has already begun.

use super::completeness::{Look, look};
use crate::model::ids::Timestamp;
use crate::model::limits;

/// The window's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The window closes this long after a text that looks complete …
    pub quiet_ms: i64,
    /// … and at most this long after one that does not.
    pub unfinished_ms: i64,
    /// While the author types, the window stays open, but never longer than this after it opened.
    pub cap_ms: i64,
}

impl Default for Settings {
    /// 2 s, 5 s and 30 s, as in the C2A spec.
    fn default() -> Self {
        Self {
            quiet_ms: limits::COMPOSE_QUIET_MS,
            unfinished_ms: limits::COMPOSE_UNFINISHED_MS,
            cap_ms: limits::FRAGMENT_CAP_MS,
        }
    }
}

/// What is known about the author's typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    Unknown,
    Now,
    Stopped(Timestamp),
}

/// The last fragment of a window.
#[derive(Clone, Copy, veil::Redact)]
pub struct Piece<'a> {
    #[redact(fixed = 3)]
    pub text: &'a str,
    /// When the first fragment of the window arrived.
    pub opened: Timestamp,
    /// When the last fragment arrived or changed.
    pub changed: Timestamp,
}

/// How often an author continues while the recipient is silent. It is reset when the recipient
/// answers.
///
/// Gaps in which the recipient answered, and edits, are not noted, because they say nothing about
/// how the author writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Habit {
    gaps: f32,
    went_on: f32,
}

impl Default for Habit {
    /// Nothing is known about a new author, so both outcomes are equally likely.
    fn default() -> Self {
        Self { gaps: 1.0, went_on: 0.5 }
    }
}

impl Habit {
    /// The author spoke again after this gap, and the recipient was silent in between.
    pub fn note(&mut self, gap_ms: i64) {
        let went_on = if gap_ms <= limits::COMPOSE_UNFINISHED_MS { 1.0 } else { 0.0 };
        // Old gaps count less.
        self.gaps = self.gaps * 0.9 + 1.0;
        self.went_on = self.went_on * 0.9 + went_on;
    }

    /// The share of gaps after which the author continued.
    fn goes_on(self) -> f32 {
        (self.went_on / self.gaps).clamp(0.0, 1.0)
    }
}

/// When the window closes, if nothing happens before.
pub fn closes(settings: &Settings, last: Piece<'_>, typing: Typing, habit: Habit) -> Timestamp {
    let cap = last.opened.plus(settings.cap_ms);
    let quiet = last.changed.plus(wait(settings, last.text, habit));
    let due = match typing {
        Typing::Now => cap,
        // An author who stops typing without posting may only have paused.
        Typing::Stopped(at) => quiet.max(at.plus(AFTER_TYPING_MS)),
        Typing::Unknown => quiet,
    };
    due.min(cap)
}

const AFTER_TYPING_MS: i64 = 1_000;

fn wait(settings: &Settings, text: &str, habit: Habit) -> i64 {
    let Settings { quiet_ms, unfinished_ms, .. } = *settings;
    let more = (unfinished_ms - quiet_ms).max(0);
    match look(text) {
        Look::Complete => quiet_ms,
        Look::Unfinished => quiet_ms + more,
        // Some authors write like this when they are done, others when they are not.
        Look::Unclear => quiet_ms + (more as f64 * f64::from(habit.goes_on())).round() as i64,
    }
}
