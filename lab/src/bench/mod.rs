//! Benchmarks: every figure a ratio against a limit or a peer, taken in the same run.
//!
//! A run goes in rounds; each round takes every measurement once, one after the other, so that a
//! machine that slows down slows all of them. The value of a figure is the median over the rounds, and
//! a ratio is the median of the rounds' ratios. Standard output carries one JSON object a line:
//!
//! ```json
//! {"bench":"peer","metric":"limit.fdatasync","value":5300,"unit":"syncs/s","min":5200,"max":5400}
//! {"bench":"host","metric":"post.c64","value":24000,"unit":"posts/s","vs":"limit.fdatasync","ratio":4.5,"min":4.4,"max":4.7}
//! {"bench":"peer","metric":"nats.sync_always","absent":true,"reason":"…"}
//! ```
//!
//! A line of ours on PostgreSQL says `"database":"postgres"`; one over MCP is of the bench `mcp`. `min` and `max` are the ratio's where there is a ratio, else the value's. Where lower is better the
//! line says `"cost":true`. `target` is the bound we set ourselves, and `holds` whether it was met. A peer
//! that the machine has not is a line with `absent`, and never a pass. All durable work is on disk before
//! it is acknowledged, the peers' too.
//!
//! The load generator shares the cores with what it measures, so it is kept small: one thread, hand-written
//! requests, keep-alive, and no more parsing than finding the end of an answer and its status.

mod channels;
mod host;
mod load;
mod mcp;
mod peers;
mod registry;
mod report;
mod scale;
pub(crate) mod talk;
mod webhook;

use std::path::PathBuf;
use std::time::Duration;

/// How a benchmark is to be run.
pub struct Plan {
    /// The release binary of Chorus.
    pub chorus: PathBuf,
    /// The database under the host: `sqlite`, `auto` for a PostgreSQL started here, or a PostgreSQL's URL.
    pub database: String,
    /// The Python that has `mcp_agent_mail`.
    pub agent_mail: Option<PathBuf>,
    /// Interleaved rounds.
    pub rounds: usize,
    /// Length of one measurement.
    pub window: Duration,
    /// Prefixes of the measurements to take; all of them when empty.
    pub only: Vec<String>,
    /// One short round, whose figures mean nothing.
    pub quick: bool,
    /// `scale` computes what many hosts would do, and measures nothing.
    pub simulate: bool,
}

impl Plan {
    fn is_quick(&self) -> bool {
        self.quick
    }

    /// Whether the measurement `name` was asked for.
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|prefix| name.starts_with(prefix.as_str()))
    }

    /// Whether any measurement was asked for whose name begins with `group`.
    fn wants_some(&self, group: &str) -> bool {
        self.wants(group) || self.only.iter().any(|prefix| prefix.starts_with(group))
    }
}

/// Runs the benchmark `name`; its lines go to standard output, its progress to standard error.
///
/// # Errors
/// An unknown name or database, and any measurement that failed: the others are printed all the same.
pub fn run(name: &str, plan: &Plan) -> Result<(), String> {
    match (name, plan.database.as_str()) {
        ("scale", _) if plan.simulate => scale::simulation::run(plan),
        _ if plan.simulate => Err("only `scale` has --simulate".to_owned()),
        ("host", "sqlite") => host::run(plan, None),
        ("host", "auto") => host::run(plan, Some(peers::Base::start()?)),
        ("host", url) if url.contains("://") => host::run(plan, Some(peers::Base::at(url))),
        // A file has one host, and may have many workspaces; a database is the other way about.
        ("scale", "sqlite") => scale::workspaces::run(plan),
        ("scale", "auto") => scale::on_database(plan, &peers::Base::start()?),
        ("scale", url) if url.contains("://") => scale::on_database(plan, &peers::Base::at(url)),
        ("mcp", "sqlite") => mcp::run(plan),
        ("channels", "sqlite") => channels::run(plan),
        ("registry", "sqlite") => registry::run(plan),
        ("webhook", "sqlite") => webhook::run(plan),
        ("host" | "scale", other) => {
            Err(format!("a database is sqlite, auto or postgres://…, not {other}"))
        }
        ("mcp" | "channels" | "registry" | "webhook", _) => {
            Err(format!("`{name}` is measured on SQLite; `host` and `scale` have --database"))
        }
        _ => {
            Err("there are `host`, `mcp`, `channels`, `registry`, `webhook` and `scale`".to_owned())
        }
    }
}
