//! `cargo xtask lab fuzz`: libFuzzer on every parser that a stranger reaches (`lab/parsers`), one after the other.
//!
//! The programs are in a workspace of their own (`lab/fuzz`), which nothing else builds. They need no nightly compiler:
//! without a sanitizer, `cargo fuzz` instruments with flags that stable has, and nothing of ours is `unsafe`. What was
//! learnt is kept in the target folder; what breaks a target is left in `lab/fuzz/artifacts` and becomes a seed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Parser;

use crate::{repo, step};

const VERSION: &str = "0.13.2";
const PROGRAMS: &str = "lab/fuzz";
const SEEDS: &str = "lab/parsers/seeds";
/// A first build compiles the host anew, with instrumentation.
const BUILD: Duration = Duration::from_secs(45 * 60);
/// What libFuzzer takes beyond its time: reading seeds, and writing its statistics.
const SLACK: Duration = Duration::from_secs(120);
/// A picture of the most pixels is decoded well within it.
const MEMORY: &str = "-rss_limit_mb=1024";
/// One input that takes longer, in seconds, is a finding.
const SLOW: &str = "-timeout=10";

#[derive(Parser)]
#[command(name = "cargo xtask lab fuzz", no_binary_name = true)]
struct Options {
    /// How long each target runs.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Which ones; all when none is named.
    targets: Vec<String>,
}

/// Runs the targets that are named, or all. All run even after one has found something.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let options = Options::try_parse_from(args).map_err(|e| e.to_string())?;
    let all = targets()?;
    if let Some(unknown) = options.targets.iter().find(|name| !all.contains(name)) {
        return Err(format!("there is no target {unknown}; there are {}", all.join(", ")));
    }
    let chosen = if options.targets.is_empty() { all } else { options.targets };
    let program = installed()?;
    step::run(fuzz(&program, &["build"]), BUILD)?;
    let mut broken = Vec::new();
    for target in chosen {
        eprintln!("\n==> {target}");
        if let Err(why) = one(&program, &target, options.seconds) {
            eprintln!("{target}: {why}");
            broken.push(target);
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("found something: {}", broken.join(", "))) }
}

/// The names of the targets: the folders of seeds.
fn targets() -> Result<Vec<String>, String> {
    let folders = fs::read_dir(repo::root().join(SEEDS)).map_err(|e| format!("{SEEDS}: {e}"))?;
    let names = folders.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}

fn one(program: &Path, target: &str, seconds: u64) -> Result<(), String> {
    let corpus = repo::target_dir().join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus).map_err(|e| format!("{}: {e}", corpus.display()))?;
    let mut command = fuzz(program, &["run"]);
    command.arg(target).arg(corpus).arg(repo::root().join(SEEDS).join(target)).arg("--");
    command.args([MEMORY, SLOW, "-print_final_stats=1"]);
    command.arg(format!("-max_total_time={seconds}"));
    step::run(command, Duration::from_secs(seconds) + SLACK)
}

/// A subcommand of `cargo fuzz`, with what all of them are given.
fn fuzz(program: &Path, subcommand: &[&str]) -> Command {
    let mut command = step::command(program, subcommand);
    command.args(["--fuzz-dir", PROGRAMS, "--sanitizer", "none"]);
    command.arg("--target-dir").arg(repo::target_dir().join("fuzz"));
    command
}

/// `cargo fuzz`, installed once at its version beside the checkout's other caches.
fn installed() -> Result<PathBuf, String> {
    let folder = repo::root().join(".cache").join(format!("cargo-fuzz-{VERSION}"));
    let program = folder.join("bin/cargo-fuzz");
    if !program.exists() {
        let at = folder.display().to_string();
        step::cargo(&["install", "cargo-fuzz", "--version", VERSION, "--locked", "--root", &at])?;
    }
    Ok(program)
}
