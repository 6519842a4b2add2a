//! Content parts of a message: text, an asset, an inline upload, a board reference (channels spec
//! "Public multimodal posting"). They have the same shape in every protocol. An unknown part is
//! refused, not dropped.

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::canonical;

/// Maximum number of parts in a message.
pub const PARTS: usize = 64;
/// Maximum size of a message's parts as canonical JSON, in bytes.
pub const PARTS_BYTES: usize = 256 * 1024;

#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    Text {
        #[redact(fixed = 3)]
        text: String,
    },
    /// A file the host already has.
    Asset { asset_id: String },
    /// A file sent with the message.
    Upload {
        #[redact(fixed = 3)]
        name: String,
        media_type: String,
        /// Base64, standard alphabet.
        #[redact(fixed = 3)]
        data: String,
    },
    /// An item of a session's board.
    BoardReference { board_id: String, item_id: Option<String> },
}

impl Part {
    /// The values of `type`.
    pub(crate) const KINDS: [&str; 4] = ["text", "asset", "upload", "board_reference"];

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// The text parts of a content, one per line, for attention and for prompts.
pub fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The validated content of a message in core's representation.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Content {
    #[redact(fixed = 3)]
    pub text: String,
    /// Canonical JSON of the parts, if they are more than the one text part `text`.
    #[redact(fixed = 3)]
    pub parts: Option<String>,
}

impl Content {
    /// Reads `text` or `content`; exactly one must be given.
    pub fn read(text: Option<String>, content: Option<Vec<Part>>) -> Result<Self, Refusal> {
        match (text, content) {
            (Some(_), Some(_)) => Err(Refusal::invalid("give either text or content, not both")),
            (None, None) => Err(Refusal::invalid("a message needs text or content")),
            (Some(text), None) => Self::of_text(text),
            (None, Some(mut parts)) => match parts.as_mut_slice() {
                [Part::Text { text }] => Self::of_text(std::mem::take(text)),
                _ => Self::of_parts(&parts),
            },
        }
    }

    fn of_text(text: String) -> Result<Self, Refusal> {
        check_text(&text)?;
        if text.trim().is_empty() {
            return Err(Refusal::invalid("a message must not be empty"));
        }
        Ok(Self { text, parts: None })
    }

    fn of_parts(parts: &[Part]) -> Result<Self, Refusal> {
        if parts.is_empty() || parts.len() > PARTS {
            return Err(Refusal::invalid(format!("content must have 1 to {PARTS} parts")));
        }
        let text = text_of(parts);
        check_text(&text)?;
        let only_text = parts.iter().all(|part| matches!(part, Part::Text { .. }));
        if only_text && text.trim().is_empty() {
            return Err(Refusal::invalid("a message must not be empty"));
        }
        let json = serde_json::to_string(parts).map_err(|e| {
            Refusal::new(Code::Internal, format!("could not serialize the parts: {e}"))
        })?;
        let parts = canonical::canonical_json(&json, PARTS_BYTES)?;
        Ok(Self { text, parts: Some(parts) })
    }
}

fn check_text(text: &str) -> Result<(), Refusal> {
    if text.len() > limits::TEXT_BYTES {
        let max = limits::TEXT_BYTES;
        return Err(Refusal::new(
            Code::PayloadTooLarge,
            format!("a text may have at most {max} bytes"),
        ));
    }
    if text.contains('\0') {
        return Err(Refusal::invalid("a text must not contain NUL"));
    }
    Ok(())
}
