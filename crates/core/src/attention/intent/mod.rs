//! Intent: what a message wants, by rules over its words and the message before it.
//!
//! The rules are English ones over a table of phrases ([`lexicon`]); in other languages the structure
//! decides: question marks of any script, greetings, emoji, figures of progress. Only a text's own prose is
//! read, so a question in a quotation or in code asks nothing. When several things are wanted, the one that
//! obliges most wins: cancel, assignment, approval, blocker, request, question, and only then courtesies.
//!
//! The text is untrusted, and what is read from it is a classification only: no word of it goes anywhere.

mod evidence;
mod leave;
mod lexicon;
mod reading;

use super::Intent;
use evidence::Evidence;
pub use leave::asks_to_leave;
use reading::{Lower, Reading};

/// The message before, on the same line of talk.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    pub text: &'a str,
    pub intent: Intent,
    /// Whether one author said both; one does not answer oneself.
    pub same_author: bool,
}

/// What the message wants.
pub fn intent(text: &str, before: Option<Before<'_>>) -> Intent {
    let lower = Lower::of(text);
    let reading = lower.read(lexicon::is_word);
    let evidence = Evidence::gather(&reading);
    if reading.words.is_empty() {
        return wordless(&lower, &reading, before);
    }
    if let Some(answer) = answer(&reading, &evidence, before) {
        return answer;
    }
    match () {
        () if evidence.cancel => Intent::Cancel,
        () if evidence.assignment => Intent::Assignment,
        () if evidence.approval || evidence.approved => Intent::Approval,
        () if evidence.blocker && !evidence.marked => Intent::Blocker,
        () if evidence.request => Intent::Request,
        () if evidence.asks_question() => Intent::Question,
        () if evidence.is_thanks() => Intent::Thanks,
        () if evidence.is_status(lower.as_str()) => Intent::Status,
        () if evidence.is_courtesy() => Intent::Social,
        () if evidence.imperative => Intent::Request,
        () => Intent::Statement,
    }
}

/// Whether it asks for an answer in words, whatever else it wants: "can you tell me…?" is a request and a
/// question.
pub fn asks_question(text: &str) -> bool {
    let lower = Lower::of(text);
    Evidence::gather(&lower.read(lexicon::is_word)).asks_question()
}

/// Whether the words themselves say that it cannot wait.
pub fn is_urgent(text: &str) -> bool {
    if !has_urgent_word(text.as_bytes()) {
        return false;
    }
    let lower = Lower::of(text);
    let reading = lower.read(lexicon::is_word);
    let asks = Evidence::gather(&reading).asks();
    reading.sentences.iter().any(|sentence| {
        sentence.words.clone().any(|at| {
            let before = at.checked_sub(1).map_or("", |before| reading.words[before]);
            let stressed = sentence.exclaims && at + 1 == sentence.words.end;
            match reading.words[at] {
                "urgent" | "urgently" | "asap" | "emergency" | "sev1" | "sev-1" | "p0" => {
                    !matches!(before, "not" | "non" | "isn't" | "less" | "no")
                }
                // "It fails immediately" presses nobody; "do it immediately" does.
                "immediately" => asks || stressed || reading.words.len() == 1,
                "now" => stressed || (before == "right" && asks),
                _ => false,
            }
        })
    })
}

/// The words of urgency, of which a text must have one to be read further.
const URGENT: [&str; 8] =
    ["urgent", "urgently", "asap", "emergency", "immediately", "now", "sev", "p0"];

/// Whether a word of the text begins with one of them, in any case.
fn has_urgent_word(text: &[u8]) -> bool {
    let begins = |piece: &[u8], word: &str| {
        piece.get(..word.len()).is_some_and(|w| w.eq_ignore_ascii_case(word.as_bytes()))
    };
    let first =
        |piece: &[u8]| piece.first().is_some_and(|byte| BEGINS[usize::from(*byte)] & FIRST != 0);
    let mut pieces = text.split(|byte| BEGINS[usize::from(*byte)] & LETTER == 0);
    pieces.any(|piece| first(piece) && URGENT.iter().any(|word| begins(piece, word)))
}

/// Of each byte: whether it is a letter or digit of ASCII, and whether a word of urgency begins with it.
static BEGINS: [u8; 256] = {
    let (mut table, mut byte) = ([0; 256], 0_usize);
    while byte < 256 {
        let this = byte as u8;
        if this.is_ascii_alphanumeric() {
            table[byte] |= LETTER;
        }
        let mut word = 0;
        while word < URGENT.len() {
            if this.eq_ignore_ascii_case(&URGENT[word].as_bytes()[0]) {
                table[byte] |= FIRST;
            }
            word += 1;
        }
        byte += 1;
    }
    table
};
const LETTER: u8 = 1;
const FIRST: u8 = 2;

/// A message without a word: a question mark, emoji, a bare name, or nothing of its own at all.
fn wordless(lower: &Lower, reading: &Reading<'_>, before: Option<Before<'_>>) -> Intent {
    if reading.sentences.iter().any(|s| s.asks) {
        return Intent::Question;
    }
    let text = lower.as_str();
    let consent = text.contains(['👍', '✅', '👎', '🚀']);
    match before {
        Some(b) if b.intent == Intent::Approval && !b.same_author && consent => Intent::Approval,
        _ if text.trim().is_empty() => Intent::Statement,
        _ => Intent::Social,
    }
}

/// What the message is as an answer to the one before, if it is one.
fn answer(
    reading: &Reading<'_>,
    evidence: &Evidence,
    before: Option<Before<'_>>,
) -> Option<Intent> {
    let before = before.filter(|b| !b.same_author)?;
    if !(evidence.yes || evidence.no) || evidence.asks() || evidence.thanks {
        return None;
    }
    // "ok" and the like take note of what was said; they answer only where consent was wanted.
    let bare = matches!(
        reading.words[0],
        "ok" | "okay" | "right" | "true" | "indeed" | "exactly" | "fine"
    );
    match before.intent {
        Intent::Approval => Some(Intent::Approval),
        Intent::Question if evidence.cancel || bare => None,
        Intent::Question => Some(Intent::Statement),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
