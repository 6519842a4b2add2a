//! JSON-RPC 2.0 in both directions over one connection. These are our own types, because the host
//! sends requests too.
//!
//! [`Incoming::parse`] is strict and parses a frame once: `params` and `result` stay raw until the
//! method that knows their type reads them. Batches are refused. C2A "Data".

mod id;
mod parse;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_with::skip_serializing_none;

use chorus_core::model::error::{Code, Refusal};

use crate::code;
use crate::error::ErrorBody;

pub use id::Id;
pub use parse::{Incoming, ParseError, params};

pub const PARSE_ERROR: i32 = -32700;
pub const INVALID_REQUEST: i32 = -32600;
pub const METHOD_NOT_FOUND: i32 = -32601;
pub const INVALID_PARAMS: i32 = -32602;

/// `"jsonrpc":"2.0"`, and nothing else.
const VERSION: &str = "2.0";

/// An outgoing request.
#[derive(Debug, Serialize)]
pub struct Request<'a, P> {
    jsonrpc: &'static str,
    pub id: &'a Id,
    pub method: &'a str,
    pub params: P,
}

impl<'a, P> Request<'a, P> {
    pub fn new(id: &'a Id, method: &'a str, params: P) -> Self {
        Self { jsonrpc: VERSION, id, method, params }
    }
}

/// An outgoing notification.
#[derive(Debug, Serialize)]
pub struct Notification<'a, P> {
    jsonrpc: &'static str,
    pub method: &'a str,
    pub params: P,
}

impl<'a, P> Notification<'a, P> {
    pub fn new(method: &'a str, params: P) -> Self {
        Self { jsonrpc: VERSION, method, params }
    }
}

/// An outgoing response. Its id is null if the request's id could not be read.
#[derive(Debug, Serialize)]
pub struct Response<'a, R> {
    jsonrpc: &'static str,
    pub id: Option<&'a Id>,
    #[serde(flatten)]
    pub answer: Answer<R>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer<R> {
    Result(R),
    Error(ErrorObject),
}

impl<'a, R> Response<'a, R> {
    pub fn result(id: &'a Id, result: R) -> Self {
        Self { jsonrpc: VERSION, id: Some(id), answer: Answer::Result(result) }
    }
}

impl<'a> Response<'a, ()> {
    pub fn error(id: Option<&'a Id>, error: ErrorObject) -> Self {
        Self { jsonrpc: VERSION, id, answer: Answer::Error(error) }
    }
}

/// The error of a response. `data` is the inner object of the error envelope.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorObject {
    pub code: i32,
    pub message: String,
    #[serde(default, deserialize_with = "lenient")]
    pub data: Option<ErrorBody>,
}

impl ErrorObject {
    /// A refusal, with the number of its code.
    pub fn of(refusal: &Refusal, request_id: impl Into<String>) -> Self {
        let data = ErrorBody::of(refusal, request_id);
        Self { code: code::number(refusal.code), message: data.message.clone(), data: Some(data) }
    }

    pub fn method_not_found(method: &str, request_id: impl Into<String>) -> Self {
        let shown: String = method.chars().take(64).collect();
        let message = format!("no such method: {shown:?}");
        Self::standard(METHOD_NOT_FOUND, Code::NotFound, message, request_id)
    }

    pub fn invalid_params(message: impl Into<String>, request_id: impl Into<String>) -> Self {
        Self::standard(INVALID_PARAMS, Code::ValidationError, message.into(), request_id)
    }

    /// An error with one of JSON-RPC's own numbers and the envelope's code.
    fn standard(number: i32, code: Code, message: String, request_id: impl Into<String>) -> Self {
        let data = ErrorBody::new(code, message.as_str(), request_id);
        Self { code: number, message, data: Some(data) }
    }

    /// The envelope's inner object; derived from number and message if the peer sent none.
    pub fn body(self) -> ErrorBody {
        let code = match self.code {
            METHOD_NOT_FOUND => Code::NotFound,
            PARSE_ERROR | INVALID_REQUEST | INVALID_PARAMS => Code::ValidationError,
            other => code::from_number(other).unwrap_or(Code::Internal),
        };
        self.data.unwrap_or_else(|| ErrorBody::new(code, self.message, ""))
    }
}

/// Reads `data`; another shape than ours is ignored, so that the error itself is kept.
fn lenient<'de, D: Deserializer<'de>>(input: D) -> Result<Option<ErrorBody>, D::Error> {
    let raw = Option::<Box<RawValue>>::deserialize(input)?;
    // Only an object: serde would also read a struct from an array.
    let raw = raw.filter(|raw| raw.get().starts_with('{'));
    Ok(raw.and_then(|raw| serde_json::from_str(raw.get()).ok()))
}
