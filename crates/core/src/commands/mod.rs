//! Commands, one folder for each family: what each asks for, what it returns, and how it is
//! executed.
//!
//! A family contains its commands, their results, their audit entries, the texts that redaction
//! must see, and their execution ([`Command`]).

pub mod approvals;
pub mod assets;
pub(crate) mod command;
pub(crate) mod context;
pub mod conversations;
pub mod deliveries;
pub mod digests;
pub mod directory;
pub mod endpoints;
pub(crate) mod execute;
pub(crate) mod gate;
pub mod inboxes;
pub mod jobs;
pub mod ledger;
pub mod messages;
pub mod notes;
pub(crate) mod prepared;
pub mod projects;
pub(crate) mod redact;
pub mod registry;
pub mod retention;
pub mod schedules;
pub mod stimuli;
pub mod threads;
pub mod turns;
pub mod wakes;

pub use command::{Command, Done, InTurn, Makes, NotDone};
pub use execute::Executed;
pub use prepared::Prepared;
pub use redact::Redact;
