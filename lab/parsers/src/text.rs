//! Texts that people write: cron expressions, searches, messages.

use chorus_core::attention::framing::{EventHeader, frame};
use chorus_core::language::intent;
use chorus_core::language::search::{Query, score, snippet, words};
use chorus_core::model::attention::{Directedness, Policy, Priority};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::limits::{CRON_BYTES, QUERY_BYTES, QUERY_TERMS};
use chorus_core::model::schedule::cron::Cron;

/// Three lines: an expression, a time zone, and milliseconds. The next time is after now, and no time lies between.
pub fn cron(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.split('\n');
    let (expression, zone) = (lines.next().unwrap_or_default(), lines.next().unwrap_or("UTC"));
    if expression.len() > CRON_BYTES {
        return;
    }
    let Ok(cron) = Cron::parse(expression, zone) else { return };
    let mut now = Timestamp(lines.next().and_then(|ms| ms.parse().ok()).unwrap_or(0));
    for _ in 0..3 {
        let Some(next) = cron.next(now) else { return };
        assert!(next > now, "{next:?} is not after {now:?}");
        let between = Timestamp(now.0 + (next.0 - now.0) / 2);
        assert_eq!(cron.next(between), Some(next), "after {between:?}");
        assert_eq!(cron.next(Timestamp(next.0 - 1)), Some(next), "just before it");
        now = next;
    }
}

/// A first line that is searched for, and a text. A text is found by itself; a snippet is short and marks something.
pub fn search(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (asked, text) = text.split_once('\n').unwrap_or((text, text));
    let Ok(query) = Query::read(asked) else { return };
    assert!(asked.len() <= QUERY_BYTES && (1..=QUERY_TERMS).contains(&query.terms.len()));
    let itself: Vec<_> = words(asked).into_iter().map(|word| word.folded).collect();
    assert!(query.holds(&itself), "a text is not found by itself");
    assert!(snippet(&query, asked).is_some());
    let found: Vec<_> = words(text).into_iter().map(|word| word.folded).collect();
    let pieces = snippet(&query, text);
    assert_eq!(pieces.is_some(), query.holds(&found));
    let Some(pieces) = pieces else { return };
    let shown: usize = pieces.iter().map(|piece| piece.text.chars().count()).sum();
    assert!(shown <= 202, "{shown} characters");
    assert!(pieces.iter().any(|piece| piece.found));
    let score = score(&query, &found, 0);
    assert!(score.is_finite() && score > 0.0);
}

/// What stands within the fence.
fn body_of(lines: &[&str], begin: Option<usize>) -> String {
    let from = begin.map_or(0, |at| at + 1);
    let inside = lines.get(from..lines.len() - 1).unwrap_or_default();
    inside.join("\n")
}

const NONCE: &str = "n0nce-1";

/// A message, whose first line is everything that its header says of it. Nothing in it forges a line of the prompt.
pub fn prompt(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = intent::read(text, None);
    let (name, body) = text.split_once('\n').unwrap_or((text, text));
    let header = EventHeader {
        event_id: name,
        conversation_kind: "channel",
        conversation_id: "ch_1",
        conversation_title: Some(name),
        channel_context: Some(body),
        thread: Some(name),
        author_kind: "human",
        author_id: name,
        author_name: Some(body),
        directedness: Directedness::ToMe,
        policy: Policy::MustRespond,
        priority: Priority::Normal,
        reason: name,
        reply_target: name,
        in_reply_to: Some(body),
        replaces: Some(name),
        deadline_ms: Some(1),
        audience: &[name, body],
        audience_more: 1,
        files: &[body.to_owned()],
    };
    let shown = frame(&header, body, NONCE);
    let lines: Vec<&str> = shown.lines().collect();
    let fence = |edge: &str| format!("--- {edge} {NONCE} ---");
    let (begin, end) = (fence("begin"), fence("end"));
    let at = lines.iter().position(|line| *line == begin);
    // A header may have the words of a fence in a value, which never begins a line.
    assert_eq!(lines.iter().filter(|line| **line == begin).count(), 1);
    assert_eq!(lines.iter().filter(|line| **line == end).count(), 1);
    assert!(!body_of(&lines, at).contains(NONCE));
    assert_eq!(lines.last(), Some(&&*end));
    assert_eq!(lines.iter().filter(|line| line.starts_with("C2A ")).count(), 1);
    // One line for each field and two beside them; a name that is the id is not said twice.
    assert_eq!(at, Some(18 + usize::from(name != body)), "{shown}");
    let plain = |c: char| c == '\n' || c == '\t' || !c.is_control();
    assert!(shown.chars().all(plain));
}
