//! The no-human budget: how many messages agents may post in one timeline until a person speaks
//! (design section 5, "Turns", end).
//!
//! A timeline's count is in its thread, or in the head for the main timeline, and is replayed from
//! the log. An agent's chat message adds one. A person's message, a change of the thread's status
//! and `continued` reset it. Whether the timeline is paused follows from the count and the limit
//! alone, so it cannot get out of sync. In a paused timeline agents' messages are refused, agents
//! are not notified, and the clocks of their obligations stop.

use crate::model::conversation::{Conversation, ConversationKind};
use crate::model::limits;
use crate::model::thread::{Thread, ThreadKind};

/// The budgets for conversations without their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// For workflow and incident threads, direct conversations, and conversations made for agents.
    pub work: u32,
    /// For threads of type `conversation`.
    pub talk: u32,
}

impl Default for Budgets {
    fn default() -> Self {
        Self { work: limits::NO_HUMAN_WORK, talk: limits::NO_HUMAN_TALK }
    }
}

impl Budgets {
    /// The budget for this timeline; none where it is unlimited: in the main timeline of a channel,
    /// unless the channel sets one.
    pub fn of(&self, conversation: &Conversation, thread: Option<&Thread>) -> Option<u32> {
        if conversation.settings.agent_budget.is_some() {
            return conversation.settings.agent_budget;
        }
        match (thread.map(|t| t.kind), conversation.kind) {
            (Some(ThreadKind::Conversation), _) => Some(self.talk),
            (Some(ThreadKind::Workflow | ThreadKind::Incident), _)
            | (None, ConversationKind::Dm | ConversationKind::Thread) => Some(self.work),
            (
                None,
                ConversationKind::Channel | ConversationKind::System | ConversationKind::Tool,
            ) => None,
        }
    }
}

/// A command to the host itself, in a message that begins with the host's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Lets the agents continue here.
    Continue,
    /// Anything else.
    Unknown,
}

/// The handle that is reserved for the host.
pub const HOST_HANDLE: &str = "chorus";

/// Parses a text that is addressed to the host: `@chorus continue`.
pub fn word(text: &str) -> Option<Word> {
    let rest = text.trim().strip_prefix('@')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    let (name, said) = rest.split_at(end.unwrap_or(rest.len()));
    if !name.eq_ignore_ascii_case(HOST_HANDLE) {
        return None;
    }
    let said = said.trim_matches(|c: char| c.is_whitespace() || ".!,:".contains(c));
    Some(if said.eq_ignore_ascii_case("continue") { Word::Continue } else { Word::Unknown })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_spoken_to_by_name_at_the_beginning() {
        for (text, is) in [
            ("@chorus continue", Some(Word::Continue)),
            ("  @Chorus: Continue! ", Some(Word::Continue)),
            ("@chorus", Some(Word::Unknown)),
            ("@chorus please stop", Some(Word::Unknown)),
            ("@chorus continued", Some(Word::Unknown)),
            ("@chorus-bot continue", None),
            ("@chorusline continue", None),
            ("say @chorus continue", None),
            ("continue", None),
        ] {
            assert_eq!(word(text), is, "{text:?}");
        }
    }
}
