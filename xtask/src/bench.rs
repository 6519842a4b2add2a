//! `cargo xtask bench NAME`: builds what is measured and what measures it, in release, and runs it.
//!
//! Standard output carries one JSON object per line and nothing else; progress goes to standard
//! error. The figures and their names are explained in `lab/src/bench/mod.rs`, those of `attention` in
//! `lab/rooms/src/main.rs`, those of `wake` and `web` in `lab/clients/benches`, those of `instructions` in
//! `xtask/src/instructions.rs`.

use std::process::Command;

use crate::{clients, figures, instructions, python, repo, step};

/// The version of `mcp-agent-mail` that `mcp` is compared with.
const AGENT_MAIL: &str = "0.1.0";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// What to measure: `host`, `mcp`, `channels`, `registry`, `webhook`, `scale`, `wake`, `web`, `attention`, or `instructions`; or
    /// `page` with files of what they printed, for `docs/figures.md`.
    name: String,
    /// What the program that measures it takes; `-- --help` says what that is.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Builds and runs one benchmark.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let mut command = match options.name.as_str() {
        "instructions" => return instructions::bench(&options.args),
        "page" => return figures::page(&options.args),
        // Drives the real programs.
        name @ ("wake" | "web") => return clients::bench(name, &options.args),
        // Replays a folder of annotated chat through the core's decisions; no host is needed for it.
        "attention" => {
            step::build_release(&["chorus-rooms"])?;
            Command::new(repo::release_binary("chorus-rooms"))
        }
        name => {
            step::build_host()?;
            let mut command = Command::new(repo::release_binary("bench"));
            command.arg(name).arg("--chorus").arg(repo::release_binary("chorus"));
            if name == "mcp" {
                match python::installed("mcp-agent-mail", AGENT_MAIL) {
                    Ok(programs) => drop(command.arg("--agent-mail").arg(programs.join("python"))),
                    Err(why) => eprintln!("mcp-agent-mail cannot be installed: {why}"),
                }
            }
            command
        }
    };
    let status = command.args(&options.args).status().map_err(|e| format!("bench: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("bench {}: {status}", options.name)) }
}
