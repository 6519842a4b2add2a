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
mod known;
#[macro_use]
pub mod signs;
mod weigh;
pub mod weights;

use std::collections::VecDeque;

use crate::attention::{Directedness, Intent, Rule};
use crate::event::Event;
use crate::ids::{MemberKey, Seq, ThreadKey, Timestamp};
use heard::Heard;
pub use signs::{Clue, Clues};
pub use weigh::{CANDIDATES, Weighed, weigh};
use weights::{SIGNS, WEIGHTS};

/// One message of the newest events of a room.
#[derive(Clone, Debug, PartialEq)]
pub struct Utterance {
    pub seq: Seq,
    pub thread: Option<ThreadKey>,
    pub author: MemberKey,
    /// Whom it was taken to be for.
    pub to: Option<MemberKey>,
    /// It says so: by a name, a reply, a recipient.
    pub named: bool,
    /// How sure that is, up to 1.
    pub sure: f32,
    pub at: Timestamp,
    pub heard: Heard,
    pub intent: Intent,
    pub by_agent: bool,
    /// It answers a question of an agent.
    pub answers: bool,
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
            sure: meant.map_or(1.0, |m| f32::from(m.confidence) / 100.0),
            at: event.at,
            heard: Heard::of(text),
            intent: attention.map_or(Intent::Statement, |a| a.intent),
            by_agent: event.hop > 0,
            answers: told.iter().any(|t| t.decision.rule == Rule::AnswerToQuestion),
        }
    }
}

/// The messages among a room's newest events, oldest first.
pub type Talk = VecDeque<Utterance>;

/// A message about to be said, that names nobody.
#[derive(Clone, Copy, veil::Redact)]
pub struct Saying<'a> {
    pub author: MemberKey,
    pub thread: Option<ThreadKey>,
    pub at: Timestamp,
    #[redact(fixed = 3)]
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
    /// The rules that spoke against it, and were outweighed.
    pub against: Clues,
}

impl Meant {
    /// Known, and not guessed: who an agent answers.
    pub fn surely(member: MemberKey) -> Self {
        Self { member, confidence: 100, because: Clues::NONE, against: Clues::NONE }
    }
}

/// Why a message was taken to be for nobody in particular, though there were people to choose among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nobody {
    /// How sure that is, in percent.
    pub confidence: u8,
    /// The rules that spoke against the likeliest of them.
    pub because: Clues,
    /// The rules that spoke for that one, and were outweighed.
    pub against: Clues,
}

/// What the flow of talk says of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flowed {
    /// Whom it is for; none when nobody in particular is likeliest.
    pub meant: Option<Meant>,
    pub nobody: Option<Nobody>,
    /// The likeliest of those who may be given a question that is for nobody.
    pub asked: Option<MemberKey>,
}

impl Flowed {
    /// What it said of a message when that was new.
    pub fn of(event: &Event) -> Self {
        let attention = event.attention.as_deref();
        let told = attention.map_or(&[][..], |a| &a.told);
        let asked = told.iter().find(|told| told.decision.rule == Rule::AskedOne);
        Self {
            meant: attention.and_then(|a| a.meant),
            nobody: attention.and_then(|a| a.nobody),
            asked: asked.map(|told| told.member),
        }
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
    /// From so many percent on, a guess obliges as a name does.
    pub sure: u8,
    /// From so many percent on, the message is shown, and obliges nobody.
    pub likely: u8,
    /// From so many percent on, a guess is worth a knock.
    pub perhaps: u8,
    /// A question that is for a person by so many percent is given to no agent.
    pub somebodys: u8,
    /// Whether a question to nobody in particular is given to one agent.
    pub ask_one: bool,
}

impl Settings {
    /// What a guess that is so sure, in percent, is for its member; none where it is not told.
    pub fn rule_of(&self, confidence: u8) -> Option<Rule> {
        match confidence {
            sure if sure >= self.sure => Some(Rule::Flow),
            likely if likely >= self.likely => Some(Rule::FlowLikely),
            perhaps if perhaps >= self.perhaps => Some(Rule::FlowPerhaps),
            _ => None,
        }
    }
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

/// Of the obligations that 40 gives and 70 does not, every second is wrong (irc-ubuntu: precision 0.94 instead of 0.89 for
/// 4.1 fewer in a hundred lines; irc-sec: 0.95 instead of 0.90 for 4.4 fewer); what they were for is shown all the same.
pub const SURE: u8 = 70;
/// Of the turns that 40 gives and 55 does not, half are right (irc-ubuntu: recall 0.759 instead of 0.733 for 1.8 more
/// turns in a hundred lines; irc-sec: 0.721 instead of 0.692 for 2.5). Of those that 30 would add, two of five are.
pub const LIKELY: u8 = 40;
/// Of the knocks between 25 and 40 two of five are right, and there is one in two hundred lines; below 25 the likeliest
/// is nearly always nobody (15 adds one knock in a thousand lines).
pub const PERHAPS: u8 = 25;

/// A question that is so surely for a person, in percent, is given to no agent. At 60 one open question in twenty is
/// given to nobody (irc-ubuntu: 0.951 are given to one), at 75 fewer (0.955) for 0.6 turns more in a hundred lines.
pub const SOMEBODYS: u8 = 75;

/// What a rule must add or take, in log-odds, to be named: it makes the guess 1.3 times as likely, or as unlikely.
const SPEAKS: f32 = 0.25;

/// The best guess. `handle` gives a member's handle, none for who is not there any more; `may_be_asked` says who may
/// be given a question to nobody.
pub fn guess<'a>(
    talk: &Talk,
    saying: &Saying<'_>,
    settings: Settings,
    handle: impl Fn(MemberKey) -> Option<&'a str>,
    may_be_asked: impl Fn(MemberKey) -> bool,
) -> Flowed {
    if !settings.on {
        return Flowed::default();
    }
    let weighed = weigh(talk, saying, settings.off, handle);
    let scores = || weighed.scores(settings.weights).enumerate();
    let odds: f32 = scores().map(|(_, score)| score.exp()).sum();
    let likeliest = |from: usize| scores().skip(from).max_by(|a, b| a.1.total_cmp(&b.1));
    let sure = |score: f32| (100.0 * score.exp() / odds) as u8;
    let mut flowed = Flowed::default();
    if let Some((best, score)) = likeliest(1) {
        let nobody = scores().next().map_or(f32::MIN, |(_, score)| score);
        let (because, against) = weighed.reasons(best, settings.weights, SPEAKS);
        match weighed.member(best).filter(|_| score >= nobody) {
            Some(member) => {
                let confidence = sure(score);
                flowed.meant = Some(Meant { member, confidence, because, against });
            }
            None => {
                let (because, against) = (against, because);
                flowed.nobody = Some(Nobody { confidence: sure(nobody), because, against });
            }
        }
    }
    let agents = scores().filter_map(|(at, score)| Some((weighed.member(at)?, score)));
    let agents = agents.filter(|(member, _)| may_be_asked(*member));
    flowed.asked = agents.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(member, _)| member);
    flowed
}
