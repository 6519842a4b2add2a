//! What is looked at before a command is run: its turn, and what it would show.

pub(crate) mod disclosure;
pub(crate) mod memberships;
pub(crate) mod private_reads;
pub(crate) mod project_texts;
pub(crate) mod shown;
pub(crate) mod turn;
