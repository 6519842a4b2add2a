//! `bench scale`: on a database, two hosts of which one owns the workspace ([`hosts`]); many workspaces of one host
//! ([`workspaces`]); with `--simulate`, many workspaces of many hosts, which are computed and not measured ([`simulation`]).

pub(super) mod hosts;
pub(super) mod simulation;
pub(super) mod workspaces;

use super::Plan;
use super::peers::Base;
use super::report::{Figure, Samples};

/// Measures two hosts on a database, and then many workspaces there.
pub(super) fn on_database(plan: &Plan, base: &Base) -> Result<(), String> {
    let two_hosts = hosts::run(plan, base);
    two_hosts.and(workspaces::on_database(plan, base))
}

/// Measures round by round, and prints the lines.
fn rounds(
    plan: &Plan,
    figures: &[Figure],
    database: &str,
    round: impl Fn(&mut Samples) -> Result<(), String>,
) -> Result<(), String> {
    let mut samples = Samples::default();
    for number in 1..=plan.rounds {
        eprintln!("round {number} of {}", plan.rounds);
        if let Err(why) = round(&mut samples) {
            samples.failed("round", &why);
        }
    }
    samples.print(figures, Some(database));
    match samples.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(failures.join("; ")),
    }
}

fn p99(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() * 99 / 100).copied().unwrap_or(f64::NAN)
}
