//! What a run comes to: the rules with how often each was tried, what was found, and what was not tried at all.

use std::fmt;
use std::time::Duration;

use super::ledger::{Finding, Notes};
use super::rules::ALL;

/// Findings of one rule that are shown in full.
const SHOWN: usize = 4;

#[derive(Clone, Debug)]
pub struct Report {
    pub seed: u64,
    pub took: Duration,
    pub(super) scenes: usize,
    pub(super) notes: Notes,
}

impl Report {
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.notes.findings
    }

    /// Nothing was found, and nothing kept the referee from a verdict.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.notes.findings.is_empty() && self.notes.unclear.is_empty()
    }

    fn of<'a>(&'a self, rule: &'a str) -> impl Iterator<Item = &'a Finding> {
        self.notes.findings.iter().filter(move |finding| finding.rule == rule)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, took) = (self.seed, self.took.as_secs());
        writeln!(f, "referee: seed {seed}, {took} s, {} scenes played", self.scenes)?;
        for (what, count) in &self.notes.counts {
            writeln!(f, "  {count:6}  {what}")?;
        }
        writeln!(f, "\n  tried  found  rule")?;
        for rule in ALL {
            let tried = self.notes.tried.get(rule.id).copied().unwrap_or_default();
            let found = self.of(rule.id).count();
            writeln!(f, "  {tried:5}  {found:5}  {:22} {} ({})", rule.id, rule.says, rule.of)?;
        }
        let idle = ALL.iter().filter(|rule| !self.notes.tried.contains_key(rule.id));
        let idle: Vec<_> = idle.map(|rule| rule.id).collect();
        if !idle.is_empty() {
            writeln!(f, "\nnot tried in this run: {}", idle.join(", "))?;
        }
        for rule in ALL {
            for finding in self.of(rule.id).take(SHOWN) {
                let Finding { scene, expected, seen, events, at, .. } = finding;
                writeln!(f, "\nFOUND {} in {scene:?} after {} s", rule.id, at.as_secs())?;
                writeln!(f, "  expected: {expected}\n  seen:     {seen}")?;
                if !events.is_empty() {
                    writeln!(f, "  events:   {}", events.join(", "))?;
                }
            }
            let more = self.of(rule.id).count().saturating_sub(SHOWN);
            if more > 0 {
                writeln!(f, "  and {more} more of {}", rule.id)?;
            }
        }
        for unclear in &self.notes.unclear {
            writeln!(f, "\nNO VERDICT: {unclear}")?;
        }
        let (findings, unclear) = (self.notes.findings.len(), self.notes.unclear.len());
        write!(f, "\n{findings} findings, {unclear} scenes without a verdict, seed {seed}")
    }
}
