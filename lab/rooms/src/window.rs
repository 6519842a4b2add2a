//! Finding the compose window's weights and its price from rooms with seconds in their times.
//!
//! The weights say how likely an author is to go on. What waiting keeps and what it may cost are taken from the rooms
//! that can say when not to merge; the price is the lowest with a mean wait of at most [`LATENCY_MS`].

use std::ops::RangeInclusive;

use chorus_core::attention::compose::{Habit, PACE, SIGNS, Settings, Weights, signs};

use crate::fit::leak;
use crate::lines::{Chat, Set};
use crate::merge::{CAP_MS, Merged, right_gaps};
use crate::replay::Decided;
use crate::score::Played;

/// A conversation with seconds in its times, and how its lines were decided.
pub(crate) type Timed<'a> = (&'a Chat, &'a [Option<Decided>]);

/// The window that does not adapt waits so long.
const LATENCY_MS: f64 = 5_000.0;

/// Paces that are tried, in seconds.
const PACES: RangeInclusive<u8> = 5..=60;

/// Prices that are tried, in ten-thousandths.
const PRICES: RangeInclusive<u16> = 100..=400;

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

/// The window that all rooms but this one give.
pub(crate) fn crossed(sets: &[Set], timed: &[Timed<'_>], chat: &Chat) -> Settings {
    if !chat.seconds {
        return Settings::default();
    }
    let weights = leak(fit(sets, |other| other.conv == chat.conv));
    let others: Vec<_> = timed.iter().filter(|(c, _)| c.conv != chat.conv).copied().collect();
    let window = price(&others, weights);
    eprintln!("without {}: pace {}, price {:.4}", chat.conv, window.pace, window.price);
    window
}

/// The window that the rooms give, with these weights.
pub(crate) fn price(rooms: &[Timed<'_>], weights: &'static Weights) -> Settings {
    let judging: Vec<_> = rooms.iter().filter(|room| judges(**room)).copied().collect();
    let window = Settings { weights, pace: pace(&judging), ..Settings::default() };
    let at = |price: u16| {
        let mut window = window;
        window.price = f32::from(price) / 10_000.0;
        window
    };
    let fits = |window: &Settings| {
        let played: Vec<_> = judging.iter().map(|room| played(*room, *window)).collect();
        Merged::count(&played, false).latency_ms() <= LATENCY_MS
    };
    PRICES.step_by(5).map(at).find(fits).unwrap_or(window)
}

/// How soon the second of two comes that belong together: that with which the gaps are likeliest, which is the one
/// with their mean.
fn pace(rooms: &[Timed<'_>]) -> f32 {
    let gaps: Vec<i64> = rooms.iter().flat_map(|(chat, _)| right_gaps(chat)).collect();
    if gaps.is_empty() {
        return PACE;
    }
    let cap = CAP_MS as f32 / 1_000.0;
    let mean = gaps.iter().sum::<i64>() as f32 / 1_000.0 / gaps.len() as f32;
    let mean_of = |pace: f32| pace - cap / ((cap / pace).exp() - 1.0);
    let paces = PACES.map(f32::from);
    paces
        .min_by(|a, b| (mean_of(*a) - mean).abs().total_cmp(&(mean_of(*b) - mean).abs()))
        .unwrap_or(PACE)
}

fn played<'a>((chat, decided): Timed<'a>, compose: Settings) -> Played<'a> {
    Played { chat, agents: Vec::new(), decided, compose }
}

/// Whether a room can say when not to merge: at least one of a hundred pairs is none.
fn judges(room: Timed<'_>) -> bool {
    let merged = Merged::count(&[played(room, Settings::default())], true);
    (merged.pairs - merged.wanted) * 100 >= merged.pairs.max(1)
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
