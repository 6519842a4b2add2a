//! "Please leave": whether a person asks the named members to leave the place where the message is
//! posted.

use super::reading::Reading;

/// Words that may precede "leave" in such a request.
const BEFORE: &[&str] = &[
    "please", "can", "could", "would", "will", "you", "now", "kindly", "and", "ok", "okay",
    "thanks", "hey", "hi", "both", "all", "just", "so", "then", "well", "may", "should", "must",
    "thank", "to", "need", "no", "longer", "needed", "good", "that's", "great",
];
/// The place to leave, after an article.
const PLACES: &[&str] =
    &["thread", "channel", "conversation", "room", "chat", "discussion", "place"];
/// What may still follow.
const AFTER: &[&str] = &["please", "now", "thanks", "thank", "you", "here", "us", "alone"];

/// Whether a text asks somebody to leave: "please leave this thread", "can you leave?", "leave
/// us". "Leave it open", "leave a comment" and "don't leave" do not count.
pub(super) fn asks_to_leave(reading: &Reading<'_>) -> bool {
    reading.sentences.iter().any(|sentence| {
        let words = &reading.words[sentence.words.clone()];
        let Some(at) = words.iter().position(|word| *word == "leave") else { return false };
        let asked = words[..at].iter().all(|word| BEFORE.contains(word));
        // "Will you leave?" is a request; "you leave?" is not.
        let wonders = sentence.asks
            && !words[..at]
                .iter()
                .any(|w| matches!(*w, "can" | "could" | "would" | "will" | "please"));
        let mut rest = words[at + 1..].iter().peekable();
        if rest.next_if(|word| matches!(**word, "this" | "the" | "our" | "that")).is_some()
            && !rest.next().is_some_and(|word| PLACES.contains(word))
        {
            return false;
        }
        asked && !wonders && rest.all(|word| AFTER.contains(word))
    })
}

#[cfg(test)]
mod tests {
    use crate::language::intent::Wording;

    fn asks_to_leave(text: &str) -> bool {
        Wording::of(text).leave
    }

    // covers: ATT-154
    #[test]
    fn asking_to_leave_is_told_from_other_leaving() {
        for text in [
            "@scout please leave this thread",
            "@scout please leave",
            "@scout can you leave the channel?",
            "@scout leave us please.",
            "scout, leave this conversation now",
            "Thanks @scout. Please leave this channel!",
        ] {
            assert!(asks_to_leave(text), "{text}");
        }
        for text in [
            "@scout leave it open",
            "@scout leave a comment on the ticket",
            "@scout please leave the thread open",
            "@scout don't leave this thread",
            "@scout did you leave the channel?",
            "@scout I leave at five",
            "@scout when do you leave?",
            "@scout `leave` is a command, what does it do?",
            "@scout can you look at the build?",
        ] {
            assert!(!asks_to_leave(text), "{text}");
        }
    }
}
