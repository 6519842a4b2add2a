//! `bench scale` on a database: two hosts on one PostgreSQL, of which one owns the workspace.
//!
//! `local.p99` and `forwarded.p99` are what one client waits for a post at the owner, and at the other host, which passes it on;
//! the two take turns, post by post. `handover.ms` is the longest that a client of the other host waits for a post while the owner
//! is told to stop. `failover.s` is the time from `kill -9` of the owner to the next acknowledged post there, and
//! `failover.lease_s` the same from the moment the owner stands still (SIGSTOP), so that its lease has to end first.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{p99, rounds};
use crate::bench::Plan;
use crate::bench::host::server::{Host, Hosts};
use crate::bench::peers::Base;
use crate::bench::report::{Figure, Samples};

/// How long a client goes on until it gives a host up.
const GIVE_UP: Duration = Duration::from_secs(30);
/// Rest between two tries at a host that does not answer.
const AGAIN: Duration = Duration::from_millis(5);

const FIGURES: &[Figure] = &[
    Figure::scale("local.p99", "ms"),
    Figure::scale("forwarded.p99", "ms").over("local.p99").at_most(1.5),
    Figure::scale("handover.ms", "ms").at_most(300.0),
    Figure::scale("failover.s", "s").at_most(8.0),
    Figure::scale("failover.lease_s", "s").at_most(8.0),
];

/// Measures everything asked for and prints the lines.
pub(in crate::bench) fn run(plan: &Plan, base: &Base) -> Result<(), String> {
    let hosts = Hosts { chorus: &plan.chorus, base: Some(base) };
    rounds(plan, FIGURES, "postgres", |samples| round(plan, hosts, samples))
}

fn round(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) -> Result<(), String> {
    if plan.wants("local.p99") || plan.wants("forwarded.p99") {
        let pair = Pair::start(hosts)?;
        let (mut local, mut forwarded) = (Vec::new(), Vec::new());
        let began = Instant::now();
        while began.elapsed() < plan.window {
            local.push(pair.post(&pair.owner)?);
            forwarded.push(pair.post(&pair.other)?);
        }
        samples.add("local.p99", p99(local));
        samples.add("forwarded.p99", p99(forwarded));
        pair.end()?;
    }
    samples.take(plan, "handover.ms", &mut || {
        let Pair { owner, other, channel } = Pair::start(hosts)?;
        let stopping = std::thread::spawn(move || owner.end());
        let mut longest = Duration::ZERO;
        while !stopping.is_finished() {
            longest = longest.max(until_posted(&other, &channel)?);
        }
        let ground = stopping.join().map_err(|_| "stopping panicked".to_owned())??;
        longest = longest.max(until_posted(&other, &channel)?);
        other.end()?;
        drop(ground);
        Ok(longest.as_secs_f64() * 1e3)
    });
    samples.take(plan, "failover.s", &mut || {
        let Pair { owner, other, channel } = Pair::start(hosts)?;
        let ground = owner.kill()?;
        let took = until_posted(&other, &channel)?;
        other.end()?;
        drop(ground);
        Ok(took.as_secs_f64())
    });
    samples.take(plan, "failover.lease_s", &mut || {
        let Pair { owner, other, channel } = Pair::start(hosts)?;
        owner.stand_still()?;
        let took = until_posted(&other, &channel)?;
        drop(owner.kill()?);
        other.end()?;
        Ok(took.as_secs_f64())
    });
    Ok(())
}

/// Two hosts, and a channel.
struct Pair {
    owner: Host,
    other: Host,
    channel: String,
}

impl Pair {
    fn start(hosts: Hosts<'_>) -> Result<Self, String> {
        let owner = hosts.start(&[])?;
        let other = owner.beside()?;
        let made = owner.ask("POST", "/v1/channels", &json!({"title": "scale"}))?;
        let channel = made["id"].as_str().unwrap_or_default().to_owned();
        Ok(Self { owner, other, channel })
    }

    /// One post; the milliseconds that it took.
    fn post(&self, host: &Host) -> Result<f64, String> {
        let began = Instant::now();
        host.ask("POST", "/v1/messages", &hello(&self.channel))?;
        Ok(began.elapsed().as_secs_f64() * 1e3)
    }

    fn end(self) -> Result<(), String> {
        self.other.end()?;
        self.owner.end().map(drop)
    }
}

/// Posts as often as it needs; how long that took.
fn until_posted(host: &Host, channel: &str) -> Result<Duration, String> {
    let began = Instant::now();
    loop {
        // Each has a key of its own: what is measured is a post, and not the answer to one that was made before.
        match host.ask("POST", "/v1/messages", &hello(channel)) {
            Ok(_) => return Ok(began.elapsed()),
            Err(why) if began.elapsed() > GIVE_UP => return Err(why),
            Err(_) => std::thread::sleep(AGAIN),
        }
    }
}

/// A message, under a key that no other has.
fn hello(channel: &str) -> Value {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let key = COUNT.fetch_add(1, Ordering::Relaxed).to_string();
    json!({"conversation": channel, "text": "hello", "idempotency_key": key})
}
