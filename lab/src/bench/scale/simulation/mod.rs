//! `bench scale --simulate`: what many workspaces ask of many hosts, computed from what one costs.
//!
//! Nothing is started and nothing is measured: [`COSTS`] are figures of other runs, and docs/scale.md says which. The hosts are
//! chosen by the product's own `placement::choose`. Everything else is a model: who talks when ([`load`]) and what hosts own
//! ([`fleet`]). The same scenario always has the same figures.
//!
//! Each line has its `scenario`. Hosts are simulated in the five minutes in which the most workspaces are open:
//!
//! - `posts.peak`, `open.peak`, `opened.peak`: messages a second, open workspaces, workspaces opened a second.
//! - `hosts.for_cpu`, `.for_memory`, `.for_open`: hosts of two cores and 16 GB that each of these would take (`.for_open`: of
//!   the setting `workspaces.open`); `hosts.needed` is the most of them, and one that may be lost. So many are simulated.
//! - `owned.max_over_mean` and `.min_over_mean`: open workspaces of the fullest and the emptiest host; `load` is the work.
//! - `carried`: messages a day at which the cores of the busiest host are full, with as many workspaces open.
//! - `join`, `leave`: the share of the open workspaces that another host would be chosen for with one host more or fewer;
//!   `join.after_1h`: what a new host owns after an hour, over the mean. Nothing is moved to it: it gets what is opened.
//! - `lost`, `drained`: how long a workspace of the fullest host waits when that host is gone, and when it is told to stop.

mod figures;
mod fleet;
mod load;
#[cfg(test)]
mod tests;

use chorus_server::placement::choose;
use serde_json::json;

use crate::bench::Plan;
use crate::bench::report::rounded;
use figures::{Line, figures};

/// What things cost on a host of two cores. docs/scale.md says how each was measured.
const COSTS: Costs = Costs {
    posts: 14_000.0,
    forwarded: 1.11,
    open_s: 0.032,
    open_mb: 3.9,
    idle_bytes: 18.0,
    lease_s: 5.0,
};

/// What things cost, as measured.
struct Costs {
    /// Messages a second that a host can take.
    posts: f64,
    /// The cost of a request that is passed on, over one that is not.
    forwarded: f64,
    /// Seconds of one core for opening a workspace: all that it takes is counted as work.
    open_s: f64,
    /// Memory of an open workspace.
    open_mb: f64,
    /// Memory of one that nobody uses.
    idle_bytes: f64,
    /// Seconds until another host may take what a lost one owned.
    lease_s: f64,
}

/// A load to carry.
#[derive(Clone, Debug)]
struct Scenario {
    name: &'static str,
    seed: u64,
    workspaces: usize,
    /// Messages of a day.
    messages: f64,
    /// Messages that are written at one sitting. The fewer, the more sittings, and the more workspaces are open.
    per_visit: f64,
    /// The share of workspaces in which somebody stays connected, so that they are never closed.
    kept_open: f64,
    /// The exponent of Zipf's law.
    zipf: f64,
    /// How much more than its mean is asked for in the worst moments of five minutes.
    burst: f64,
    /// The memory of a host, in GB.
    host_gb: f64,
}

const SMALL: Scenario = Scenario {
    name: "10k workspaces",
    seed: 1,
    workspaces: 10_000,
    messages: 1e7,
    per_visit: 10.0,
    kept_open: 0.0,
    zipf: 1.0,
    burst: 2.0,
    host_gb: 16.0,
};

const MILLION: Scenario =
    Scenario { name: "1m workspaces", workspaces: 1_000_000, messages: 1e9, ..SMALL };

/// Prints the figures of each scenario; with `--quick` of the small one.
pub(in crate::bench) fn run(plan: &Plan) -> Result<(), String> {
    let all = [
        SMALL,
        MILLION,
        Scenario { name: "1m workspaces, a tenth kept open", kept_open: 0.1, ..MILLION },
        Scenario { name: "1m workspaces, visits of one message", per_visit: 1.0, ..MILLION },
    ];
    for scenario in all.iter().take(if plan.quick { 1 } else { all.len() }) {
        eprintln!("{}", scenario.name);
        for line in figures(scenario, choose)? {
            println!("{}", shown(scenario, &line));
        }
    }
    Ok(())
}

fn shown(scenario: &Scenario, line: &Line) -> serde_json::Value {
    let metric = format!("simulate.{}", line.metric);
    let mut shown = json!({
        "bench": "scale",
        "metric": metric,
        "scenario": scenario.name,
        "value": rounded(line.value),
        "unit": line.unit,
    });
    if let Some(ideal) = line.ideal {
        shown["vs"] = json!("ideal");
        shown["ratio"] = json!(rounded(line.value / ideal));
    }
    shown
}
