//! `bench webhook`: what is posted to agents behind connection strings, on loopback.
//!
//! `deliver.e1`, `.e100` and `.e1000` are deliveries a second to so many endpoints ([`deliver`]): each is one that the host has
//! decided, committed, offered, posted and noted as taken, and is counted where it arrives. Beside it `reqwest` posts bodies of the
//! same size to the same endpoints, as many at once as the host may. `p99.hanging` is the time from a post to its arrival at 900
//! endpoints while 100 others take no answer to an end ([`hanging`]), and `waiting_100k` what a hundred thousand deliveries
//! cost the host in memory while their endpoints are down ([`waiting`]).
//!
//! Each measurement has a host of its own that has lived for seconds, so that no reminder of an answer that nobody gives is among what
//! arrives. Endpoints have an address each (127.0.0.0/8), as agents of many machines have.

mod agents;
mod deliver;
mod hanging;
mod house;
mod waiting;

use super::Plan;
use super::host::idle::enough_files;
use super::host::server::Hosts;
use super::report::{Figure, Samples};

/// Files of two connections for each endpoint and each channel, on both sides.
const FILES: u64 = 12_000;

const FIGURES: &[Figure] = &[
    Figure::peer("reqwest.e1", "posts/s"),
    Figure::peer("reqwest.e100", "posts/s"),
    Figure::peer("reqwest.e1000", "posts/s"),
    Figure::webhook("deliver.e1", "deliveries/s").over_sample("reqwest", "reqwest.e1"),
    Figure::webhook("deliver.e100", "deliveries/s")
        .over_sample("reqwest", "reqwest.e100")
        .at_least(0.8),
    Figure::webhook("deliver.e1000", "deliveries/s").over_sample("reqwest", "reqwest.e1000"),
    Figure::webhook("deliver.e100.cpu_us", "us of the host each"),
    Figure::webhook("p99.none_hanging", "ms"),
    Figure::webhook("p99.hanging", "ms")
        .over_sample("none_hanging", "p99.none_hanging")
        .at_most(1.5),
    Figure::webhook("waiting_100k", "bytes each"),
    Figure::webhook("waiting_100k.held", "bytes each"),
];

/// Measures everything asked for and prints the lines.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    let mut samples = Samples::default();
    let hosts = Hosts { chorus: &plan.chorus, base: None };
    enough_files(FILES)?;
    eprintln!("warm-up");
    deliver::round(plan, hosts, plan.window / 5, &mut samples);
    samples.start_over();
    for number in 1..=plan.rounds {
        eprintln!("round {number} of {}", plan.rounds);
        deliver::round(plan, hosts, plan.window, &mut samples);
        hanging::round(plan, hosts, &mut samples);
    }
    if plan.wants_some("waiting_100k")
        && let Err(why) = waiting::measure(plan, hosts, &mut samples)
    {
        samples.failed("waiting_100k", &why);
    }
    samples.print(FIGURES, None);
    match samples.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(failures.join("; ")),
    }
}
