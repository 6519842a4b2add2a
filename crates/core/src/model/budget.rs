//! The no-human budget: how much agents say on one line of talk until a person speaks (design section 5,
//! "Turns", end).
//!
//! The count of a line stands in its thread, or in the head for the main line, and is replayed from the log:
//! an agent's chat message adds one, a person's words, a change of the thread's status and `continued` begin
//! anew. Whether the line is paused follows from the count and the limit alone, so that nothing can forget it.
//! While it is paused agents' messages are refused there, agents are told nothing of it, and the clocks of
//! what they owe stand still.

use crate::model::conversation::{Conversation, ConversationKind};
use crate::model::limits;
use crate::model::thread::{Thread, ThreadKind};

/// What holds where a conversation has no budget of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// Messages in workflow and incident threads, direct conversations, and those made for agents.
    pub work: u32,
    /// Messages in threads of type `conversation`.
    pub talk: u32,
}

impl Default for Budgets {
    fn default() -> Self {
        Self { work: limits::NO_HUMAN_WORK, talk: limits::NO_HUMAN_TALK }
    }
}

impl Budgets {
    /// The most that agents say on this line without a person; none where nothing is counted against them:
    /// on the main line of a channel, unless the channel says so.
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

/// What somebody says to the host itself in a message that begins with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Let the agents go on here.
    Continue,
    /// Anything else.
    Unknown,
}

/// The handle that the host keeps for itself.
pub const HOST_HANDLE: &str = "chorus";

/// Reads a text that is addressed to the host: `@chorus continue`.
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
