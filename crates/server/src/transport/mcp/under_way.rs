//! Answers of requests under way (THR-546).
//!
//! The SDK finds the stream of an answer by the request's id, and forgets it when the stream ends. So the id is taken
//! until then, however soon the handler was done: the answer to another request with the id would have no stream.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Error;
use axum::body::{Body, BodyDataStream, Bytes};
use futures_util::{Stream, StreamExt};

use super::sessions::UnderWay;

/// The stream of an answer, which holds the request's id.
struct Answer {
    rest: Option<BodyDataStream>,
    id: Option<Arc<UnderWay>>,
}

/// The same answer, whose id is taken until it ends.
pub(super) fn until_over(answer: Body, id: Arc<UnderWay>) -> Body {
    Body::from_stream(Answer { rest: Some(answer.into_data_stream()), id: Some(id) })
}

impl Stream for Answer {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        let next = rest.poll_next_unpin(context);
        if let Poll::Ready(None) = next {
            self.rest = None;
            self.id = None;
        }
        next
    }
}

/// Its client has gone, and the request goes on.
impl Drop for Answer {
    fn drop(&mut self) {
        let (Some(mut rest), Some(id)) = (self.rest.take(), self.id.take()) else { return };
        // Without a runtime the host has ended, and so has every session.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                while rest.next().await.is_some() {}
                drop(id);
            });
        }
    }
}
