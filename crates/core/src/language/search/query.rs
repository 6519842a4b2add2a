//! Queries: terms that must all match, each a word or a sequence of adjacent words.
//!
//! There is no syntax to get wrong. Quotation marks hold a phrase together, and so does writing
//! without spaces (`foo.bar`, `東京`). Anything else that is not a word separates words.

use super::words;
use crate::model::error::{Code, Refusal};
use crate::model::limits::{QUERY_BYTES, QUERY_TERMS};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// At least one.
    pub terms: Vec<Term>,
}

/// Words that are adjacent in the text; at least one.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Term(#[redact(fixed = 3)] pub Vec<String>);

impl Query {
    pub fn read(text: &str) -> Result<Self, Refusal> {
        if text.len() > QUERY_BYTES {
            let what = format!("what is searched for has at most {QUERY_BYTES} bytes");
            return Err(Refusal::new(Code::PayloadTooLarge, what));
        }
        let mut terms: Vec<Term> = Vec::new();
        // An unclosed quotation mark extends to the end.
        for (n, part) in text.split(['"', '“', '”', '„']).enumerate() {
            match n % 2 {
                0 => terms.extend(part.split_whitespace().filter_map(Term::read)),
                _ => terms.extend(Term::read(part)),
            }
        }
        let mut seen = Vec::with_capacity(terms.len());
        terms.retain(|term| {
            !seen.contains(term) && {
                seen.push(term.clone());
                true
            }
        });
        match terms.len() {
            0 => Err(Refusal::invalid("there is no word to search for")),
            1..=QUERY_TERMS => Ok(Self { terms }),
            _ => Err(Refusal::invalid(format!(
                "a search has at most {QUERY_TERMS} words or phrases"
            ))),
        }
    }

    /// Whether these words, in order, contain every term.
    pub fn holds<S: AsRef<str>>(&self, words: &[S]) -> bool {
        self.terms.iter().all(|term| term.first_in(words).is_some())
    }
}

impl Term {
    fn read(text: &str) -> Option<Self> {
        let found: Vec<_> = words(text).into_iter().map(|word| word.folded).collect();
        (!found.is_empty()).then_some(Self(found))
    }

    /// How often the term occurs in these words.
    pub(super) fn count_in<S: AsRef<str>>(&self, words: &[S]) -> usize {
        words.windows(self.0.len()).filter(|window| self.is(window)).count()
    }

    /// The first position in these words where the term occurs.
    pub(super) fn first_in<S: AsRef<str>>(&self, words: &[S]) -> Option<usize> {
        words.windows(self.0.len()).position(|window| self.is(window))
    }

    pub(super) fn is<S: AsRef<str>>(&self, window: &[S]) -> bool {
        self.0.iter().zip(window).all(|(mine, word)| mine == word.as_ref())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(text: &str) -> Result<String, Code> {
        let query = Query::read(text).map_err(|refusal| refusal.code)?;
        let terms: Vec<_> = query.terms.into_iter().map(|term| term.0.join("+")).collect();
        Ok(terms.join(" "))
    }

    // covers: CHN-121
    #[test]
    fn anything_that_has_a_word_in_it_is_a_question() {
        for (text, terms) in [
            ("deploy failed", "deploy failed"),
            ("\"deploy failed\" today", "deploy+failed today"),
            ("„so nicht“ “or so” x", "so+nicht or+so x"),
            ("foo.bar 東京", "foo+bar 東+京"),
            ("\"never closed", "never+closed"),
            ("x\" y z", "x y+z"),
            ("AND OR NOT NEAR(a b, 2) -c ^d e* {f}:g", "and or not near+a b 2 c d e f+g"),
            ("a a A", "a"),
            ("'; DROP TABLE doc; --", "drop table doc"),
        ] {
            assert_eq!(read(text), Ok(terms.to_owned()), "{text}");
        }
        for (text, code) in [
            ("", Code::ValidationError),
            ("\"\" *()\u{0} --", Code::ValidationError),
            (&"x".repeat(QUERY_BYTES + 1), Code::PayloadTooLarge),
            (
                &(0..=QUERY_TERMS).map(|n| format!("{n} ")).collect::<String>(),
                Code::ValidationError,
            ),
        ] {
            assert_eq!(read(text), Err(code), "{text}");
        }
    }

    #[test]
    fn every_term_must_be_there() {
        let query = Query::read("\"b c\" a").unwrap();
        assert!(query.holds(&["a", "b", "c"]) && query.holds(&["b", "c", "a"]));
        assert!(
            !query.holds(&["a", "c", "b"])
                && !query.holds(&["b", "c"])
                && !query.holds::<&str>(&[])
        );
    }
}
