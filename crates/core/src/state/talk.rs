//! The newest messages of a room, in the form that the flow of talk is read from.

use std::collections::VecDeque;

use crate::language::features::Features;
use crate::model::attention::{Directedness, Intent, Rule};
use crate::model::event::Event;
use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp};

/// One message of the newest events of a room.
#[derive(Clone, Debug, PartialEq)]
pub struct Utterance {
    pub seq: Seq,
    pub thread: Option<ThreadKey>,
    pub author: MemberKey,
    /// The member it was taken to be for.
    pub to: Option<MemberKey>,
    /// It names its addressee: by name, as a reply or as the recipient.
    pub named: bool,
    /// The confidence of that, up to 1.
    pub sure: f32,
    pub at: Timestamp,
    pub heard: Features,
    pub intent: Intent,
    pub by_agent: bool,
    /// It answers a question from an agent.
    pub answers: bool,
}

impl Utterance {
    /// The remembered form of a message. Decisions about it are stored and not made again.
    pub fn of(event: &Event, heard: Features) -> Self {
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
            heard,
            intent: attention.map_or(Intent::Statement, |a| a.intent),
            by_agent: event.hop > 0,
            answers: told.iter().any(|t| t.decision.rule == Rule::AnswerToQuestion),
        }
    }
}

/// The messages among a room's newest events, oldest first.
pub type Talk = VecDeque<Utterance>;
