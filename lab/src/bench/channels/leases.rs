//! A house that is full and quiet: ten thousand threads in each of which somebody has the turn, and a hundred thousand
//! events that wait for their time. Nothing happens, and it should cost nothing.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::turns::held_in;
use crate::bench::Plan;
use crate::bench::host::idle::{settle, timers};
use crate::bench::host::rooms::{each, id_of};
use crate::bench::host::server::{Host, Hosts};
use crate::bench::report::Samples;

const THREADS: usize = 10_000;
const TIMERS: u64 = 100_000;
/// How long quiet is watched.
const WATCHED: Duration = Duration::from_secs(20);

pub(super) fn measure(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) -> Result<(), String> {
    let (threads, timed) = if plan.is_quick() { (200, 1_000) } else { (THREADS, TIMERS) };
    let host = hosts.start(&[])?;
    timers(&host, timed)?;
    settle(&host);
    let before = host.resident_mib();
    let began = Instant::now();
    let channel = asked(&host, threads)?;
    samples.add("leases_10000.fill_s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    let turns = host.ask("GET", &format!("/v1/channels/{channel}/turns"), &Value::Null)?;
    samples.add("leases_10000.list_ms", began.elapsed().as_secs_f64() * 1e3);
    if held_in(&turns) != threads as u64 {
        return Err(format!("{} of {threads} threads have a turn held", held_in(&turns)));
    }
    settle(&host);
    samples.add("leases_10000.mib", host.resident_mib() - before);
    quiet(plan, &host, "leases_10000.cpu_percent", samples);
    let began = Instant::now();
    let host = host.restart()?;
    samples.add("leases_10000.restart_ms", began.elapsed().as_secs_f64() * 1e3);
    let turns = host.ask("GET", &format!("/v1/channels/{channel}/turns"), &Value::Null)?;
    match held_in(&turns) == threads as u64 {
        true => Ok(()),
        false => Err(format!("after a restart {} of {threads} turns are held", held_in(&turns))),
    }
}

/// A channel with that many threads, in each a question that an agent has the turn to answer who is away. Nobody else
/// waits for it, so that it stays where it is.
fn asked(host: &Host, threads: usize) -> Result<String, String> {
    host.ask("POST", "/v1/members", &json!({"id": "eve", "kind": "agent"}))?;
    let new = json!({"title": "threads", "members": ["eve"], "replies": "thread"});
    let channel = id_of(&host.ask("POST", "/v1/channels", &new)?)?;
    let open = |n| {
        let new = json!({"conversation": channel, "title": format!("thread {n}"), "participants": ["eve"]});
        ("POST", "/v1/threads".to_owned(), new.to_string())
    };
    each(host, (0..threads).map(open).collect())?;
    let all = host.ask("GET", &format!("/v1/threads?conversation={channel}"), &Value::Null)?;
    let all = all["threads"].as_array().ok_or("no threads")?.clone();
    let ask = |thread: &Value| {
        let post = json!({"conversation": channel, "thread": thread["id"], "text": "@eve what do you think of it?", "idempotency_key": thread["id"]});
        ("POST", "/v1/messages".to_owned(), post.to_string())
    };
    each(host, all.iter().map(ask).collect())?;
    Ok(channel)
}

/// Percent of one core that the host takes while nothing is asked of it.
fn quiet(plan: &Plan, host: &Host, name: &str, samples: &mut Samples) {
    let watched = if plan.is_quick() { WATCHED / 10 } else { WATCHED };
    let before = host.cpu_s();
    std::thread::sleep(watched);
    samples.add(name, (host.cpu_s() - before) / watched.as_secs_f64() * 100.0);
}
