//! What can be asked of a workspace, what comes back, and what must be done outside once it is recorded.
//!
//! A command is a value: its ids, time and random bytes are drawn once, by whoever makes it, so that
//! running it again gives the same result.

mod answer;
mod asked;
mod by;
mod facts;

use crate::ids::Uid;
pub use answer::{
    ChannelDelivery, Droppable, Effect, Entry, Held, HeldBy, Offer, RemoteNews, RemoteRun, Subject,
    Waits,
};
pub use asked::{Audience, Home, NewStimulus, OpenThread, Post, SettingsPatch};
pub use by::{Authority, By, Turn};
pub use facts::{Facts, Mark, MessageState, Recalled, Seats, Unavailable};

/// Random and time-ordered values drawn once for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The public id of the one event, conversation, session or stream that the command makes.
    pub uid: Uid,
    /// A second id, for the thread that a command opens beside its event.
    pub second: Uid,
    pub salt: [u8; 16],
}
