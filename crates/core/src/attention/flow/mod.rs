//! The flow of talk: estimates the addressee of a message that names nobody.
//!
//! In real chat most messages name nobody, and readers still know whom they are for: the current
//! partner, the person who asked, the person who spoke last. [`guess`] weighs everybody who took
//! part in the timeline among the room's newest [`TAIL`](crate::state::room::TAIL) events, and
//! "nobody", by the signals in [`signs`]. Each signal belongs to a named rule.
//!
//! Invariant: the estimate is a function of the room's newest events alone, so a room restored from
//! its log estimates the same as before. The estimated addressee is stored with the message and
//! never estimated again.

mod candidate;
mod weigh;

use crate::language::analysis::Analysis;
use crate::model::attention::Rule;
use crate::model::event::Event;
use crate::model::flow::{Meant, Nobody, Settings};
use crate::model::ids::{MemberKey, ThreadKey, Timestamp};
use crate::state::talk::Talk;
pub use candidate::CANDIDATES;
pub use weigh::{Weighed, weigh};

/// A message about to be posted that names nobody.
#[derive(Clone, Copy, Debug)]
pub struct Saying<'a> {
    pub author: MemberKey,
    pub thread: Option<ThreadKey>,
    pub at: Timestamp,
    pub analysis: &'a Analysis,
}

/// What the flow of talk says about a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flowed {
    /// The estimated addressee; none when "nobody in particular" is likeliest.
    pub meant: Option<Meant>,
    pub nobody: Option<Nobody>,
    /// The likeliest of those who may be asked to take a question that is for nobody.
    pub asked: Option<MemberKey>,
}

impl Flowed {
    /// The estimate that was made when the message was new.
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
    /// The rule for a member with this confidence, in percent; none if the member is not notified.
    pub fn rule_of(&self, confidence: u8) -> Option<Rule> {
        match confidence {
            sure if sure >= self.sure => Some(Rule::Flow),
            likely if likely >= self.likely => Some(Rule::FlowLikely),
            perhaps if perhaps >= self.perhaps => Some(Rule::FlowPerhaps),
            _ => None,
        }
    }
}

/// A rule is named as a reason if it adds or removes at least this much, in log-odds: a factor of
/// 1.3 in likelihood.
const SPEAKS: f32 = 0.25;

/// The best guess. `handle` returns a member's handle, or none for a departed member.
/// `may_be_asked` says who may be given a question that is for nobody.
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
    let mut all = [f32::MIN; CANDIDATES + 1];
    let count = weighed.signs().len();
    all.iter_mut().zip(weighed.scores(settings.weights)).for_each(|(kept, score)| *kept = score);
    let scores = || all[..count].iter().copied().enumerate();
    let odds: f32 = scores().map(|(_, score)| score.exp()).sum();
    let sure = |score: f32| (100.0 * score.exp() / odds) as u8;
    let mut flowed = Flowed::default();
    if let Some((best, score)) = scores().skip(1).max_by(|a, b| a.1.total_cmp(&b.1)) {
        let nobody = all[0];
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
