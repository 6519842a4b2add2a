//! `bench channels`: what channels cost with a million messages in them.
//!
//! The messages are written by the store's own writer, as years of talk that lie behind ([`fill`]); then the host starts on
//! them, as it comes up on such a folder, and reads them into its index.

mod fill;
mod search;

use super::Plan;
use super::host::server::Hosts;
use super::report::{Figure, Samples};

/// Messages in the folder.
const MESSAGES: u64 = 1_000_000;
/// The same in a quick run.
const FEW: u64 = 20_000;

const FIGURES: &[Figure] = &[
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
    if plan.wants_some("search") || plan.wants_some("index") {
        let messages = if plan.is_quick() { FEW } else { MESSAGES };
        eprintln!("filling a folder with {messages} messages");
        let ground = hosts.ground()?;
        let rooms = fill::fill(ground.folder.path(), messages)?;
        search::measure(plan, hosts, ground, &rooms, &mut samples)?;
    }
    samples.print(FIGURES, None);
    match samples.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(failures.join("; ")),
    }
}
