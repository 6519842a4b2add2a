//! The signals of intent in the words of a message, gathered in one pass.

use super::lexicon::{Cue, cues};
use super::reading::{Reading, Sentence};

/// The signals found in a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// A question mark that ends words or stands alone.
    pub marked: bool,
    pub question: bool,
    pub plea: bool,
    pub request: bool,
    pub imperative: bool,
    /// "Do it".
    pub bidding: bool,
    pub assignment: bool,
    pub approval: bool,
    pub approved: bool,
    pub blocker: bool,
    pub cancel: bool,
    pub thanks: bool,
    pub greeting: bool,
    pub yes: bool,
    pub no: bool,
    undertaking: bool,
    courtesy: bool,
    status: bool,
    /// All words, and those that are not part of a courtesy, greeting or filler.
    words: usize,
    weighty: usize,
}

impl Evidence {
    pub(super) fn gather(reading: &Reading<'_>) -> Self {
        let mut found = Self { words: reading.words.len(), ..Self::default() };
        for (n, sentence) in reading.sentences.iter().enumerate() {
            found.sentence(&reading.words, sentence, n == 0);
        }
        found
    }

    fn sentence(&mut self, words: &[&str], sentence: &Sentence, first: bool) {
        self.marked |= sentence.asks;
        let mut opening = true;
        let (mut blocks, mut unblocked, mut not_cancel, mut cancels) = (false, false, false, false);
        // The end of the light words found so far.
        let mut light_until = sentence.words.start;
        for at in sentence.words.clone() {
            let mut opens_on = false;
            for (cue, length) in cues(&words[..sentence.words.end], at, opening) {
                opens_on |=
                    matches!(cue, Cue::Softener | Cue::Greeting | Cue::Thanks | Cue::Please);
                match cue {
                    Cue::Filler
                    | Cue::Softener
                    | Cue::Courtesy
                    | Cue::Greeting
                    | Cue::Thanks
                    | Cue::Please => {
                        light_until = light_until.max(at + length);
                    }
                    _ => {}
                }
                match cue {
                    Cue::Filler | Cue::Softener => {}
                    Cue::Courtesy => self.courtesy = true,
                    Cue::Greeting => self.greeting |= first,
                    // "thanks to the new kernel" does not thank anybody.
                    Cue::Thanks => self.thanks |= words.get(at + length) != Some(&"to"),
                    Cue::Yes => self.yes |= first,
                    Cue::No => self.no |= first,
                    Cue::Undertaking => self.undertaking = true,
                    Cue::Question => {
                        self.question |= self.opens_question(words, sentence, at, length)
                    }
                    Cue::Plea => self.plea = true,
                    Cue::Please => self.request |= sentence.words.len() > 1 && !self.yes,
                    Cue::Ask => self.request |= sentence.words.end > at + length,
                    Cue::Bidding => {
                        let ends = sentence.words.end <= at + length + 2;
                        self.bidding |= ends && !sentence.asks;
                    }
                    Cue::Imperative => self.imperative |= sentence.words.len() > 1,
                    Cue::Assignment => self.assignment = true,
                    Cue::Approval => self.approval = true,
                    Cue::Approved if sentence.asks => self.approval = true,
                    Cue::Approved => self.approved |= first && sentence.words.len() <= 6,
                    Cue::Blocker => blocks = true,
                    Cue::Unblocked => unblocked = true,
                    Cue::Cancel => cancels = true,
                    Cue::NotCancel => not_cancel = true,
                    Cue::Status => self.status |= first,
                }
            }
            self.weighty += usize::from(at >= light_until);
            opening &= opens_on;
        }
        self.blocker |= blocks && !unblocked && !sentence.asks;
        self.cancel |= cancels && !not_cancel;
    }

    /// Whether a question word opens a question here and not a subordinate clause or an
    /// exclamation.
    fn opens_question(
        &self,
        words: &[&str],
        sentence: &Sentence,
        at: usize,
        length: usize,
    ) -> bool {
        let next = words.get(at + 1).copied().filter(|_| at + 1 < sentence.words.end);
        match words[at] {
            "what" => next.is_some_and(|w| {
                matches!(
                    w,
                    "is" | "are"
                        | "do"
                        | "does"
                        | "did"
                        | "can"
                        | "about"
                        | "if"
                        | "would"
                        | "should"
                        | "kind"
                        | "version"
                        | "happens"
                        | "happened"
                        | "else"
                        | "sort"
                        | "was"
                        | "were"
                        | "will"
                        | "has"
                        | "have"
                        | "could"
                        | "exactly"
                        | "type"
                        | "time"
                        | "command"
                        | "file"
                        | "irc"
                        | "card"
                        | "error"
                        | "distro"
                )
            }),
            "how" => next.is_some_and(|w| w != "ever"),
            "which" => next.is_some_and(|w| {
                !matches!(
                    w,
                    "means" | "i" | "you" | "is" | "was" | "will" | "would" | "makes" | "should"
                )
            }),
            "why" => next.is_some_and(|w| !matches!(w, "i" | "you" | "it")),
            "anyone" | "anybody" => sentence.words.end > at + 1,
            _ => sentence.words.end > at + length,
        }
    }

    /// Whether it asks anything.
    pub(super) fn asks(&self) -> bool {
        self.marked || self.question || self.plea || self.request
    }

    /// Whether it asks for something to be done.
    pub(super) fn orders(&self) -> bool {
        self.imperative || self.bidding
    }

    pub(super) fn asks_question(&self) -> bool {
        self.marked || self.question || self.plea
    }

    /// Whether gratitude is its only content or its point.
    pub(super) fn is_thanks(&self) -> bool {
        self.thanks && (self.weighty <= 8 || self.words <= 14)
    }

    /// Whether nothing in it needs a worded reply.
    pub(super) fn is_courtesy(&self) -> bool {
        let taken_up = self.undertaking && self.words <= 9;
        taken_up
            || self.weighty == 0
            || ((self.courtesy || self.greeting) && self.weighty <= 2 && self.words <= 7)
    }

    /// Whether it reports: it starts with a reporting phrase, or has progress figures.
    pub(super) fn is_status(&self, text: &str) -> bool {
        self.status || (self.words <= 14 && shows_progress(text)) || opens_like_log(text)
    }
}

/// `3/5`, `40%`, `[####    ]`.
fn shows_progress(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    bytes.iter().enumerate().any(|(at, b)| match b {
        b'/' => digit(at.checked_sub(1)) && digit(Some(at + 1)) && is_fraction(bytes, at),
        b'%' => digit(at.checked_sub(1)),
        _ => false,
    })
}

/// Whether the digits around the slash are the whole of both sides, and the first number is not
/// greater than the second.
fn is_fraction(bytes: &[u8], slash: usize) -> bool {
    let left = bytes[..slash].iter().rev().take(6).take_while(|b| b.is_ascii_digit()).count();
    let right = bytes[slash + 1..].iter().take(6).take_while(|b| b.is_ascii_digit()).count();
    let before = slash.checked_sub(left + 1).map_or(b' ', |at| bytes[at]);
    let after = bytes.get(slash + 1 + right).copied().unwrap_or(b' ');
    let number = |digits: &[u8]| digits.iter().fold(0u32, |n, d| n * 10 + u32::from(d - b'0'));
    let done = number(&bytes[slash - left..slash]);
    let total = number(&bytes[slash + 1..slash + 1 + right]);
    let stands_alone =
        |b: u8| b.is_ascii_whitespace() || matches!(b, b'(' | b')' | b'[' | b']' | b':' | b',');
    left < 6
        && right < 6
        && stands_alone(before)
        && (stands_alone(after) || after == b'.')
        && done <= total
}

/// `[ci] …`, `[12:03:11] …`, `2026-06-02 12:03 …`.
fn opens_like_log(text: &str) -> bool {
    let text = text.trim_start();
    let dated = text.len() > 10
        && text
            .bytes()
            .take(10)
            .enumerate()
            .all(|(n, b)| if n == 4 || n == 7 { b == b'-' } else { b.is_ascii_digit() });
    let tagged =
        text.strip_prefix('[').and_then(|rest| rest.split_once(']')).is_some_and(|(tag, rest)| {
            !tag.is_empty() && tag.len() <= 24 && !rest.trim().is_empty() && !rest.starts_with('(')
        });
    dated || tagged
}
