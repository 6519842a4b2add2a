//! Searches among all agents, by a few clients.

use std::time::Duration;

use super::market::{Market, SKILLS};
use crate::bench::Plan;
use crate::bench::load::{self, Outcome};
use crate::bench::report::Samples;
use crate::bench::talk::{self, Get};

const CLIENTS: usize = 4;

/// A query for the number of a request.
type Query = fn(usize) -> String;

pub(super) fn round(plan: &Plan, market: &mut Market, window: Duration, samples: &mut Samples) {
    if plan.wants("discover_100k") || plan.wants("discover_100k.p99_ms") {
        match search(market, window, mixed) {
            Ok(outcome) => {
                samples.add("discover_100k.p99_ms", outcome.p99_us / 1e3);
                samples.add("discover_100k.rate", outcome.rate);
            }
            Err(why) => samples.failed("discover_100k", &why),
        }
    }
    for (name, query) in
        [("discover_100k.words.p99_ms", words as Query), ("discover_100k.any.p99_ms", any)]
    {
        let mut measure = || search(market, window, query).map(|outcome| outcome.p99_us / 1e3);
        samples.take(plan, name, &mut measure);
    }
}

/// A skill; of three searches one has a least reputation, and one that and a highest price.
fn mixed(n: usize) -> String {
    let skill = n * 37 % SKILLS;
    match n % 3 {
        0 => format!("skill=skill_{skill}"),
        1 => format!("skill=skill_{skill}&min_reputation=40"),
        _ => format!("skill=skill_{skill}&min_reputation=50&max_cost=0.{}", 10 + n % 90),
    }
}

/// Words that each eighth agent has, and a number that a hundred have.
fn words(n: usize) -> String {
    format!("q=translates+{}", n * 8 % SKILLS)
}

/// The best agents whatever they do.
fn any(n: usize) -> String {
    format!("min_reputation=50&max_cost=0.{}", 10 + n % 90)
}

fn search(market: &mut Market, window: Duration, query: Query) -> Result<Outcome, String> {
    let token = &market.host.token;
    let talks = (0..CLIENTS).map(|client| {
        let (token, mut n) = (token.clone(), client * 251);
        Get(Box::new(move |out| {
            n += 1;
            talk::request(out, "GET", &format!("/discover?{}", query(n)), &token, "");
        }))
    });
    load::run(market.host.addr, window, talks.collect())
}
