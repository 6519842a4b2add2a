//! Keys that the host gives what it makes itself, by which a newer one takes the place of an older one.

use crate::model::error::Refusal;
use crate::model::ids::Prefix;

/// All threads of a channel have these; a stimulus under one is about its thread.
pub const REVIEW: &str = "review";
pub const IDLE: &str = "idle";

/// Whether nobody but the host gives a stimulus this key: ids of schedules, tasks and stimuli, and its own words.
pub fn is_of_the_host(key: &str) -> bool {
    let ids = [Prefix::Schedule, Prefix::Task, Prefix::Stimulus];
    [REVIEW, IDLE].contains(&key) || ids.iter().any(|prefix| key.starts_with(prefix.as_str()))
}

/// Whether a stimulus that somebody asks for may have this key.
pub fn check_free(name: &str, key: Option<&str>) -> Result<(), Refusal> {
    match key {
        Some(key) if is_of_the_host(key) => {
            let why = "is a key of the host's own, as are `review`, `idle` and all that begin with `sch_`, `task_` or `stm_`";
            Err(Refusal::invalid(format!("`{name}` {key:?} {why}: choose another")))
        }
        _ => Ok(()),
    }
}
