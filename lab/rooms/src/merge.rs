//! The compose window over real pauses: which lines of one author become one turn.
//!
//! Pairs are consecutive lines of one author with at most 30 s between them and no line of whom they are directed at
//! in between; a pair is right when both belong to one noted conversation. Precision is over merged pairs, recall
//! over right ones. A wait is the time from a turn's last line until its window closes; latency is the mean of them.
//!
//! A line that comes after the window has closed joins the run that has begun, as long as that has said nothing. Runs
//! here say what they have to say after [`RUN_MS`]. `merge.window_f1` is the window alone, without joining.

use chorus_core::attention::compose::{Compose, Fragment};
use chorus_core::model::ids::{Timestamp, Uid};
use chorus_core::model::limits::RUN_JOINS;

use crate::lines::Chat;
use crate::report::{Report, share};
use crate::score::{Played, f1};

pub(crate) const CAP_MS: i64 = 30_000;

/// So long after it began a run says its first word.
const RUN_MS: i64 = 10_000;

/// The turns of a conversation's lines: for each line the number of the turn it came out in; and the waits.
struct Turns {
    of: Vec<Option<usize>>,
    waits: Vec<i64>,
}

pub(crate) fn score(set: &[Played<'_>], report: &mut Report) {
    if !set.iter().any(|played| played.chat.seconds) {
        return;
    }
    for (suffix, how) in [("", How::Joining), (".plain", How::Plain)] {
        let merged = Merged::count(set, how);
        let name = |metric: &str| format!("merge.{metric}{suffix}");
        report.figure(&name("absorbed"), share(merged.together, merged.pairs), "share");
        report.figure(&name("precision"), share(merged.right, merged.together), "share");
        report.figure(&name("recall"), share(merged.right, merged.wanted), "share");
        report.figure(&name("f1"), merged.f1(), "f1");
        report.figure(&name("latency_ms"), merged.latency_ms(), "ms");
        report.figure(&name("wait_p50_ms"), merged.wait_ms(50), "ms");
        report.figure(&name("wait_p95_ms"), merged.wait_ms(95), "ms");
    }
    report.figure("merge.window_f1", Merged::count(set, How::Window).f1(), "f1");
    report.absent(
        "merge.f1.people",
        "what belongs together was noted once, and is what is scored against",
    );
}

/// What decides which lines are one turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// The product: the window, and what joins its runs.
    Joining,
    /// The product's window alone.
    Window,
    /// Five seconds of quiet, thirty at most, whatever the text.
    Plain,
}

/// What a window has made of the pairs that are judged, and how long its turns waited.
#[derive(Default)]
pub(crate) struct Merged {
    pub pairs: usize,
    pub wanted: usize,
    together: usize,
    right: usize,
    waits: Vec<i64>,
}

impl Merged {
    pub(crate) fn count(set: &[Played<'_>], how: How) -> Self {
        let mut all = Self::default();
        for played in set.iter().filter(|played| played.chat.seconds) {
            let turns = match how {
                How::Plain => plain_window(played.chat),
                How::Joining => composed(played, usize::from(RUN_JOINS)),
                How::Window => composed(played, 0),
            };
            for (first, second) in consecutive(played.chat) {
                let together = turns.of[first] == turns.of[second];
                let clusters =
                    (played.chat.noted[first].cluster, played.chat.noted[second].cluster);
                let (Some(one), Some(other)) = clusters else { continue };
                all.pairs += 1;
                all.together += usize::from(together);
                all.wanted += usize::from(one == other);
                all.right += usize::from(together && one == other);
            }
            all.waits.extend(turns.waits);
        }
        all
    }

    pub(crate) fn f1(&self) -> f64 {
        f1(self.right, self.together, self.wanted)
    }

    /// The wait that so many of a hundred turns have at most.
    fn wait_ms(&self, percent: usize) -> f64 {
        let mut waits = self.waits.clone();
        waits.sort_unstable();
        let rank = (waits.len() * percent).div_ceil(100).max(1);
        waits.get(rank - 1).copied().unwrap_or_default() as f64
    }

    pub(crate) fn latency_ms(&self) -> f64 {
        self.waits.iter().sum::<i64>() as f64 / self.waits.len().max(1) as f64
    }
}

/// The pairs that are judged.
fn consecutive(chat: &Chat) -> Vec<(usize, usize)> {
    let mut last: Vec<Option<usize>> = vec![None; chat.authors.len()];
    let mut pairs = Vec::new();
    for (at, line) in chat.heard.iter().enumerate() {
        let Some(author) = line.author.filter(|_| line.said) else { continue };
        let before = last[author].replace(at);
        let Some(first) = before.filter(|f| chat.noted[*f].gold && chat.noted[at].gold) else {
            continue;
        };
        let gap = line.at.zip(chat.heard[first].at).map_or(i64::MAX, |(b, a)| b - a);
        let to = |n: usize| chat.noted[n].to.as_deref().unwrap_or_default();
        let answered = (first + 1..at).any(|between| {
            let who = chat.heard[between].author.filter(|_| chat.heard[between].said);
            who.is_some_and(|who| to(first).contains(&who) || to(at).contains(&who))
        });
        if gap <= CAP_MS && !answered {
            pairs.push((first, at));
        }
    }
    pairs
}

/// A run of an author's lines.
#[derive(Clone, Copy)]
struct Run {
    turn: usize,
    /// When it says its first word; later when it is begun again.
    speaks: Timestamp,
    /// How often something has joined it.
    joined: usize,
    /// Something waits in the window to be run with it.
    awaits: bool,
}

/// The product in one room, as far as it decides what is one turn.
struct Composing<'a> {
    chat: &'a Chat,
    compose: Compose<usize, usize>,
    turns: Turns,
    /// The run of each author.
    runs: Vec<Option<Run>>,
    number: usize,
}

impl Composing<'_> {
    /// Takes what is due by `until`; what was closed by `now` itself is due at once.
    fn take(&mut self, until: Timestamp, now: Timestamp) {
        while let Some(due) = self.compose.next_wake().filter(|due| *due <= until) {
            let Some(turn) = self.compose.poll(due.max(Timestamp(0))) else { break };
            let Some(author) = turn.first().map(|f| f.author) else { break };
            let last =
                turn.iter().filter_map(|f| self.chat.heard[f.item].at).max().unwrap_or_default();
            let closed = if due.0 == i64::MIN { now } else { due };
            self.turns.waits.push((closed.0 - last).max(0));
            let speaks = closed.plus(RUN_MS);
            let run = match self.runs[author].filter(|run| run.awaits) {
                Some(run) => Run { speaks, awaits: false, ..run },
                None => {
                    self.number += 1;
                    Run { turn: self.number, speaks, joined: 0, awaits: false }
                }
            };
            self.runs[author] = Some(run);
            turn.iter().for_each(|f| self.turns.of[f.item] = Some(run.turn));
        }
    }

    /// A line of the author comes: it joins the run that has said nothing, if that was not joined too often.
    fn joins(&mut self, author: usize, now: Timestamp, most: usize) {
        let Some(run) = self.runs[author].as_mut().filter(|run| !run.awaits) else { return };
        if now < run.speaks && run.joined < most {
            (run.awaits, run.joined) = (true, run.joined + 1);
        }
    }
}

/// The window of the product, whose runs are joined at most so often.
fn composed(played: &Played<'_>, joins: usize) -> Turns {
    let (chat, decided) = (played.chat, played.decided);
    let mut composing = Composing {
        chat,
        compose: Compose::new(played.compose),
        turns: Turns { of: vec![None; chat.heard.len()], waits: Vec::new() },
        runs: vec![None; chat.authors.len()],
        number: 0,
    };
    let mut last_to: Vec<Option<usize>> = vec![None; chat.authors.len()];
    // When each author last spoke. A line after the one that it is for has answered tells nothing of a habit.
    let mut spoke: Vec<i64> = vec![i64::MIN; chat.authors.len()];
    for (at, line) in chat.heard.iter().enumerate() {
        let (Some(author), Some(ms)) = (line.author.filter(|_| line.said), line.at) else {
            continue;
        };
        let now = Timestamp(ms);
        composing.take(now, now);
        let named = decided[at].as_ref().and_then(|d| d.named.first().copied());
        let names_other = named.is_some() && named != last_to[author];
        last_to[author] = named.or(last_to[author]);
        let to = last_to[author];
        if to.is_some_and(|to| spoke[to] > spoke[author]) {
            composing.compose.answered_to(&author);
        }
        spoke[author] = ms;
        if !names_other {
            composing.joins(author, now, joins);
        }
        let fragment = Fragment {
            id: Uid(at as u128 + 1),
            author,
            text: line.text.clone(),
            posted: Some(now),
            immediate: false,
            names_other,
            item: at,
        };
        composing.compose.push(fragment, now);
        composing.take(Timestamp(i64::MIN), now);
    }
    composing.take(Timestamp(i64::MAX), Timestamp(0));
    composing.turns
}

/// Five seconds of quiet, thirty at most, whatever the text.
fn plain_window(chat: &Chat) -> Turns {
    let mut turns = Turns { of: vec![None; chat.heard.len()], waits: Vec::new() };
    // Of each author: the turn, when it began, and when it would end.
    let mut open: Vec<Option<(usize, i64, i64)>> = vec![None; chat.authors.len()];
    for (at, line) in chat.heard.iter().enumerate() {
        let (Some(author), Some(ms)) = (line.author.filter(|_| line.said), line.at) else {
            continue;
        };
        let (turn, began) = match open[author].filter(|(_, _, closes)| ms < *closes) {
            Some((turn, began, _)) => (turn, began),
            None => {
                turns.waits.push(0);
                (turns.waits.len() - 1, ms)
            }
        };
        let closes = (ms + 5_000).min(began + CAP_MS);
        turns.of[at] = Some(turn);
        turns.waits[turn] = closes - ms;
        open[author] = Some((turn, began, closes));
    }
    turns
}
