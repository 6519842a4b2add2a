//! The figures of a scenario.

use super::fleet::{Fleet, Place};
use super::load::{Day, Population, STEP, STEPS};
use super::{COSTS, Scenario};
use crate::bench::scale::p99;

/// What a host has: costs were measured on as many.
const CORES: f64 = 2.0;
/// The most that `workspaces.open` may be.
const MOST_OPEN: f64 = 10_000.0;
/// How full a host is to be at most: the rest is for peaks within five minutes and for a host that is lost.
const FULL: f64 = 0.7;
/// Steps of an hour.
const HOUR: usize = STEPS / 24;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) metric: &'static str,
    pub(super) value: f64,
    pub(super) unit: &'static str,
    /// What it would be if nothing were moved needlessly.
    pub(super) ideal: Option<f64>,
}

/// Everything that is computed for a scenario.
pub(super) fn figures(scenario: &Scenario, place: Place) -> Result<Vec<Line>, String> {
    let population = Population::new(scenario);
    let day = population.day();
    let peak = (0..STEPS).max_by_key(|step| day.open[*step]).unwrap_or(0);
    let need = Need::of(scenario, &day);
    let mut lines = need.lines(scenario, &population, &day);
    // There is one more name, for a host that joins.
    let names: Vec<String> = (0..=need.hosts()).map(|number| format!("host-{number}")).collect();
    let hosts = &names[..need.hosts()];
    let open = population.open_at(peak);
    let now = Fleet::new(place, hosts, population.len()).with(&open);
    lines.extend(level(scenario, &population, &now, peak));
    lines.extend(join(&population, place, &names, &now, peak));
    let fewer = Fleet::new(place, &hosts[1..], population.len()).with(&open);
    let ideal = 1.0 / hosts.len() as f64;
    lines.push(Line::new("leave.moved", now.moved(&fewer), "share").over(ideal));
    lines.extend(lost(&now)?);
    Ok(lines)
}

impl Line {
    const fn new(metric: &'static str, value: f64, unit: &'static str) -> Self {
        Self { metric, value, unit, ideal: None }
    }

    const fn over(mut self, ideal: f64) -> Self {
        self.ideal = Some(ideal);
        self
    }
}

/// What the busiest five minutes take.
struct Need {
    posts: f64,
    open: f64,
    opened: f64,
    host_mb: f64,
}

impl Need {
    fn of(scenario: &Scenario, day: &Day) -> Self {
        let most = |of: &[usize]| of.iter().copied().max().unwrap_or(0) as f64;
        Self {
            posts: day.messages.iter().copied().fold(0.0, f64::max) * scenario.burst,
            open: most(&day.open),
            opened: most(&day.opened) / STEP,
            host_mb: scenario.host_gb * 1_000.0,
        }
    }

    fn for_cpu(&self) -> f64 {
        // Nearly every request comes to a host that does not own the workspace.
        cores(self.posts * COSTS.forwarded, self.opened) / (CORES * FULL)
    }

    fn for_memory(&self) -> f64 {
        self.open * COSTS.open_mb / (self.host_mb * FULL)
    }

    fn for_open(&self) -> f64 {
        self.open / MOST_OPEN
    }

    /// How many hosts there are to be: two at least, and one of them may be lost.
    fn hosts(&self) -> usize {
        let most = self.for_cpu().max(self.for_memory()).max(self.for_open());
        most.ceil().max(2.0) as usize + 1
    }

    fn lines(&self, scenario: &Scenario, population: &Population, day: &Day) -> Vec<Line> {
        let carried = day.messages.iter().sum::<f64>() * STEP;
        let first = (0..STEPS).map(|step| population.messages(0, step)).fold(0.0, f64::max);
        let mean = scenario.messages / (STEP * STEPS as f64);
        vec![
            Line::new("workspaces", population.len() as f64, "workspaces"),
            Line::new("messages", carried, "messages/day"),
            Line::new("posts.mean", mean, "posts/s"),
            Line::new("posts.peak", self.posts, "posts/s"),
            Line::new("posts.busiest_workspace", first * scenario.burst, "posts/s"),
            Line::new("open.peak", self.open, "workspaces"),
            Line::new("open.share", self.open / population.len() as f64, "share"),
            Line::new("opened.peak", self.opened, "workspaces/s"),
            Line::new("hosts.for_cpu", self.for_cpu(), "hosts"),
            Line::new("hosts.for_memory", self.for_memory(), "hosts"),
            Line::new("hosts.for_open", self.for_open(), "hosts"),
            Line::new("hosts.needed", self.hosts() as f64, "hosts"),
        ]
    }
}

/// Cores that so many posts and openings a second take.
fn cores(posts: f64, opened: f64) -> f64 {
    posts / COSTS.posts * CORES + opened * COSTS.open_s
}

/// How evenly the hosts have workspaces, work and memory.
fn level(
    scenario: &Scenario,
    population: &Population,
    fleet: &Fleet<'_>,
    peak: usize,
) -> Vec<Line> {
    let owned = fleet.owned();
    let hosts = owned.len() as f64;
    // Any host may be asked, so that all but one of as many requests as there are hosts are passed on.
    let posts = 1.0 + (COSTS.forwarded - 1.0) * (hosts - 1.0) / hosts;
    let before = (peak + STEPS - 1) % STEPS;
    let work = fleet.sums(|workspace| {
        let opened = if population.is_open(workspace, before) { 0.0 } else { 1.0 / STEP };
        cores(population.messages(workspace, peak) * scenario.burst * posts, opened)
    });
    let busiest = most(&work) / CORES;
    let memory =
        most(&owned) * COSTS.open_mb / 1_000.0 + population.len() as f64 * COSTS.idle_bytes / 1e9;
    vec![
        Line::new("owned.max_over_mean", most(&owned) / mean(&owned), "ratio"),
        Line::new("owned.min_over_mean", least(&owned) / mean(&owned), "ratio"),
        Line::new("load.max_over_mean", most(&work) / mean(&work), "ratio"),
        Line::new("load.busiest", busiest, "share of a host"),
        Line::new("memory.fullest", memory, "GB"),
        Line::new("carried", scenario.messages / busiest, "messages/day"),
    ]
}

/// What a host that joins gets, and when.
fn join(
    population: &Population,
    place: Place,
    names: &[String],
    now: &Fleet<'_>,
    peak: usize,
) -> Vec<Line> {
    let more = Fleet::new(place, names, population.len()).with(&population.open_at(peak));
    let ideal = 1.0 / names.len() as f64;
    vec![
        Line::new("join.moved", now.moved(&more), "share").over(ideal),
        Line::new("join.after_1h", after_an_hour(population, names, now.clone(), peak), "ratio"),
    ]
}

/// What a host that joins owns after an hour, over the mean, when it gets only what is opened from now on.
fn after_an_hour<'a>(
    population: &Population,
    names: &'a [String],
    mut fleet: Fleet<'a>,
    peak: usize,
) -> f64 {
    let Some(newcomer) = names.last() else { return f64::NAN };
    fleet.join(newcomer);
    for step in (peak + 1)..=(peak + HOUR) {
        let is_open: Vec<bool> =
            (0..population.len()).map(|name| population.is_open(name, step % STEPS)).collect();
        for name in (0..population.len()).filter(|name| !is_open[*name]) {
            fleet.close(name);
        }
        for name in (0..population.len()).filter(|name| is_open[*name]) {
            if !fleet.owns(name) {
                fleet.open(name);
            }
        }
    }
    let owned = fleet.owned();
    owned.last().copied().unwrap_or(f64::NAN) / mean(&owned)
}

/// What becomes of the workspaces of the fullest host when it is gone. All are wanted at once, which is the worst case.
fn lost(now: &Fleet<'_>) -> Result<Vec<Line>, String> {
    let mut fleet = now.clone();
    let gone = fleet.largest().ok_or("there is no host")?;
    let (open, moved) = (now.owned().iter().sum::<f64>(), fleet.leave(gone));
    // Each host opens as many at a time as it has cores, in the order in which they come.
    let mut opening = vec![0.0; fleet.hosts().len()];
    let mut waits = Vec::new();
    for workspace in &moved {
        let at = fleet.open(*workspace).ok_or("no host is chosen")?;
        opening[at] += 1.0;
        waits.push((opening[at] / CORES).ceil() * COSTS.open_s);
    }
    let owned = fleet.owned();
    let (longest, most_of_them) = (most(&waits), p99(waits));
    Ok(vec![
        Line::new("lost.moved", moved.len() as f64 / open, "share")
            .over(1.0 / now.hosts().len() as f64),
        Line::new("lost.owned.max_over_mean", most(&owned) / mean(&owned), "ratio"),
        Line::new("lost.pause_p99_s", COSTS.lease_s + most_of_them, "s"),
        Line::new("lost.pause_max_s", COSTS.lease_s + longest, "s"),
        Line::new("drained.pause_p99_s", most_of_them, "s"),
        Line::new("drained.pause_max_s", longest, "s"),
    ])
}

fn most(of: &[f64]) -> f64 {
    of.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn least(of: &[f64]) -> f64 {
    of.iter().copied().fold(f64::INFINITY, f64::min)
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len().max(1) as f64
}
