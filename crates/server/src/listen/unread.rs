//! Bodies that are answered before they are read to their end, such as those of requests without a good token.
//!
//! hyper closes such a connection after the answer, and does not say so. A client that keeps its connections would
//! send its next request on it, and not know whether that came.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::http::{HeaderValue, Response, header};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};

/// Whether a body was read to its end.
#[derive(Clone, Default)]
pub(super) struct Read(Arc<AtomicBool>);

/// A body that notes that it was read.
pub(super) struct Watched {
    body: Incoming,
    read: Read,
}

impl Watched {
    pub(super) fn new(body: Incoming) -> (Self, Read) {
        let read = Read::default();
        (Self { body, read: read.clone() }, read)
    }
}

impl Read {
    /// Says in the answer that it is the last on its connection, if it is.
    pub(super) fn tell<B>(&self, answer: &mut Response<B>) {
        if !self.0.load(Ordering::Relaxed) {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.read.0.store(true, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
