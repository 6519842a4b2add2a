//! Parses one frame. An invalid frame is answered with JSON-RPC 2.0's error number, and with the
//! request's id if that could be read.

use std::borrow::Cow;

use chorus_core::model::error::Code;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::{ErrorObject, INVALID_PARAMS, INVALID_REQUEST, Id, PARSE_ERROR, Response, VERSION};
use crate::json::{in_json, read_json};

/// Longest method name in bytes.
const METHOD_BYTES: usize = 128;

/// A message from a peer. Borrows from the frame.
#[derive(Clone, veil::Redact)]
pub enum Incoming<'a> {
    Request {
        id: Id,
        method: Cow<'a, str>,
        #[redact(fixed = 3)]
        params: Option<&'a RawValue>,
    },
    Notification {
        method: Cow<'a, str>,
        #[redact(fixed = 3)]
        params: Option<&'a RawValue>,
    },
    /// The id is none if the peer could not read our request's id.
    Response {
        id: Option<Id>,
        #[redact(fixed = 3)]
        answer: Result<&'a RawValue, ErrorObject>,
    },
}

/// A frame that is not a valid message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The id for the response, if it could be read.
    pub id: Option<Id>,
    /// `-32700`, `-32600` or `-32602`.
    pub number: i32,
    pub message: String,
}

impl ParseError {
    fn new(id: Option<Id>, number: i32, message: impl Into<String>) -> Self {
        Self { id, number, message: message.into() }
    }

    fn invalid(message: impl Into<String>) -> Self {
        Self::new(None, INVALID_REQUEST, message)
    }

    pub fn error(&self, request_id: impl Into<String>) -> ErrorObject {
        ErrorObject::standard(self.number, Code::ValidationError, self.message.clone(), request_id)
    }

    /// The response that reports it.
    pub fn response(&self, request_id: impl Into<String>) -> Response<'_, ()> {
        Response::error(self.id.as_ref(), self.error(request_id))
    }
}

/// Every field a message can have, in any combination.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Distinguishes `null` from absence: `"result":null` is a result.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(input: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(input).map(Some)
}

impl<'a> Incoming<'a> {
    /// Reads a frame of bytes, which must be UTF-8.
    pub fn parse_bytes(frame: &'a [u8]) -> Result<Self, ParseError> {
        let text = std::str::from_utf8(frame)
            .map_err(|e| ParseError::new(None, PARSE_ERROR, format!("not UTF-8: {e}")))?;
        Self::parse(text)
    }

    pub fn parse(frame: &'a str) -> Result<Self, ParseError> {
        let no_json = |e| ParseError::new(None, PARSE_ERROR, format!("not JSON: {e}"));
        if !frame.trim_ascii_start().starts_with('{') {
            serde_json::from_str::<IgnoredAny>(frame).map_err(no_json)?;
            return Err(ParseError::invalid(
                "a message is one object; batches are not accepted: send one message a frame",
            ));
        }
        let frame: Frame<'a> = serde_json::from_str(frame).map_err(|e| match e.classify() {
            Category::Data => {
                let why = in_json(&e.to_string());
                ParseError::invalid(format!("not a JSON-RPC message: {why}"))
            }
            _ => no_json(e),
        })?;
        if frame.jsonrpc.as_deref() != Some(VERSION) {
            return Err(ParseError { id: read_id(frame.id).ok().flatten(), ..no_version() });
        }
        match (frame.method, frame.result, frame.error) {
            (Some(method), None, None) => call(frame.id, method, frame.params),
            (None, Some(result), None) => {
                Ok(Self::Response { id: read_id(frame.id)?, answer: Ok(result) })
            }
            (None, None, Some(error)) => {
                let id = read_id(frame.id)?;
                let error = serde_json::from_str(error.get())
                    .map_err(|e| ParseError::invalid(format!("not a JSON-RPC error: {e}")))?;
                Ok(Self::Response { id, answer: Err(error) })
            }
            _ => Err(ParseError {
                id: read_id(frame.id).ok().flatten(),
                ..ParseError::invalid("a message must have exactly one of method, result and error")
            }),
        }
    }
}

fn no_version() -> ParseError {
    ParseError::invalid("jsonrpc must be \"2.0\"")
}

fn call<'a>(
    id: Option<&'a RawValue>,
    method: Cow<'a, str>,
    params: Option<&'a RawValue>,
) -> Result<Incoming<'a>, ParseError> {
    let id = match id {
        None => None,
        Some(raw) => Some(
            read_id(Some(raw))?.ok_or_else(|| ParseError::invalid("the id must not be null"))?,
        ),
    };
    if method.len() > METHOD_BYTES {
        return Err(ParseError::new(id, INVALID_REQUEST, "the method's name is too long"));
    }
    // Every method of ours has named parameters.
    if params.is_some_and(|params| !params.get().starts_with('{')) {
        return Err(ParseError::new(id, INVALID_PARAMS, "params must be an object"));
    }
    Ok(match id {
        Some(id) => Incoming::Request { id, method, params },
        None => Incoming::Notification { method, params },
    })
}

/// The id of a message; none if it is `null` or absent.
fn read_id(raw: Option<&RawValue>) -> Result<Option<Id>, ParseError> {
    let Some(raw) = raw else { return Ok(None) };
    serde_json::from_str(raw.get())
        .map_err(|e| ParseError::invalid(format!("the id must be a string or an integer: {e}")))
}

/// Reads the params of a method, or the arguments of a tool; absent params are an empty object. The
/// error's text is for the caller.
pub fn params<P: DeserializeOwned>(raw: Option<&RawValue>) -> Result<P, String> {
    let json = raw.map_or("{}", RawValue::get);
    // serde would also read a struct from an array, in the order of its fields.
    if !json.starts_with('{') {
        return Err("not an object".to_owned());
    }
    read_json(json)
}
