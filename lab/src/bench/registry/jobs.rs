//! Jobs through the host, from the request to the settlement.
//!
//! Each hirer asks for the next job when the one before is settled: when the host has answered its
//! result, which the bench posts to the callback as the agent.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::agents::{self, Place, Seen};
use super::market::{Market, uuid};
use crate::bench::report::Samples;
use crate::bench::{Plan, load, talk};

const HIRERS: usize = 16;
const WORKERS: usize = 16;
const SKILL: &str = "work";
/// A job takes milliseconds; one that was lost is waited for no longer.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn round(plan: &Plan, market: &mut Market, window: Duration, samples: &mut Samples) {
    if !plan.wants("jobs.settled.c16") {
        return;
    }
    match measure(market, window) {
        Ok((rate, cpu_us)) => {
            samples.add("jobs.settled.c16", rate);
            samples.add("jobs.settled.c16.cpu_us", cpu_us);
        }
        Err(why) => samples.failed("jobs.settled.c16", &why),
    }
}

/// Jobs a second, and microseconds of the host for each.
fn measure(market: &mut Market, window: Duration) -> Result<(f64, f64), String> {
    let (place, seen) = (Place::bind()?, Seen::of(market.host.addr));
    let (url, run) = (place.url()?, market.next_run());
    load::runtime()?.block_on(async {
        agents::serve(place, seen.clone())?;
        let workers = workers(market, &url).await?;
        verified(&seen).await?;
        // Every connection is made.
        let line =
            Line { host: market.host.addr, run, workers: Arc::new(workers), seen: seen.clone() };
        hire(market, &line, Duration::ZERO, 0).await?;
        let (cpu, before) = (market.host.cpu_s(), seen.settled.load(Ordering::Relaxed));
        let rate = hire(market, &line, window, 1 << 32).await?;
        let settled = (seen.settled.load(Ordering::Relaxed) - before).max(1) as f64;
        let cpu_us = (market.host.cpu_s() - cpu) * 1e6 / settled;
        match seen.wrong() {
            Some(why) => Err(why),
            None => Ok((rate, cpu_us)),
        }
    })
}

/// What each hirer knows.
#[derive(Clone)]
struct Line {
    host: SocketAddr,
    run: u64,
    workers: Arc<Vec<String>>,
    seen: Arc<Seen>,
}

/// Registers agents at this address, or again with it; that they live is said by that.
async fn workers(market: &Market, url: &str) -> Result<Vec<String>, String> {
    let mut door = Door::open(market.host.addr, &market.host.token).await?;
    let mut workers = Vec::new();
    for number in 0..WORKERS {
        let agent = uuid(u64::from(u32::MAX), number, 1);
        let offer = json!({
            "agent_id": agent,
            "agent_name": format!("Worker {number}"),
            "api_endpoint": url,
            "skills": [{
                "skill_name": SKILL,
                "description": "Translates into German",
                "cost_per_call": 0.05,
                "input_schema": {"text": "string"},
                "output_schema": {"text": "string"},
            }],
        });
        door.post("/register", &offer.to_string()).await?;
        workers.push(agent);
    }
    Ok(workers)
}

async fn verified(seen: &Seen) -> Result<(), String> {
    let began = Instant::now();
    while seen.verified.load(Ordering::Relaxed) < WORKERS as u64 {
        if began.elapsed() > PATIENCE {
            return Err("the endpoints of the workers are not verified".to_owned());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Hires for `window`, and at least one job each; jobs a second that were settled meanwhile.
async fn hire(market: &Market, line: &Line, window: Duration, first: u64) -> Result<f64, String> {
    let mut hirers = JoinSet::new();
    let mut doors = Vec::new();
    for (_, token) in market.owners.iter().take(HIRERS) {
        doors.push(Door::open(line.host, token).await?);
    }
    let (began, before) = (Instant::now(), line.seen.settled.load(Ordering::Relaxed));
    for (hirer, mut door) in doors.into_iter().enumerate() {
        let line = line.clone();
        hirers.spawn(async move {
            for n in first.. {
                let job = uuid(line.run, hirer, n);
                let worker = &line.workers[(hirer + n as usize) % WORKERS];
                let told = line.seen.wait_for(&job);
                let asked = json!({
                    "job_id": job,
                    "agent_id": worker,
                    "skill_name": SKILL,
                    "input_data": {"text": "good morning"},
                    "budget": 0.05,
                });
                door.post("/jobs", &asked.to_string()).await?;
                let settled = tokio::time::timeout(PATIENCE, told.notified()).await;
                if settled.is_err() {
                    let why = line.seen.wrong().unwrap_or_default();
                    return Err(format!("job {job} is not settled: {why}"));
                }
                if began.elapsed() >= window {
                    break;
                }
            }
            Ok(())
        });
    }
    tokio::time::sleep_until((began + window).into()).await;
    let settled = line.seen.settled.load(Ordering::Relaxed) - before;
    let rate = settled as f64 / began.elapsed().as_secs_f64();
    while let Some(done) = hirers.join_next().await {
        done.map_err(|e| e.to_string())??;
    }
    Ok(rate)
}

/// A connection with a token.
struct Door {
    stream: TcpStream,
    token: String,
}

impl Door {
    async fn open(host: SocketAddr, token: &str) -> Result<Self, String> {
        let stream = TcpStream::connect(host).await.map_err(|e| format!("connect: {e}"))?;
        stream.set_nodelay(true).map_err(|e| format!("connect: {e}"))?;
        Ok(Self { stream, token: token.to_owned() })
    }

    async fn post(&mut self, path: &str, body: &str) -> Result<(), String> {
        let failed = |e: std::io::Error| format!("{path}: {e}");
        let mut out = Vec::new();
        talk::request(&mut out, "POST", path, &self.token, body);
        self.stream.write_all(&out).await.map_err(failed)?;
        let mut got = Vec::new();
        loop {
            if self.stream.read_buf(&mut got).await.map_err(failed)? == 0 {
                return Err(format!("{path}: the host closed the connection"));
            }
            match talk::head_and_body(&got) {
                None => {}
                Some((200..300, ..)) => return Ok(()),
                Some((status, head, end)) => {
                    let body = String::from_utf8_lossy(&got[head..end]);
                    return Err(format!("{path}: HTTP {status}: {body}"));
                }
            }
        }
    }
}
