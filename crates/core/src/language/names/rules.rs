//! Validation of names that members choose: handles, titles and display names.

use crate::language::names::confusables::unseen;
use crate::language::names::valid_handle;
use crate::model::error::Refusal;
use crate::model::limits;

/// Handles of members, roles and streams.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), Refusal> {
    if name.len() > limits::HANDLE_BYTES {
        let max = limits::HANDLE_BYTES;
        return Err(Refusal::invalid(format!("a {what} has at most {max} bytes")));
    }
    if !valid_handle(name) {
        return Err(Refusal::invalid(format!(
            "a {what} has letters, digits, '-', '_' or '.', and at least one letter or digit"
        )));
    }
    Ok(())
}

/// Titles and display names: one line of limited length.
pub fn check_title(what: &str, text: Option<&str>) -> Result<(), Refusal> {
    let Some(text) = text else { return Ok(()) };
    if text.len() > limits::TITLE_BYTES {
        let max = limits::TITLE_BYTES;
        return Err(Refusal::invalid(format!("a {what} has at most {max} bytes")));
    }
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        return Err(Refusal::invalid(format!("a {what} is one line and not empty")));
    }
    if let Some(c) = unseen(text) {
        let why = format!("a {what} has no letter that nobody sees, as U+{:04X}", u32::from(c));
        return Err(Refusal::invalid(why));
    }
    Ok(())
}
