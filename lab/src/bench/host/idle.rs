//! Ten thousand agents that are connected and have nothing to do: what each costs in memory, what all cost
//! the processor, and what it takes when they come at once and go at once.
//!
//! Taken once a run on a host of its own, since a fresh process is part of it. Beside the agents wait a
//! hundred thousand timers: events that tell agents who are away.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::harness::Harness;
use super::rooms::{Rooms, token};
use super::server::{Host, Hosts};
use crate::bench::report::Samples;
use crate::bench::{Plan, load, talk};

/// Connections made at the same moment.
const AGENTS: usize = 10_000;
/// Events that wait for their time.
const TIMERS: u64 = 100_000;
/// How long idling is watched: one ping to everybody.
const WATCHED: Duration = Duration::from_secs(20);
/// Files a process needs beside its connections.
const SPARE_FILES: u64 = 200;

/// The agents while they are connected: each answers pings, and nothing else happens to it.
struct Connected {
    runtime: Runtime,
    tasks: JoinSet<String>,
}

/// Takes every measurement of this file that was asked for.
pub(super) fn measure(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) {
    let names = ["conn.idle_kib", "conn.open_10000_s", "conn.close_10000_s", "cpu_idle_percent"];
    if !names.iter().any(|name| plan.wants(name)) {
        return;
    }
    if let Err(why) = taken(plan, hosts, samples) {
        let name = names.into_iter().find(|name| plan.wants(name)).unwrap_or(names[0]);
        samples.failed(name, &why);
    }
}

fn taken(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) -> Result<(), String> {
    let mut keep = |name: &str, value: f64| {
        if plan.wants(name) {
            samples.add(name, value);
        }
    };
    let agents = if plan.is_quick() { AGENTS / 20 } else { AGENTS };
    enough_files(agents as u64 + SPARE_FILES)?;
    let host = hosts.start(&[])?;
    let tokens = members(&host, agents)?.into_iter().map(|(_, token)| token).collect();
    settle(&host);
    let before = host.resident_mib();
    let began = Instant::now();
    let connected = Connected::open(&host, tokens)?;
    keep("conn.open_10000_s", began.elapsed().as_secs_f64());
    settle(&host);
    keep("conn.idle_kib", (host.resident_mib() - before) * 1024.0 / agents as f64);
    if plan.wants("cpu_idle_percent") {
        timers(&host, if plan.is_quick() { TIMERS / 100 } else { TIMERS })?;
        let watched = if plan.is_quick() { WATCHED / 10 } else { WATCHED };
        let busy = connected.during(|| {
            // Rows of what is owed are written a second later, and that is not idling.
            std::thread::sleep(Duration::from_secs(5));
            let before = host.cpu_s();
            std::thread::sleep(watched);
            host.cpu_s() - before
        })?;
        keep("cpu_idle_percent", busy / watched.as_secs_f64() * 100.0);
    }
    keep("conn.close_10000_s", connected.close(&host)?.as_secs_f64());
    Ok(())
}

/// Makes the agents; their ids and tokens.
pub(crate) fn members(host: &Host, agents: usize) -> Result<Vec<(String, String)>, String> {
    (0..agents)
        .map(|number| {
            let id = format!("idle{number}");
            host.ask("POST", "/v1/members", &json!({"id": id, "kind": "agent"}))?;
            let token = token(host, &id, "worker")?;
            Ok((id, token))
        })
        .collect()
}

/// Posts that tell agents who are away, one timer each.
pub(crate) fn timers(host: &Host, count: u64) -> Result<(), String> {
    let mut rooms = Rooms::open(host)?;
    let mut posted = 0;
    while posted < count {
        posted += rooms.post(host, Duration::from_millis(500), 64, 100)?.answers;
    }
    Ok(())
}

/// Lets what runs in the background come to its end.
pub(crate) fn settle(host: &Host) {
    let started = Instant::now();
    let mut busy = host.cpu_s();
    while started.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_secs(1));
        let now = host.cpu_s();
        if now - busy < 0.03 {
            return;
        }
        busy = now;
    }
}

/// This process and its child may each open that many files.
pub(crate) fn enough_files(count: u64) -> Result<(), String> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let told = |e: nix::Error| format!("the limit of open files: {e}");
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(told)?;
    if hard < count {
        return Err(format!(
            "{count} open files are needed and this machine allows {hard}; raise `ulimit -Hn`"
        ));
    }
    if soft < count {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map_err(told)?;
    }
    Ok(())
}

impl Connected {
    /// Connects all of them at once; returns when every one has introduced itself.
    fn open(host: &Host, tokens: Vec<String>) -> Result<Self, String> {
        let runtime = load::runtime()?;
        let addr = host.addr;
        let tasks = runtime.block_on(async {
            let mut coming = JoinSet::new();
            for token in tokens {
                coming.spawn(Harness::connect(addr, token));
            }
            let mut tasks = JoinSet::new();
            while let Some(came) = coming.join_next().await {
                let mut harness = came.map_err(|e| e.to_string())??;
                tasks.spawn(async move {
                    loop {
                        if let Err(why) = harness.hear().await {
                            return why;
                        }
                    }
                });
            }
            Ok::<_, String>(tasks)
        })?;
        Ok(Self { runtime, tasks })
    }

    /// Does something else while they go on answering pings.
    fn during<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, String> {
        std::thread::scope(|scope| {
            let worker = scope.spawn(work);
            self.runtime.block_on(async {
                while !worker.is_finished() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            });
            worker.join().map_err(|_| "the measurement panicked".to_owned())
        })
    }

    /// Goes away with all of them at once; how long until the host has noticed the last.
    fn close(mut self, host: &Host) -> Result<Duration, String> {
        if let Some(Ok(why)) = self.tasks.try_join_next() {
            return Err(format!("an agent was cut off: {why}"));
        }
        let began = Instant::now();
        self.tasks.abort_all();
        self.runtime.block_on(async { while self.tasks.join_next().await.is_some() {} });
        while connections(host)? > 0 {
            if began.elapsed() > Duration::from_secs(60) {
                return Err("connections are left a minute after all have gone".to_owned());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(began.elapsed())
    }
}

/// Sessions that the host holds for connected.
fn connections(host: &Host) -> Result<u64, String> {
    let (_, body) = talk::exchange(host.addr, "GET", "/metrics", &host.token, "")?;
    let text = String::from_utf8_lossy(&body).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("chorus_connections "));
    line.and_then(|count| count.trim().parse().ok()).ok_or(format!("no connections in {text}"))
}
