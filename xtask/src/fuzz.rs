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
use serde::Deserialize;

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
    let names: Vec<&str> = all.iter().map(|target| &*target.name).collect();
    if let Some(unknown) = options.targets.iter().find(|name| !names.contains(&&***name)) {
        return Err(format!("there is no target {unknown}; there are {}", names.join(", ")));
    }
    let chosen =
        |target: &&Target| options.targets.is_empty() || options.targets.contains(&target.name);
    let program = installed()?;
    let mut broken = Vec::new();
    for target in all.iter().filter(chosen) {
        eprintln!("\n==> {}", target.name);
        step::run(target.command(&program, "build"), BUILD)?;
        if let Err(why) = target.run(&program, options.seconds) {
            eprintln!("{}: {why}", target.name);
            broken.push(&*target.name);
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("found something: {}", broken.join(", "))) }
}

/// One program, as its manifest has it.
#[derive(Deserialize)]
struct Target {
    name: String,
    /// Whether it needs the host, which makes every program larger and slower that has it.
    #[serde(default, rename = "required-features")]
    features: Vec<String>,
}

fn targets() -> Result<Vec<Target>, String> {
    #[derive(Deserialize)]
    struct Manifest {
        bin: Vec<Target>,
    }
    let manifest = repo::read(Path::new(PROGRAMS).join("Cargo.toml")).unwrap_or_default();
    let manifest: Manifest = toml::from_str(&manifest).map_err(|e| format!("{PROGRAMS}: {e}"))?;
    Ok(manifest.bin)
}

impl Target {
    fn run(&self, program: &Path, seconds: u64) -> Result<(), String> {
        let corpus = repo::target_dir().join("fuzz/corpus").join(&self.name);
        fs::create_dir_all(&corpus).map_err(|e| format!("{}: {e}", corpus.display()))?;
        let mut command = self.command(program, "run");
        command.arg(corpus).arg(repo::root().join(SEEDS).join(&self.name)).arg("--");
        command.args([MEMORY, SLOW, "-print_final_stats=1"]);
        command.arg(format!("-max_total_time={seconds}"));
        step::run(command, Duration::from_secs(seconds) + SLACK)
    }

    /// A subcommand of `cargo fuzz` for it.
    fn command(&self, program: &Path, subcommand: &str) -> Command {
        let mut command = step::command(program, &[subcommand]);
        command.args(["--fuzz-dir", PROGRAMS, "--sanitizer", "none", "--no-default-features"]);
        for feature in &self.features {
            command.args(["--features", feature]);
        }
        command.arg("--target-dir").arg(repo::target_dir().join("fuzz")).arg(&self.name);
        command
    }
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
