//! The change of a file in a few lines. Of values only those that Chorus writes are shown, and no token: a file of settings
//! has secrets of others in it.

use std::ops::Range;

use crate::print::short;
use crate::printer::{Printer, Shade};

/// Lines that are shown before a change.
const BEFORE: usize = 2;
/// Characters of a line.
const WIDE: usize = 160;
const TAB: &str = "    ";

/// The lines that go and those that come, with what stands before them. Texts that are not among `ours` are not shown.
pub(super) fn diff(old: &str, new: &str, ours: &[&str], print: &Printer) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - same;
    let ends = old.iter().rev().zip(new.iter().rev());
    let after = ends.take(most).take_while(|(old, new)| old == new).count();
    let mut lines = Vec::new();
    let mut show = |sign: &str, shade: Shade, from: &[&str], at: Range<usize>| {
        let shown = from[at].iter().map(|text| {
            let text = format!("{sign} {}", short(&masked(text, ours).replace('\t', TAB), WIDE));
            print.shade(shade, text.trim_end())
        });
        lines.extend(shown);
    };
    show(" ", Shade::Dim, &old, same.saturating_sub(BEFORE)..same);
    show("-", Shade::Red, &old, same..old.len() - after);
    show("+", Shade::Green, &new, same..new.len() - after);
    lines.join("\n")
}

/// A line in which texts are dots, unless they are names of members, or ours. Comments are dots too.
fn masked(line: &str, ours: &[&str]) -> String {
    let (mut shown, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(['"', '\'', '#']) {
        shown.push_str(&rest[..at]);
        let (quote, inner) = rest[at..].split_at(1);
        if quote == "#" {
            shown.push_str("# …");
            return shown;
        }
        let end = end_of_text(inner, quote);
        let (text, after) = inner.split_at(end);
        let is_name =
            after.get(1..).is_some_and(|after| after.trim_start().starts_with([':', '=']));
        match is_name || ours.contains(&text) {
            true => shown.push_str(&format!("{quote}{text}{quote}")),
            false => shown.push_str(&format!("{quote}{}{quote}", dots(text))),
        }
        rest = after.get(1..).unwrap_or_default();
    }
    shown + rest
}

/// Where a text ends: at its quote, which a backslash takes its meaning from, or with the line.
fn end_of_text(inner: &str, quote: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in inner.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if quote == "\"" => is_escaped = true,
            _ if inner[at..].starts_with(quote) => return at,
            _ => {}
        }
    }
    inner.len()
}

/// What a token is in, unless it only names a variable.
fn dots(text: &str) -> &str {
    match text.strip_prefix("Bearer ") {
        Some(token) if token.starts_with('$') => text,
        Some(_) => "Bearer …",
        None if text.is_empty() => "",
        None => "…",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: OPS-540
    #[test]
    fn what_changes_is_shown_without_its_token() {
        let print = Printer::new(false);
        let (old, new) = ("a\nb\nc\nd\n", "a\nb\nc\nx = \"Bearer secret\"\nd\n");
        let diff = |old, new| diff(old, new, &["http://h"], &print);
        assert_eq!(diff(old, new), "  b\n  c\n+ x = \"Bearer …\"");
        assert_eq!(diff(new, old), "  b\n  c\n- x = \"Bearer …\"");
        assert_eq!(diff("", "a\n"), "+ a");
        assert_eq!(diff("a\na\n", "a\n"), "  a\n- a");
        assert_eq!(diff("h = \"Bearer ${X}\"\n", ""), "- h = \"Bearer ${X}\"");
        let line =
            r##"{"env": {"KEY": "sk-1\"2", "n": 1}, "url": "http://h", "a": ["#1", 'b']} # sk-3"##;
        let shown = r##"+ {"env": {"KEY": "…", "n": 1}, "url": "http://h", "a": ["…", '…']} # …"##;
        assert_eq!(diff("", line), shown);
        assert_eq!(diff("", "a = \"open sk-1"), "+ a = \"…\"");
    }
}
