//! A stream of events that goes on when its workspace moves to another host: whoever follows a log keeps the connection,
//! and the next host is asked for what comes after the last event that was passed on.
//!
//! Only what has ids can go on so. Any other stream ends, and its reader comes again and looks at everything anew.

use std::convert::Infallible;
use std::net::SocketAddr;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use futures_util::future::BoxFuture;
use http_body_util::BodyExt;

const LAST: &str = "last-event-id";
/// How many bodies in a row may show nothing.
const EMPTY: u32 = 3;

/// What was asked, to be asked again.
pub(super) struct Asked {
    uri: Uri,
    headers: HeaderMap,
    from: Option<ConnectInfo<SocketAddr>>,
}

impl Asked {
    /// Of a request that may be answered by a stream.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let accepts = request.headers().get(header::ACCEPT)?.to_str().ok()?;
        if request.method() != Method::GET || !accepts.contains("text/event-stream") {
            return None;
        }
        let from = request.extensions().get().copied();
        Some(Self { uri: request.uri().clone(), headers: request.headers().clone(), from })
    }

    /// The same from an event on; none where it cannot be said from which.
    fn again(&mut self, last: Option<&str>) -> Option<Request> {
        if let Some(last) = last {
            self.headers.insert(LAST, HeaderValue::from_str(last).ok()?);
        }
        let after = |query: &str| query.split('&').any(|pair| pair.starts_with("after="));
        if !self.headers.contains_key(LAST) && !self.uri.query().is_some_and(after) {
            return None;
        }
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        if let Some(from) = self.from {
            request.extensions_mut().insert(from);
        }
        Some(request)
    }
}

pub(super) fn is_stream(response: &Response<Body>) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    response.status() == StatusCode::OK
        && kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Asks whichever host owns the workspace; none while this host stops.
pub(super) type Ask =
    Box<dyn Fn(Request) -> BoxFuture<'static, Option<Response<Body>>> + Send + Sync>;

/// What a stream is made of while it is passed on.
struct Carried {
    ask: Ask,
    asked: Asked,
    body: Body,
    /// The beginning of an event that has not come whole.
    begun: Vec<u8>,
    last: Option<String>,
    /// How many bodies in a row have shown nothing.
    empty: u32,
}

/// The body of an answer, which goes on at whichever host owns the workspace next.
pub(super) fn carried(asked: Asked, body: Body, ask: Ask) -> Body {
    let carried = Carried { ask, asked, body, begun: Vec::new(), last: None, empty: 0 };
    Body::from_stream(futures_util::stream::unfold(carried, |mut carried| async move {
        let events = carried.next().await?;
        Some((Ok::<_, Infallible>(events), carried))
    }))
}

impl Carried {
    /// The next events, each whole.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    self.begun.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
                    let end = self.begun.windows(2).rposition(|pair| pair == b"\n\n");
                    let Some(end) = end else { continue };
                    let begun = self.begun.split_off(end + 2);
                    let events = std::mem::replace(&mut self.begun, begun);
                    if let Some(id) = last_id(&events) {
                        self.last = Some(id);
                    }
                    self.empty = 0;
                    return Some(events.into());
                }
                _ => {
                    // Whoever was sent away is not let in again. A stream that shows nothing ends in the end.
                    if self.empty == EMPTY {
                        return None;
                    }
                    let request = self.asked.again(self.last.as_deref())?;
                    let response = (self.ask)(request).await?;
                    if !is_stream(&response) {
                        return None;
                    }
                    self.empty += 1;
                    self.begun.clear();
                    self.body = response.into_body();
                }
            }
        }
    }
}

/// The id of the last event that has one.
fn last_id(events: &[u8]) -> Option<String> {
    let lines = events.rsplit(|byte| *byte == b'\n');
    let mut ids = lines.filter_map(|line| line.strip_prefix(b"id: "));
    Some(str::from_utf8(ids.next()?).ok()?.to_owned())
}
