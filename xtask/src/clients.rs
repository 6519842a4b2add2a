//! Real MCP clients against the release binary: the official conformance suite, Inspector, the Python and TypeScript
//! clients, Codex, Claude Code and Gemini CLI driven by a scripted model, and a browser
//! (`lab/clients`).
//!
//! They are installed once, at the versions of `lab/clients/kit`, beside the checkout's other caches.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::{debian, repo, step};

const KIT: &str = "lab/clients/kit";
/// What says which versions there are.
const WANTED: [&str; 2] = ["package.json", "requirements.txt"];
/// Written once all of them are installed: what they were installed from.
const STAMP: &str = "installed";

/// A benchmark that drives the programs, with these arguments; `chorus` is built in release.
pub(crate) fn bench(name: &str, args: &[String]) -> Result<(), String> {
    let folder = installed()?;
    step::build_host()?;
    let mut command = Command::new(repo::cargo());
    command.args(["bench", "--quiet", "-p", "chorus-clients", "--bench", name, "--"]).args(args);
    command.env("CHORUS_BIN", repo::release_binary("chorus")).env("CHORUS_CLIENTS", folder);
    let status = command.current_dir(repo::root()).status().map_err(|e| format!("bench: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("bench {name}: {status}")) }
}

/// Runs them. Says so when they cannot be had; in CI that is a failure.
pub(crate) fn check() -> Result<(), String> {
    let (folder, browser) = match installed().and_then(|folder| Ok((folder, browser()?))) {
        Ok(both) => both,
        Err(why) if std::env::var_os("CI").is_some_and(|ci| ci == "true") => return Err(why),
        Err(why) => {
            eprintln!("SKIPPED: no real MCP client is tried: {why}");
            return Ok(());
        }
    };
    let tests = [&["nextest", "run", "--profile", "clients"][..], &step::WORKSPACE].concat();
    let mut command = step::command(repo::cargo(), &tests);
    command.env("CHORUS_BIN", repo::release_binary("chorus")).env("CHORUS_CLIENTS", folder);
    command.env("CHROMIUM", browser);
    step::run(command, Duration::from_secs(20 * 60))
}

/// Debian's Chromium.
fn browser() -> Result<PathBuf, String> {
    let program = PathBuf::from("/usr/bin/chromium");
    if !program.exists() {
        debian::install("chromium")?;
    }
    Ok(program)
}

/// Begins to install them, beside what else is done: it mostly waits for the network. Whether it went well is seen by who
/// needs them.
pub(crate) fn install_ahead() {
    std::thread::spawn(|| drop(installed()));
}

/// Only one installs.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Where they are, or why they are not.
fn installed() -> Result<PathBuf, String> {
    let _one = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = repo::root().join(".cache/clients");
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    for file in fs::read_dir(repo::root().join(KIT)).map_err(failed)? {
        let file = file.map_err(failed)?;
        fs::copy(file.path(), folder.join(file.file_name())).map_err(failed)?;
    }
    let wanted: String =
        WANTED.iter().filter_map(|file| repo::read(Path::new(KIT).join(file))).collect();
    if fs::read_to_string(folder.join(STAMP)).is_ok_and(|installed| installed == wanted) {
        return Ok(folder);
    }
    let mut npm = step::command("npm", &["install", "--no-audit", "--no-fund", "--silent"]);
    npm.current_dir(&folder);
    step::run(npm, Duration::from_secs(600))?;
    let python = folder.join("python").display().to_string();
    step::run(step::command("python3", &["-m", "venv", &python]), Duration::from_secs(120))?;
    let pip = ["install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"];
    let mut pip = step::command(folder.join("python/bin/pip"), &pip);
    pip.current_dir(&folder);
    step::run(pip, Duration::from_secs(300))?;
    fs::write(folder.join(STAMP), wanted).map_err(failed)?;
    Ok(folder)
}
