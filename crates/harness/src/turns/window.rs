//! The compose window: when whoever writes in pieces has said what they wanted to say (design section 5,
//! "Compose window"; ATT-49 to ATT-52).

use chorus_core::ids::Timestamp;
use chorus_wire::attention::deliver::Deliver;

/// Fewer seconds than people take between fragments miss most of them, and more make everybody wait; so
/// only a text that looks unfinished waits this many quiet windows.
const UNFINISHED: i64 = 3;
/// Who has said that they type and then nothing for this long has stopped without saying so.
pub(super) const TYPING_MS: i64 = 10_000;

/// Words that a thought seldom ends with.
const OPEN_WORDS: [&str; 34] = [
    "a", "also", "an", "and", "as", "at", "because", "but", "by", "can", "could", "for", "from",
    "if", "in", "is", "like", "of", "on", "or", "our", "please", "should", "so", "that", "the",
    "then", "to", "when", "where", "which", "with", "would", "your",
];

/// A piece of what is being said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment<'a> {
    pub delivery: &'a Deliver,
    /// When it first came, and when it was last edited.
    pub arrived: Timestamp,
    pub changed: Timestamp,
    /// Since when its author is said to be typing.
    pub typing: Option<Timestamp>,
}

/// When the window over these fragments closes; none without any.
pub(super) fn closes(fragments: &[Fragment<'_>], quiet_ms: i64, cap_ms: i64) -> Option<Timestamp> {
    let first = fragments.iter().map(|f| f.arrived).min()?;
    let last = fragments.iter().max_by_key(|f| f.changed)?;
    if names_another(last.delivery) {
        return Some(last.changed);
    }
    let text = last.delivery.text().unwrap_or_default();
    let quiet = if is_unfinished(&text) { quiet_ms.saturating_mul(UNFINISHED) } else { quiet_ms };
    let typing = fragments.iter().filter_map(|f| f.typing).map(|since| since.plus(TYPING_MS)).max();
    let closes = last.changed.plus(quiet).max(typing.unwrap_or(last.changed));
    Some(closes.min(first.plus(cap_ms)))
}

/// Whoever turns to somebody else has finished here.
fn names_another(delivery: &Deliver) -> bool {
    let key = &delivery.reliability.idempotency_key;
    let Some((_, me)) = key.split_once(':') else { return false };
    delivery.target.mentions.iter().any(|member| member != me)
}

/// Whether the text reads as if more will follow: it ends with a comma, a colon, a dash, dots, an open
/// bracket, or a word that needs another.
fn is_unfinished(text: &str) -> bool {
    let text = text.trim_end();
    if text.ends_with([',', ':', ';', '-', '–', '—', '…', '(', '[', '{', '&', '+', '='])
        || text.ends_with("...")
    {
        return true;
    }
    let opened = text.matches("```").count() % 2 == 1;
    let word = text.rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default().to_lowercase();
    opened || OPEN_WORDS.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::is_unfinished;

    #[test]
    fn what_reads_as_if_more_will_follow() {
        let unfinished = [
            "so I looked at the",
            "the log says:",
            "first,",
            "well…",
            "wait...",
            "one (",
            "```\nfn main()",
            "and",
        ];
        let finished = [
            "",
            "is it blocked?",
            "ok",
            "see `a` and `b`",
            "done.",
            "```\nx\n```",
            "the band",
            "ship it",
        ];
        for text in unfinished {
            assert!(is_unfinished(text), "{text}");
        }
        for text in finished {
            assert!(!is_unfinished(text), "{text}");
        }
    }
}
