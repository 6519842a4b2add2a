//! Server-sent events: frames of what a follower is shown, and a sign of life where there is nothing.

use std::convert::Infallible;
use std::fmt::Write;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use crate::services::follow::{Followed, Item};

/// A comment is sent when nothing else was for this long; followers take three missed for a broken connection.
const ALIVE_EVERY: Duration = Duration::from_secs(15);
/// Bytes of one chunk, once several events wait.
const CHUNK_BYTES: usize = 64 * 1024;

/// Whether a stream is asked for, and not one answer.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/event-stream"))
}

/// The stream of what is followed.
pub(super) fn of(follower: impl Followed) -> Response {
    let stream = futures_util::stream::unfold(follower, |mut follower| async move {
        let chunk = chunk(&mut follower).await?;
        Some((Ok::<_, Infallible>(chunk), follower))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream")];
    (headers, Body::from_stream(stream)).into_response()
}

/// The next events, as many as are ready, or a sign of life.
async fn chunk(follower: &mut impl Followed) -> Option<Bytes> {
    let mut out = String::new();
    match tokio::time::timeout(ALIVE_EVERY, follower.next()).await {
        Ok(item) => write(&mut out, &item?),
        Err(_) if !follower.still_valid() => return None,
        Err(_) => out.push_str(": alive\n\n"),
    }
    while out.len() < CHUNK_BYTES
        && let Some(item) = follower.ready()
    {
        write(&mut out, &item);
    }
    Some(out.into())
}

/// JSON has no line breaks outside of escapes, so that one `data` line holds it.
fn write(out: &mut String, item: &Item) {
    if let Some(seq) = item.seq {
        // Writing into a string does not fail.
        let _ = writeln!(out, "id: {seq}");
    }
    let _ = write!(out, "event: {}\ndata: {}\n\n", item.name, item.json);
}
