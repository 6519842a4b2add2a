//! Validation of a message, for every command that carries one.

use crate::model::error::{Code, Refusal};
use crate::model::event::Message;
use crate::model::limits;
use crate::model::text::is_unseen;

/// A message must have content, within limits.
pub(crate) fn check_message(message: &Message) -> Result<(), Refusal> {
    let says_something = message.text.chars().any(|c| !c.is_whitespace() && !is_unseen(c));
    if !says_something && message.parts.is_none() {
        return Err(Refusal::invalid("a message has text, or other content"));
    }
    let size = message.text.len().max(message.parts.as_ref().map_or(0, |p| p.len()));
    if size > limits::TEXT_BYTES {
        let max = limits::TEXT_BYTES;
        return Err(Refusal::new(
            Code::PayloadTooLarge,
            format!("a message has at most {max} bytes"),
        ));
    }
    if message.metadata.as_ref().is_some_and(|m| m.len() > limits::METADATA_BYTES) {
        let max = limits::METADATA_BYTES;
        return Err(Refusal::new(
            Code::PayloadTooLarge,
            format!("metadata has at most {max} bytes"),
        ));
    }
    Ok(())
}
