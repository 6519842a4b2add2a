//! JSON-RPC 2.0, both ways over one connection: our own types, because the host too sends requests.
//!
//! [`Incoming::parse`] is strict and looks at a frame once: `params` and `result` stay raw until the one
//! method that knows their type reads them. Batches are refused. C2A "Data".

mod id;
mod parse;

use chorus_core::model::error::{Code, Refusal};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

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

/// A request to be written.
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

/// A notification to be written.
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

/// A response to be written. Its id is null when the request's could not be read.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorObject {
    pub code: i32,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub data: Option<ErrorBody>,
}

impl ErrorObject {
    /// A refusal, under the number of its code.
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

    /// One of JSON-RPC's own numbers, with the envelope's code beside it.
    fn standard(number: i32, code: Code, message: String, request_id: impl Into<String>) -> Self {
        let data = ErrorBody::new(code, message.as_str(), request_id);
        Self { code: number, message, data: Some(data) }
    }

    /// The envelope's inner object, made up from number and message when the peer sent none.
    pub fn body(self) -> ErrorBody {
        let code = match self.code {
            METHOD_NOT_FOUND => Code::NotFound,
            PARSE_ERROR | INVALID_REQUEST | INVALID_PARAMS => Code::ValidationError,
            other => code::from_number(other).unwrap_or(Code::Internal),
        };
        self.data.unwrap_or_else(|| ErrorBody::new(code, self.message, ""))
    }
}

/// `data` of another shape than ours is no reason to lose the error itself.
fn lenient<'de, D: Deserializer<'de>>(input: D) -> Result<Option<ErrorBody>, D::Error> {
    let raw = Option::<Box<RawValue>>::deserialize(input)?;
    // Only an object: a struct would also be read out of a list.
    let raw = raw.filter(|raw| raw.get().starts_with('{'));
    Ok(raw.and_then(|raw| serde_json::from_str(raw.get()).ok()))
}
