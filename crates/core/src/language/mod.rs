//! What a text says, independent of any room: its intent, the names in it, and the words it can be
//! found by.

pub mod analysis;
pub mod features;
pub mod intent;
pub mod names;
mod prose;
pub mod search;
