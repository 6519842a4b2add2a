//! Turns: how fast it is decided who speaks next, and how many turns a second the host grants that writes them down.

use std::hint::black_box;
use std::time::Instant;

use chorus_core::model::ids::{MemberKey, Seq, Timestamp};
use chorus_core::model::turn::{Candidate, Rules, Turn};
use serde_json::Value;

use crate::bench::Plan;
use crate::bench::host::rooms::Rooms;
use crate::bench::host::server::Hosts;
use crate::bench::peers::Syncs;
use crate::bench::report::Samples;

/// Questions between two looks at the clock.
const STRIDE: u64 = 250;
/// Clients whose questions each need a turn.
const CLIENTS: usize = 64;
/// Bytes of the append that syncs are counted by.
const BLOCK: usize = 4_096;

/// Arbitrations a second on one core. A person asks, and four agents want to answer: one is addressed, one is replied to,
/// two would like to. Each speaks when it is its turn, until what the question pays for is said.
pub(super) fn decide(plan: &Plan) -> Result<f64, String> {
    let rules = Rules::default();
    let (mut turn, mut decided, mut spoke, mut now) = (Turn::default(), 0_u64, 0_u64, 0_i64);
    let began = Instant::now();
    while began.elapsed() < plan.window {
        for _ in 0..STRIDE {
            let mut wanted = candidates(now).to_vec();
            turn.refill(1);
            loop {
                let step = turn.arbitrate(&rules, black_box(&wanted), Timestamp(now));
                decided += 1;
                now += 20_000;
                let Some((member, cause)) = black_box(&step).granted.first() else { break };
                turn.said(*member, Some(*cause), Timestamp(now));
                wanted.retain(|c| c.member != *member);
                spoke += 1;
            }
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    // Three of the four speak, and the fourth decision finds the budget spent.
    match spoke * 4 == decided * 3 {
        true => Ok(decided as f64 / seconds),
        false => Err(format!("{spoke} turns were granted in {decided} decisions")),
    }
}

fn candidates(now: i64) -> [Candidate; 4] {
    [1, 2, 3, 4].map(|n: u32| Candidate {
        member: MemberKey(n),
        cause: Seq(now as u64 + 1),
        since: Timestamp(now),
        obligation: n == 1,
        asked: n == 1,
        accepted: false,
        present: true,
        addressed: n == 1,
        replied_to: n == 2,
        reacted: n == 3,
        bias: n as u8 % 3,
        running: n as usize % 2,
    })
}

/// Turns granted a second: each question opens a subject, three agents are asked, and one of them is given the turn, on
/// disk before the question is answered.
pub(super) fn granted(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) -> Result<(), String> {
    let host = hosts.start(&[])?;
    let mut rooms = Rooms::open_with(&host, "thread")?;
    let mut syncs = Syncs::open()?;
    let mut asked = rooms.post(&host, plan.window, CLIENTS, 100)?.answers;
    for number in 1..=plan.rounds {
        eprintln!("round {number} of {}", plan.rounds);
        samples.add("limit.fdatasync", syncs.measure(plan.window, BLOCK)?.rate);
        let outcome = rooms.post(&host, plan.window, CLIENTS, 100)?;
        asked += outcome.answers;
        samples.add("turns_granted", outcome.rate);
    }
    // Each of them has its turn, and the host says whose.
    let mut held = 0;
    for channel in rooms.channels() {
        let turns = host.ask("GET", &format!("/v1/channels/{channel}/turns"), &Value::Null)?;
        held += held_in(&turns);
    }
    match held == asked {
        true => Ok(()),
        false => Err(format!("{asked} questions were asked, and {held} turns are held")),
    }
}

/// Subjects of an answer of `/turns` in which somebody has the turn.
pub(super) fn held_in(turns: &Value) -> u64 {
    let subjects = turns["subjects"].as_array().map(Vec::as_slice).unwrap_or_default();
    let held =
        |subject: &&Value| subject["holders"].as_array().is_some_and(|held| !held.is_empty());
    subjects.iter().filter(held).count() as u64
}
