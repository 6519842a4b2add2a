//! The change of a file in a few lines. Tokens are not shown.

use std::ops::Range;

use crate::print::short;
use crate::printer::{Printer, Shade};

/// Lines that are shown before a change.
const BEFORE: usize = 2;
/// Characters of a line.
const WIDE: usize = 160;
const TAB: &str = "    ";

/// The lines that go and those that come, with what stands before them.
pub(super) fn diff(old: &str, new: &str, print: &Printer) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - same;
    let ends = old.iter().rev().zip(new.iter().rev());
    let after = ends.take(most).take_while(|(old, new)| old == new).count();
    let mut lines = Vec::new();
    let mut show = |sign: &str, shade: Shade, from: &[&str], at: Range<usize>| {
        let shown = from[at].iter().map(|text| {
            let text = format!("{sign} {}", short(&without_tokens(text).replace('\t', TAB), WIDE));
            print.shade(shade, text.trim_end())
        });
        lines.extend(shown);
    };
    show(" ", Shade::Dim, &old, same.saturating_sub(BEFORE)..same);
    show("-", Shade::Red, &old, same..old.len() - after);
    show("+", Shade::Green, &new, same..new.len() - after);
    lines.join("\n")
}

/// A line in which what comes after `Bearer` is not shown, unless it only names a variable.
fn without_tokens(line: &str) -> String {
    const BEARER: &str = "Bearer ";
    let Some(at) = line.find(BEARER).map(|at| at + BEARER.len()) else { return line.to_owned() };
    let (before, token) = line.split_at(at);
    if token.starts_with('$') {
        return line.to_owned();
    }
    let end = token.find(['"', '\'']).unwrap_or(token.len());
    format!("{before}…{}", &token[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: OPS-540
    #[test]
    fn what_changes_is_shown_without_its_token() {
        let print = Printer::new(false);
        let (old, new) = ("a\nb\nc\nd\n", "a\nb\nc\nx = \"Bearer secret\"\nd\n");
        assert_eq!(diff(old, new, &print), "  b\n  c\n+ x = \"Bearer …\"");
        assert_eq!(diff(new, old, &print), "  b\n  c\n- x = \"Bearer …\"");
        assert_eq!(diff("", "a\n", &print), "+ a");
        assert_eq!(diff("a\na\n", "a\n", &print), "  a\n- a");
        assert_eq!(diff("h: Bearer ${X}\n", "", &print), "- h: Bearer ${X}");
    }
}
