//! What the doctor found, and where.

use std::collections::BTreeMap;
use std::fmt;

use chorus_core::model::ids::{ConversationKey, Prefix, Seq, Uid};

/// What was examined, and the problems found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub conversations: usize,
    pub events: u64,
    pub problems: Vec<Problem>,
    /// The ids of the conversations and events that the problems concern, as far as they can be
    /// read.
    pub ids: BTreeMap<(ConversationKey, Option<Seq>), Uid>,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// The public ids of the conversation and the event that a problem concerns.
    pub fn ids_of(&self, problem: &Problem) -> (Option<String>, Option<String>) {
        let Some(key) = problem.conversation else { return (None, None) };
        let conversation = self.ids.get(&(key, None));
        let event = problem.seq.and_then(|seq| self.ids.get(&(key, Some(seq))));
        (
            conversation.map(|uid| uid.show(Prefix::Conversation)),
            event.map(|uid| uid.show(Prefix::Event)),
        )
    }

    /// A problem and its place, as text.
    pub fn line(&self, problem: &Problem) -> String {
        match self.ids_of(problem) {
            (Some(conversation), Some(event)) => format!("{conversation}, {event}, {problem}"),
            (Some(conversation), None) => format!("{conversation}, {problem}"),
            _ => problem.to_string(),
        }
    }

    /// Adds a problem of the whole workspace.
    pub(crate) fn found(&mut self, what: impl Into<String>) {
        self.problems.push(Problem { conversation: None, seq: None, what: what.into() });
    }
}

/// One inconsistency and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub conversation: Option<ConversationKey>,
    pub seq: Option<Seq>,
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(conversation) = self.conversation {
            write!(f, "conversation {conversation}")?;
        }
        if let Some(seq) = self.seq {
            write!(f, ", event {seq}")?;
        }
        let colon = if self.conversation.is_some() { ": " } else { "" };
        write!(f, "{colon}{}", self.what)
    }
}
