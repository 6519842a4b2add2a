//! A host with agents for hire and owners with credits.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::json;

use super::agents::{self, Place, Seen};
use crate::bench::host::rooms::person;
use crate::bench::host::server::{Host, Hosts};
use crate::bench::report::Samples;
use crate::bench::talk::Once;
use crate::bench::{Plan, load};

const AGENTS: usize = 100_000;
/// Where discovery is not measured, or nothing is.
const FEW: usize = 2_000;
pub(super) const SKILLS: usize = 1_000;
/// People who register agents, and those who spend.
const SELLERS: usize = 16;
pub(super) const OWNERS: usize = 100;
/// Longest that it may take until all are registered, and until all are verified.
const PATIENCE: Duration = Duration::from_secs(900);

/// What skills are about, so that words find some.
const ABOUT: [&str; 8] = [
    "translates texts from English into German",
    "summarises long reports in a few sentences",
    "reads invoices and lists what is due",
    "draws charts of numbers in a table",
    "looks for faults in a program",
    "writes tests for a function",
    "transcribes what was said in a recording",
    "compares prices of several shops",
];

pub(super) struct Market {
    pub(super) host: Host,
    /// Owners with credits, and their tokens.
    pub(super) owners: Vec<(String, String)>,
    /// Tells the ids of one run from those of another.
    pub(super) runs: u64,
}

impl Market {
    pub(super) fn open(
        plan: &Plan,
        hosts: Hosts<'_>,
        samples: &mut Samples,
    ) -> Result<Self, String> {
        let host = hosts.start(&[])?;
        let wanted = plan.wants_some("discover_100k") && !plan.is_quick();
        register(&host, if wanted { AGENTS } else { FEW }, samples)?;
        let mut owners = Vec::new();
        for number in 0..OWNERS {
            let owner = person(&host, &format!("owner{number}"))?;
            let path = format!("/accounts/{}/mint", owner.0);
            host.ask("POST", &path, &json!({"amount": 1_000_000_000}))?;
            owners.push(owner);
        }
        Ok(Self { host, owners, runs: 0 })
    }

    /// A UUID that no other run has, nor another of its clients.
    pub(super) fn next_run(&mut self) -> u64 {
        self.runs += 1;
        self.runs
    }
}

/// A UUID for the number `n` of a client.
pub(super) fn uuid(run: u64, client: usize, n: u64) -> String {
    format!("{run:08x}-{client:04x}-4000-8000-{n:012x}")
}

/// Registers so many, and waits until the endpoint of each is verified.
fn register(host: &Host, count: usize, samples: &mut Samples) -> Result<(), String> {
    let (place, seen) = (Place::bind()?, Seen::of(host.addr));
    let url = place.url()?;
    let sellers = (0..SELLERS).map(|number| person(host, &format!("seller{number}")));
    let sellers = sellers.collect::<Result<Vec<_>, _>>()?;
    // Challenges come while agents are registered, so they are answered on a thread of their own.
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let served = seen.clone();
    let server = std::thread::spawn(move || {
        load::runtime()?.block_on(async {
            agents::serve(place, served)?;
            // The other end goes when it is over.
            let _ = stopped.await;
            Ok::<_, String>(())
        })
    });
    let began = Instant::now();
    let talks = sellers.iter().enumerate().map(|(seller, (_, token))| Once {
        token: token.clone(),
        requests: (seller..count)
            .step_by(SELLERS)
            .map(|number| ("POST", "/register".to_owned(), registration(number, &url)))
            .collect::<Vec<_>>()
            .into_iter(),
    });
    let outcome = load::run(host.addr, PATIENCE, talks.collect())?;
    if outcome.answers < count as u64 {
        return Err(format!("only {} of {count} agents are registered", outcome.answers));
    }
    samples.add("register.c16", count as f64 / began.elapsed().as_secs_f64());
    let result = verified(&seen, count as u64);
    drop(stop);
    server.join().map_err(|_| "agents: the server ended")??;
    result?;
    eprintln!("  {count} agents after {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

fn verified(seen: &Arc<Seen>, count: u64) -> Result<(), String> {
    let began = Instant::now();
    while seen.verified.load(Ordering::Relaxed) < count {
        if let Some(why) = seen.wrong() {
            return Err(why);
        }
        if began.elapsed() > PATIENCE {
            let so_many = seen.verified.load(Ordering::Relaxed);
            return Err(format!("only {so_many} of {count} endpoints are verified"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn registration(number: usize, url: &str) -> String {
    let skill = number % SKILLS;
    json!({
        "agent_id": uuid(0, number / 100_000, number as u64 + 1),
        "agent_name": format!("Agent {number}"),
        "api_endpoint": url,
        "skills": [{
            "skill_name": format!("skill_{skill}"),
            "description": format!("It {}, number {skill}", ABOUT[skill % ABOUT.len()]),
            "cost_per_call": f64::from(1 + (number * 7 % 100) as u32) / 100.0,
            "input_schema": {"text": "string"},
            "output_schema": {"text": "string"},
        }],
    })
    .to_string()
}
