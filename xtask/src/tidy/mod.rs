//! `cargo xtask tidy`: the promises of this repository that no compiler checks.
//!
//! Each file here is one kind of promise: a function from the checkout to a list of problems, each
//! of which names its place and what to do. Tidy reads; with `--write` it writes `spec/COVERAGE.md`
//! and the pages of settings, and nothing else.

mod arrows;
mod coverage;
mod documents;
mod files;
pub(crate) mod links;
mod metadata;
mod modules;
mod requirements;
mod sentences;
mod settings;
mod supply;
mod width;
mod words;

pub(crate) use coverage::covering_tests;
pub(crate) use documents::followed;

/// Problems found, each a line with its place first.
type Problems = Vec<String>;

/// Runs every check; `write` renews the generated coverage page first.
pub(crate) fn run(write: bool) -> Result<(), String> {
    if write {
        coverage::write()?;
        settings::write()?;
    }
    let metadata = metadata::load()?;
    let mut problems = Problems::new();
    problems.extend(arrows::check(&metadata));
    problems.extend(modules::check(&metadata)?);
    problems.extend(supply::check(&metadata));
    problems.extend(files::check()?);
    problems.extend(words::check()?);
    problems.extend(coverage::check()?);
    problems.extend(documents::check()?);
    problems.extend(links::check()?);
    problems.extend(width::check()?);
    report(&problems)
}

/// Compares the commands that the pages show with those of the release binary, which must be built.
pub(crate) fn shown_commands() -> Result<(), String> {
    report(&documents::commands()?)
}

fn report(problems: &[String]) -> Result<(), String> {
    for problem in problems {
        eprintln!("tidy: {problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => Err("1 problem".to_owned()),
        n => Err(format!("{n} problems")),
    }
}
