//! `chorus`, the one binary: arguments in, a host's answers out (design section 4, "Commands").
//!
//! Reading order: [`args`] is the command line and [`values`] reads what stands in it; [`host`] and [`lookup`] find whom to talk to; each command
//! is a file of [`commands`]; [`lines`], [`print`] and [`printer`] are how things look; [`demo`] plays the whole thing.
//! Nothing is decided here: every rule is the host's.

mod args;
mod ask;
mod commands;
mod demo;

mod host;
mod lookup;

mod failure;
mod lines;
mod print;
mod printer;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use commands::*;

use failure::{Failure, Result};
use printer::Printer;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(wrong) => return explain(&wrong),
    };
    let json = cli.target.json;
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
            failure.print(json);
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
    failure.print(true);
    ExitCode::from(failure.exit_code())
}

async fn run(cli: Cli) -> Result {
    cli.target.trust()?;
    let context = Context { print: Printer::new(cli.target.json), target: cli.target };

    match cli.command {
        Command::Serve(args) => serve::run(args, &context).await,
        Command::Demo(args) => demo::run(args, &context).await,
        Command::Token(args) => token::run(args, &context).await,
        Command::Member(args) => member::run(args, &context).await,
        Command::Role(args) => role::run(args, &context).await,
        Command::Channel(args) => channel::run(args, &context).await,
        Command::Thread(args) => thread::run(args, &context).await,
        Command::Project(args) => project::run(args, &context).await,
        Command::Task(args) => task::run(args, &context).await,
        Command::Schedule(args) => schedule::run(args, &context).await,
        Command::Webhook(args) => webhook::run(args, &context).await,
        Command::Stimuli(args) => stimuli::run(args, &context).await,
        Command::Feed(args) => feed::run(args, &context).await,
        Command::Inbox(args) => inbox::run(args, &context).await,
        Command::Post(args) => post::run(args, &context).await,
        Command::Edit(args) => edit::run(args, &context).await,
        Command::Delete(args) => delete::run(args, &context).await,
        Command::Erase(args) => erase::run(args, &context).await,
        Command::React(args) => react::run(args, &context).await,
        Command::Continue(args) => go_on::run(args, &context).await,
        Command::Turns(args) => turns::run(args, &context).await,
        Command::Moderation(args) => moderation::run(args, &context).await,
        Command::Tail(args) => tail::run(args, &context).await,
        Command::Mail(args) => mail::run(args, &context).await,
        Command::Owed(args) => owed::run(args, &context).await,
        Command::Asset(args) => asset::run(args, &context).await,
        Command::Search(args) => search::run(args, &context).await,
        Command::Digest(args) => digest::run(args, &context).await,
        Command::Agents(args) => agents::run(args, &context).await,
        Command::Sessions(args) => sessions::run(args, &context).await,
        Command::Approve(args) => approve::run(args, &context).await,
        Command::Claims(args) => claims::run(args, &context).await,
        Command::Why(args) => why::run(args, &context).await,
        Command::DeadLetters(args) => dead_letters::run(args, &context).await,
        Command::Audit(args) => audit::run(args, &context).await,
        Command::Doctor(args) => doctor::run(args, &context).await,
        Command::Backup(args) => backup::run(args, &context).await,
        Command::Restore(args) => restore::run(args, &context).await,
        Command::Config(args) => config::run(args, &context).await,
        Command::Completions(args) => completions::run(args, Cli::command(), &context).await,
        Command::Man(args) => man::run(args, Cli::command(), &context).await,
        Command::Export(args) => export::run(args, &context).await,
        Command::Import(args) => import::run(args, &context).await,
        Command::Join(args) => join::run(args, &context).await,
        Command::C2a(args) => c2a::run(args, &context).await,
        Command::Mcp(args) => mcp::run(args, &context).await,
        Command::ScriptedAgent(args) => demo::scripted::run(args).await,
    }
}
