//! `cargo xtask lab NAME`: builds the release binary and a program that tries it, and runs that.

use std::process::Command;
use std::time::Duration;

use crate::{fuzz, repo, step};

/// What it takes beyond the time that it is to go on: scenes end, and the rooms are judged.
const VERDICT: Duration = Duration::from_secs(4 * 60);

#[derive(clap::Args)]
pub(crate) struct Options {
    /// What to run: `referee`, which drives a host and looks whether it keeps to the spec, or `fuzz`, which feeds parsers.
    #[arg(value_parser = ["referee", "fuzz"])]
    name: String,
    /// What that program takes: `--minutes N --seed S --chorus PATH --only SCENE`, or `--seconds N [TARGET…]`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    if options.name == "fuzz" {
        return fuzz::run(&options.args);
    }
    let another = options.args.iter().any(|arg| arg.split('=').next() == Some("--chorus"));
    // Another binary is tried as it is.
    if another {
        step::build_release(&["chorus-lab"])?
    } else {
        step::build_host()?
    }
    let mut command = Command::new(repo::release_binary(&options.name));
    if !another {
        command.arg("--chorus").arg(repo::release_binary("chorus"));
    }
    let status = command.args(&options.args).status().map_err(|e| format!("lab: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("lab {}: {status}", options.name)) }
}

/// A minute of the referee, as `cargo xtask test` runs it.
pub(crate) fn a_minute() -> Result<(), String> {
    step::build_host()?;
    let mut referee = step::command(repo::release_binary("referee"), &["--minutes", "1"]);
    referee.arg("--chorus").arg(repo::release_binary("chorus"));
    step::run(referee, VERDICT)
}
