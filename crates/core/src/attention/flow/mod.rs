//! The flow of talk: whom a message that names nobody is most likely for.
//!
//! In real chat most messages name nobody, and their readers still know whom they are for: whoever was being
//! talked with, whoever asked, whoever spoke right before. [`guess`] weighs everybody who took part in the line
//! among the room's newest [`TAIL`](crate::room::TAIL) events, and nobody, by the signs of [`signs`]; each sign
//! belongs to a named rule.
//!
//! Invariant: what is weighed is a function of the room's newest events alone, so that a room restored from its log
//! guesses as the one before it did. Whom a message was taken to be for is stored with it, and not guessed again.

pub mod heard;
#[macro_use]
pub mod signs;
mod weigh;
pub mod weights;

use std::collections::VecDeque;

use crate::attention::Directedness;
use crate::event::Event;
use crate::ids::{MemberKey, Seq, ThreadKey, Timestamp};
use heard::Heard;
pub use signs::{Clue, Clues};
pub use weigh::{CANDIDATES, Weighed, weigh};
use weights::{SIGNS, WEIGHTS};

/// One message of the newest events of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utterance {
    pub seq: Seq,
    pub thread: Option<ThreadKey>,
    pub author: MemberKey,
    /// Whom it was taken to be for.
    pub to: Option<MemberKey>,
    /// It says so: by a name, a reply, a recipient.
    pub named: bool,
    pub at: Timestamp,
    pub heard: Heard,
}

impl Utterance {
    /// A message as it is remembered: what was decided of it is not decided again.
    pub fn of(event: &Event, text: &str) -> Self {
        let attention = event.attention.as_deref();
        let meant = attention.and_then(|a| a.meant);
        let told = attention.map_or(&[][..], |a| &a.told);
        let named = told.iter().find(|told| told.decision.directedness == Directedness::ToMe);
        let named = named.map(|told| told.member);
        Self {
            seq: event.seq,
            thread: event.thread,
            author: event.actor,
            to: meant.map(|m| m.member).or(named),
            named: meant.is_none() && named.is_some(),
            at: event.at,
            heard: Heard::of(text),
        }
    }
}

/// The messages among a room's newest events, oldest first.
pub type Talk = VecDeque<Utterance>;

/// A message about to be said, that names nobody.
#[derive(Clone, Copy, Debug)]
pub struct Saying<'a> {
    pub author: MemberKey,
    pub thread: Option<ThreadKey>,
    pub at: Timestamp,
    pub text: &'a str,
}

/// Whom a message was taken to be for, though it does not say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meant {
    pub member: MemberKey,
    /// How sure that is, in percent.
    pub confidence: u8,
    /// The rules that spoke for it.
    pub because: Clues,
}

impl Meant {
    /// Known, and not guessed: who an agent answers.
    pub fn surely(member: MemberKey) -> Self {
        Self { member, confidence: 100, because: Clues::NONE }
    }
}

/// How the flow is read in a workspace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Whether it is read at all.
    pub on: bool,
    /// Rules that are switched off.
    pub off: Clues,
    /// What each sign weighs.
    pub weights: &'static [f32; SIGNS],
    /// A guess of at least so many percent is as good as a name.
    pub sure: u8,
    /// A guess of at least so many percent is worth a knock.
    pub likely: u8,
}

impl Default for Settings {
    fn default() -> Self {
        Self { on: true, off: Clues::NONE, weights: &WEIGHTS, sure: SURE, likely: LIKELY }
    }
}

pub const SURE: u8 = 55;
pub const LIKELY: u8 = 30;

/// What a rule must add, in log-odds, to be named among the reasons: it makes the guess 1.3 times as likely.
const SPEAKS: f32 = 0.25;

/// The best guess; none when nobody in particular is likeliest. `handle` gives a member's handle, none for who is
/// not there any more.
pub fn guess<'a>(
    talk: &Talk,
    saying: &Saying<'_>,
    settings: Settings,
    handle: impl Fn(MemberKey) -> Option<&'a str>,
) -> Option<Meant> {
    if !settings.on {
        return None;
    }
    let weighed = weigh(talk, saying, settings.off, handle);
    let odds: f32 = weighed.scores(settings.weights).map(|score| score.exp()).sum();
    let (best, score) =
        weighed.scores(settings.weights).enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let member = weighed.member(best)?;
    let confidence = (100.0 * score.exp() / odds) as u8;
    Some(Meant { member, confidence, because: weighed.because(best, settings.weights, SPEAKS) })
}
