//! Escapes untrusted text before it is placed in a prompt.

use std::fmt::Write;

/// Longest value of a header line, in characters. Titles and names are shorter
/// (`limits::TITLE_BYTES`).
const VALUE_CHARS: usize = 512;

/// The nonce reduced to ASCII letters, digits and hyphens, so that it is one word.
pub(super) fn nonce_of(nonce: &str) -> String {
    nonce.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}

/// A header value: one line, with invisible and bidirectional characters made visible.
pub(super) fn value_into(value: &str, out: &mut String) {
    for (n, c) in value.chars().enumerate() {
        if n == VALUE_CHARS {
            out.push('…');
            return;
        }
        match c {
            '\n' => out.push_str("\\n"),
            '\\' => out.push_str("\\\\"),
            _ if is_line_break(c) || is_unseen(c) || c.is_control() => escape_into(c, out),
            _ => out.push(c),
        }
    }
}

/// A body: its lines are kept and every line break becomes `\n`. Control characters and invisible
/// tags are made visible, the nonce is removed, and lines that look like the start of a block are
/// marked. Ends with a line break unless empty.
pub(super) fn body_into(body: &str, nonce: &str, out: &mut String) {
    let mut line = String::new();
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            _ if is_line_break(c) => {
                line_into(&line, nonce, out);
                line.clear();
            }
            '\t' => line.push(c),
            _ if c.is_control() || is_tag(c) => escape_into(c, &mut line),
            _ => line.push(c),
        }
    }
    if !line.is_empty() {
        line_into(&line, nonce, out);
    }
}

fn line_into(line: &str, nonce: &str, out: &mut String) {
    if opens_block(line) {
        out.push_str("| ");
    }
    if nonce.is_empty() || !line.contains(nonce) {
        out.push_str(line);
    } else {
        out.push_str(&line.replace(nonce, "…"));
    }
    out.push('\n');
}

/// Whether a model could mistake the line for the start of a block: `C2A` in any spelling, preceded
/// by anything that is not a letter or digit.
fn opens_block(line: &str) -> bool {
    let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    bare.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("c2a"))
}

fn escape_into(c: char, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Bidirectional controls and zero-width characters.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        || is_tag(c)
}

/// Tag characters encode invisible ASCII: a model reads the text, and a person does not see it.
fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}
