//! The schemas of strangers, and whether data fits them. A pattern of theirs may take seconds: it is looked at off the
//! threads that serve requests, few at once and one at a time for each agent.

use std::sync::LazyLock;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Uid};
use tokio::task::spawn_blocking;

use crate::fair_semaphore::FairSemaphore;

/// How many are looked at at once; the others wait for these, and for nothing else.
const AT_ONCE: usize = 2;
static PLACES: LazyLock<FairSemaphore<Whose>> = LazyLock::new(|| FairSemaphore::new(AT_ONCE));

/// Whose schemas are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Whose {
    Agent(Uid),
    /// The agent's that this member registers.
    Member(MemberKey),
}

/// Refuses data that does not fit a schema of this agent, which was checked when it was registered.
pub(super) async fn must_fit(
    agent: Uid,
    schema: &str,
    data: &str,
    what: &'static str,
) -> Result<(), Refusal> {
    let (schema, data) = (schema.to_owned(), data.to_owned());
    off_thread(Whose::Agent(agent), move || chorus_schema::must_fit(&schema, &data, what)).await
}

/// Looks at schemas where that may take its time.
pub(super) async fn off_thread<T: Send + 'static>(
    whose: Whose,
    look: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let broken = |why: String| {
        tracing::error!(why, "a schema could not be looked at");
        Refusal::new(Code::Internal, "the host made a mistake while it looked at a schema")
    };
    let place = PLACES.take(whose).await;
    let looked = spawn_blocking(move || {
        // Also when nobody waits for it any more.
        let _place = place;
        look()
    });
    looked.await.map_err(|why| broken(why.to_string()))?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Mutex;

    use futures_util::future::join_all;

    use super::*;

    /// Looked at for some tenths of a second.
    const SLOW: &str = r#"{"properties": {"a": {"pattern": "^(a|aa){1,400}$"}}}"#;

    fn long() -> String {
        format!(r#"{{"a": "{}!"}}"#, "a".repeat(20_000))
    }

    #[tokio::test]
    async fn a_slow_pattern_is_not_in_the_way_of_requests() {
        let long = long();
        tokio::select! {
            biased;
            _ = must_fit(Uid(1), SLOW, &long, "input_data") => panic!("a request waited for it"),
            () = std::future::ready(()) => {}
        }
        assert!(must_fit(Uid(2), SLOW, r#"{"a": "b"}"#, "input_data").await.is_err());
    }

    // covers: REG-13
    #[tokio::test]
    async fn many_slow_patterns_of_one_agent_leave_room_for_others() {
        let order = Mutex::new(Vec::new());
        let check = async |agent: u128, data: &str| {
            let _ = must_fit(Uid(agent), SLOW, data, "input_data").await;
            order.lock().unwrap().push(agent);
        };
        let (long, quick) = (long(), r#"{"a": "b"}"#);
        let slow = join_all((0..6).map(|_| check(1, &long)));
        tokio::join!(slow, check(2, quick), check(3, quick));
        let order = order.into_inner().unwrap();
        assert_eq!(order[order.len() - 5..], [1; 5], "{order:?}");
    }
}
