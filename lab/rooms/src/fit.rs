//! Finding the weights of the flow of talk from rooms whose addressees were noted.
//!
//! A line that names nobody is a choice among those who take part, and nobody; the weights make the noted choices as
//! likely as can be (a conditional logit, by gradient steps of falling size). What a line was taken to be for is part
//! of what later lines are read against, so the rooms are replayed with the weights found, a few times; at first names
//! alone are heard, so that nothing of the weights there are comes into those that are found.

use chorus_core::model::flow::weights::{SIGNS, Sign};
use chorus_core::model::flow::{Clues, Settings};

use crate::lines::{Chat, Set};
use crate::replay::{Replay, key};

pub(crate) type Weights = [f32; SIGNS];

/// One line: the signs of each choice, and which choices are right.
struct Choice {
    signs: Vec<Weights>,
    right: Vec<bool>,
}

const ROUNDS: usize = 4;
const EPOCHS: usize = 12;
const STEP: f32 = 0.1;
/// Holds weights that few lines speak for near 0.
const PULL: f32 = 3e-4;

/// The conversations with noted addressees.
pub(crate) fn rooms(sets: &[Set]) -> Vec<(&Set, &Chat)> {
    let all = sets.iter().flat_map(|set| set.chats.iter().map(move |chat| (set, chat)));
    all.filter(|(_, chat)| chat.noted.iter().any(|noted| noted.to.is_some())).collect()
}

/// The weights that the rooms give.
pub(crate) fn fit(rooms: &[(&Set, &Chat)], off: Clues) -> Result<Weights, String> {
    let mut weights = [0.0; SIGNS];
    for round in 0..ROUNDS {
        let flow = Settings { on: round > 0, off, weights: leak(weights), ..Settings::default() };
        let mut choices = Vec::new();
        for (_, chat) in rooms {
            choices.extend(of(chat, flow)?);
        }
        weights = climb(&choices);
    }
    Ok(weights)
}

/// The table as `core/src/attention/flow/weights.rs` has it.
pub(crate) fn table(weights: &Weights) -> String {
    let line = |sign: Sign| {
        format!("    {}: {:?}, {:.2};", sign.name(), sign.clue(), weights[sign as usize])
    };
    let lines: Vec<String> = Sign::ALL.into_iter().map(line).collect();
    format!("signs! {{\n{}\n}}", lines.join("\n"))
}

/// Weights live as long as the program: there are a few dozen in all.
pub(crate) fn leak<const N: usize>(weights: [f32; N]) -> &'static [f32; N] {
    Box::leak(Box::new(weights))
}

fn of(chat: &Chat, flow: Settings) -> Result<Vec<Choice>, String> {
    let mut choices = Vec::new();
    let mut replay = Replay::new(&chat.authors, &Default::default(), 0, flow)?;
    replay.weigh(&chat.heard, |at, decided, weighed| {
        let noted = &chat.noted[at];
        let Some(to) = noted.to.as_ref().filter(|_| noted.gold && decided.named.is_empty()) else {
            return;
        };
        let right = |n: usize| match weighed.member(n) {
            Some(member) => to.iter().any(|who| *who < chat.authors.len() && key(*who) == member),
            None => to.is_empty(),
        };
        let signs = weighed.signs().to_vec();
        let right: Vec<bool> = (0..signs.len()).map(right).collect();
        if right.contains(&true) {
            choices.push(Choice { signs, right });
        }
    });
    Ok(choices)
}

fn climb(choices: &[Choice]) -> Weights {
    let mut weights = [0.0f32; SIGNS];
    let mut moved = [1e-3f32; SIGNS];
    // A fixed stride visits every line once an epoch, rooms mixed, the same in every run.
    let stride = (1..).map(|n| 7_919 + n).find(|n| gcd(*n, choices.len().max(1)) == 1).unwrap_or(1);
    for epoch in 0..EPOCHS {
        for n in 0..choices.len() {
            let choice = &choices[(n * stride + epoch) % choices.len()];
            step(choice, &mut weights, &mut moved);
        }
    }
    weights
}

fn step(choice: &Choice, weights: &mut Weights, moved: &mut Weights) {
    let score = |signs: &Weights| -> f32 { signs.iter().zip(&*weights).map(|(s, w)| s * w).sum() };
    let scores: Vec<f32> = choice.signs.iter().map(score).collect();
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let odds: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
    let all: f32 = odds.iter().sum();
    let right: f32 = odds.iter().zip(&choice.right).filter(|(_, r)| **r).map(|(o, _)| o).sum();
    let mut slope = [0.0f32; SIGNS];
    for ((signs, odds), is_right) in choice.signs.iter().zip(&odds).zip(&choice.right) {
        let wanted = if *is_right { odds / right } else { 0.0 };
        let off = odds / all - wanted;
        slope.iter_mut().zip(signs).for_each(|(slope, sign)| *slope += off * sign);
    }
    for n in 0..SIGNS {
        let slope = slope[n] + PULL * weights[n];
        moved[n] += slope * slope;
        weights[n] -= STEP * slope / moved[n].sqrt();
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
