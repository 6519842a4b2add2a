//! The compose window over real pauses: which lines of one author become one turn.
//!
//! Pairs are consecutive lines of one author with at most 30 s between them and no line of whom they are directed at
//! in between; a pair is right when both belong to one noted conversation. Precision is over merged pairs, recall
//! over right ones, and latency is the mean time from a turn's last line until its window closes.

use chorus_core::attention::compose::{Compose, Fragment, Habit, SIGNS, Settings, Weights, signs};
use chorus_core::ids::{Timestamp, Uid};

use crate::lines::{Chat, Set};
use crate::report::{Report, share};
use crate::score::{Played, f1};

const CAP_MS: i64 = 30_000;

/// The turns of a conversation's lines: for each line the number of the turn it came out in; and the waits.
struct Turns {
    of: Vec<Option<usize>>,
    waits: Vec<i64>,
}

pub(crate) fn score(set: &[Played<'_>], report: &mut Report) {
    let timed: Vec<_> = set.iter().filter(|played| played.chat.seconds).collect();
    if timed.is_empty() {
        return;
    }
    for (suffix, plain) in [("", false), (".plain", true)] {
        let (mut pairs, mut merged, mut wanted, mut right) = (0, 0, 0, 0);
        let mut waits = Vec::new();
        for played in &timed {
            let turns = if plain { plain_window(played.chat) } else { composed(played) };
            for (first, second) in consecutive(played.chat) {
                let together = turns.of[first] == turns.of[second];
                let clusters =
                    (played.chat.noted[first].cluster, played.chat.noted[second].cluster);
                let (Some(one), Some(other)) = clusters else { continue };
                pairs += 1;
                merged += usize::from(together);
                wanted += usize::from(one == other);
                right += usize::from(together && one == other);
            }
            waits.extend(turns.waits);
        }
        let name = |metric: &str| format!("merge.{metric}{suffix}");
        report.figure(&name("absorbed"), share(merged, pairs), "share");
        report.figure(&name("precision"), share(right, merged), "share");
        report.figure(&name("recall"), share(right, wanted), "share");
        report.figure(&name("f1"), f1(right, merged, wanted), "f1");
        let mean = waits.iter().sum::<i64>() as f64 / waits.len().max(1) as f64;
        report.figure(&name("latency_ms"), mean, "ms");
    }
    report.absent(
        "merge.f1.people",
        "what belongs together was noted once, and is what is scored against",
    );
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

/// Steps of the fit; it has settled long before.
const STEPS: usize = 2_000;
const STEP: f32 = 2.0;

/// The window's weights that the rooms give, but for those that `leave` names: how likely an author goes on within the
/// cap, by the signs of each line (a logistic regression).
pub(crate) fn fit(sets: &[Set], leave: impl Fn(&Chat) -> bool) -> Weights {
    let mut lines: Vec<(Weights, f32)> = Vec::new();
    for chat in sets.iter().flat_map(|set| &set.chats).filter(|chat| chat.seconds && !leave(chat)) {
        lines.extend(went_on(chat));
    }
    let mut weights = [0.0f32; SIGNS];
    for _ in 0..STEPS {
        let mut slope = [0.0f32; SIGNS];
        for (signs, went_on) in &lines {
            let odds: f32 = signs.iter().zip(&weights).map(|(s, w)| s * w).sum();
            let off = 1.0 / (1.0 + (-odds).exp()) - went_on;
            slope.iter_mut().zip(signs).for_each(|(slope, sign)| *slope += off * sign);
        }
        let step = STEP / lines.len().max(1) as f32;
        weights.iter_mut().zip(slope).for_each(|(weight, slope)| *weight -= step * slope);
    }
    weights
}

/// The window with the weights that all rooms but this one give.
pub(crate) fn crossed(sets: &[Set], chat: &Chat) -> Settings {
    if !chat.seconds {
        return Settings::default();
    }
    let weights = fit(sets, |other| other.conv == chat.conv);
    Settings { weights: Box::leak(Box::new(weights)), ..Settings::default() }
}

/// Each line's signs, as the window has them when the line comes, and 1 where its author went on within the cap.
fn went_on(chat: &Chat) -> Vec<(Weights, f32)> {
    let mut lines: Vec<(Weights, f32)> = Vec::new();
    // Of each author: the last line's place in `lines` and its time, and the habit.
    let mut last: Vec<Option<(usize, i64)>> = vec![None; chat.authors.len()];
    let mut habits = vec![Habit::default(); chat.authors.len()];
    for line in chat.heard.iter().filter(|line| line.said) {
        let (Some(author), Some(ms)) = (line.author, line.at) else { continue };
        if let Some((before, then)) = last[author].replace((lines.len(), ms)) {
            habits[author].note(ms - then);
            if ms - then <= CAP_MS {
                lines[before].1 = 1.0;
            }
        }
        lines.push((signs(&line.text, habits[author]), 0.0));
    }
    lines
}
