//! `chorus`, the one binary: arguments in, a host's answers out (design section 4, "Commands").
//!
//! Reading order: [`args`] is the command line and [`values`] reads what stands in it; [`host`] and [`lookup`] find whom to talk to; each command
//! is a file of [`commands`]; [`lines`], [`print`] and [`printer`] are how things look; [`demo`] plays the whole thing.
//! Nothing is decided here: every rule is the host's.

mod args;
mod ask;
mod commands;
mod demo;

mod help;
mod host;
mod lookup;
mod port;

mod failure;
mod lines;
mod print;
mod printer;
mod profiles;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::Cli;
use commands::Context;

use failure::{Failure, Result};
use printer::Printer;

fn main() -> ExitCode {
    let parsed = help::grouped(Cli::command()).try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(wrong) => return explain(&wrong),
    };
    let (json, verbose) = (cli.target.json, cli.target.verbose);
    let ran = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::here("cannot start", e))
        .and_then(|runtime| {
            let result = runtime.block_on(run(cli));
            // A thread that waits for standard input cannot be waited for.
            runtime.shutdown_background();
            result
        });
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print(json, verbose);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Help, the version, or what is wrong with the command line; for programs, the last is an envelope too.
fn explain(wrong: &clap::Error) -> ExitCode {
    if !wrong.use_stderr() || !std::env::args().any(|argument| argument == "--json") {
        wrong.exit();
    }
    let text = wrong.to_string();
    let what = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let failure = Failure::usage(what);
    failure.print(true, true);
    ExitCode::from(failure.exit_code())
}

async fn run(cli: Cli) -> Result {
    cli.target.trust()?;
    let context = Context { print: Printer::new(cli.target.json), target: cli.target };

    cli.command.run(&context).await
}
