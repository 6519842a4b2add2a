//! Finds names in a text.
//!
//! One pass over the prose, with a bounded look at each `@`. Time is linear in the text, and at
//! most [`limits::MENTIONS_PER_MESSAGE`] names are looked up.

use std::ops::Range;

use super::{Index, Target, fold_char, is_joiner, is_name_char, is_spaceless};
use crate::language::prose::prose;
use crate::model::limits;

/// A place in a text that names somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention {
    pub target: Target,
    /// Byte offset; includes the `@` if there is one.
    pub start: usize,
    pub end: usize,
    /// Whether it opens the message: only names, greetings and punctuation come before it.
    pub at_start: bool,
}

/// The names in the text, in order: `@name` anywhere in its prose, and `name:` or `name,` at its
/// very start. A member who is named twice appears twice.
pub fn mentions(text: &str, index: &Index) -> Vec<Mention> {
    if index.is_empty() {
        return Vec::new();
    }
    scan(text, index, None)
}

/// Receives the names that match no target.
pub(super) type Missed<'a> = &'a mut dyn FnMut(Range<usize>, usize);

/// The same. `missed` also receives each `@name` that matches nothing in the index: the range of
/// the name without its sign, and where the surrounding prose ends.
pub(super) fn scan(text: &str, index: &Index, mut missed: Option<Missed<'_>>) -> Vec<Mention> {
    let wide = text.contains('＠');
    let mut scan = Scan { text, index, wide, found: Vec::new(), looked_up: 0, opening: true };
    let signed = wide || text.contains('@');
    if !signed && !text.trim_start().starts_with('>') {
        // Only a plain name can occur, and only at the front, so the rest need not be read.
        scan.plain_names(0..text.len());
        return scan.found;
    }
    let mut last: Option<usize> = None;
    for range in prose(text) {
        // Text left out earlier on the same line still counts as part of the text; quoted lines do
        // not.
        let line = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
        let gap = &text[last.unwrap_or(line)..range.start];
        scan.opening &= gap.chars().all(char::is_whitespace);
        let plain = last.is_none() && scan.opening;
        let start = if plain { scan.plain_names(range.clone()) } else { range.start };
        last = Some(range.end);
        scan.signed_names(start..range.end, &mut missed);
    }
    scan.found
}

struct Scan<'a> {
    text: &'a str,
    index: &'a Index,
    /// The text also contains the full-width sign.
    wide: bool,
    found: Vec<Mention>,
    looked_up: usize,
    /// Only names, greetings and punctuation have been seen so far.
    opening: bool,
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
    fn signed_names(&mut self, range: Range<usize>, missed: &mut Option<Missed<'_>>) {
        let mut at = range.start;
        // Where the last name ended: a sign right after it is not part of an address.
        let mut after_name = None;
        while let Some(sign) = self.sign(at..range.end) {
            let before = &self.text[at..sign];
            self.opening = self.opening && opens(before);
            let is_open =
                after_name == Some(sign) || (sign > at || at == range.start) && is_free(before);
            let next = sign + self.text[sign..].chars().next().map_or(1, char::len_utf8);
            let end = next + run(&self.text[next..range.end]);
            let named = if is_open { self.resolve(next..end, range.end) } else { None };
            if let Some(missed) = missed.as_mut().filter(|_| is_open && named.is_none())
                && self.is_unknown(next..end, range.end)
            {
                missed(next..end, range.end);
            }
            if let Some((target, end)) = named {
                self.found.push(Mention { target, start: sign, end, at_start: self.opening });
            }
            self.opening &= named.is_some();
            at = named.map_or(end, |(_, end)| end);
            // Two signs without a name in between count as one.
            after_name = (named.is_some() || end == next).then_some(at);
        }
    }

    /// Where the next sign is.
    fn sign(&self, range: Range<usize>) -> Option<usize> {
        let text = &self.text[range.clone()];
        let found = if self.wide { text.find(['@', '＠']) } else { text.find('@') };
        found.map(|found| range.start + found)
    }

    /// The longest known name that is a prefix of `name` and may end there. `limit` is the end of
    /// the prose.
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

    /// Whether no target has a name that begins like this one.
    fn is_unknown(&self, name: Range<usize>, limit: usize) -> bool {
        if name.is_empty() || self.goes_on(name.end, limit) {
            return false;
        }
        let (folded, ends) = candidates(&self.text[name]);
        !ends.into_iter().any(|(length, _)| self.index.knows(&folded[..length]))
    }

    /// Whether what follows makes the name part of something longer: a package (`@scope/name`) or
    /// an address on another server (`@name@host.name`).
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

/// Whether a text with this beginning still counts as the opening: it has greetings and punctuation
/// only.
fn opens(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).all(|word| word.is_empty() || is_greeting(word))
}

fn is_greeting(word: &str) -> bool {
    const GREETINGS: [&str; 12] =
        ["hi", "hey", "hello", "yo", "ok", "okay", "and", "cc", "dear", "so", "morning", "thanks"];
    GREETINGS.iter().any(|greeting| word.eq_ignore_ascii_case(greeting))
}

/// Whether a sign after this text can name somebody: it does not follow the first half of an e-mail
/// address or a backslash that escapes it.
fn is_free(before: &str) -> bool {
    let stem = before.trim_end_matches(['_', '-', '+', '%']);
    match stem.chars().next_back() {
        Some('\\') => stem.len() < before.len(),
        Some(c) => !c.is_alphanumeric() || is_spaceless(c),
        None => true,
    }
}

/// The length of the run of name characters that `text` begins with.
fn run(text: &str) -> usize {
    text.find(|c| !is_name_char(c)).unwrap_or(text.len())
}

/// The folded start of a run, and where a name in it may end: in bytes of the folded text and of
/// the run, shortest first. Names are short, so only a limited part of the run is read.
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
