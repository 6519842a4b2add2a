//! A text prepared for the intent rules: its prose in lower case, as words in sentences.

use std::ops::Range;

use crate::language::prose::prose;

/// The prose of a text in lower case, with straight apostrophes and without `@names`, and with a
/// line break wherever something was left out.
pub(super) struct Lower(String);

/// Words and sentences over a [`Lower`].
pub(super) struct Reading<'a> {
    pub words: Vec<&'a str>,
    pub sentences: Vec<Sentence>,
}

/// Some words and how they end.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    pub words: Range<usize>,
    /// It ends with a question mark.
    pub asks: bool,
    /// It ends with an exclamation mark.
    pub exclaims: bool,
}

/// At most this many words are read. An intent shows within them, or in the last sentence of at
/// most this many bytes.
const WORDS: usize = 2_000;

impl Lower {
    pub(super) fn of(text: &str) -> Self {
        let mut lower = String::with_capacity(text.len().min(1 << 16));
        for range in prose(text) {
            if !lower.is_empty() {
                lower.push(' ');
            }
            let prose = &text[range];
            match prose.is_ascii() {
                true => push_ascii(&mut lower, prose),
                false => push(&mut lower, prose),
            }
        }
        Self(lower)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The words, without a leading address (`scout: …`, `scout, …`) unless `is_word` says that its
    /// name is an ordinary word.
    pub(super) fn read(&self, is_word: fn(&str) -> bool) -> Reading<'_> {
        let body = &self.0[address(&self.0, is_word)..];
        let words = Vec::with_capacity((body.len() / 4).min(64));
        let mut reading = Reading { words, sentences: Vec::new() };
        let mut open = 0;
        let mut word: Option<usize> = None;
        let mut stops: Option<usize> = None;
        let mut next = 0;
        while let Some((class, length)) = class_at(body, next) {
            let at = next;
            next += length;
            if class & LETTER == 0 {
                // A point inside a word (`v1.2`, `main.rs`) does not end a sentence.
                let inner = body.as_bytes()[at] == b'.'
                    && word.is_some()
                    && body[next..].chars().next().is_some_and(char::is_alphanumeric);
                if inner {
                    continue;
                }
                if let Some(start) = word.take() {
                    reading.push(&body[start..at]);
                }
                if class & STOP != 0 {
                    stops.get_or_insert(at);
                } else if let (Some(start), false) = (stops, class & SPACE != 0) {
                    reading.close(&mut open, &body[start..at]);
                    stops = None;
                }
                continue;
            }
            if let Some(start) = stops.take() {
                reading.close(&mut open, &body[start..at]);
            }
            word.get_or_insert(at);
        }
        if let Some(start) = word {
            reading.push(&body[start..]);
        }
        reading.close(&mut open, stops.map_or("", |start| &body[start..]));
        reading
    }
}

/// Adds a range of prose.
fn push(lower: &mut String, prose: &str) {
    let mut in_name = false;
    let mut before = ' ';
    for c in prose.chars() {
        if matches!(c, '@' | '＠') && !before.is_alphanumeric() {
            in_name = true;
        } else if in_name && !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            in_name = false;
        }
        before = c;
        match c {
            _ if in_name => {}
            '’' | '‘' | '`' => lower.push('\''),
            _ if c.is_ascii() => lower.push(c.to_ascii_lowercase()),
            _ => lower.extend(c.to_lowercase()),
        }
    }
}

/// The same for ASCII prose, in pieces with nothing to leave out.
fn push_ascii(lower: &mut String, prose: &str) {
    let from = lower.len();
    let bytes = prose.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|b| matches!(b, b'@' | b'`')) {
        let mark = at + found;
        lower.push_str(&prose[at..mark]);
        at = mark + 1;
        let before = mark.checked_sub(1).map_or(b' ', |before| bytes[before]);
        if bytes[mark] == b'`' {
            lower.push('\'');
        } else if before.is_ascii_alphanumeric() {
            lower.push('@');
        } else {
            let goes_on = |at: usize| match bytes[at] {
                b'@' => !bytes[at - 1].is_ascii_alphanumeric(),
                byte => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            };
            at = (at..bytes.len()).find(|at| !goes_on(*at)).unwrap_or(bytes.len());
        }
    }
    lower.push_str(&prose[at..]);
    lower[from..].make_ascii_lowercase();
}

impl<'a> Reading<'a> {
    fn push(&mut self, word: &'a str) {
        let word = word.trim_matches(is_joint);
        if !word.is_empty() && self.words.len() < WORDS {
            self.words.push(word);
        }
    }
}

impl Reading<'_> {
    /// Ends a sentence at `stops`. Marks that follow no word belong to the sentence before.
    fn close(&mut self, open: &mut usize, stops: &str) {
        let asks = stops.contains(QUESTION_MARKS);
        let exclaims = stops.contains(['!', '！']);
        if self.words.len() > *open {
            self.sentences.push(Sentence { words: *open..self.words.len(), asks, exclaims });
            *open = self.words.len();
        } else if let Some(last) = self.sentences.last_mut() {
            last.asks |= asks;
            last.exclaims |= exclaims;
        } else if asks {
            self.sentences.push(Sentence { words: 0..0, asks, exclaims });
        }
    }
}

/// The class of the character at a place of the text, and its length.
fn class_at(text: &str, at: usize) -> Option<(u8, usize)> {
    let byte = *text.as_bytes().get(at)?;
    match ASCII.get(usize::from(byte)) {
        Some(class) => Some((*class, 1)),
        None => text[at..].chars().next().map(|c| (class(c), c.len_utf8())),
    }
}

/// The class of each ASCII character.
static ASCII: [u8; 128] = {
    let (mut table, mut byte) = ([0; 128], 0_u8);
    while byte < 128 {
        let other = matches!(byte, b'\'' | b'-' | b'+' | b'%' | b'/' | b'_');
        let letter = byte.is_ascii_alphanumeric() || other;
        let stop = matches!(byte, b'.' | b'!' | b'\n' | b';' | b'?');
        let space = matches!(byte, b' ' | 9..=13);
        table[byte as usize] = bits(letter, stop, space);
        byte += 1;
    }
    table
};

fn class(c: char) -> u8 {
    bits(is_letter(c), is_stop(c), c.is_whitespace())
}

const LETTER: u8 = 1;
const STOP: u8 = 2;
const SPACE: u8 = 4;

const fn bits(letter: bool, stop: bool, space: bool) -> u8 {
    (letter as u8 * LETTER) | (stop as u8 * STOP) | (space as u8 * SPACE)
}

/// A letter of a word. An apostrophe or hyphen joins two parts of one word.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || is_joint(c) || matches!(c, '+' | '%' | '/' | '_')
}

fn is_joint(c: char) -> bool {
    matches!(c, '\'' | '-')
}

/// Latin, full-width, Arabic, double, Greek and Armenian.
pub(super) const QUESTION_MARKS: [char; 6] = ['?', '？', '؟', '⁇', '\u{37e}', '՞'];

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '\n' | ';' | '…' | '。' | '！' | '।' | '؛' | '۔')
        || QUESTION_MARKS.contains(&c)
}

/// Where the text begins, after a leading address.
fn address(text: &str, is_word: fn(&str) -> bool) -> usize {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '|' | '[' | ']');
    let mut at = 0;
    // A few names may be addressed together; more is some other list.
    for _ in 0..8 {
        let rest = text[at..].trim_start();
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        let after = rest[name.len()..].trim_start_matches(' ');
        let mark = after.chars().next().filter(|c| matches!(c, ':' | ',' | '：' | '，'));
        // `@name:` leaves an empty name.
        let Some(mark) = mark.filter(|_| name.is_empty() || !is_word(name)) else { break };
        at = text.len() - after.len() + mark.len_utf8();
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{class, class_at, push, push_ascii};

    #[test]
    fn what_is_known_beforehand_of_a_character_is_what_is_said_of_it() {
        for c in (0..=0x2fff).filter_map(char::from_u32) {
            assert_eq!(class_at(&c.to_string(), 0), Some((class(c), c.len_utf8())), "{c:?}");
        }
    }

    #[test]
    fn prose_in_ascii_is_read_as_any_other() {
        // All texts of these letters, up to a maximum length.
        let letters = ['a', 'B', '@', '`', '.', ' ', '!'];
        let mut texts = vec![String::new()];
        for _ in 0..6 {
            let longer = |text: &String| letters.map(|letter| format!("{text}{letter}"));
            texts = texts.iter().flat_map(longer).collect();
            for text in &texts {
                let [mut long, mut short] = [String::new(), String::new()];
                push(&mut long, text);
                push_ascii(&mut short, text);
                assert_eq!(long, short, "{text:?}");
            }
        }
    }
}
