//! `bench channels`: what turns cost, and what channels cost with a million messages in them.
//!
//! The messages are written by the store's own writer, as years of talk that lie behind ([`fill`]); then the host starts on
//! them, as it comes up on such a folder, reads them into its index ([`search`]), is killed and comes back ([`recover`]). Turns are decided in this process ([`turns`]), and granted and held by hosts on folders of their own.

mod fill;
mod leases;
mod recover;
mod search;
mod turns;

use super::Plan;
use super::host::server::Hosts;
use super::report::{Figure, Samples};

/// Messages in the folder.
const MESSAGES: u64 = 1_000_000;
/// The same in a quick run.
const FEW: u64 = 20_000;

const FIGURES: &[Figure] = &[
    Figure::peer("limit.fdatasync", "syncs/s"),
    Figure::channels("turns_decide", "decisions/s").at_least(1_000_000.0),
    Figure::channels("turns_granted", "turns/s").over("limit.fdatasync"),
    Figure::channels("leases_10000.cpu_percent", "percent").at_most(1.0),
    Figure::channels("leases_10000.mib", "MiB"),
    Figure::channels("leases_10000.fill_s", "s"),
    Figure::channels("leases_10000.list_ms", "ms"),
    Figure::channels("leases_10000.restart_ms", "ms"),
    Figure::channels("recover_1m_s", "s").at_most(10.0),
    Figure::channels("recover_1m_mib", "MiB"),
    Figure::channels("doctor_1m_s", "s"),
    Figure::channels("repair_1m_s", "s"),
    Figure::channels("search_p50_ms", "ms"),
    Figure::channels("search_p99_ms", "ms").at_most(30.0),
    Figure::channels("search_max_ms", "ms"),
    Figure::channels("index_s", "s"),
    Figure::channels("index_mib", "MiB"),
    Figure::channels("index_idle_rss_mib", "MiB"),
];

/// Measures everything asked for and prints the lines.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    let mut samples = Samples::default();
    let hosts = Hosts { chorus: &plan.chorus, base: None };
    for _ in 0..plan.rounds {
        samples.take(plan, "turns_decide", &mut || turns::decide(plan));
    }
    let noted = |name: &str, done: Result<(), String>, samples: &mut Samples| {
        if let Err(why) = done {
            samples.failed(name, &why);
        }
    };
    if plan.wants("turns_granted") {
        let done = turns::granted(plan, hosts, &mut samples);
        noted("turns_granted", done, &mut samples);
    }
    if plan.wants_some("leases") {
        let done = leases::measure(plan, hosts, &mut samples);
        noted("leases", done, &mut samples);
    }
    let recovers = ["recover", "doctor", "repair"].iter().any(|name| plan.wants_some(name));
    let searches = plan.wants_some("search") || plan.wants_some("index");
    if recovers || searches {
        let messages = if plan.is_quick() { FEW } else { MESSAGES };
        eprintln!("filling a folder with {messages} messages");
        let ground = hosts.ground()?;
        let rooms = fill::fill(ground.folder.path(), messages)?;
        let ground = match searches {
            true => search::measure(plan, hosts, ground, &rooms, &mut samples)?,
            false => ground,
        };
        if recovers {
            recover::measure(plan, hosts, ground, &rooms, &mut samples)?;
        }
    }
    samples.print(FIGURES, None);
    match samples.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(failures.join("; ")),
    }
}
