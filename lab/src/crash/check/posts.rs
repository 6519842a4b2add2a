//! What people said: acknowledged means there, once, where it was said to be.

use std::collections::{HashMap, HashSet};

use super::Seen;
use crate::crash::evidence::{Evidence, Fate, Log};

pub(super) fn check(evidence: &Evidence, seen: &Seen<'_>, wrong: &mut Vec<String>) {
    for log in &evidence.logs {
        no_hole(log, wrong);
        no_hole_in_threads(log, wrong);
    }
    let lines: usize = evidence.logs.iter().map(|log| log.lines.len()).sum();
    if seen.events.len() != lines {
        wrong.push(format!("{lines} events have {} ids between them", seen.events.len()));
    }
    each_once(evidence, seen, wrong);
    in_order(evidence, seen, wrong);
    nothing_else(evidence, wrong);
}

/// Seqs are 1, 2, 3 … up to the head.
fn no_hole(log: &Log, wrong: &mut Vec<String>) {
    let seqs = log.lines.iter().map(|line| line.seq);
    if !seqs.eq(1..=log.last_seq) {
        let at = log.lines.iter().zip(1..).find(|(line, expected)| line.seq != *expected);
        let at = at.map_or(log.lines.len() as u64 + 1, |(_, expected)| expected);
        let (conversation, last) = (&log.conversation, log.last_seq);
        wrong.push(format!("{conversation} has a hole or a repetition at {at} of {last}"));
    }
}

/// A thread's own seqs rise by exactly one.
fn no_hole_in_threads(log: &Log, wrong: &mut Vec<String>) {
    let mut last: HashMap<&str, u64> = HashMap::new();
    for line in &log.lines {
        let (Some(thread), Some(seq)) = (line.thread.as_deref(), line.thread_seq) else { continue };
        let before = last.insert(thread, seq);
        if before.is_some_and(|before| seq != before + 1) {
            wrong.push(format!("{thread}: {seq} follows {before:?} at {}", line.event));
        }
    }
}

fn each_once(evidence: &Evidence, seen: &Seen<'_>, wrong: &mut Vec<String>) {
    for said in &evidence.said {
        let text = &said.text;
        let found = seen.posts(&said.conversation, text);
        match (&said.fate, found) {
            (Fate::Unknown, [] | [_]) => {}
            (Fate::Acknowledged { event, seq, thread_seq }, [line]) => {
                let told = (event, seq, thread_seq, &said.author);
                let is = (&line.event, &line.seq, &line.thread_seq, &line.author);
                if told != is {
                    wrong.push(format!("{text:?} was acknowledged as {told:?} and is {is:?}"));
                }
                if said.in_thread != line.thread.is_some() {
                    wrong.push(format!("{text:?} is not in the thread it was said in"));
                }
            }
            (Fate::Acknowledged { event, .. }, []) => {
                wrong.push(format!("{text:?} was acknowledged as {event} and is lost"));
            }
            (_, many) => wrong.push(format!("{text:?} is there {} times", many.len())),
        }
    }
}

/// A person says one thing after the other, and so it stands.
fn in_order(evidence: &Evidence, seen: &Seen<'_>, wrong: &mut Vec<String>) {
    let mut last: HashMap<(&str, &str), u64> = HashMap::new();
    for said in &evidence.said {
        let Some(line) = seen.posts(&said.conversation, &said.text).first() else { continue };
        let before = last.insert((&said.author, &said.conversation), line.seq).unwrap_or(0);
        if line.seq <= before {
            wrong.push(format!("{:?} stands before what was said before it", said.text));
        }
    }
}

/// Nobody has words in their mouth.
fn nothing_else(evidence: &Evidence, wrong: &mut Vec<String>) {
    let said: HashSet<_> =
        evidence.said.iter().map(|s| (s.author.as_str(), s.text.as_str())).collect();
    let lines = evidence.logs.iter().flat_map(|log| &log.lines).filter(|line| line.is_post());
    for line in lines.filter(|line| !evidence.is_agent(&line.author)) {
        let text = line.text.as_deref().unwrap_or_default();
        if !said.contains(&(&line.author, text)) {
            wrong.push(format!("{} never said {text:?}", line.author));
        }
    }
}
