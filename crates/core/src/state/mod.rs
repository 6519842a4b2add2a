//! What a host knows of a workspace, in memory: everybody, the rooms, what time will change, and the trait by which
//! facts are loaded that are missing.

pub(crate) mod changed;
pub mod directory;
pub mod effect;
pub mod facts;
pub mod room;
pub mod talk;
pub mod workspace;
