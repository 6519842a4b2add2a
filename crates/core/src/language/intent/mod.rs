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

use crate::model::attention::Intent;
use evidence::Evidence;
pub use leave::asks_to_leave;
use reading::{Lower, QUESTION_MARKS, Reading};

/// The message that another is read against.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    pub intent: Intent,
    /// Whether one author said both; one does not answer oneself.
    pub same_author: bool,
    pub link: Link,
    /// Whether a person answers. What agents say to each other in passing is to stay a courtesy.
    pub by_person: bool,
}

/// How a message is tied to the one that it is read against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It says that it replies to it.
    Reply,
    /// It is what an agent has asked the author, and waits for.
    Asked {
        /// Nobody else has spoken since.
        alone: bool,
    },
    /// It was said right before.
    Previous,
}

/// A message as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    pub intent: Intent,
    /// How it answers the message that it is read against.
    pub answers: Answers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// It does not, as far as can be told.
    No,
    /// It is tied to the question, and no courtesy.
    Freely,
    /// It says yes or no.
    Plainly,
}

/// What the message wants.
pub fn intent(text: &str, before: Option<Before>) -> Intent {
    read(text, before).intent
}

/// What the message wants, and whether it is the answer to what it is read against.
pub fn read(text: &str, before: Option<Before>) -> Read {
    let lower = Lower::of(text);
    let reading = lower.read(lexicon::is_word);
    let evidence = Evidence::gather(&reading);
    let before = before.filter(|b| !b.same_author);
    let words = !reading.words.is_empty();
    let plainly = if words { evidence.yes || evidence.no } else { consents(lower.as_str()) };
    let answered = if words {
        answer(&reading, &evidence, before)
    } else {
        wordless_answer(lower.as_str(), before)
    };
    let by_itself = || match words {
        true => alone(&lower, &evidence),
        false => wordless(&lower, &reading),
    };
    let intent = answered.unwrap_or_else(by_itself);
    let answers = match before.filter(|b| b.asks()).map(|b| b.link) {
        None | Some(Link::Previous) => Answers::No,
        Some(_) if plainly => Answers::Plainly,
        Some(Link::Asked { alone: false }) => Answers::No,
        Some(_) if intent.is_courtesy() || intent == Intent::Status => Answers::No,
        Some(_) => Answers::Freely,
    };
    let Some(before) = before.filter(|b| b.is_tied() && intent == Intent::Social && words) else {
        return Read { intent, answers };
    };
    match () {
        // An order is one, however kindly it begins: "yes, merge it".
        () if evidence.orders() => Read { intent: Intent::Request, answers },
        // Whoever replies to a question answers it, whatever the words: "the blue one", "great".
        () if before.link == Link::Reply && before.asks() => {
            let answers = if plainly { Answers::Plainly } else { Answers::Freely };
            Read { intent: Intent::Statement, answers }
        }
        () => Read { intent, answers },
    }
}

/// What a message with words wants by itself.
fn alone(lower: &Lower, evidence: &Evidence) -> Intent {
    match () {
        () if evidence.cancel => Intent::Cancel,
        () if evidence.assignment => Intent::Assignment,
        () if evidence.approval || evidence.approved => Intent::Approval,
        () if evidence.blocker && !evidence.marked => Intent::Blocker,
        () if evidence.request || evidence.bidding => Intent::Request,
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
fn wordless(lower: &Lower, reading: &Reading<'_>) -> Intent {
    match () {
        () if reading.sentences.iter().any(|s| s.asks) => Intent::Question,
        () if lower.as_str().trim().is_empty() => Intent::Statement,
        () => Intent::Social,
    }
}

/// Whether signs alone say yes or no.
fn consents(text: &str) -> bool {
    text.contains(['👍', '👌', '✅', '👎', '🚀']) && !text.contains(QUESTION_MARKS)
}

fn wordless_answer(text: &str, before: Option<Before>) -> Option<Intent> {
    let before = before.filter(|_| consents(text))?;
    match before.intent {
        Intent::Approval => Some(Intent::Approval),
        _ => (before.asks() && before.is_tied()).then_some(Intent::Statement),
    }
}

impl Before {
    /// Whether a person surely answers this message, and not another.
    fn is_tied(&self) -> bool {
        self.by_person && self.link != Link::Previous
    }

    /// Whether it waits for an answer in words.
    fn asks(&self) -> bool {
        waits(self.intent)
    }
}

/// Whether a message of this intent waits for an answer in words.
pub fn waits(intent: Intent) -> bool {
    matches!(intent, Intent::Question | Intent::Approval | Intent::Request)
}

/// What the message is as an answer to the one before, if it is one.
fn answer(reading: &Reading<'_>, evidence: &Evidence, before: Option<Before>) -> Option<Intent> {
    let before = before?;
    let tied = before.is_tied();
    // "No, thanks" is an answer where it is surely one to that question.
    let thanks = evidence.thanks && !tied;
    if !(evidence.yes || evidence.no) || evidence.asks() || thanks {
        return None;
    }
    // "ok" and the like take note of what was said; they answer only where consent was wanted, or an answer is due.
    let bare = matches!(
        reading.words[0],
        "ok" | "okay" | "right" | "true" | "indeed" | "exactly" | "fine"
    );
    match before.intent {
        Intent::Approval => Some(Intent::Approval),
        Intent::Question if evidence.cancel || (bare && !tied) => None,
        Intent::Question if evidence.bidding || (tied && evidence.orders()) => {
            Some(Intent::Request)
        }
        Intent::Question => Some(Intent::Statement),
        _ if tied && before.asks() && !evidence.cancel => {
            Some(if evidence.orders() { Intent::Request } else { Intent::Statement })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
