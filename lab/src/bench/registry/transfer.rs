//! Transfers a second, and those of PostgreSQL.
//!
//! Each client spends the credits of an owner of its own, and gives them to others in turn, on both
//! sides.

use std::time::Duration;

use super::market::{Market, uuid};
use crate::bench::peers::Transfers;
use crate::bench::report::Samples;
use crate::bench::talk::Post;
use crate::bench::{Plan, load};

const SHAPES: [(&str, &str, usize); 3] = [
    ("transfer.c1", "postgres.function.c1", 1),
    ("transfer.c16", "postgres.function.c16", 16),
    ("transfer.c64", "postgres.function.c64", 64),
];

pub(super) fn round(
    plan: &Plan,
    market: &mut Market,
    peer: Option<&Transfers>,
    window: Duration,
    samples: &mut Samples,
) {
    for (ours, theirs, clients) in SHAPES.iter().filter(|(ours, ..)| plan.wants(ours)) {
        // A ratio is of values of the same round, so that one that failed is in neither.
        match measure(market, peer, window, *clients) {
            Ok((rate, cpu_us, peer)) => {
                peer.into_iter().for_each(|rate| samples.add(theirs, rate));
                samples.add(ours, rate);
                samples.add(&format!("{ours}.cpu_us"), cpu_us);
            }
            Err(why) => samples.failed(ours, &why),
        }
    }
}

/// Transfers a second, microseconds of the host for each, and the peer's transfers a second.
fn measure(
    market: &mut Market,
    peer: Option<&Transfers>,
    window: Duration,
    clients: usize,
) -> Result<(f64, f64, Option<f64>), String> {
    let peer = peer.map(|peer| peer.function(window, clients)).transpose()?;
    let run = market.next_run();
    let owners = market.owners.len();
    let talks = market.owners.iter().take(clients).enumerate().map(|(client, (owner, token))| {
        let owner = owner.clone();
        Post {
            path: "/transfer",
            token: token.clone(),
            asked: 0,
            body: Box::new(move |n| {
                let to = (client + 1 + n as usize % (owners - 1)) % owners;
                let id = uuid(run, client, n);
                let parties = format!(r#""from_owner":"{owner}","to_owner":"owner{to}""#);
                format!(r#"{{"transfer_id":"{id}",{parties},"amount":0.05}}"#)
            }),
        }
    });
    let cpu = market.host.cpu_s();
    let outcome = load::run(market.host.addr, window, talks.collect())?;
    let cpu_us = (market.host.cpu_s() - cpu) * 1e6 / outcome.answers.max(1) as f64;
    Ok((outcome.rate, cpu_us, peer))
}
