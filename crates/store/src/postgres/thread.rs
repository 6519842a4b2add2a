//! The one thread that drives all connections of this process, and how callers wait for it.
//!
//! Callers block until the answer arrives, as with a file, so they need no async runtime and may be
//! on any thread. Invariant: nobody waits longer than the given time.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle};

use crate::db::{Error, Result};

/// Lives as long as the process, across connections.
static THREAD: Mutex<Option<Handle>> = Mutex::new(None);

/// The runtime that drives the connections.
pub(super) fn handle() -> Result<Handle> {
    let mut thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(handle) = &*thread {
        return Ok(handle.clone());
    }
    let failed = |why: std::io::Error| Error::Engine(format!("no thread for connections: {why}"));
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let handle = runtime.handle().clone();
    let named = std::thread::Builder::new().name("postgres".to_owned());
    named.spawn(move || runtime.block_on(std::future::pending::<()>())).map_err(failed)?;
    *thread = Some(handle.clone());
    Ok(handle)
}

/// Blocks until `future` completes; none when that takes longer than `limit`.
pub(crate) fn wait<T>(future: impl Future<Output = T>, limit: Duration) -> Option<T> {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let until = Instant::now() + limit;
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Some(done);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        std::thread::park_timeout(left);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
