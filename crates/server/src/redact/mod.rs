//! Secrets are blacked out before a text is kept, shown or logged: `[redacted: aws-access-key]` stands in
//! their place (spec/operations.md, "Redaction").
//!
//! Every text that comes in goes through [`Redactor::command`], just before the writer is given the command,
//! whichever transport brought it; so a secret never reaches the disk. An ordinary text costs one pass that looks
//! for the few letters without which no pattern can match; only patterns whose letters are there are tried.
//! All of it takes time linear in the text.

mod command;
mod log;
mod patterns;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};
pub use log::Lines;
pub use patterns::names;
use patterns::{BUILT_IN, Pattern};
use regex::Regex;
use serde_json::Value;

/// The name under which the operator's own patterns stand.
const CUSTOM: &str = "custom";

/// Blacks out what its patterns find.
#[derive(Default)]
pub struct Redactor {
    /// The letters of `owners`' patterns; none when no pattern is on.
    letters: Option<AhoCorasick>,
    /// By letters: the pattern they belong to, a place in [`BUILT_IN`].
    owners: Vec<usize>,
    /// The operator's own, which have no letters to look for first.
    custom: Vec<Regex>,
}

/// A pattern of the operator's that cannot be used.
#[derive(Debug)]
pub struct BadPattern(pub String);

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many bytes the automaton of one pattern of the operator's may take.
const CUSTOM_BYTES: usize = 1 << 20;

impl Redactor {
    /// The built-in patterns but for those that are `off`, and the operator's own.
    pub fn new(off: &[String], own: &[String]) -> Result<Self, BadPattern> {
        let mut letters: Vec<&str> = Vec::new();
        let mut owners = Vec::new();
        for (at, pattern) in BUILT_IN.iter().enumerate() {
            if !off.iter().any(|name| name == pattern.name) {
                letters.extend(pattern.letters);
                owners.resize(letters.len(), at);
            }
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::Standard).build(letters);
        let finder = finder.map_err(|e| BadPattern(e.to_string()))?;
        let custom = own.iter().map(|text| own_pattern(text)).collect::<Result<_, _>>()?;
        Ok(Self { letters: (!owners.is_empty()).then_some(finder), owners, custom })
    }

    /// Nothing is blacked out.
    pub fn off() -> Self {
        Self::default()
    }

    /// The text without its secrets, and how many were found; none when there are none.
    pub fn text(&self, text: &str) -> Option<(String, u32)> {
        let candidates = self.candidates(text);
        if candidates == 0 && self.custom.is_empty() {
            return None;
        }
        let mut found: Vec<(usize, usize, &str)> = Vec::new();
        for (at, pattern) in BUILT_IN.iter().enumerate() {
            if candidates & (1 << at) != 0 {
                pattern.find(text, &mut |start, end| found.push((start, end, pattern.name)));
            }
        }
        for pattern in &self.custom {
            let matches = pattern.find_iter(text).filter(|m| !m.is_empty());
            found.extend(matches.map(|m| (m.start(), m.end(), CUSTOM)));
        }
        black_out(text, found)
    }

    /// Which patterns' letters are in the text, as bits of their places.
    fn candidates(&self, text: &str) -> u64 {
        let Some(letters) = &self.letters else { return 0 };
        // Most texts hold none of them, which a search for any says sooner than one for all.
        if !letters.is_match(text) {
            return 0;
        }
        let mut bits = 0;
        for found in letters.find_overlapping_iter(text) {
            bits |= self.owners.get(found.pattern().as_usize()).map_or(0, |at| 1 << at);
        }
        bits
    }

    /// The JSON text with its strings, values and keys alike, without secrets.
    pub fn json(&self, json: &str) -> Option<(String, u32)> {
        // Escapes may hide letters, but where there are none and no escapes there is nothing to find.
        if self.custom.is_empty() && !json.contains('\\') && self.candidates(json) == 0 {
            return None;
        }
        let mut value: Value = serde_json::from_str(json).ok()?;
        match self.value(&mut value) {
            0 => None,
            count => Some((value.to_string(), count)),
        }
    }

    fn value(&self, value: &mut Value) -> u32 {
        match value {
            Value::String(text) => match self.text(text) {
                Some((clean, count)) => {
                    *text = clean;
                    count
                }
                None => 0,
            },
            Value::Array(list) => list.iter_mut().map(|v| self.value(v)).sum(),
            Value::Object(object) => {
                let upload = object.get("type").is_some_and(|t| t == "upload");
                let mut count = 0;
                let mut clean = serde_json::Map::new();
                for (key, mut value) in std::mem::take(object) {
                    // The bytes of a file are no text.
                    if !(upload && key == "data") {
                        count += self.value(&mut value);
                    }
                    let key = match self.text(&key) {
                        Some((key, n)) => {
                            count += n;
                            key
                        }
                        None => key,
                    };
                    clean.insert(key, value);
                }
                *object = clean;
                count
            }
            _ => 0,
        }
    }

    /// The text as it may be shown.
    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text(text).map_or(Cow::Borrowed(text), |(clean, _)| Cow::Owned(clean))
    }
}

/// A pattern as the operator writes it, with its mistakes in words.
fn own_pattern(text: &str) -> Result<Regex, BadPattern> {
    let built = regex::RegexBuilder::new(text).size_limit(CUSTOM_BYTES).build();
    let pattern = built.map_err(|e| BadPattern(format!("{text:?} is no pattern: {e}")))?;
    match pattern.is_match("") {
        true => Err(BadPattern(format!("{text:?} matches everything"))),
        false => Ok(pattern),
    }
}

/// Puts marks in place of what was found. Where findings overlap, the first that begins names the whole.
fn black_out(text: &str, mut found: Vec<(usize, usize, &str)>) -> Option<(String, u32)> {
    found.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));
    let mut out = String::with_capacity(text.len());
    let (mut count, mut at) = (0, 0);
    for (start, end, name) in found {
        if start >= at || count == 0 {
            out.push_str(text.get(at..start)?);
            out.push_str("[redacted: ");
            out.push_str(name);
            out.push(']');
            count += 1;
        }
        at = at.max(end);
    }
    out.push_str(text.get(at..)?);
    (count > 0).then_some((out, count))
}

impl Pattern {
    /// Calls `take` with each secret's place, in order.
    fn find(&self, text: &str, take: &mut dyn FnMut(usize, usize)) {
        let Some(regex) = self.regex() else {
            return patterns::private_keys(text, take);
        };
        for found in regex.captures_iter(text) {
            // The one group is the secret, where it is not the whole.
            let Some(secret) = found.get(1).or_else(|| found.get(0)) else { continue };
            if (self.is_secret)(secret.as_str()) {
                take(secret.start(), secret.end());
            }
        }
    }
}
