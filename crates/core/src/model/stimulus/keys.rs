//! Keys of the host's own stimuli. A newer stimulus replaces an older one with the same key.

use crate::model::error::Refusal;
use crate::model::ids::Prefix;

/// Keys that are the same for all threads of a channel; a stimulus under one is about its own
/// thread.
pub const REVIEW: &str = "review";
pub const IDLE: &str = "idle";

/// Whether only the host uses this key: ids of schedules, tasks and stimuli, and its reserved
/// words.
pub fn is_of_the_host(key: &str) -> bool {
    let ids = [Prefix::Schedule, Prefix::Task, Prefix::Stimulus];
    [REVIEW, IDLE].contains(&key) || ids.iter().any(|prefix| key.starts_with(prefix.as_str()))
}

/// Refuses a key that a requested stimulus may not have.
pub fn check_free(name: &str, key: Option<&str>) -> Result<(), Refusal> {
    match key {
        Some(key) if is_of_the_host(key) => {
            let why = "is a key of the host's own, as are `review`, `idle` and all that begin with `sch_`, `task_` or `stm_`";
            Err(Refusal::invalid(format!("`{name}` {key:?} {why}: choose another")))
        }
        _ => Ok(()),
    }
}
