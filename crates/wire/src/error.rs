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

/// A failure's text for people: without the codes of refusals and the ids of requests, which are for
/// programs and for logs.
pub fn sentence(text: &str) -> String {
    let is_for_programs = |word: &str| {
        let code = word.strip_suffix(':').and_then(code::from_name);
        code.is_some() || word.starts_with("(req_") && word.ends_with(')')
    };
    let words = text.split(' ').filter(|word| !is_for_programs(word));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_read_has_no_codes_and_no_ids_of_requests() {
        let id = "req_0192f0c1a2b37c4d8e5f60718293a4b5";
        for (text, expected) in [
            (format!("FORBIDDEN: a person has denied it: no ({id})"), "a person has denied it: no"),
            (
                format!("the thread could not be read: NOT_FOUND: no such thread ({id})"),
                "the thread could not be read: no such thread",
            ),
            (
                "ERROR: boom  (see (req) and NOT_FOUND)".to_owned(),
                "ERROR: boom  (see (req) and NOT_FOUND)",
            ),
            (String::new(), ""),
        ] {
            assert_eq!(sentence(&text), expected);
        }
    }
}
