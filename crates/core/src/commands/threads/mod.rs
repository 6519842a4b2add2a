//! Threads, and the work that is done in them.

pub(crate) mod thread;
pub(crate) mod work;
