//! The error envelope of every protocol: `{"error":{"code","message","request_id"}}` (threads spec
//! section 8).

use chorus_core::model::error::{Code, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::code;

/// The whole body of a refused HTTP request, and the structured content of a refused tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    pub error: ErrorBody,
}

/// An error. `code` is a name of [`code::TABLE`]; a newer host may send an unknown one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    pub code: String,
    /// A sentence that says what to do next.
    pub message: String,
    /// Identifies the request in the host's log.
    #[serde(default)]
    pub request_id: String,
}

impl ErrorBody {
    pub fn new(code: Code, message: impl Into<String>, request_id: impl Into<String>) -> Self {
        let code = code::name(code).to_owned();
        Self { code, message: message.into(), request_id: request_id.into() }
    }

    pub fn of(refusal: &Refusal, request_id: impl Into<String>) -> Self {
        Self::new(refusal.code, refusal.message.as_str(), request_id)
    }

    /// The code, if it is a known one.
    pub fn known(&self) -> Option<Code> {
        code::from_name(&self.code)
    }
}

impl Envelope {
    pub fn of(refusal: &Refusal, request_id: impl Into<String>) -> Self {
        Self { error: ErrorBody::of(refusal, request_id) }
    }
}
