//! The in-memory state of a workspace: the directory, the rooms, the timers, and the trait that
//! loads missing facts.

pub(crate) mod changed;
pub mod directory;
pub mod effect;
pub mod facts;
pub mod room;
pub mod talk;
pub mod workspace;
