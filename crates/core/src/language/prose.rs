//! Finds the author's own prose in a text: no code, quotations or links.
//!
//! Names and intent are read from prose only (design section 5: "a name inside code, a quote or a
//! link addresses nobody"). This follows Markdown as it is written in chat, not to the letter: a
//! fence may close at the end of a line of code, and text may follow it.
//!
//! Time is linear in any text; the tests use texts that make naive scanners quadratic.

use std::collections::HashMap;
use std::ops::Range;

/// The ranges of `text` that are its author's own prose, in order and disjoint.
pub(super) fn prose(text: &str) -> Vec<Range<usize>> {
    let mut shown = own_lines(text);
    if text.contains('`') {
        let hidden = code_spans(text, &shown);
        shown = without(shown, &hidden);
    }
    if text.contains("](") {
        let hidden = labelled_links(text, &shown);
        shown = without(shown, &hidden);
    }
    if text.contains('/') || text.contains("www.") {
        let hidden = links(text, &shown);
        shown = without(shown, &hidden);
    }
    shown
}

/// The paragraphs that are neither fenced, nor indented as code, nor quoted.
fn own_lines(text: &str) -> Vec<Range<usize>> {
    let mut shown: Vec<Range<usize>> = Vec::new();
    let mut fence: Option<(u8, usize)> = None;
    let mut paragraph: Option<Range<usize>> = None;
    let mut in_list = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let bare = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - bare.len();
        if let Some((mark, length)) = fence {
            if let Some(after) = closing(bare, mark, length) {
                fence = None;
                let start = range.start + indent + after;
                paragraph = Some(start..range.end);
            }
            continue;
        }
        let item = item(bare);
        if item.len() < bare.len() {
            in_list = true;
        } else if indent == 0 && !bare.trim().is_empty() && paragraph.is_none() {
            in_list = false;
        }
        // In a list, an indented paragraph belongs to its item; after a line of text it goes on with that.
        let is_code = paragraph.is_none() && !in_list && columns(&line[..indent]) >= CODE;
        let opens = opening(bare);
        let hidden = is_code || item.starts_with('>');
        if opens.is_some() || hidden || bare.trim().is_empty() {
            shown.extend(paragraph.take());
            fence = opens;
            continue;
        }
        match &mut paragraph {
            Some(open) => open.end = range.end,
            None => paragraph = Some(range),
        }
    }
    shown.extend(paragraph);
    shown
}

/// Columns of space before a line of code.
const CODE: usize = 4;

fn columns(space: &str) -> usize {
    space
        .bytes()
        .fold(0, |columns, b| if b == b'\t' { columns / CODE * CODE + CODE } else { columns + 1 })
}

/// A line without the marks of the list items that it begins: `- `, `* `, `+ `, `1. ` and `1) `.
fn item(line: &str) -> &str {
    let mut rest = line;
    loop {
        let digits = rest.bytes().take(9).take_while(u8::is_ascii_digit).count();
        let marks: &[char] = if digits > 0 { &['.', ')'] } else { &['-', '*', '+'] };
        let Some(after) = rest[digits..].strip_prefix(marks).and_then(|r| r.strip_prefix(' '))
        else {
            return rest;
        };
        rest = after.trim_start_matches([' ', '\t']);
    }
}

/// The fence that a line opens: its mark and its length.
fn opening(line: &str) -> Option<(u8, usize)> {
    let mark = *line.as_bytes().first().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = run(line, mark);
    // A second mark on the same line makes it a code span, not a fence.
    let plain = !line.as_bytes()[length..].contains(&mark) || mark == b'~';
    (length >= 3 && plain).then_some((mark, length))
}

/// Where the text after a closing fence begins, if the line closes it: at its start, or at its end.
fn closing(line: &str, mark: u8, length: usize) -> Option<usize> {
    let first = run(line, mark);
    if first >= length {
        return Some(first);
    }
    let trimmed = line.trim_end();
    let last = trimmed.bytes().rev().take_while(|b| *b == mark).count();
    (last >= length).then_some(trimmed.len())
}

fn run(text: &str, mark: u8) -> usize {
    text.bytes().take_while(|b| *b == mark).count()
}

/// Spans of code: a run of backticks up to the next run of the same length in its paragraph.
fn code_spans(text: &str, paragraphs: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for paragraph in paragraphs {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (i, _) in text[paragraph.clone()].match_indices('`') {
            let i = paragraph.start + i;
            match runs.last_mut() {
                Some(last) if last.end == i => last.end += 1,
                _ => runs.push(i..i + 1),
            }
        }
        // From the right, so that each run knows the next run of its length.
        let mut next_of: HashMap<usize, usize> = HashMap::new();
        let mut partner = vec![None; runs.len()];
        for (n, run) in runs.iter().enumerate().rev() {
            partner[n] = next_of.insert(run.len(), n);
        }
        let mut n = 0;
        while n < runs.len() {
            match partner[n] {
                Some(end) => {
                    spans.push(runs[n].start..runs[end].end);
                    n = end + 1;
                }
                None => n += 1,
            }
        }
    }
    spans
}

/// `[label](address)`, including the label.
fn labelled_links(text: &str, shown: &[Range<usize>]) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found: Vec<Range<usize>> = Vec::new();
    for range in shown {
        let mut open: Vec<usize> = Vec::new();
        let mut close = range.start;
        let mut at = range.start;
        while at < range.end {
            match bytes[at] {
                b'[' => open.push(at),
                b'\n' => open.clear(),
                b']' => {
                    let start = open.pop();
                    if let (Some(start), Some(b'(')) = (start, bytes.get(at + 1))
                        && let Some(end) = next_close(bytes, at + 1, range.end, &mut close)
                    {
                        found.push(start..end + 1);
                        open.clear();
                        at = end;
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
    found
}

/// The next `)` from `from` on its line. `seen` remembers how far the search went, so that no byte
/// is read twice.
fn next_close(bytes: &[u8], from: usize, end: usize, seen: &mut usize) -> Option<usize> {
    let mut at = from.max(*seen);
    while at < end && !matches!(bytes[at], b')' | b'\n') {
        at += 1;
    }
    *seen = at;
    (at < end && bytes[at] == b')').then_some(at)
}

/// Addresses: `scheme://…`, `www.…` and `host.name/…`, up to the next space. Punctuation that ends
/// a sentence is not part of an address.
fn links(text: &str, shown: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for range in shown {
        let part = &text[range.clone()];
        // Only a word with a slash, or one that starts with `www.`, can be an address.
        let mut done = 0;
        while let Some(sign) = next_sign(part, done) {
            let start = part[done..sign].rfind(char::is_whitespace).map_or(done, |at| {
                let space = done + at;
                space + part[space..].chars().next().map_or(1, char::len_utf8)
            });
            let end = part[sign..].find(char::is_whitespace).map_or(part.len(), |at| sign + at);
            let word = &part[start..end];
            if let Some(at) = address(word) {
                let body = word[at..].trim_end_matches(is_closing);
                let from = range.start + start + at;
                found.push(from..from + body.len());
            }
            done = end;
        }
    }
    found
}

/// The next byte from `from` that can be part of an address.
fn next_sign(part: &str, from: usize) -> Option<usize> {
    let slash = part[from..].find('/').map(|at| from + at);
    let end = slash.unwrap_or(part.len());
    part[from..end].find("www.").map(|at| from + at).or(slash)
}

fn is_closing(c: char) -> bool {
    matches!(c, '.' | ',' | ':' | ';' | '!' | '?' | ')' | ']' | '>' | '"' | '\'' | '*' | '_')
        || matches!(c, '。' | '，' | '！' | '？' | '؟' | '…' | '）' | '»' | '”')
}

/// Where in a word an address starts.
fn address(word: &str) -> Option<usize> {
    if let Some(colon) = word.find("://") {
        let scheme =
            word.as_bytes()[..colon].iter().rev().take_while(|b| b.is_ascii_alphanumeric());
        let length = scheme.count();
        return (length > 0).then_some(colon - length);
    }
    let bare = word.trim_start_matches(['(', '<', '"', '\'', '[', '*', '_']);
    let start = word.len() - bare.len();
    if bare.starts_with("www.") {
        return Some(start);
    }
    let host = &bare[..bare.find('/')?];
    let dotted = host.bytes().zip(host.bytes().skip(1)).zip(host.bytes().skip(2)).any(
        |((before, dot), after)| {
            dot == b'.' && before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric()
        },
    );
    let ends_well = host.bytes().last().is_some_and(|b| b.is_ascii_alphanumeric());
    (dotted && ends_well && !host.contains('@')).then_some(start)
}

/// `shown` minus `hidden`; both are in order and disjoint.
fn without(shown: Vec<Range<usize>>, hidden: &[Range<usize>]) -> Vec<Range<usize>> {
    if hidden.is_empty() {
        return shown;
    }
    let mut left = Vec::with_capacity(shown.len() + hidden.len());
    let mut hidden = hidden.iter().peekable();
    for range in shown {
        let mut start = range.start;
        while let Some(next) = hidden.peek().filter(|h| h.start < range.end) {
            if next.start > start {
                left.push(start..next.start);
            }
            start = next.end.max(start);
            hidden.next();
        }
        if start < range.end {
            left.push(start..range.end);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, want: &[&str]) {
        let got: Vec<&str> = prose(text).into_iter().map(|r| text[r].trim()).collect();
        let got: Vec<&str> = got.into_iter().filter(|t| !t.is_empty()).collect();
        assert_eq!(got, want, "{text:?}");
    }

    // covers: ATT-31
    #[test]
    fn code_quotes_and_links_are_not_prose() {
        check("plain words", &["plain words"]);
        check("a `b` c", &["a", "c"]);
        check("a ``b ` c`` d", &["a", "d"]);
        check("an unclosed ` tick", &["an unclosed ` tick"]);
        check("a ` tick\n\nand ` another", &["a ` tick", "and ` another"]);
        check("before\n```\ncode\n```\nafter", &["before", "after"]);
        check("```rust\ncode```\nafter", &["after"]);
        check("```\ncode\n``` after", &["after"]);
        check("```one line``` after", &["after"]);
        check("~~~\ncode\n```\nstill\n~~~\nout", &["out"]);
        check("open\n```\nnever closed\n@x", &["open"]);
        check("> quoted\nown\n  > quoted too", &["own"]);
        check("- > quoted\n1. > quoted\n- own", &["- own"]);
        check("own\n\n    code\n\n\tcode\nown too", &["own", "own too"]);
        check("    code\n    > code\n\nown", &["own"]);
        check("own\n    goes on", &["own\n    goes on"]);
        check(
            "1. an item\n\n    its own\n\nafter\n\n    code",
            &["1. an item", "its own", "after"],
        );
        check("see https://x.y/z?a=@b, please?", &["see", ", please?"]);
        check("see [the @docs](http://x) now", &["see", "now"]);
        check("at github.com/@x and/or here", &["at", "and/or here"]);
        check("(www.example.com) e.g. v1.2", &["(", ") e.g. v1.2"]);
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        for piece in [
            "`", "` ``", "[", "[a](", "](", "```\n", "> ", "a.b/", "://", "~~~ ", "a.", "\n", "- ",
            "    \n",
        ] {
            let text = piece.repeat(1_000_000 / piece.len());
            prose(&text);
        }
    }

    proptest! {
        #[test]
        fn ranges_are_in_order_apart_and_whole(text in "[a`~>\\[\\]()/.:w\n é@]{0,80}") {
            let mut last = 0;
            for range in prose(&text) {
                prop_assert!(range.start >= last && range.end > range.start);
                prop_assert!(text.get(range.clone()).is_some());
                last = range.end;
            }
        }
    }
}
