//! Who talks when: workspaces whose rates follow Zipf's law, in time zones around the world.
//!
//! A day has steps of five minutes, the time after which a workspace that nobody uses is closed. What happens in a step is a
//! function of the seed, the workspace and the step, so that it can be asked for in any order and is always the same.

use super::Scenario;
use crate::crash::chance::Chance;

/// Steps of a day.
pub(super) const STEPS: usize = 288;
/// Seconds of a step.
pub(super) const STEP: f64 = 300.0;

/// How much people write in each hour of their day, relative to the other hours. An assumption.
const HOURS: [f64; 24] = [
    2.0, 1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 9.0, 17.0, 22.0, 23.0, 21.0, 16.0, 20.0, 22.0, 21.0, 18.0,
    12.0, 8.0, 6.0, 6.0, 5.0, 4.0, 3.0,
];

/// Hours from UTC, and how many of a hundred workspaces are there. An assumption.
const ZONES: [(usize, u64); 7] = [(16, 10), (19, 20), (21, 5), (1, 30), (5, 15), (8, 15), (10, 5)];

/// All workspaces; the first one is the busiest.
pub(super) struct Population {
    seed: u64,
    /// Messages that somebody writes at one sitting.
    per_visit: f64,
    /// Visits in a step, as a mean over the day.
    visits: Vec<f64>,
    /// How much each zone writes in each step; the mean of a day is 1.
    weights: Vec<Vec<f64>>,
    zones: Vec<usize>,
    /// Those in which an agent or a page stays connected.
    kept_open: Vec<bool>,
}

/// A day of all workspaces, step by step.
pub(super) struct Day {
    /// Workspaces that are open.
    pub(super) open: Vec<usize>,
    /// Workspaces that are opened.
    pub(super) opened: Vec<usize>,
    /// Messages a second.
    pub(super) messages: Vec<f64>,
}

impl Population {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let shares = (1..=scenario.workspaces).map(|rank| (rank as f64).powf(-scenario.zipf));
        let all: f64 = shares.clone().sum();
        let visits_a_step = scenario.messages / scenario.per_visit / STEPS as f64;
        let mean = HOURS.iter().sum::<f64>() / 24.0;
        let at = |zone: usize, step: usize| HOURS[(step * 24 / STEPS + zone) % 24] / mean;
        let weights = |(zone, _): (usize, u64)| (0..STEPS).map(|step| at(zone, step)).collect();
        let mut population = Self {
            seed: Chance::new(scenario.seed).within(0..u64::MAX),
            per_visit: scenario.per_visit,
            visits: shares.map(|share| share / all * visits_a_step).collect(),
            weights: ZONES.map(weights).to_vec(),
            zones: Vec::new(),
            kept_open: Vec::new(),
        };
        let names = 0..scenario.workspaces;
        population.zones = names.clone().map(|name| zone(population.draw(name, STEPS))).collect();
        population.kept_open =
            names.map(|name| population.draw(name, STEPS + 1) < scenario.kept_open).collect();
        population
    }

    pub(super) fn len(&self) -> usize {
        self.visits.len()
    }

    /// Whether it is in memory at some time of the step: it is used in this step or was in the one before.
    pub(super) fn is_open(&self, workspace: usize, step: usize) -> bool {
        self.kept_open[workspace]
            || self.is_used(workspace, step)
            || self.is_used(workspace, (step + STEPS - 1) % STEPS)
    }

    /// Messages a second in this step. Their mean over many seeds is the rate of the workspace.
    pub(super) fn messages(&self, workspace: usize, step: usize) -> f64 {
        let visits = self.visits(workspace, step);
        let chance = used(visits);
        match self.draw(workspace, step) < chance {
            true => visits / chance * self.per_visit / STEP,
            false => 0.0,
        }
    }

    /// Those that are open in a step, in an order that has nothing to do with how busy they are.
    pub(super) fn open_at(&self, step: usize) -> Vec<usize> {
        let mut open: Vec<usize> =
            (0..self.len()).filter(|name| self.is_open(*name, step)).collect();
        open.sort_by_key(|name| (Chance::new(self.seed ^ *name as u64).within(0..u64::MAX), *name));
        open
    }

    pub(super) fn day(&self) -> Day {
        let mut day =
            Day { open: vec![0; STEPS], opened: vec![0; STEPS], messages: vec![0.0; STEPS] };
        for name in 0..self.len() {
            let mut before = self.is_open(name, STEPS - 1);
            let mut was_used = self.is_used(name, STEPS - 1);
            for step in 0..STEPS {
                let messages = self.messages(name, step);
                let is_used = messages > 0.0;
                let open = self.kept_open[name] || is_used || was_used;
                day.open[step] += usize::from(open);
                day.opened[step] += usize::from(open && !before);
                day.messages[step] += messages;
                (before, was_used) = (open, is_used);
            }
        }
        day
    }

    fn is_used(&self, workspace: usize, step: usize) -> bool {
        self.draw(workspace, step) < used(self.visits(workspace, step))
    }

    fn visits(&self, workspace: usize, step: usize) -> f64 {
        self.visits[workspace] * self.weights[self.zones[workspace]][step]
    }

    /// A number from 0 to 1 that is always the same for this workspace and step.
    fn draw(&self, workspace: usize, step: usize) -> f64 {
        let key = (workspace * 2 * STEPS + step) as u64;
        Chance::new(self.seed.wrapping_add(key)).within(0..1 << 53) as f64 / (1_u64 << 53) as f64
    }
}

/// The chance that somebody comes when so many visits are expected (Poisson).
fn used(visits: f64) -> f64 {
    -(-visits).exp_m1()
}

/// The zone of a number from 0 to 1.
fn zone(drawn: f64) -> usize {
    let mut left = drawn * 100.0;
    let found = ZONES.iter().position(|(_, share)| {
        left -= *share as f64;
        left < 0.0
    });
    found.unwrap_or(0)
}
