//! What a tool gave, on its way to the client.
//!
//! The SDK holds a result as a tree and wants it both as text and as structured content. A page of messages would be
//! read into that tree only to be written again. On the stateless wire the answer is one JSON document: there the SDK
//! is given a result without content, and the content is put in once the SDK has written the rest. In a session the
//! SDK keeps what it sends, to send it again; there it is given the whole result.

use axum::body::{Body, to_bytes};
use axum::http::header;
use axum::response::Response;
use chorus_core::model::error::{Code, Refusal};
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};

use super::mistake::mistake;
use super::{Asking, says_json};
use crate::transport::tools::Given;

/// What the SDK writes of a result without content. In a text of JSON it would have backslashes.
const NO_CONTENT: &[u8] = br#""content":[]"#;

impl Asking {
    /// What a tool gave, in the words of the SDK.
    pub(super) fn result(&self, given: Given) -> Result<CallToolResponse, ErrorData> {
        let mut result = CallToolResult::success(Vec::new());
        // It is put in with the content.
        result.is_error = None;
        if self.session.is_some() {
            let structured = serde_json::from_str(given.json.get()).map_err(|e| mistake(&e))?;
            result.content.push(ContentBlock::text(given.json.get()));
            result.structured_content = Some(structured);
            result.is_error = Some(given.is_error);
        } else if self.given.set(given).is_err() {
            return Err(mistake(&"a request with two results"));
        }
        Ok(result.into())
    }
}

/// The SDK's answer, with the content that it was not given.
pub(super) async fn put_in(given: &Given, response: Response) -> Result<Response, Refusal> {
    let no_place = || Refusal::new(Code::Internal, "a result without a place for its content");
    if !says_json(response.headers()) {
        return Err(no_place());
    }
    let (mut parts, body) = response.into_parts();
    let around = to_bytes(body, usize::MAX).await.map_err(|_| no_place())?;
    let at = around.windows(NO_CONTENT.len()).position(|part| part == NO_CONTENT);
    let at = at.ok_or_else(no_place)?;
    let (before, after) = (&around[..at], &around[at + NO_CONTENT.len()..]);
    let room = before.len() + after.len() + given.json.get().len() * 5 / 2;
    let mut whole = Vec::with_capacity(room + 128);
    whole.extend_from_slice(before);
    let begin = whole.len();
    serde_json::to_writer(&mut whole, given).map_err(|_| no_place())?;
    // The fields stand in the SDK's object: where that of their own began is a space.
    whole[begin] = b' ';
    whole.pop();
    whole.extend_from_slice(after);
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Body::from(whole)))
}
