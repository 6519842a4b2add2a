//! `cargo xtask bench NAME`: builds what is measured and what measures it, in release, and runs it.
//!
//! Standard output carries one JSON object per line and nothing else; progress goes to standard
//! error. The figures and their names are explained in `lab/src/bench/mod.rs`, those of `attention` in
//! `lab/rooms/src/main.rs`.

use std::path::PathBuf;
use std::process::Command;

use crate::{repo, step};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// What to measure: `host`, `mcp`, or `attention`.
    name: String,
    /// Of `attention`: the folder of annotated chat.
    folder: Option<PathBuf>,
    /// Of `attention`: prints each miss with its trace on standard error.
    #[arg(long)]
    explain: bool,
    /// Of `attention`: rules of the flow of talk to leave out.
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Of `attention`: scores each room with weights that all the others give.
    #[arg(long)]
    cross: bool,
    /// Of `attention`: prints the weights that the rooms give.
    #[arg(long)]
    fit: bool,
    /// The database under the host: `sqlite`, `auto` for a PostgreSQL that the bench starts, or the URL of one in
    /// which it may make schemas.
    #[arg(long, default_value = "sqlite")]
    database: String,
    /// Interleaved rounds; a figure is the median of them.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// One short round, to see that everything runs; its figures mean nothing.
    #[arg(long)]
    quick: bool,
    /// Only metrics and peers whose name starts with one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// Builds and runs one benchmark.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    if options.name == "attention" {
        return attention(options);
    }
    step::build_release(&["chorus", "chorus-lab"])?;
    let mut command = Command::new(repo::release_binary("bench"));
    command
        .arg(&options.name)
        .arg("--chorus")
        .arg(repo::release_binary("chorus"))
        .args(["--database", &options.database])
        .args(["--rounds", &options.rounds.to_string()]);
    if options.quick {
        command.arg("--quick");
    }
    if !options.only.is_empty() {
        command.args(["--only", &options.only.join(",")]);
    }
    let status = command.status().map_err(|e| format!("bench: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("bench {}: {status}", options.name)) }
}

/// Replays a folder of annotated chat through the core's decisions; no host is needed for it.
fn attention(options: &Options) -> Result<(), String> {
    let Some(folder) = &options.folder else {
        return Err("bench attention: name a folder of *.jsonl with annotated chat".to_owned());
    };
    step::build_release(&["chorus-rooms"])?;
    let mut command = Command::new(repo::release_binary("chorus-rooms"));
    let flags =
        [(options.explain, "--explain"), (options.cross, "--cross"), (options.fit, "--fit")];
    command.arg(folder).args(flags.iter().filter(|(on, _)| *on).map(|(_, flag)| flag));
    if !options.without.is_empty() {
        command.args(["--without", &options.without.join(",")]);
    }
    let status = command.status().map_err(|e| format!("bench: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("bench attention: {status}")) }
}
