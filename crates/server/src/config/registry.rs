//! `[registry]`.

use super::section::section;
use crate::dispatch::hiring::Hiring;

section! {
    /// Agents for hire.
    Registry ["registry"] {
        /// How many of the agents that a search finds are newcomers, which have fewer than five
        /// settled jobs: one of so many, on the first page. 0 shows everybody by reputation alone,
        /// and whoever has none yet comes last.
        newcomer_every: usize = 0, 0 => 100;
        /// Whether anybody may read the cards of the agents for hire and search for them, by A2A and
        /// ARD, without a token. They say what a member sees of an agent. `false` asks for a token.
        public: bool = false;
    }
}

impl Registry {
    pub(crate) fn hiring(&self) -> Hiring {
        Hiring { newcomer_every: self.newcomer_every, public: self.public, ..Hiring::default() }
    }
}
