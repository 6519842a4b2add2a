//! The writing half of a C2A connection.

use axum::extract::ws::{Message, WebSocket};
use futures_util::stream::SplitSink;

pub(super) type Out = SplitSink<WebSocket, Message>;

/// A frame's text.
pub(super) fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
