//! Waiting for what other tasks, threads and processes do, in tests.
//!
//! A test looks again until it sees what it waits for. The deadline is generous, because it only says when a test has
//! failed: no test is right or wrong by how long something takes on a busy machine.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// A test that waits longer than this has failed.
pub const DEADLINE: Duration = Duration::from_secs(30);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// What one look saw: what the test waits for, or why not yet.
pub trait Look {
    type Found;

    fn found(self) -> Result<Self::Found, String>;
}

impl Look for bool {
    type Found = ();

    fn found(self) -> Result<(), String> {
        if self { Ok(()) } else { Err(String::new()) }
    }
}

impl<T> Look for Option<T> {
    type Found = T;

    fn found(self) -> Result<T, String> {
        self.ok_or_else(String::new)
    }
}

/// The error is what was seen instead; it is shown when the test fails.
impl<T, E: Debug> Look for Result<T, E> {
    type Found = T;

    fn found(self) -> Result<T, String> {
        self.map_err(|seen| format!("; the last look saw {seen:?}"))
    }
}

/// Looks until it sees what it waits for, and returns that. `what` says what should happen.
///
/// # Panics
///
/// When it has not happened by the deadline.
pub async fn eventually<L: Look>(what: &str, mut look: impl AsyncFnMut() -> L) -> L::Found {
    let began = Instant::now();
    loop {
        match look().await.found() {
            Ok(found) => return found,
            Err(seen) => assert!(began.elapsed() < DEADLINE, "did not happen: {what}{seen}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The same for a test without a runtime.
#[track_caller]
pub fn eventually_blocking<L: Look>(what: &str, mut look: impl FnMut() -> L) -> L::Found {
    let began = Instant::now();
    loop {
        match look().found() {
            Ok(found) => return found,
            Err(seen) => assert!(began.elapsed() < DEADLINE, "did not happen: {what}{seen}"),
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_look_that_finds_something_ends_the_wait() {
        let mut looks = 0;
        let found = eventually("three looks", async || {
            looks += 1;
            if looks == 3 { Ok(looks) } else { Err(looks) }
        });
        assert_eq!(found.await, 3);
        eventually_blocking("four looks", || {
            looks += 1;
            looks == 4
        });
    }
}
