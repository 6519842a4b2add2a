//! The one tool of a developer: `cargo xtask run | test | tidy | docs | package | web | bench | lab`.
//!
//! It depends on no crate of Chorus but the one that starts a PostgreSQL and the one that holds the page, which depend
//! on none, so that it builds in seconds and runs when nothing else compiles. Everything it checks, CI checks, and the other way round: `.ci/run` is
//! `cargo xtask test`.

mod advisories;
mod bench;
mod book;
mod clients;
mod contract;
mod debian;
mod figures;
mod fuzz;
mod instructions;
mod lab;
mod package;
mod pages;
mod postgres;
mod python;
mod repo;
mod step;
mod test;
mod tidy;
mod web;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Runs, checks and measures Chorus.")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Runs the release binary with what follows, `demo` when nothing does.
    Run {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Runs every check that CI runs.
    Test {
        /// Leaves out what needs a release build: the demo and the crash tests.
        #[arg(long)]
        fast: bool,
        /// Runs only the steps whose names contain this, such as `PostgreSQL`.
        #[arg(long, value_name = "STEP")]
        only: Option<String>,
    },
    /// Checks what the compiler does not: arrows, licences, files, requirements and documents.
    Tidy {
        /// Writes `spec/COVERAGE.md` and the pages of settings anew first.
        #[arg(long)]
        write: bool,
    },
    /// Looks whether a dependency has a known hole, where the list of advisories can be had.
    Advisories,
    /// Runs the commands that README and the documentation show, with the release binary.
    Pages,
    /// Makes the Debian package, tries it, and reads what containers are made of.
    Package,
    /// Builds the page from `web/` into `crates/web/dist`; needs Node.js.
    Web {
        /// Builds it beside, and compares.
        #[arg(long)]
        check: bool,
    },
    /// Builds the documentation as a book, in `target/book`.
    Docs,
    /// Builds in release and measures; one JSON object per line on standard output.
    Bench(bench::Options),
    /// Builds in release and tries what was built: `referee`, `fuzz`.
    Lab(lab::Options),
}

fn main() -> ExitCode {
    let outcome = match Args::parse().task {
        Task::Run { args } => run(args),
        Task::Test { fast, only } => test::run(fast, only),
        Task::Tidy { write } => tidy::run(write),
        Task::Advisories => advisories::check(),
        Task::Pages => step::build_host().and_then(|()| pages::follow()),
        Task::Package => step::build_host().and_then(|()| package::check()),
        Task::Web { check } => web::run(check),
        Task::Docs => book::build(),
        Task::Bench(options) => bench::run(&options),
        Task::Lab(options) => lab::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Vec<String>) -> Result<(), String> {
    let args = if args.is_empty() { vec!["demo".to_owned()] } else { args };
    step::build_host()?;
    step::interactive(&repo::release_binary("chorus"), &args)
}
