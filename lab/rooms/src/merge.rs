//! The compose window over real pauses: which lines of one author become one turn.
//!
//! Pairs are consecutive lines of one author with at most 30 s between them and no line of whom they are directed at
//! in between; a pair is right when both belong to one noted conversation. Precision is over merged pairs, recall
//! over right ones, and latency is the mean time from a turn's last line until its window closes.

use chorus_core::attention::compose::{Compose, Fragment};
use chorus_core::ids::{Timestamp, Uid};

use crate::lines::Chat;
use crate::report::{Report, share};
use crate::score::{Played, f1};

pub(crate) const CAP_MS: i64 = 30_000;

/// The turns of a conversation's lines: for each line the number of the turn it came out in; and the waits.
struct Turns {
    of: Vec<Option<usize>>,
    waits: Vec<i64>,
}

pub(crate) fn score(set: &[Played<'_>], report: &mut Report) {
    if !set.iter().any(|played| played.chat.seconds) {
        return;
    }
    for (suffix, plain) in [("", false), (".plain", true)] {
        let merged = Merged::count(set, plain);
        let name = |metric: &str| format!("merge.{metric}{suffix}");
        report.figure(&name("absorbed"), share(merged.together, merged.pairs), "share");
        report.figure(&name("precision"), share(merged.right, merged.together), "share");
        report.figure(&name("recall"), share(merged.right, merged.wanted), "share");
        report.figure(&name("f1"), merged.f1(), "f1");
        report.figure(&name("latency_ms"), merged.latency_ms(), "ms");
    }
    report.absent(
        "merge.f1.people",
        "what belongs together was noted once, and is what is scored against",
    );
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
    pub(crate) fn count(set: &[Played<'_>], plain: bool) -> Self {
        let mut all = Self::default();
        for played in set.iter().filter(|played| played.chat.seconds) {
            let turns = if plain { plain_window(played.chat) } else { composed(played) };
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

    pub(crate) fn latency_ms(&self) -> f64 {
        self.waits.iter().sum::<i64>() as f64 / self.waits.len().max(1) as f64
    }
}

/// How long after the first the second of each pair that belongs together came.
pub(crate) fn right_gaps(chat: &Chat) -> Vec<i64> {
    let cluster = |at: usize| chat.noted[at].cluster;
    let right = |(a, b): &(usize, usize)| cluster(*a).is_some() && cluster(*a) == cluster(*b);
    let gap = |(a, b): (usize, usize)| Some(chat.heard[b].at? - chat.heard[a].at?);
    consecutive(chat).into_iter().filter(right).filter_map(gap).collect()
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

/// The window of the product.
fn composed(played: &Played<'_>) -> Turns {
    let (chat, decided) = (played.chat, played.decided);
    let mut compose: Compose<usize, usize> = Compose::new(played.compose);
    let mut turns = Turns { of: vec![None; chat.heard.len()], waits: Vec::new() };
    let mut last_to: Vec<Option<usize>> = vec![None; chat.authors.len()];
    // What is due by `until`; what was closed by `now` itself is due at once.
    let mut take = |compose: &mut Compose<usize, usize>, until: Timestamp, now: Timestamp| {
        while let Some(due) = compose.next_wake().filter(|due| *due <= until) {
            let Some(turn) = compose.poll(due.max(Timestamp(0))) else { break };
            let number = turns.waits.len();
            let last = turn.iter().filter_map(|f| chat.heard[f.item].at).max().unwrap_or_default();
            let closed = if due.0 == i64::MIN { now } else { due };
            turns.waits.push((closed.0 - last).max(0));
            turn.iter().for_each(|fragment| turns.of[fragment.item] = Some(number));
        }
    };
    for (at, line) in chat.heard.iter().enumerate() {
        let (Some(author), Some(ms)) = (line.author.filter(|_| line.said), line.at) else {
            continue;
        };
        let now = Timestamp(ms);
        take(&mut compose, now, now);
        let named = decided[at].as_ref().and_then(|d| d.named.first().copied());
        let names_other = named.is_some() && named != last_to[author];
        last_to[author] = named.or(last_to[author]);
        let fragment = Fragment {
            id: Uid(at as u128 + 1),
            author,
            text: line.text.clone(),
            immediate: false,
            names_other,
            item: at,
        };
        compose.push(fragment, now);
        take(&mut compose, Timestamp(i64::MIN), now);
    }
    take(&mut compose, Timestamp(i64::MAX), Timestamp(0));
    turns
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
