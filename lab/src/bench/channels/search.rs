//! Searches of all kinds over the filled folder, one after the other: words of every rank, two of them, phrases that were said,
//! and each of them narrowed by author, channel and time.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::fill::{Chance, PEOPLE, text, word};
use crate::bench::Plan;
use crate::bench::host::rooms::token;
use crate::bench::host::server::{Ground, Host, Hosts};
use crate::bench::report::Samples;

/// Searches of one round.
const SEARCHES: usize = 1_000;
/// How long a host may take to read a million messages.
const PATIENCE: Duration = Duration::from_secs(900);

pub(super) fn measure(
    plan: &Plan,
    hosts: Hosts<'_>,
    ground: Ground,
    rooms: &[String],
    samples: &mut Samples,
) -> Result<Ground, String> {
    let folder = ground.folder.path().to_owned();
    let host = hosts.start_on(&[], ground)?;
    let began = Instant::now();
    let mut waited = false;
    while host.ask("GET", "/v1/search?q=anything", &Value::Null)?["behind"] == true {
        waited = true;
        if began.elapsed() > PATIENCE {
            return Err("the index is not made".to_owned());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    if !waited {
        eprintln!("  the index was made before anybody could look");
    }
    samples.add("index_s", began.elapsed().as_secs_f64());
    let size = std::fs::metadata(folder.join("search.db")).map_err(|e| e.to_string())?.len();
    samples.add("index_mib", size as f64 / 1024.0 / 1024.0);
    samples.add("index_idle_rss_mib", host.resident_mib());
    let reader = token(&host, "person1", "worker")?;
    for number in 1..=plan.rounds {
        eprintln!("round {number} of {}", plan.rounds);
        let mut chance = Chance(number as u64 * 7_777 + 1);
        let mut took = Vec::with_capacity(SEARCHES);
        for n in 0..SEARCHES {
            let query = query(n, &mut chance, rooms);
            let path = format!("/v1/search?limit=20&q={query}");
            let began = Instant::now();
            asked(&host, &reader, &path)?;
            let ms = began.elapsed().as_secs_f64() * 1e3;
            took.push((ms, query));
        }
        took.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (ms, query) in took.iter().rev().take(5) {
            eprintln!("  slow: {ms:.1} ms {query}");
        }
        samples.add("search_p50_ms", took[SEARCHES / 2].0);
        samples.add("search_p99_ms", took[SEARCHES * 99 / 100].0);
        samples.add("search_max_ms", took[SEARCHES - 1].0);
    }
    host.end()
}

fn asked(host: &Host, token: &str, path: &str) -> Result<(), String> {
    let (status, answer) = crate::bench::talk::exchange(host.addr, "GET", path, token, "")?;
    match status {
        200 => Ok(()),
        _ => Err(format!("{path}: HTTP {status}: {}", String::from_utf8_lossy(&answer))),
    }
}

/// What is searched for, as it stands in an address.
fn query(number: usize, chance: &mut Chance, rooms: &[String]) -> String {
    let frequent = |chance: &mut Chance| word(chance.below(30));
    let said = text(chance.below(1_000_000));
    let said: Vec<&str> = said.split(' ').collect();
    let at = chance.below(said.len() as u64 - 2) as usize;
    match number % 10 {
        0 | 1 => frequent(chance),
        2 => chance.word(),
        3 => format!("{}+{}", frequent(chance), frequent(chance)),
        4 => format!("{}+{}", said[at], said[at + 2]),
        5 => format!("%22{}+{}%22", said[at], said[at + 1]),
        6 => format!("%22{}+{}%22", frequent(chance), frequent(chance)),
        7 => format!("{}&author=person{}", said[at], 1 + chance.below(PEOPLE)),
        8 => {
            let room = &rooms[chance.below(rooms.len() as u64) as usize];
            format!("{}&conversation={room}", frequent(chance))
        }
        _ => format!("{}&until=2026-08-01T00:00:00Z", frequent(chance)),
    }
}
