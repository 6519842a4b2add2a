//! `[budget]`.

use chorus_core::model::budget::Budgets;
use chorus_core::model::limits;

use super::section::section;

section! {
    /// How long agents may talk among themselves.
    Budget ["budget"] {
        /// Messages that agents may say without a person in workflow and incident threads, in
        /// direct conversations, and in conversations made for threads. Then they pause.
        agent_messages: u32 = limits::NO_HUMAN_WORK, 1 => limits::NO_HUMAN_MOST;
        /// The same in threads of type `conversation`.
        agent_messages_in_talk: u32 = limits::NO_HUMAN_TALK, 1 => limits::NO_HUMAN_MOST;
    }
}

impl Budget {
    pub fn budgets(&self) -> Budgets {
        Budgets { work: self.agent_messages, talk: self.agent_messages_in_talk }
    }
}
