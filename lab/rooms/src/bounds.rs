//! The bounds of the flow of talk: from how likely a guess is a turn, from where on a knock, and when a question is
//! some person's. They are chosen from rooms whose addressees were noted, as the weights are, by two aims; from how sure
//! a guess obliges (`sure`) is settled, not found:
//!
//! - `likely` and `perhaps`: what they are worth ([`worth`]). A turn that is right is worth 1, one that is wrong costs half
//!   of that; a knock is worth half a turn and costs a third of one. Were every guess as likely right as it says, 40 and
//!   25 percent would be best: they stay, unless the rooms say that others are worth half a percent more.
//! - `somebodys`: the fewest turns with which 96 of a hundred questions to nobody are given to an agent, which is one
//!   more than must be, for the rooms that were not seen.

use std::collections::HashMap;

use chorus_core::attention::compose;
use chorus_core::model::flow::Settings;

use crate::fit;
use crate::lines::{Chat, Set};
use crate::replay::Replay;
use crate::score::{AGENTS, Merit, Played};

/// Settings by set and conversation.
pub(crate) type Crossed = HashMap<(String, String), Settings>;

/// The first of nearly the same merit is taken.
const LIKELY: [u8; 6] = [40, 45, 35, 50, 30, 55];
const PERHAPS: [u8; 4] = [25, 30, 20, 15];
const SOMEBODYS: [u8; 6] = [50, 55, 60, 65, 75, 85];

/// So much of the most merit is as good as nothing.
const NEARLY: f64 = 0.005;

/// Of a hundred questions to nobody so many must be given to an agent.
const ANSWERED: f64 = 0.96;

/// The bounds that are found.
pub(crate) struct Found {
    pub likely: u8,
    pub perhaps: u8,
    pub somebodys: u8,
}

impl Found {
    pub(crate) fn of(flow: &Settings) -> Self {
        Self { likely: flow.likely, perhaps: flow.perhaps, somebodys: flow.somebodys }
    }
}

/// For each room the weights and bounds that all others give.
pub(crate) fn crossed(sets: &[Set], usual: Settings) -> Result<Crossed, String> {
    let rooms = fit::rooms(sets);
    let mut settings = Crossed::new();
    for (set, chat) in &rooms {
        let others: Vec<_> = rooms.iter().filter(|(_, c)| c.conv != chat.conv).copied().collect();
        let weights = fit::leak(fit::fit(&others, usual.off)?);
        let flow = fit(&others, Settings { weights, ..usual })?;
        let Found { likely, perhaps, somebodys } = Found::of(&flow);
        let conv = &chat.conv;
        eprintln!("without {conv}: likely {likely}, perhaps {perhaps}, somebodys {somebodys}");
        settings.insert((set.name.clone(), chat.conv.clone()), flow);
    }
    Ok(settings)
}

/// The bounds that the rooms give, with these weights.
pub(crate) fn fit(rooms: &[(&Set, &Chat)], flow: Settings) -> Result<Settings, String> {
    let likely = LIKELY
        .map(|likely| with(flow, |f| (f.likely, f.perhaps) = (likely, f.perhaps.min(likely))));
    let flow = best(rooms, &likely, worth)?;
    let perhaps = PERHAPS.map(|perhaps| with(flow, |f| f.perhaps = perhaps.min(f.likely)));
    let flow = best(rooms, &perhaps, worth)?;
    let somebodys = SOMEBODYS.map(|bound| with(flow, |f| f.somebodys = bound));
    best(rooms, &somebodys, enough)
}

/// What the turns and knocks are worth, in turns.
fn worth(merit: &Merit) -> f64 {
    let of = |right: usize, all: usize, gain: f64, cost: f64| {
        gain * right as f64 - cost * (all - right) as f64
    };
    of(merit.right, merit.turns, 1.0, 1.0 / 2.0)
        + of(merit.knocked_right, merit.knocks, 1.0 / 2.0, 1.0 / 6.0)
}

/// Enough questions are given to an agent; of bounds that do that the first is the one with the fewest turns.
fn enough(merit: &Merit) -> f64 {
    if merit.answered < ANSWERED { merit.answered } else { 2.0 }
}

fn with(mut flow: Settings, change: impl Fn(&mut Settings)) -> Settings {
    change(&mut flow);
    flow
}

/// The first settings with nearly the most merit.
fn best(
    rooms: &[(&Set, &Chat)],
    choices: &[Settings],
    merit: fn(&Merit) -> f64,
) -> Result<Settings, String> {
    let merits = choices.iter().map(|choice| Ok(merit(&of(rooms, *choice)?)));
    let merits = merits.collect::<Result<Vec<f64>, String>>()?;
    let most = merits.iter().copied().fold(f64::MIN, f64::max);
    let nearly = merits.iter().position(|merit| *merit >= most - NEARLY * most.abs());
    Ok(nearly.map_or_else(Settings::default, |at| choices[at]))
}

fn of(rooms: &[(&Set, &Chat)], flow: Settings) -> Result<Merit, String> {
    let mut all = Vec::new();
    for (_, chat) in rooms {
        let agents = chat.most_active(AGENTS);
        let seats = agents.iter().copied().collect();
        let decided = Replay::new(&chat.authors, &seats, 0, flow)?.play(&chat.heard);
        all.push((chat, agents, decided));
    }
    let played = all.iter().map(|(chat, agents, decided)| Played {
        chat,
        agents: agents.clone(),
        decided,
        compose: compose::Settings::default(),
    });
    Ok(Merit::of(&played.collect::<Vec<_>>()))
}
