//! The reads of one request wait for the disk once, at its end.
//!
//! A read may see a commit that is not synced yet (OPS-176). Each waiting by itself, a request of many reads would wait for
//! as many syncs while a lot is posted.

use std::any::Any;
use std::cell::Cell;
use std::future::Future;

use chorus_core::model::error::{Code, Refusal};
use chorus_store::Readers;
use chorus_store::db::Error;

tokio::task_local! {
    /// Whether the request under way has read.
    static HAS_READ: Cell<bool>;
}

/// A read of any type, so that running one on another thread is compiled once for all of them.
pub(super) type Read = Box<dyn FnOnce(&Readers) -> Result<Box<dyn Any + Send>, Error> + Send>;

/// Runs a read where it may take its time.
pub(super) async fn read(readers: Readers, read: Read) -> Result<Box<dyn Any + Send>, Refusal> {
    let waits_later = waits_later();
    let read = move || {
        let value = read(&readers)?;
        if !waits_later {
            readers.settle()?;
        }
        Ok(value)
    };
    match tokio::task::spawn_blocking(read).await {
        Ok(value) => value.map_err(unreadable),
        Err(why) => {
            tracing::error!(%why, "a read panicked");
            Err(mistaken())
        }
    }
}

/// Something broke while the host read.
pub(super) fn mistaken() -> Refusal {
    Refusal::new(Code::Internal, "the host made a mistake while reading")
}

/// Notes a read. Whether its request waits at its end; otherwise the read has to.
fn waits_later() -> bool {
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
