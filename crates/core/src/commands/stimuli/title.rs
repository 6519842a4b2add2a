//! Titles made from texts.

use std::sync::Arc;

use crate::model::text::is_unseen;

/// The first line of a text, as a title.
pub(crate) fn headline(text: &str) -> Arc<str> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("stimulus");
    let line: String = line.chars().filter(|c| !c.is_control() && !is_unseen(*c)).collect();
    shortened(&line, HEADLINE_BYTES).trim().into()
}

/// Longest title made from a text, in bytes.
const HEADLINE_BYTES: usize = 80;

pub(crate) fn shortened(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
