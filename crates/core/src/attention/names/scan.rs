//! Finding names in a text.
//!
//! One pass over the prose, with a bounded look at each `@`: time is linear in the text, and at most
//! [`limits::MENTIONS_PER_MESSAGE`] names are looked up.

use std::ops::Range;

use super::{Index, Target, fold_char, is_joiner, is_name_char, is_spaceless};
use crate::attention::prose::prose;
use crate::limits;

/// A place in a text where somebody is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention {
    pub target: Target,
    /// Bytes; the `@` is included where there is one.
    pub start: usize,
    pub end: usize,
    /// Whether it opens the message: only names, greetings and punctuation stand before it.
    pub at_start: bool,
}

/// Whoever the text names, in the order of the text: `@name` anywhere in its prose, and `name:` or
/// `name,` at its very start. One who is named twice is in it twice.
pub fn mentions(text: &str, index: &Index) -> Vec<Mention> {
    let signed = text.contains(['@', '＠']);
    if index.is_empty() || !(signed || could_open_with_name(text)) {
        return Vec::new();
    }
    let mut scan = Scan { text, index, found: Vec::new(), looked_up: 0, opening: true };
    let shown = prose(text);
    let mut last: Option<usize> = None;
    for range in shown {
        // What was left out before it on its line is part of the text all the same; quoted lines are not.
        let line = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
        let gap = &text[last.unwrap_or(line)..range.start];
        scan.opening &= gap.chars().all(char::is_whitespace);
        let plain = last.is_none() && scan.opening;
        let start = if plain { scan.plain_names(range.clone()) } else { range.start };
        last = Some(range.end);
        if signed {
            scan.signed_names(start..range.end);
        }
    }
    scan.found
}

/// A cheap look at the first words: without a `:` or `,` near the start, no plain name opens the text. A
/// quotation may stand before it, so a text with one is looked at in full.
fn could_open_with_name(text: &str) -> bool {
    let is_mark = |c| matches!(c, ':' | ',' | '：' | '，' | '、');
    text.contains('>') || text.chars().take(4 * limits::HANDLE_BYTES).any(is_mark)
}

struct Scan<'a> {
    text: &'a str,
    index: &'a Index,
    found: Vec<Mention>,
    looked_up: usize,
    /// Whether nothing but names, greetings and punctuation has been met.
    opening: bool,
}

/// What stands right before a byte, as far as an e-mail address is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that an address could begin with.
    Open,
    /// Letters and marks of which an address's first half consists; whether one is a letter or digit.
    Local { letter: bool },
    /// A backslash, which takes the meaning from what follows.
    Escape,
}

impl Scan<'_> {
    /// `scout: …`, `scout, builder: …` at the start of `range`. Returns where the rest begins.
    fn plain_names(&mut self, range: Range<usize>) -> usize {
        let mut at = range.start;
        loop {
            let rest = &self.text[at..range.end];
            let start = at + (rest.len() - rest.trim_start().len());
            let end = start + run(&self.text[start..range.end]);
            let after = self.text[end..range.end].trim_start_matches([' ', '\t']);
            let mut chars = after.chars();
            let addressed = matches!(chars.next(), Some(':' | ',' | '：' | '，' | '、'))
                && !chars.next().is_some_and(|c| c == '/' || c.is_ascii_digit());
            if end == start || end - start > 2 * limits::HANDLE_BYTES || !addressed {
                return at;
            }
            let mut folded = String::new();
            self.text[start..end].chars().for_each(|c| fold_char(c, &mut folded));
            if !self.may_look_up() {
                return at;
            }
            let Some(target) = self.index.folded(&folded) else { return at };
            self.found.push(Mention { target, start, end, at_start: true });
            let mark = after.chars().next().map_or(0, char::len_utf8);
            at = range.end - after.len() + mark;
        }
    }

    /// `@name` in `range`.
    fn signed_names(&mut self, range: Range<usize>) {
        let mut before = Before::Open;
        let mut word = range.start..range.start;
        let mut at = range.start;
        while let Some(c) = self.text[at..range.end].chars().next() {
            let next = at + c.len_utf8();
            if matches!(c, '@' | '＠') {
                self.opens(word.clone(), c, at..next);
                let end = next + run(&self.text[next..range.end]);
                let named = match before {
                    Before::Escape | Before::Local { letter: true } => None,
                    _ => self.resolve(next..end, range.end),
                };
                if let Some((target, end)) = named {
                    let at_start = self.opening;
                    self.found.push(Mention { target, start: at, end, at_start });
                }
                self.opening &= named.is_some();
                at = named.map_or(end, |(_, end)| end);
                // Letters right after a name belong to no address; those after no name may.
                before = if named.is_some() {
                    Before::Open
                } else {
                    Before::Local { letter: end > next }
                };
                word = at..at;
                continue;
            }
            if self.opening {
                word = self.opens(word, c, at..next);
            }
            before = follow(before, c);
            at = next;
        }
    }

    /// Follows the words before the first name: greetings keep the text opening, others do not.
    fn opens(&mut self, word: Range<usize>, c: char, at: Range<usize>) -> Range<usize> {
        if c.is_alphanumeric() {
            return if word.end == at.start { word.start..at.end } else { at };
        }
        if word.end == at.start && !word.is_empty() && !is_greeting(&self.text[word.clone()]) {
            self.opening = false;
        }
        word
    }

    /// The longest known name that `name` begins with and may end there. `limit` is the end of the prose.
    fn resolve(&mut self, name: Range<usize>, limit: usize) -> Option<(Target, usize)> {
        if name.is_empty() || !self.may_look_up() || self.goes_on(name.end, limit) {
            return None;
        }
        let (folded, ends) = candidates(&self.text[name.clone()]);
        for (length, bytes) in ends.into_iter().rev() {
            let known = &folded[..length];
            if self.index.knows(known) {
                return self.index.folded(known).map(|target| (target, name.start + bytes));
            }
        }
        None
    }

    /// Whether what follows makes the name part of something longer: a package (`@scope/name`) or an
    /// address on another server (`@name@host.name`).
    fn goes_on(&self, end: usize, limit: usize) -> bool {
        let mut after = self.text[end..limit].chars();
        match after.next() {
            Some('/') => after.next().is_some_and(|c| c.is_alphanumeric() || c == '_'),
            Some(sign @ ('@' | '＠')) => {
                let host = &self.text[end + sign.len_utf8()..limit];
                let host = host.get(..run(host).min(4 * limits::HANDLE_BYTES)).unwrap_or("");
                host.trim_end_matches('.').contains('.')
            }
            _ => false,
        }
    }

    fn may_look_up(&mut self) -> bool {
        self.looked_up += 1;
        self.looked_up <= limits::MENTIONS_PER_MESSAGE
    }
}

fn is_greeting(word: &str) -> bool {
    const GREETINGS: [&str; 12] =
        ["hi", "hey", "hello", "yo", "ok", "okay", "and", "cc", "dear", "so", "morning", "thanks"];
    GREETINGS.iter().any(|greeting| word.eq_ignore_ascii_case(greeting))
}

fn follow(before: Before, c: char) -> Before {
    match c {
        '\\' => Before::Escape,
        '_' | '-' | '+' | '%' => match before {
            Before::Local { letter } => Before::Local { letter },
            _ => Before::Local { letter: false },
        },
        _ if is_spaceless(c) => Before::Open,
        _ if c.is_alphanumeric() => Before::Local { letter: true },
        _ => Before::Open,
    }
}

/// The length of the run of letters of a name that `text` begins with.
fn run(text: &str) -> usize {
    text.find(|c| !is_name_char(c)).unwrap_or(text.len())
}

/// The folded start of a run, and where a name in it may end: bytes of the folded text, and of the run.
/// Shortest first. Names are short, so only so much of the run is looked at.
fn candidates(run: &str) -> (String, Vec<(usize, usize)>) {
    let mut folded = String::new();
    let mut ends = Vec::new();
    let bare = run.trim_end_matches(['.', '-', '_']).len();
    let mut chars = run.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        fold_char(c, &mut folded);
        let end = at + c.len_utf8();
        if end > 2 * limits::HANDLE_BYTES {
            break;
        }
        let rest = &run[end..];
        let next = chars.peek().map(|(_, c)| *c);
        let may_end = end >= bare
            || rest.starts_with("..")
            || rest.starts_with("--")
            || next.is_some_and(is_spaceless)
            || (is_joiner(c) && end == run.len());
        if may_end {
            ends.push((folded.len(), end));
        }
    }
    (folded, ends)
}
