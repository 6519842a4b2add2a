//! Settings for reading the flow of talk: its rules, signals, weights and confidence thresholds.

mod clue;
#[macro_use]
pub mod signs;
pub mod weights;

pub use clue::{Clue, Clues};
use weights::{SIGNS, WEIGHTS};

use crate::model::ids::MemberKey;

/// The estimated addressee of a message that names nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meant {
    pub member: MemberKey,
    /// The confidence, in percent.
    pub confidence: u8,
    /// The rules in favour.
    pub because: Clues,
    /// The rules against, which were outweighed.
    pub against: Clues,
}

impl Meant {
    /// Certain, not estimated: the member that an agent answers.
    pub fn surely(member: MemberKey) -> Self {
        Self { member, confidence: 100, because: Clues::NONE, against: Clues::NONE }
    }
}

/// Why a message was taken to be for nobody in particular, although there were candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nobody {
    /// The confidence, in percent.
    pub confidence: u8,
    /// The rules against the likeliest candidate.
    pub because: Clues,
    /// The rules in favour of that candidate, which were outweighed.
    pub against: Clues,
}

/// A workspace's settings for the flow of talk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Whether it is used at all.
    pub on: bool,
    /// Rules that are switched off.
    pub off: Clues,
    /// The weight of each signal.
    pub weights: &'static [f32; SIGNS],
    /// From this confidence on, in percent, a guess creates an obligation as a name does.
    pub sure: u8,
    /// From this confidence on, in percent, the message is shown without an obligation.
    pub likely: u8,
    /// From this confidence on, in percent, the guess produces a knock.
    pub perhaps: u8,
    /// A question that is for a person with at least this confidence, in percent, is given to no
    /// agent.
    pub somebodys: u8,
    /// Whether a question to nobody in particular is given to one agent.
    pub ask_one: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            on: true,
            off: Clues::NONE,
            weights: &WEIGHTS,
            sure: SURE,
            likely: LIKELY,
            perhaps: PERHAPS,
            somebodys: SOMEBODYS,
            ask_one: true,
        }
    }
}

/// Of the additional obligations at 40 compared with 70, every second one is wrong (irc-ubuntu:
/// precision 0.94 instead of 0.89 for 4.1 fewer per hundred lines; irc-sec: 0.95 instead of 0.90
/// for 4.4 fewer). Below 70 the messages are still shown.
pub const SURE: u8 = 70;
/// Of the additional turns at 40 compared with 55, half are right (irc-ubuntu: recall 0.759 instead
/// of 0.733 for 1.8 more turns per hundred lines; irc-sec: 0.721 instead of 0.692 for 2.5). Of
/// those that 30 would add, two of five are.
pub const LIKELY: u8 = 40;
/// Of the knocks between 25 and 40, two of five are right, and there is one per two hundred lines.
/// Below 25 the likeliest candidate is nearly always "nobody" (15 adds one knock per thousand
/// lines).
pub const PERHAPS: u8 = 25;

/// A question that is for a person with at least this confidence, in percent, is given to no agent.
/// At 60, one open question in twenty is given to nobody (irc-ubuntu: 0.951 are given to one); at
/// 75 fewer (0.955), for 0.6 more turns per hundred lines.
pub const SOMEBODYS: u8 = 75;
