//! Wakes: agents that sleep in a terminal are brought back (threads spec section 3.8; design section
//! 5, "Wake"). What a report or time does to a wake is decided in [`crate::model::wake`].

pub(crate) mod arm;
pub(crate) mod fire;
pub(crate) mod here;
pub(crate) mod listing;
pub(crate) mod mail;
pub(crate) mod outgoing;
pub(crate) mod report;
pub(crate) mod trigger;

pub use here::RunnerListens;
pub use report::ReportWake;
pub use trigger::{Trigger, TriggerResult, Triggered};
