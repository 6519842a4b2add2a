//! What a run comes to, in figures and in what does not hold.

use std::fmt;
use std::time::Duration;

use super::evidence::{Evidence, Fate, Line};
use super::people::Counts;
use super::room::Settled;

#[derive(Clone, Debug)]
pub struct Report {
    /// What does not hold; empty when all does.
    pub wrong: Vec<String>,
    pub(super) seed: u64,
    pub(super) kills: Kills,
    pub(super) people: Counts,
    pub(super) seen: Seen,
    pub(super) settled: Settled,
    pub(super) took: Duration,
}

/// Who was killed, and when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kills {
    pub(super) host: usize,
    /// Of these, while it was starting.
    pub(super) at_start: usize,
    /// Hosts that stood still for longer than a lease.
    pub(super) frozen: usize,
    /// Of the database that hosts share.
    pub(super) database: usize,
    pub(super) harness: usize,
    /// Of these, in the middle of a turn.
    pub(super) in_turn: usize,
    pub(super) slowest_start: Duration,
}

/// What the logs hold.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    acknowledged: usize,
    unknown: usize,
    unknown_there: usize,
    asked: usize,
    replies: usize,
    runs: usize,
    given_up: usize,
}

impl Seen {
    pub(super) fn of(evidence: &Evidence) -> Self {
        let lines = || evidence.logs.iter().flat_map(|log| &log.lines);
        let is_there = |text: &str| lines().any(|line| line.text.as_deref() == Some(text));
        let is_agent = |line: &&Line| line.is_post() && evidence.agents.contains(&line.author);
        let unknown: Vec<_> = evidence.said.iter().filter(|s| s.fate == Fate::Unknown).collect();
        Self {
            acknowledged: evidence.said.len() - unknown.len(),
            unknown: unknown.len(),
            unknown_there: unknown.iter().filter(|said| is_there(&said.text)).count(),
            asked: evidence.directed.len(),
            replies: lines().filter(is_agent).count(),
            runs: evidence.runs.len(),
            given_up: evidence.given_up.len(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, people, seen, .. } = self;
        writeln!(f, "seed {}, {:.0} s", self.seed, self.took.as_secs_f64())?;
        writeln!(
            f,
            "host: {} kills, {} of them while it started; slowest start {} ms",
            kills.host,
            kills.at_start,
            kills.slowest_start.as_millis()
        )?;
        if kills.database > 0 {
            writeln!(f, "database: {} restarts", kills.database)?;
        }
        if kills.frozen > 0 {
            writeln!(f, "hosts that stood still: {}", kills.frozen)?;
        }
        writeln!(f, "harnesses: {} kills, {} of them in a turn", kills.harness, kills.in_turn)?;
        writeln!(
            f,
            "posts: {} acknowledged; {} without an answer to the end, {} of them there",
            seen.acknowledged, seen.unknown, seen.unknown_there
        )?;
        writeln!(
            f,
            "answers lost: {}; found posted when sent again: {}; repeated later: {}; keys refused: {}",
            people.lost, people.found_posted, people.repeated, people.conflicts
        )?;
        writeln!(
            f,
            "asked: {}; turns run: {}; replies: {}; given up: {}; let go on: {}; settled after {:.1} s",
            seen.asked,
            seen.runs,
            seen.replies,
            seen.given_up,
            self.settled.continued,
            self.settled.took.as_secs_f64()
        )?;
        write!(f, "wrong: {}", self.wrong.len())?;
        self.wrong.iter().take(20).try_for_each(|line| write!(f, "\n  {line}"))
    }
}
