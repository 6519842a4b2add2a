//! The program behind `cargo xtask bench`; see `chorus_lab::bench` for what it prints.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use chorus_lab::bench::{self, Plan};
use clap::Parser;

#[derive(Parser)]
struct Args {
    /// What to measure: `host`, `mcp`, `channels`, `registry`, `webhook` or `scale`.
    name: String,
    /// The release binary of Chorus.
    #[arg(long)]
    chorus: PathBuf,
    /// The database under the host: `sqlite`, `auto` for a PostgreSQL started here, or a PostgreSQL's URL.
    #[arg(long, default_value = "sqlite")]
    database: String,
    /// The Python that has `mcp_agent_mail`, a peer of `mcp`.
    #[arg(long)]
    agent_mail: Option<PathBuf>,
    /// Interleaved rounds; a figure is the median of them.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Milliseconds of load for one figure in one round.
    #[arg(long, default_value_t = 1_500)]
    window_ms: u64,
    /// One short round, to see that everything runs.
    #[arg(long)]
    quick: bool,
    /// Compute what many workspaces on many hosts would take (`scale`); nothing is started.
    #[arg(long)]
    simulate: bool,
    /// Only measurements whose name starts with one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let plan = Plan {
        chorus: args.chorus,
        database: args.database,
        agent_mail: args.agent_mail,
        rounds: if args.quick { 1 } else { args.rounds.max(1) },
        window: Duration::from_millis(if args.quick { 200 } else { args.window_ms }),
        only: args.only,
        quick: args.quick,
        simulate: args.simulate,
    };
    match bench::run(&args.name, &plan) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bench {}: {why}", args.name);
            ExitCode::FAILURE
        }
    }
}
