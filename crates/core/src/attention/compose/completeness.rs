//! Decides whether a text looks complete, from its end, its beginning and its length.

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// It can stand alone.
    Complete,
    /// A few words without an end mark: possibly the whole message, possibly a fragment.
    Unclear,
    /// It breaks off, or only announces something.
    Unfinished,
}

/// At most this many words of a text are examined.
const WORDS: usize = 64;

/// A text with more words than this looks complete unless it breaks off.
const FEW: usize = 3;

/// A clause of at most this many words is too short to include its main clause: "when someone
/// types".
const CLAUSE: usize = 5;

pub(super) fn look(text: &str) -> Look {
    let text = text.trim_end();
    if breaks_off(text) || only_opens(text) {
        return Look::Unfinished;
    }
    let ended = text.ends_with(ENDS) || text.contains('\n');
    let count = count(text);
    let first = words(text).next().map(bare).unwrap_or_default();
    if ended {
        return Look::Complete;
    }
    if is(first, &CLAUSES) && count <= CLAUSE {
        return Look::Unfinished;
    }
    let asks = is(first, &ASKING) && count >= FEW;
    if count > FEW || asks || is(first, &ANSWERS) { Look::Complete } else { Look::Unclear }
}

/// Whether it ends where a sentence would continue.
fn breaks_off(text: &str) -> bool {
    let ends =
        text.ends_with([',', '，', '、', '،', ':', '：', '…', '-', '(']) || text.ends_with("...");
    // In a long text, too, the end decides.
    ends || text.split_whitespace().next_back().is_some_and(|word| is(word, &HANGING))
}

/// Whether it is only a name, a greeting or the beginning of a request: "could you please".
fn only_opens(text: &str) -> bool {
    let named = text.split_whitespace().next().is_some();
    let opens = |word| is(bare(word), &OPENINGS) || is(bare(word), &GREETINGS);
    named && !text.ends_with(['?', '？']) && words(text).all(opens)
}

/// The first words, without the addressee's name.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let named = |word: &str| word.starts_with('@') || word.ends_with([':', ',']);
    let named = text.split_whitespace().next().is_some_and(named);
    text.split_whitespace().skip(usize::from(named)).take(WORDS)
}

/// The number of words. Two characters of a script without spaces count as one word.
fn count(text: &str) -> usize {
    let wide = |c: &char| matches!(*c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}');
    let of = |word: &str| 1 + word.chars().take(WORDS).filter(wide).count() / 2;
    words(text).map(of).sum()
}

fn bare(word: &str) -> &str {
    word.trim_end_matches(['!', ',', '.', '…'])
}

fn is(word: &str, list: &[&str]) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Characters that end a whole sentence or a code quotation.
const ENDS: [char; 13] = ['.', '!', '?', '。', '！', '？', '؟', '⁇', '\u{37e}', '՞', ')', '`', '।'];

/// Words after which a sentence continues.
const HANGING: [&str; 44] = [
    "and", "or", "but", "so", "because", "cause", "cuz", "with", "the", "a", "an", "to", "of",
    "for", "if", "when", "that", "is", "are", "was", "my", "your", "in", "on", "at", "like",
    "then", "as", "by", "from", "while", "which", "where", "i", "we", "also", "plus", "than",
    "about", "into", "have", "has", "can", "its",
];

/// Words that begin a clause which needs another to follow.
const CLAUSES: [&str; 11] = [
    "when", "if", "because", "since", "while", "after", "before", "although", "though", "unless",
    "until",
];

/// Words that begin a request.
const OPENINGS: [&str; 10] =
    ["can", "could", "would", "will", "you", "please", "pls", "plz", "one", "question"];

/// Words that begin a question.
const ASKING: [&str; 22] = [
    "what", "who", "whom", "whose", "where", "which", "why", "how", "is", "are", "was", "were",
    "do", "does", "did", "can", "could", "would", "will", "should", "has", "have",
];

/// Words that answer a question.
const ANSWERS: [&str; 16] = [
    "yes", "yeah", "yep", "yup", "no", "nope", "ok", "okay", "sure", "right", "thanks", "thx",
    "cool", "great", "done", "lol",
];

/// Greetings. The actual message follows them.
const GREETINGS: [&str; 6] = ["hi", "hello", "hey", "hiya", "hallo", "yo"];

#[cfg(test)]
mod tests {
    use super::Look::{Complete, Unclear, Unfinished};
    use super::*;

    // covers: ATT-301
    #[test]
    fn a_text_is_judged_by_its_end_its_beginning_and_its_length() {
        for (text, expected) in [
            ("Is the deploy blocked?", Complete),
            ("Done.", Complete),
            ("why?", Complete),
            ("@scout?", Complete),
            ("is it blocked", Complete),
            ("the agent should wait", Complete),
            ("yes", Complete),
            ("thanks a lot", Complete),
            ("scout: rename the flag and move the file", Complete),
            ("when I run the tests, two of them fail", Complete),
            ("see `cargo test`", Complete),
            ("部署是否被阻塞了", Complete),
            ("pieces", Unclear),
            ("run the tests", Unclear),
            ("https://example.com/log", Unclear),
            ("🙂", Unclear),
            ("", Unclear),
            ("when someone types", Unfinished),
            ("if it fails again", Unfinished),
            ("in", Unfinished),
            ("the log of the", Unfinished),
            ("rename the flag,", Unfinished),
            ("two things:", Unfinished),
            ("well...", Unfinished),
            ("Hey", Unfinished),
            ("@scout", Unfinished),
            ("@scout could you please", Unfinished),
            ("scout: hi!", Unfinished),
        ] {
            assert_eq!(look(text), expected, "{text:?}");
        }
        // The examined part is bounded, whatever the text is.
        assert_eq!(look(&"and ".repeat(300_000)), Unfinished);
        assert_eq!(look(&"好".repeat(300_000)), Complete);
    }
}
