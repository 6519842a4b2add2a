//! Commands, one family a folder: what each asks for, what it gives, and how it is run.

pub(crate) mod approvals;
pub(crate) mod assets;
pub(crate) mod conversations;
pub(crate) mod deliveries;
pub(crate) mod digests;
pub(crate) mod directory;
pub(crate) mod endpoints;
pub(crate) mod execute;
pub(crate) mod gate;
pub(crate) mod hosts;
pub(crate) mod inboxes;
pub(crate) mod messages;
pub(crate) mod projects;
pub(crate) mod retention;
pub(crate) mod run;
pub(crate) mod schedules;
pub(crate) mod stimuli;
pub(crate) mod threads;
pub(crate) mod turns;
