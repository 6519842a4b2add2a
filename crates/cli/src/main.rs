//! `chorus`, the one binary: arguments in, a host's answers out (design section 4, "Commands").
//!
//! Reading order: [`args`] is the command line and [`values`] reads what stands in it; [`host`] and [`lookup`] find whom to talk to; each command
//! is a file of [`commands`]; [`lines`], [`print`] and [`printer`] are how things look; [`demo`] plays the whole thing.
//! Nothing is decided here: every rule is the host's.

mod args;
mod ask;
mod commands;
mod demo;

mod data;
mod pages;

mod ended;
mod help;
mod host;
mod lookup;
mod port;

mod failure;
mod lines;
mod print;
mod printer;
mod profiles;
mod progress;
mod runners;
mod short_ids;
mod terminal;
mod values;

use std::ffi::OsString;
use std::process::ExitCode;

use args::Cli;
use clap::{CommandFactory, FromArgMatches};
use clap_complete::CompleteEnv;
use commands::{Context, completions};
use failure::{Failure, Result};
use printer::Printer;

fn main() -> ExitCode {
    // A shell that completes a command asks and goes.
    let words = CompleteEnv::with_factory(|| completions::with_names(command()));
    words.var(completions::VARIABLE).complete();
    let cli = match read(std::env::args_os().collect()) {
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

fn command() -> clap::Command {
    help::described(help::grouped(Cli::command()))
}

fn read(words: Vec<OsString>) -> std::result::Result<Cli, clap::Error> {
    let parsed = command().try_get_matches_from(words);
    parsed.and_then(|matches| Cli::from_arg_matches(&matches))
}

/// Help, the version, or what is wrong with the command line; for programs, the last is an envelope too.
fn explain(wrong: &clap::Error) -> ExitCode {
    if !wrong.use_stderr() || !std::env::args().any(|argument| argument == "--json") {
        wrong.exit();
    }
    let failure = Failure::usage(sentence(&wrong.to_string()));
    failure.print(true, true);
    ExitCode::from(failure.exit_code())
}

/// What clap says on several lines, up to the usage, on one: `the following … were not provided: <CHANNEL>, <TEXT>...`
fn sentence(text: &str) -> String {
    let mut said = String::new();
    for line in text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:")) {
        let line = line.trim_start_matches("error: ");
        match said.chars().next_back() {
            _ if line.is_empty() || line.starts_with("For more information") => continue,
            None => {}
            Some(':') => said.push(' '),
            Some(_) if line.starts_with("tip:") => said.push_str("; "),
            Some(_) => said.push_str(", "),
        }
        said.push_str(line);
    }
    said
}

async fn run(cli: Cli) -> Result {
    cli.target.trust()?;
    let cli = with_whole_ids(cli).await?;
    let context = Context { print: Printer::new(cli.target.json), target: cli.target };
    if context.print.is_read_by_people() && !context.target.verbose {
        terminal::is_read();
    }
    cli.command.run(&context).await
}

/// The same command with whole ids in the place of short ones.
async fn with_whole_ids(cli: Cli) -> Result<Cli> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let is_short = |word: &OsString| word.to_str().is_some_and(short_ids::is_short);
    if !words.iter().any(is_short) {
        return Ok(cli);
    }
    let client = cli.target.client()?;
    for word in words.iter_mut().filter(|word| is_short(word)) {
        if let Some(short) = word.to_str() {
            *word = lookup::whole_id(&client, short).await?.into();
        }
    }
    read(words).map_err(|wrong| Failure::usage(wrong.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: OPS-483
    #[test]
    fn what_is_wrong_with_a_command_line_is_one_sentence() {
        let said = |words: &[&str]| {
            let words = words.iter().map(|word| OsString::from(*word)).collect();
            sentence(&read(words).err().map(|wrong| wrong.to_string()).unwrap_or_default())
        };
        assert_eq!(
            said(&["chorus", "post"]),
            "the following required arguments were not provided: <CHANNEL>, <TEXT>..."
        );
        let unknown = said(&["chorus", "post", "a", "b", "--previw"]);
        assert_eq!(
            unknown,
            "unexpected argument '--previw' found; tip: a similar argument exists: '--preview'"
        );
    }
}
