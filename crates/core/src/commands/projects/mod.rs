//! Projects, their members, channels and tasks.

pub(crate) mod mirror;
pub(crate) mod project;
pub(crate) mod task;
