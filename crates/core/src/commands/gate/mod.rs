//! What is looked at before a command is run: its turn, and what it would show.

pub(crate) mod project;
pub(crate) mod seats;
pub(crate) mod show;
pub(crate) mod told;
pub(crate) mod turn;
pub(crate) mod words;
