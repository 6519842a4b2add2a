//! What a text says, and nothing about rooms: what it wants, whom it names, what can be found in it.

pub mod features;
pub mod intent;
pub mod names;
mod prose;
pub mod search;
