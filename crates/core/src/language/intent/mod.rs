//! Intent: what a message wants, decided by rules over its words and the message before it.
//!
//! The rules are for English, over a table of phrases ([`lexicon`]). In other languages the
//! structure decides: question marks of any script, greetings, emoji, progress figures. Only the
//! author's own prose is read, so a question in a quotation or in code does not count. When a
//! message wants several things, the one with the strongest obligation wins: cancel, assignment,
//! approval, blocker, request, question, and only then courtesies.
//!
//! The text is untrusted, and the result is only a classification: no word of the text is passed
//! on.

mod evidence;
mod leave;
mod lexicon;
mod reading;

use crate::model::attention::Intent;
use evidence::Evidence;
use leave::asks_to_leave;
use reading::{Lower, QUESTION_MARKS, Reading};

/// The message that another is read against.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    pub intent: Intent,
    /// Whether both have the same author. Nobody answers their own message.
    pub same_author: bool,
    pub link: Link,
    /// Whether a person answers. Courtesies between agents stay courtesies.
    pub by_person: bool,
}

/// How a message is connected to the one that it is read against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It is an explicit reply to it.
    Reply,
    /// An agent asked the author for it and waits for the answer.
    Asked {
        /// Nobody else has spoken since.
        alone: bool,
    },
    /// It was posted immediately before.
    Previous,
}

/// A message after classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    pub intent: Intent,
    /// How it answers the message that it is read against.
    pub answers: Answers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// It is not an answer, as far as can be told.
    No,
    /// It is connected to the question and is not a courtesy.
    Freely,
    /// It says yes or no.
    Plainly,
}

/// What the words of a message say, whatever they are read against.
#[derive(Clone, Debug)]
pub struct Wording {
    evidence: Evidence,
    /// It has words, not only marks and emoji.
    has_words: bool,
    /// It begins with a word that acknowledges as often as it agrees: "ok".
    acknowledges: bool,
    /// Without words, its symbols say yes or no.
    consents: bool,
    /// What it wants when read alone.
    alone: Intent,
    /// The words themselves say that it is urgent.
    pub urgent: bool,
    /// It asks somebody to leave the place where it is posted.
    pub leave: bool,
}

/// What the message wants.
pub fn intent(text: &str, before: Option<Before>) -> Intent {
    read(text, before).intent
}

/// What the message wants, and whether it answers the message that it is read against.
pub fn read(text: &str, before: Option<Before>) -> Read {
    Wording::of(text).against(before)
}

impl Wording {
    /// Reads a text, once for all that its words say.
    pub fn of(text: &str) -> Self {
        let lower = Lower::of(text);
        let reading = lower.read(lexicon::is_word);
        let evidence = Evidence::gather(&reading);
        let has_words = !reading.words.is_empty();
        let alone = match has_words {
            true => alone(&lower, &evidence),
            false => wordless(&lower, &reading),
        };
        Self {
            has_words,
            acknowledges: reading.words.first().is_some_and(|word| acknowledges(word)),
            consents: !has_words && consents(lower.as_str()),
            alone,
            urgent: is_urgent(&reading, &evidence),
            leave: asks_to_leave(&reading),
            evidence,
        }
    }

    /// What it wants and answers, read against the message before it.
    pub fn against(&self, before: Option<Before>) -> Read {
        let evidence = &self.evidence;
        let before = before.filter(|b| !b.same_author);
        let plainly = if self.has_words { evidence.yes || evidence.no } else { self.consents };
        let answered =
            if self.has_words { self.answer(before) } else { self.wordless_answer(before) };
        let intent = answered.unwrap_or(self.alone);
        let answers = match before.filter(|b| b.asks()).map(|b| b.link) {
            None | Some(Link::Previous) => Answers::No,
            Some(_) if plainly => Answers::Plainly,
            Some(Link::Asked { alone: false }) => Answers::No,
            Some(_) if intent.is_courtesy() || intent == Intent::Status => Answers::No,
            Some(_) => Answers::Freely,
        };
        let tied = before.filter(|b| b.is_tied() && intent == Intent::Social && self.has_words);
        match tied {
            // An order is an order, however politely it begins: "yes, merge it".
            Some(_) if evidence.orders() => Read { intent: Intent::Request, answers },
            // A reply to a question is an answer, whatever its words are: "the blue one", "great".
            Some(before) if before.link == Link::Reply && before.asks() => {
                let answers = if plainly { Answers::Plainly } else { Answers::Freely };
                Read { intent: Intent::Statement, answers }
            }
            _ => Read { intent, answers },
        }
    }

    /// The intent of the message as an answer to the one before, if it is one.
    fn answer(&self, before: Option<Before>) -> Option<Intent> {
        let (before, evidence) = (before?, &self.evidence);
        let tied = before.is_tied();
        // "No, thanks" is an answer if it is certainly tied to that question.
        let thanks = evidence.thanks && !tied;
        if !(evidence.yes || evidence.no) || evidence.asks() || thanks {
            return None;
        }
        match before.intent {
            Intent::Approval => Some(Intent::Approval),
            Intent::Question if evidence.cancel || (self.acknowledges && !tied) => None,
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

    fn wordless_answer(&self, before: Option<Before>) -> Option<Intent> {
        let before = before.filter(|_| self.consents)?;
        match before.intent {
            Intent::Approval => Some(Intent::Approval),
            _ => (before.asks() && before.is_tied()).then_some(Intent::Statement),
        }
    }
}

/// What a message with words wants when read alone.
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

/// Whether it asks for a worded answer, whatever else it wants: "can you tell me…?" is both a
/// request and a question.
pub fn asks_question(text: &str) -> bool {
    Wording::of(text).evidence.asks_question()
}

/// Whether the words themselves say that it is urgent.
fn is_urgent(reading: &Reading<'_>, evidence: &Evidence) -> bool {
    reading.sentences.iter().any(|sentence| {
        sentence.words.clone().any(|at| {
            let before = at.checked_sub(1).map_or("", |before| reading.words[before]);
            let stressed = sentence.exclaims && at + 1 == sentence.words.end;
            match reading.words[at] {
                "urgent" | "urgently" | "asap" | "emergency" | "sev1" | "sev-1" | "p0" => {
                    !matches!(before, "not" | "non" | "isn't" | "less" | "no")
                }
                // "It fails immediately" is not urgent; "do it immediately" is.
                "immediately" => evidence.asks() || stressed || reading.words.len() == 1,
                "now" => stressed || (before == "right" && evidence.asks()),
                _ => false,
            }
        })
    })
}

/// A message without words: a question mark, emoji, a bare name, or nothing of its own at all.
fn wordless(lower: &Lower, reading: &Reading<'_>) -> Intent {
    match () {
        () if reading.sentences.iter().any(|s| s.asks) => Intent::Question,
        () if lower.as_str().trim().is_empty() => Intent::Statement,
        () => Intent::Social,
    }
}

/// Whether symbols alone say yes or no.
fn consents(text: &str) -> bool {
    text.contains(['👍', '👌', '✅', '👎', '🚀']) && !text.contains(QUESTION_MARKS)
}

impl Before {
    /// Whether a person certainly answers this message and not another.
    fn is_tied(&self) -> bool {
        self.by_person && self.link != Link::Previous
    }

    /// Whether it waits for a worded answer.
    fn asks(&self) -> bool {
        waits(self.intent)
    }
}

/// Whether a message with this intent waits for a worded answer.
pub fn waits(intent: Intent) -> bool {
    matches!(intent, Intent::Question | Intent::Approval | Intent::Request)
}

/// "Ok" and similar words acknowledge what was said. They count as an answer only if consent was
/// asked for or an answer is due.
fn acknowledges(word: &str) -> bool {
    matches!(word, "ok" | "okay" | "right" | "true" | "indeed" | "exactly" | "fine")
}

#[cfg(test)]
mod tests;
