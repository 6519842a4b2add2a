//! What the referee notes down: how often each rule was tried, what it found, and what it could not judge.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::rules::Rule;

/// A rule that did not hold.
#[derive(Clone, Debug)]
pub struct Finding {
    pub rule: &'static str,
    /// The scene, or the part of the drive, that saw it.
    pub scene: String,
    pub expected: String,
    pub seen: String,
    /// Ids of the events it is about.
    pub events: Vec<String>,
    /// Since the run began.
    pub at: Duration,
}

pub(super) struct Ledger {
    began: Instant,
    notes: Mutex<Notes>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub(super) tried: BTreeMap<&'static str, usize>,
    pub(super) findings: Vec<Finding>,
    /// What kept a scene from a verdict.
    pub(super) unclear: Vec<String>,
    /// What there was to be seen, by name.
    pub(super) counts: BTreeMap<&'static str, u64>,
}

impl Ledger {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), notes: Mutex::default() }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn taken(&self) -> Notes {
        self.notes().clone()
    }

    pub(super) fn count(&self, what: &'static str, more: u64) {
        *self.notes().counts.entry(what).or_default() += more;
    }

    pub(super) fn unclear(&self, scene: &str, why: &str) {
        let at = self.began.elapsed().as_secs();
        self.notes().unclear.push(format!("{scene} (after {at} s): {why}"));
    }

    /// Notes that a rule was tried, and, where it did not hold, what was seen: once, however often it was.
    pub(super) fn judge(&self, rule: Rule, scene: &str, verdict: Result<(), Wrong>) {
        let mut notes = self.notes();
        *notes.tried.entry(rule.id).or_default() += 1;
        if let Err(Wrong { expected, seen, events }) = verdict {
            let (scene, at) = (scene.to_owned(), self.began.elapsed());
            let finding = Finding { rule: rule.id, scene, expected, seen, events, at };
            let again = |other: &Finding| {
                (other.rule, &other.seen, &other.events)
                    == (rule.id, &finding.seen, &finding.events)
            };
            if notes.findings.iter().any(again) {
                return;
            }
            eprintln!("referee: {}: {} -- {}", finding.rule, finding.expected, finding.seen);
            notes.findings.push(finding);
        }
    }
}

/// What was expected, and what was seen in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) expected: String,
    pub(super) seen: String,
    pub(super) events: Vec<String>,
}

impl Wrong {
    pub(super) fn new(expected: impl Into<String>, seen: impl Into<String>, of: &[&str]) -> Self {
        let events = of.iter().map(|event| (*event).to_owned()).collect();
        Self { expected: expected.into(), seen: seen.into(), events }
    }
}
