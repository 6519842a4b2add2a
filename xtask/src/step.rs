//! Running the programs a task is made of.
//!
//! A step never reads standard input and never runs without a limit, so that a hang in CI ends as a
//! named failure and not as a machine that is taken away.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::repo;

/// How often a running step is looked at.
const POLL: Duration = Duration::from_millis(50);

/// A command at the root of the checkout, with no standard input.
pub(crate) fn command(program: impl AsRef<Path>, args: &[&str]) -> Command {
    let mut command = Command::new(program.as_ref());
    command.args(args).current_dir(repo::root()).stdin(Stdio::null());
    command
}

/// Runs `command` to its end; an error names the exit code or the limit it ran into.
pub(crate) fn run(mut command: Command, limit: Duration) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|e| format!("{name}: {e}"))?;
    let started = Instant::now();
    loop {
        match child.try_wait().map_err(|e| format!("{name}: {e}"))? {
            Some(status) => return outcome(status),
            None if started.elapsed() > limit => {
                // The child may have ended by itself in between; then there is nothing to end.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("ended after its limit of {} s", limit.as_secs()));
            }
            None => thread::sleep(POLL),
        }
    }
}

/// Runs cargo with `args`; the limit is generous, since a fresh clone builds everything.
pub(crate) fn cargo(args: &[&str]) -> Result<(), String> {
    run(command(repo::cargo(), args), Duration::from_secs(25 * 60))
}

/// Whether cargo has the subcommand `name`.
pub(crate) fn cargo_has(name: &str) -> bool {
    let probe = command(repo::cargo(), &[name, "--version"]).output();
    probe.is_ok_and(|output| output.status.success())
}

/// What every check of the workspace selects. Cargo resolves the features of dependencies for what is
/// selected, and would compile many of them again for another selection; traces are among the
/// features, so that one build has all tests.
pub(crate) const WORKSPACE: [&str; 4] = ["--workspace", "--features", "chorus/otlp", "--locked"];

/// Builds `chorus` and the programs that try and measure it in release, always together for the same
/// reason.
pub(crate) fn build_host() -> Result<(), String> {
    build_release(&["chorus", "chorus-lab"])
}

/// How many tests of the quick suites run at once: twice the cores, because they wait for commits and
/// for each other's processes for about half of their time.
pub(crate) fn at_once() -> String {
    let cores = thread::available_parallelism().map_or(2, std::num::NonZero::get);
    format!("--test-threads={}", 2 * cores)
}

/// Builds packages of the workspace in release, with cargo's own words on standard error.
pub(crate) fn build_release(packages: &[&str]) -> Result<(), String> {
    let mut args = vec!["build", "--release", "--locked", "--quiet"];
    for package in packages {
        args.extend(["--package", package]);
    }
    cargo(&args)
}

/// Runs a program that a person talks to: it has the terminal, and no limit.
pub(crate) fn interactive(program: &Path, args: &[String]) -> Result<(), String> {
    let status =
        Command::new(program).args(args).status().map_err(|e| format!("{program:?}: {e}"))?;
    outcome(status)
}

fn outcome(status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(status.to_string()) }
}
