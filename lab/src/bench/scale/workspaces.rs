//! Many workspaces of one host: with `bench scale --database sqlite` each in a folder, and on a database in one schema
//! ([`on_database`]), beside one function of PostgreSQL's for each post (`pg.function`).
//!
//! `post.w1` and `post.w100` are posts a second of 100 clients, all in one workspace, and each in one of its own. `cold.p99` is
//! what the first request to a workspace waits that nobody used. `idle_100k` is a host with 100,000 workspaces that nobody uses:
//! how long it takes to its first answer, and the memory that each of them adds. `open_kib` is the memory that one takes that is open.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use chorus_store::catalog::Catalog;
use chorus_store::{Clock, SystemClock};
use serde_json::{Value, json};

use super::{p99, rounds};
use crate::bench::Plan;
use crate::bench::host::server::{Ground, Host, Hosts};
use crate::bench::load;
use crate::bench::peers::{Base, Postgres};
use crate::bench::report::{Figure, Samples};
use crate::bench::talk::{Get, request};

const CLIENTS: usize = 100;
const COLD: usize = 100;
const IDLE: usize = 100_000;
/// Longest that it may take until nobody's workspaces are closed.
const CLOSED: Duration = Duration::from_secs(60);

const FIGURES: &[Figure] = &[
    Figure::scale("post.w1", "posts/s"),
    Figure::scale("post.w100", "posts/s").over("post.w1").at_least(1.0),
    Figure::scale("open_kib", "KiB"),
    Figure::scale("cold.p99", "ms").at_most(30.0),
    Figure::scale("idle_100k.start_ms", "ms").at_most(2_000.0),
    Figure::scale("idle_100k.bytes", "B").at_most(300.0),
];

const ON_DATABASE: &[Figure] = &[
    Figure::scale("pg.function", "posts/s"),
    Figure::scale("post.w1", "posts/s").over("pg.function"),
    Figure::scale("post.w100", "posts/s").over("pg.function").at_least(2.0),
    Figure::scale("open_kib", "KiB"),
    Figure::scale("cold.p99", "ms").at_most(30.0),
];

/// Measures everything asked for on a database, and prints the lines.
pub(in crate::bench) fn on_database(plan: &Plan, base: &Base) -> Result<(), String> {
    let hosts = Hosts { chorus: &plan.chorus, base: Some(base) };
    if !["pg.function", "post", "open_kib", "cold.p99"].iter().any(|name| plan.wants_some(name)) {
        return Ok(());
    }
    rounds(plan, ON_DATABASE, "postgres", |samples| {
        let peer = Postgres::on(base)?;
        samples.add("pg.function", peer.function(plan.window, CLIENTS)?);
        round(plan, hosts, samples)
    })
}

/// Measures everything asked for and prints the lines.
pub(in crate::bench) fn run(plan: &Plan) -> Result<(), String> {
    let hosts = Hosts { chorus: &plan.chorus, base: None };
    rounds(plan, FIGURES, "sqlite", |samples| round(plan, hosts, samples))
}

fn round(plan: &Plan, hosts: Hosts<'_>, samples: &mut Samples) -> Result<(), String> {
    if plan.wants_some("post") || plan.wants("open_kib") {
        let host = hosts.start(&[])?;
        let before = host.resident_mib();
        let all = (0..CLIENTS).map(|number| Workspace::create(&host, number));
        let all: Vec<Workspace> = all.collect::<Result<_, _>>()?;
        samples.add("open_kib", (host.resident_mib() - before) * 1024.0 / CLIENTS as f64);
        let one = vec![&all[0]; CLIENTS];
        samples.add("post.w1", posts(plan, &host, "one", &one)?);
        samples.add("post.w100", posts(plan, &host, "all", &all.iter().collect::<Vec<_>>())?);
        host.end()?;
    }
    samples.take(plan, "cold.p99", &mut || cold(hosts));
    if plan.wants_some("idle_100k") && hosts.base.is_none() {
        idle(hosts, samples)?;
    }
    Ok(())
}

/// A workspace, a channel in it, and its operator's token.
struct Workspace {
    name: String,
    token: String,
    channel: String,
}

impl Workspace {
    fn create(host: &Host, number: usize) -> Result<Self, String> {
        let name = format!("team-{number}");
        host.ask("POST", "/v1/workspaces", &json!({"name": name}))?;
        let token = operator_token(host, &name).map_err(|e| format!("{name}: {e}"))?;
        let mut workspace = Self { name, token, channel: String::new() };
        let made = workspace.ask(host, "POST", "/v1/channels", &json!({"title": "scale"}))?;
        workspace.channel = made["id"].as_str().unwrap_or_default().to_owned();
        Ok(workspace)
    }

    fn ask(&self, host: &Host, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        host.ask_as(&self.token, method, &format!("/w/{}{path}", self.name), body)
    }
}

/// The token that the host keeps in the workspace's folder, whose name a key follows beside a database.
fn operator_token(host: &Host, name: &str) -> std::io::Result<String> {
    for folder in fs::read_dir(host.folder().join("workspaces"))? {
        let path = folder?.path();
        if path.file_stem().is_some_and(|stem| stem == name) {
            return Ok(fs::read_to_string(path.join("operator.token"))?.trim().to_owned());
        }
    }
    Err(std::io::ErrorKind::NotFound.into())
}

/// Posts a second of one client for each of these workspaces.
fn posts(plan: &Plan, host: &Host, run: &'static str, of: &[&Workspace]) -> Result<f64, String> {
    let talks = of.iter().enumerate().map(|(client, workspace)| {
        let path = format!("/w/{}/v1/messages", workspace.name);
        let token = workspace.token.clone();
        let (channel, mut asked) = (workspace.channel.clone(), 0_u64);
        Get(Box::new(move |out| {
            asked += 1;
            let key = format!("{run}:{client}:{asked}");
            let post = json!({"conversation": channel, "text": "hello", "idempotency_key": key});
            request(out, "POST", &path, &token, &post.to_string());
        }))
    });
    Ok(load::run(host.addr, plan.window, talks.collect())?.rate)
}

/// What the first request to a workspace waits, that 99 of 100 wait at most.
fn cold(hosts: Hosts<'_>) -> Result<f64, String> {
    let host = hosts.start(&["--set", "workspaces.idle=1s"])?;
    let all = (0..COLD).map(|number| Workspace::create(&host, number));
    let all: Vec<Workspace> = all.collect::<Result<_, _>>()?;
    // The links that were made would keep them open.
    let host = host.restart()?;
    let began = Instant::now();
    while host.ask("GET", "/v1/workspaces", &Value::Null)?["workspaces"]
        .as_array()
        .is_none_or(|all| all.iter().any(|one| one["open"] == true))
    {
        if began.elapsed() > CLOSED {
            return Err("workspaces that nobody uses stay open".to_owned());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut waits = Vec::new();
    for workspace in &all {
        let began = Instant::now();
        workspace.ask(&host, "GET", "/v1/whoami", &Value::Null)?;
        waits.push(began.elapsed().as_secs_f64() * 1e3);
    }
    host.end()?;
    Ok(p99(waits))
}

/// A host with many workspaces that nobody uses, beside one that has none.
fn idle(hosts: Hosts<'_>, samples: &mut Samples) -> Result<(), String> {
    let alone = hosts.start(&[])?;
    let without = alone.resident_mib();
    let Ground { folder, database } = alone.end()?;
    fill(folder.path())?;
    let host = hosts.start_on(&[], Ground { folder, database })?;
    samples.add("idle_100k.start_ms", host.started_ms);
    let bytes = (host.resident_mib() - without) * 1024.0 * 1024.0 / IDLE as f64;
    samples.add("idle_100k.bytes", bytes.max(0.0));
    host.end().map(drop)
}

/// Folders as many workspaces have, and the list of them. None is due.
fn fill(data: &Path) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", data.display());
    for number in 0..IDLE {
        let folder = data.join("workspaces").join(format!("team-{number}"));
        fs::create_dir_all(&folder).map_err(failed)?;
        fs::write(folder.join("chorus.db"), b"").map_err(failed)?;
    }
    let later = SystemClock.now().plus(24 * 3_600_000);
    Catalog::open(data, later).map(drop).map_err(|e| e.to_string())
}
