//! The part of a text that shows why it was found.

use super::{Query, Word, words};

/// Longest snippet in characters: two lines.
const CHARS: usize = 200;
/// Characters shown before the first match.
const BEFORE: usize = 40;

/// A part of a snippet: a match, or the text between matches.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Piece {
    #[redact(fixed = 3)]
    pub text: String,
    pub found: bool,
}

/// The text around the first match, with all matches in it marked; none when the text does not
/// contain every term. White space and control characters are shown as spaces, and omitted text as
/// `…`.
pub fn snippet(query: &Query, text: &str) -> Option<Vec<Piece>> {
    let words = words(text);
    let folded: Vec<&str> = words.iter().map(|word| &*word.folded).collect();
    if !query.holds(&folded) {
        return None;
    }
    let marks = marks(query, &words, &folded);
    let first = marks.first().map_or(0, |mark| mark.0);
    let from = step(text, first, -(BEFORE as isize));
    let to = step(text, from, CHARS as isize);
    let mut pieces = Pieces::default();
    if from > 0 {
        pieces.add("…", false);
    }
    let mut at = from;
    for (start, end) in marks.into_iter().take_while(|mark| mark.0 < to) {
        pieces.add(&text[at..start], false);
        pieces.add(&text[start..end.min(to)], true);
        at = end.min(to);
    }
    pieces.add(&text[at..to], false);
    if to < text.len() {
        pieces.add("…", false);
    }
    Some(pieces.0)
}

/// The matches as byte ranges, in order and without overlaps.
fn marks(query: &Query, words: &[Word], folded: &[&str]) -> Vec<(usize, usize)> {
    let mut marks: Vec<(usize, usize)> = Vec::new();
    for term in &query.terms {
        let places = folded.windows(term.0.len()).enumerate();
        marks.extend(
            places
                .filter(|(_, window)| term.is(window))
                .map(|(n, _)| (words[n].at.start, words[n + term.0.len() - 1].at.end)),
        );
    }
    marks.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in marks {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Moves this many characters forward or back from a boundary.
fn step(text: &str, at: usize, by: isize) -> usize {
    match by {
        0.. => text[at..].char_indices().nth(by as usize).map_or(text.len(), |(n, _)| at + n),
        _ => text[..at].char_indices().nth_back(by.unsigned_abs() - 1).map_or(0, |(n, _)| n),
    }
}

#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn add(&mut self, text: &str, found: bool) {
        if text.is_empty() {
            return;
        }
        let plain = |c: char| if c.is_whitespace() || c.is_control() { ' ' } else { c };
        let text = text.chars().map(plain);
        match self.0.last_mut() {
            Some(last) if last.found == found => last.text.extend(text),
            _ => self.0.push(Piece { text: text.collect(), found }),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shown(query: &str, text: &str) -> Option<String> {
        let show =
            |piece: Piece| if piece.found { format!("[{}]", piece.text) } else { piece.text };
        let pieces = snippet(&Query::read(query).unwrap(), text)?;
        Some(pieces.into_iter().map(show).collect())
    }

    // covers: CHN-124
    #[test]
    fn a_snippet_shows_what_was_found_in_its_own_words() {
        for (query, text, snippet) in [
            ("deploy", "The DEPLOY failed, deploy again", "The [DEPLOY] failed, [deploy] again"),
            ("\"deploy failed\"", "deploy\n\tfailed", "[deploy  failed]"),
            ("cafe muller", "Café Müller", "[Café] [Müller]"),
            ("京都", "東京都庁", "東[京都]庁"),
            ("\"a b\" \"b c\"", "a b c", "[a b c]"),
        ] {
            assert_eq!(shown(query, text).as_deref(), Some(snippet), "{query}");
        }
        assert_eq!(shown("deploy", "nothing of it"), None);
        assert_eq!(shown("deploy failed", "deploy"), None);
        let long = format!("{}needle{}", "é ".repeat(300), " ü".repeat(300));
        let shown = shown("needle", &long).unwrap();
        assert!(shown.starts_with("…é") && shown.ends_with('…') && shown.contains("[needle]"));
        assert!(shown.chars().count() <= CHARS + 4, "{shown}");
    }
}
