//! What a thread's events say of the work in it: findings that were reported, verified and rejected, and what else
//! was done (threads spec sections 3.6 and 4).
//!
//! Deterministic: it counts and quotes what was said, and infers nothing. A finding is named by its
//! `metadata.finding_id`, else by the message that reported it, which its verdict replies to.

use std::fmt::Write;
use std::sync::Arc;

use crate::event::{Change, Event, MessageKind};
use crate::ids::Seq;
use crate::thread::ThreadStatus;

/// Types of events that have a meaning here. Others are taken as they are.
pub const EVENT_TYPES: [&str; 7] = [
    "finding_reported",
    "fix_pushed",
    "re_review_requested",
    "finding_verified",
    "finding_rejected",
    "thread_escalated",
    "thread_resolved",
];

pub fn is_registered(event_type: &str) -> bool {
    EVENT_TYPES.contains(&event_type)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Open,
    Verified,
    Rejected,
}

#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Finding {
    /// The message that reported it.
    pub at: Seq,
    pub thread_seq: u64,
    pub id: Option<Arc<str>>,
    #[redact(fixed = 3)]
    pub text: Arc<str>,
    pub verdict: Verdict,
}

/// The work of a thread, event by event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub findings: Vec<Finding>,
    pub messages: usize,
    fixes: usize,
    reviews: usize,
    escalations: usize,
    others: usize,
}

impl Work {
    /// Takes the next event of the thread, in order. What was erased says nothing any more.
    pub fn take(&mut self, event: &Event) {
        let Change::Posted(message) = &event.change else { return };
        self.messages += 1;
        let metadata = message.metadata.as_deref().filter(|_| message.kind == MessageKind::Event);
        let Some(metadata) = metadata else { return };
        let id = text_field(metadata, "finding_id");
        match text_field(metadata, "event_type").unwrap_or_default() {
            "finding_reported" => {
                // Reported again it is open again.
                self.findings.retain(|f| id.is_none() || f.id.as_deref() != id);
                self.findings.push(Finding {
                    at: event.seq,
                    thread_seq: event.thread_seq,
                    id: id.map(Into::into),
                    text: message.text.clone(),
                    verdict: Verdict::Open,
                });
            }
            "finding_verified" => self.settle(id, event.reply_to, Verdict::Verified),
            "finding_rejected" => self.settle(id, event.reply_to, Verdict::Rejected),
            "fix_pushed" => self.fixes += 1,
            "re_review_requested" => self.reviews += 1,
            "thread_escalated" => self.escalations += 1,
            _ => self.others += 1,
        }
    }

    fn settle(&mut self, id: Option<&str>, reply_to: Option<Seq>, verdict: Verdict) {
        let found = self.findings.iter_mut().find(|f| match id {
            Some(id) => f.id.as_deref() == Some(id),
            None => Some(f.at) == reply_to,
        });
        if let Some(finding) = found {
            finding.verdict = verdict;
        }
    }

    /// Findings that were neither verified nor rejected.
    pub fn open(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| f.verdict == Verdict::Open)
    }

    /// All of it in a few sentences.
    pub fn summary(&self, status: ThreadStatus) -> String {
        let with = |verdict| self.findings.iter().filter(|f| f.verdict == verdict).count();
        let mut text = match self.findings.len() {
            0 => "No findings reported.".to_owned(),
            n => format!(
                "{n} {} reported: {} open, {} verified, {} rejected.",
                plural(n, "finding"),
                with(Verdict::Open),
                with(Verdict::Verified),
                with(Verdict::Rejected),
            ),
        };
        let counts = [
            (self.fixes, "fix", " pushed"),
            (self.reviews, "re-review", " requested"),
            (self.escalations, "escalation", ""),
            (self.others, "other event", ""),
        ];
        for (n, what, done) in counts.into_iter().filter(|(n, ..)| *n > 0) {
            // Writing into a string does not fail.
            let _ = write!(text, " {n} {}{done}.", plural(n, what));
        }
        let n = self.messages;
        let _ = write!(text, " {n} {} in all. Status: {}.", plural(n, "message"), status.name());
        text
    }
}

fn plural(n: usize, word: &str) -> String {
    match (n, word) {
        (1, _) => word.to_owned(),
        (_, "fix") => "fixes".to_owned(),
        _ => format!("{word}s"),
    }
}

/// A text of canonical JSON's outermost object, as it stands there: the same text has one form.
pub fn text_field<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = json.strip_prefix('{')?;
    loop {
        let (key, after) = quoted(rest)?;
        let value = after.strip_prefix(':')?;
        if key == name {
            return quoted(value).map(|(text, _)| text);
        }
        rest = past(value)?.strip_prefix(',')?;
    }
}

/// What stands in quotes at the beginning, and what follows it.
fn quoted(json: &str) -> Option<(&str, &str)> {
    let inner = json.strip_prefix('"')?;
    let mut escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some((inner.get(..at)?, inner.get(at + 1..)?)),
            _ => {}
        }
    }
    None
}

/// What follows the value at the beginning.
fn past(json: &str) -> Option<&str> {
    let (mut rest, mut depth) = (json, 0_usize);
    loop {
        match rest.bytes().next()? {
            b'"' => rest = quoted(rest)?.1,
            b',' | b'}' | b']' if depth == 0 => return Some(rest),
            byte => {
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                // Outside of quotes there is only ASCII.
                rest = rest.get(1..)?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_among_others_and_nowhere_deeper() {
        let json = r#"{"a":{"event_type":"no","x":["}",{}]},"b":[1,2],"event_type":"fix_pushed","n":null,"q":"a\"b,","z":-1}"#;
        for (name, expect) in [
            ("event_type", Some("fix_pushed")),
            ("q", Some("a\\\"b,")),
            ("a", None),
            ("n", None),
            ("x", None),
        ] {
            assert_eq!(text_field(json, name), expect, "{name}");
        }
        for bad in ["", "{", "{}", "[]", r#"{"a""#, r#"{"a":"#, r#"{"a":1"#, r#"{"é":"ü","#] {
            assert_eq!(text_field(bad, "event_type"), None, "{bad}");
        }
    }
}
