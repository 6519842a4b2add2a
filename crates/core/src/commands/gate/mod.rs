//! Checks before a command runs: its turn, and what it would disclose.

pub(crate) mod disclosure;
pub(crate) mod memberships;
pub(crate) mod private_reads;
pub(crate) mod project_texts;
pub(crate) mod shown;
pub(crate) mod turn;
