//! `[registry]`.

use super::section::section;
use crate::services::registry::agents::Hiring;

section! {
    /// Agents for hire.
    Registry ["registry"] {
        /// How many of the agents that a search finds are newcomers, which have fewer than five
        /// settled jobs: one of so many, on the first page. 0 shows everybody by reputation alone,
        /// and whoever has none yet comes last.
        newcomer_every: usize = 0, 0 => 100;
    }
}

impl Registry {
    pub(crate) fn hiring(&self) -> Hiring {
        Hiring { newcomer_every: self.newcomer_every, ..Hiring::default() }
    }
}
