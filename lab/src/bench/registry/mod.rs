//! `bench registry`: agents for hire, jobs and credits, on one host with a hundred thousand agents.
//!
//! `discover_100k.p99_ms` is the 99th percentile of four clients who look for a skill among a
//! thousand, some with a least reputation, some with a highest price ([`discover`]). `transfer.c1`,
//! `.c16` and `.c64` are transfers a second by so many clients, beside the same double entry as one
//! call of a PostgreSQL function ([`transfer`]). `jobs.settled.c16` is jobs a second by sixteen
//! hirers, each from the request over the post to the agent to its result, which the bench gives
//! ([`jobs`]).
//!
//! Agents are registered over `POST /register`, one by one, with an endpoint here that answers
//! challenges. Nothing is measured before every endpoint is verified, so that no challenge is among
//! what the host does meanwhile.

mod agents;
mod discover;
mod jobs;
mod market;
mod transfer;

use market::Market;

use super::Plan;
use super::host::server::Hosts;
use super::peers::{Base, Transfers};
use super::report::{Figure, Samples};

const FIGURES: &[Figure] = &[
    Figure::peer("postgres.function.c1", "transfers/s"),
    Figure::peer("postgres.function.c16", "transfers/s"),
    Figure::peer("postgres.function.c64", "transfers/s"),
    Figure::registry("register.c16", "agents/s"),
    Figure::registry("discover_100k.p99_ms", "ms").at_most(10.0),
    Figure::registry("discover_100k.rate", "searches/s"),
    Figure::registry("discover_100k.words.p99_ms", "ms"),
    Figure::registry("discover_100k.any.p99_ms", "ms"),
    Figure::registry("transfer.c1", "transfers/s")
        .over_sample("postgres.function", "postgres.function.c1"),
    Figure::registry("transfer.c16", "transfers/s")
        .over_sample("postgres.function", "postgres.function.c16")
        .at_least(2.0),
    Figure::registry("transfer.c64", "transfers/s")
        .over_sample("postgres.function", "postgres.function.c64"),
    Figure::registry("transfer.c16.cpu_us", "us of the host each"),
    Figure::registry("jobs.settled.c16", "jobs/s"),
    Figure::registry("jobs.settled.c16.cpu_us", "us of the host each"),
];

/// Measures everything asked for and prints the lines.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    let mut samples = Samples::default();
    let peer = plan.wants_some("transfer.").then(|| Transfers::on(&Base::start()?));
    let peer = peer.and_then(|started| {
        started.inspect_err(|why| samples.absent("postgres.function", why)).ok()
    });
    let mut market = Market::open(plan, Hosts { chorus: &plan.chorus, base: None }, &mut samples)?;
    eprintln!("warm-up");
    let registered = samples.values_of("register.c16");
    round(plan, &mut market, peer.as_ref(), &mut samples, plan.window / 5);
    samples.start_over();
    registered.into_iter().for_each(|rate| samples.add("register.c16", rate));
    for number in 1..=plan.rounds {
        eprintln!("round {number} of {}", plan.rounds);
        round(plan, &mut market, peer.as_ref(), &mut samples, plan.window);
    }
    samples.print(FIGURES, None);
    match samples.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(failures.join("; ")),
    }
}

fn round(
    plan: &Plan,
    market: &mut Market,
    peer: Option<&Transfers>,
    samples: &mut Samples,
    window: std::time::Duration,
) {
    discover::round(plan, market, window, samples);
    transfer::round(plan, market, peer, window, samples);
    jobs::round(plan, market, window, samples);
}
