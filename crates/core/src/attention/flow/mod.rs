//! The flow of talk: whom a message that names nobody is most likely for.
//!
//! In real chat most messages name nobody, and their readers still know whom they are for: whoever was being
//! talked with, whoever asked, whoever spoke right before. [`guess`] weighs everybody who took part in the line
//! among the room's newest [`TAIL`](crate::state::room::TAIL) events, and nobody, by the signs of [`signs`]; each sign
//! belongs to a named rule.
//!
//! Invariant: what is weighed is a function of the room's newest events alone, so that a room restored from its log
//! guesses as the one before it did. Whom a message was taken to be for is stored with it, and not guessed again.

mod candidate;
mod weigh;

use crate::model::attention::Rule;
use crate::model::event::Event;
use crate::model::flow::{Meant, Nobody, Settings};
use crate::model::ids::{MemberKey, ThreadKey, Timestamp};
use crate::state::talk::Talk;
pub use candidate::CANDIDATES;
pub use weigh::{Weighed, weigh};

/// A message about to be said, that names nobody.
#[derive(Clone, Copy, veil::Redact)]
pub struct Saying<'a> {
    pub author: MemberKey,
    pub thread: Option<ThreadKey>,
    pub at: Timestamp,
    #[redact(fixed = 3)]
    pub text: &'a str,
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
