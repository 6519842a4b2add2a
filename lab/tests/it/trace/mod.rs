//! The two weeks of a busy team: people and agents in twenty channels, played over the transports of a host
//! that is stopped and started again and again, with time set by hand.
//!
//! Messages, edits, deletions, erasures, reactions, threads, roles, retries, what is shown to a few; agents that
//! answer, claim, defer, decline, forget what they did, say nothing, are asked to leave and named again, talk until
//! they pause and are let go on, and carry what was private once a person agrees; followers who are told in
//! digests. In the end every acknowledged message is there once, as it
//! was last left; nobody was answered twice by the same agent; whatever was owed is settled, or listed as open
//! or overdue; and the doctor finds nothing. The plan is drawn from a seed.
//!
//! `CHORUS_TRACE_MESSAGES=200000 cargo test --release -p chorus-lab trace:: -- --nocapture` plays the two
//! weeks whole; without it a few hours of them.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod agent;
mod house;
mod judge;
mod people;
mod rare;

use std::time::Instant;

use house::House;
use people::People;
use rare::Rare;

/// Messages of the short version: about eight hours of the team's time.
const SHORT: u64 = 5_000;
/// The team's average time between two messages: two weeks have 200,000 of them.
const BETWEEN_MS: u64 = 6_000;
/// Messages on their way at the same time.
const TOGETHER: usize = 16;
const RESTARTS: u64 = 12;

// covers: ATT-101, ATT-102
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_weeks_of_a_busy_team_leave_everything_in_order() {
    let messages = number("CHORUS_TRACE_MESSAGES").unwrap_or(SHORT);
    let seed = number("CHORUS_TRACE_SEED").unwrap_or(20_261_121);
    let (began, mut last) = (Instant::now(), Instant::now());
    let mut house = House::open().await;
    let mut people = People::gather(&house, seed).await;
    let mut agents = house.wake(&people, seed, false).await;
    let every = (messages / RESTARTS).max(1);
    let mut restarted = 0;
    let mut rare = Rare::default();
    while people.posted() < messages {
        people.talk(&house, TOGETHER).await;
        house.pass(TOGETHER as u64 * BETWEEN_MS * people.pause()).await;
        agents.settle().await;
        rare.happen(&house, &mut people).await;
        if people.posted() / every > restarted {
            restarted = people.posted() / every;
            let asleep = agents;
            house = house.restart().await;
            let memories = asleep.end().await;
            agents = house.wake_with(&people, seed + restarted, false, memories).await;
            let took = last.elapsed().as_secs_f64();
            eprintln!("{} messages, {took:.1} s, {}", people.posted(), memory(&people));
            last = Instant::now();
        }
    }
    // From here on everybody answers; what is still owed comes to its end.
    house = house.restart().await;
    let memories = agents.end().await;
    agents = house.wake_with(&people, seed, true, memories).await;
    for _ in 0..40 {
        rare.finish(&house, &mut people).await;
        house.pass(90_000).await;
        agents.settle().await;
    }
    let verdict = judge::judge(&house, &people, &rare).await;
    house.stop_and_examine().await;
    drop(agents.end().await);
    println!(
        "{verdict}; {} pauses, {} went on, {restarted} restarts, {:.0} s, {}, seed {seed}",
        rare.pauses,
        rare.went_on,
        began.elapsed().as_secs_f64(),
        memory(&people)
    );
    assert!(verdict.wrong.is_empty(), "{:#?}", verdict.wrong);
    // A trace in which nothing happens shows nothing.
    verdict.must_have_seen(messages);
    assert!(rare.went_on * 2 > rare.pauses, "{} of {} went on", rare.went_on, rare.pauses);
}

/// What this process holds in memory, and held at most: the host, and what the people remember.
fn memory(people: &People) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim_matches([':', '\t', ' ', 'k', 'B']).parse::<u64>().unwrap_or_default() / 1_024
    };
    let (now, most, plan) = (line("VmRSS"), line("VmHWM"), people.remembered() >> 20);
    format!("{now} MiB resident, {most} at most, {plan} of it the plan")
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}
