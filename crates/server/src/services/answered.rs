//! The reads of one request wait for the disk once, at its end.
//!
//! A read may see a commit that is not synced yet (OPS-176). Each waiting by itself, a request of many reads would wait for
//! as many syncs while a lot is posted.

use std::cell::Cell;
use std::future::Future;

use chorus_core::model::error::{Code, Refusal};
use chorus_store::Readers;
use chorus_store::db::Error;

tokio::task_local! {
    /// Whether the request under way has read.
    static HAS_READ: Cell<bool>;
}

/// Notes a read. Whether its request waits at its end; otherwise the read has to.
pub(super) fn waits_later() -> bool {
    HAS_READ.try_with(|has_read| has_read.set(true)).is_ok()
}

/// Does the work of a request, and returns when all that it may have read is on disk.
pub(super) async fn answered<T>(
    readers: &Readers,
    work: impl Future<Output = T>,
) -> Result<T, Refusal> {
    let work = async {
        let done = work.await;
        (done, HAS_READ.with(Cell::get))
    };
    let (done, has_read) = HAS_READ.scope(Cell::new(false), work).await;
    if has_read {
        settle(readers).await?;
    }
    Ok(done)
}

/// Waits until all that may have been read is on disk.
pub(super) async fn settle(readers: &Readers) -> Result<(), Refusal> {
    if readers.is_settled() {
        return Ok(());
    }
    let readers = readers.clone();
    let settled = tokio::task::spawn_blocking(move || readers.settle()).await;
    settled.unwrap_or_else(|why| Err(Error::Engine(why.to_string()))).map_err(unreadable)
}

/// A read that failed, to whoever asked.
pub(super) fn unreadable(why: Error) -> Refusal {
    tracing::error!(%why, "a read failed");
    match why {
        // Reading it again helps nobody; whoever runs the host must know what it is.
        Error::Corrupt(_) => Refusal::new(Code::Unavailable, why.to_string()),
        _ => Refusal::new(Code::Unavailable, "the store cannot be read now; try again"),
    }
}

/// What the caller may not see is unknown. That it cannot be looked up now is something else.
pub(super) fn unseen(refusal: Refusal, unknown: Refusal) -> Refusal {
    match refusal.code {
        Code::Unavailable | Code::OutcomeUnknown | Code::Internal => refusal,
        _ => unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: OPS-176
    #[test]
    fn what_cannot_be_looked_up_is_not_said_to_be_unknown() {
        let unknown = || Refusal::not_found("message");
        for code in [Code::Unavailable, Code::OutcomeUnknown, Code::Internal] {
            assert_eq!(unseen(Refusal::new(code, "why"), unknown()).code, code);
        }
        let refused = Refusal::new(Code::Forbidden, "not yours");
        assert_eq!(unseen(refused, unknown()).code, Code::NotFound);
    }

    #[tokio::test]
    async fn only_within_a_request_a_read_waits_later() {
        assert!(!waits_later());
        let (waits, has_read) = HAS_READ
            .scope(Cell::new(false), async { (waits_later(), HAS_READ.with(Cell::get)) })
            .await;
        assert!(waits && has_read);
    }
}
