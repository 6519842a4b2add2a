//! Content parts of a message: text, an asset, an inline upload, a board reference (channels spec
//! "Public multimodal posting"). The same shape on every transport. An unknown part is refused, not dropped.

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::canonical;

/// Parts of one message.
pub const PARTS: usize = 64;
/// All parts of one message as canonical JSON, in bytes: what a log entry can carry.
pub const PARTS_BYTES: usize = 256 * 1024;

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    Text {
        #[redact(fixed = 3)]
        text: String,
    },
    /// A file the host already has.
    Asset { asset_id: String },
    /// A file brought along.
    Upload {
        #[redact(fixed = 3)]
        name: String,
        media_type: String,
        /// Base64, standard alphabet.
        #[redact(fixed = 3)]
        data: String,
    },
    /// An item of the board of a session.
    BoardReference {
        board_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item_id: Option<String>,
    },
}

impl Part {
    /// The words of `type`.
    pub(crate) const KINDS: [&str; 4] = ["text", "asset", "upload", "board_reference"];

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// The text parts of some content, one under the other: what attention reads and a prompt shows.
pub fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// What a message says, checked, in the form core keeps.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Content {
    #[redact(fixed = 3)]
    pub text: String,
    /// Canonical JSON of the parts, when they are more than the one text part `text`.
    #[redact(fixed = 3)]
    pub parts: Option<String>,
}

impl Content {
    /// Reads the two ways to say something, `text` or `content`; exactly one must be given.
    pub fn read(text: Option<String>, content: Option<Vec<Part>>) -> Result<Self, Refusal> {
        match (text, content) {
            (Some(_), Some(_)) => Err(Refusal::invalid("give text or content, not both")),
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
            return Err(Refusal::invalid("a message says something"));
        }
        Ok(Self { text, parts: None })
    }

    fn of_parts(parts: &[Part]) -> Result<Self, Refusal> {
        if parts.is_empty() || parts.len() > PARTS {
            return Err(Refusal::invalid(format!("content has 1 to {PARTS} parts")));
        }
        let text = text_of(parts);
        check_text(&text)?;
        let only_text = parts.iter().all(|part| matches!(part, Part::Text { .. }));
        if only_text && text.trim().is_empty() {
            return Err(Refusal::invalid("a message says something"));
        }
        let json = serde_json::to_string(parts).map_err(|e| {
            Refusal::new(Code::Internal, format!("parts could not be written: {e}"))
        })?;
        let parts = canonical::canonical_json(&json, PARTS_BYTES)?;
        Ok(Self { text, parts: Some(parts) })
    }
}

fn check_text(text: &str) -> Result<(), Refusal> {
    if text.len() > limits::TEXT_BYTES {
        let max = limits::TEXT_BYTES;
        return Err(Refusal::new(Code::PayloadTooLarge, format!("a text has at most {max} bytes")));
    }
    if text.contains('\0') {
        return Err(Refusal::invalid("a text has no NUL character"));
    }
    Ok(())
}
