//! How long a connection is waited for: for the head of a request once it has begun, for the next request, and for
//! a peer that does not read.
//!
//! hyper knows one time, from when it could take a request to when it has its head whole. That would be either too
//! long for a head or too short between requests: a proxy keeps its connections for a minute. So the timer
//! that hyper is given waits as long as a connection may idle, and no longer than a head may take once the first
//! byte of it has come. The socket tells it of that byte.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::Times;
use super::connection_limiter::Seat;
use crate::telemetry::{Cut, Metrics};

/// The timer of one connection.
#[derive(Clone)]
pub(super) struct Timeouts {
    pub times: Times,
    metrics: Arc<Metrics>,
    /// Bytes came since it was asked.
    heard: Arc<AtomicBool>,
    /// It was waited for a request before; who connects has something to say at once.
    met: Arc<AtomicBool>,
}

impl Timeouts {
    pub(super) fn new(times: Times, metrics: Arc<Metrics>) -> Self {
        Self { times, metrics, heard: Arc::default(), met: Arc::default() }
    }
}

impl Timer for Timeouts {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    /// hyper asks for it when it begins to wait for a request, and for nothing else over HTTP/1.
    fn sleep_until(&self, _idle: Instant) -> Pin<Box<dyn Sleep>> {
        let idle = self.met.swap(true, Ordering::Relaxed);
        let time = if idle { self.times.idle } else { self.times.headers };
        self.heard.store(false, Ordering::Relaxed);
        let left = Box::pin(tokio::time::sleep(time));
        Box::pin(Waiting { left, idle, timeouts: self.clone() })
    }
}

/// Waiting for a request.
struct Waiting {
    left: Pin<Box<tokio::time::Sleep>>,
    /// Nothing of it has come.
    idle: bool,
    timeouts: Timeouts,
}

impl Future for Waiting {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.idle && self.timeouts.heard.load(Ordering::Relaxed) {
            self.idle = false;
            let until = tokio::time::Instant::now() + self.timeouts.times.headers;
            self.left.as_mut().reset(until);
        }
        ready!(self.left.as_mut().poll(cx));
        if !self.idle {
            self.timeouts.metrics.cut(Cut::Headers);
        }
        Poll::Ready(())
    }
}

impl Sleep for Waiting {}

/// A socket with its place in the room. It is free again when the socket is dropped, whoever has it then.
pub(super) struct Seated {
    stream: TcpStream,
    timeouts: Timeouts,
    /// Runs while nothing can be written.
    stalled: Option<Pin<Box<tokio::time::Sleep>>>,
    _seat: Option<Seat>,
}

impl Seated {
    pub(super) fn new(stream: TcpStream, seat: Option<Seat>, timeouts: Timeouts) -> Self {
        Self { stream, timeouts, stalled: None, _seat: seat }
    }

    /// What came of a write; one that has waited too long is the end.
    fn wrote<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let time = self.timeouts.times.stalled;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
        ready!(stalled.as_mut().poll(cx));
        self.timeouts.metrics.cut(Cut::Stalled);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Seated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.timeouts.heard.store(true, Ordering::Relaxed);
        }
        read
    }
}

impl AsyncWrite for Seated {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.wrote(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time;

    use super::*;

    const HEADERS: Duration = Duration::from_secs(10);
    const IDLE: Duration = Duration::from_secs(75);

    fn timeouts() -> Timeouts {
        let times = Times { handshake: HEADERS, headers: HEADERS, idle: IDLE, stalled: HEADERS };
        Timeouts::new(times, Arc::default())
    }

    async fn waits(sleep: Pin<Box<dyn Sleep>>) -> Duration {
        let began = time::Instant::now();
        sleep.await;
        began.elapsed()
    }

    // covers: OPS-126
    #[tokio::test(start_paused = true)]
    async fn a_connection_idles_longer_than_a_head_may_take_and_not_for_ever() {
        let timeouts = timeouts();
        assert_eq!(waits(timeouts.sleep(Duration::ZERO)).await, HEADERS, "it has just connected");
        assert_eq!(waits(timeouts.sleep(Duration::ZERO)).await, IDLE);
    }

    // covers: OPS-126
    #[tokio::test(start_paused = true)]
    async fn the_first_byte_of_a_request_starts_the_time_for_its_head() {
        let timeouts = timeouts();
        waits(timeouts.sleep(Duration::ZERO)).await;
        let waiting = timeouts.sleep(Duration::ZERO);
        time::sleep(IDLE / 2).await;
        timeouts.heard.store(true, Ordering::Relaxed);
        assert_eq!(waits(waiting).await, HEADERS);
    }
}
