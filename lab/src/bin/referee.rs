//! The program behind `cargo xtask lab referee`; see `chorus_lab::referee` for what it does.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chorus_lab::referee::{self, Plan};
use clap::Parser;

#[derive(Parser)]
#[command(
    about = "Drives a host as people and agents would, and looks whether it keeps to the rules of the spec."
)]
struct Args {
    /// The release binary of Chorus.
    #[arg(long)]
    chorus: PathBuf,
    /// How long it goes on. Some rules are about minutes: eight try all of them.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// The chance that people and agents are drawn by; the time unless given.
    #[arg(long)]
    seed: Option<u64>,
    /// Only scenes whose names contain this, and no free drive.
    #[arg(long)]
    only: Option<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = args.seed.unwrap_or(now.as_secs());
    match referee(args, seed) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("referee (seed {seed}): {why}");
            ExitCode::FAILURE
        }
    }
}

/// Whether nothing was found.
fn referee(args: Args, seed: u64) -> Result<bool, String> {
    let minutes = args.minutes.clamp(0.1, 60.0 * 24.0 * 7.0);
    let chorus = std::path::absolute(&args.chorus).map_err(|e| format!("--chorus: {e}"))?;
    if !chorus.is_file() {
        return Err(format!("{} is not there", chorus.display()));
    }
    let folder = tempfile::Builder::new().prefix("chorus-referee").tempdir();
    let mut folder = folder.map_err(|e| format!("a folder: {e}"))?;
    let time = Duration::from_secs_f64(minutes * 60.0);
    let plan = Plan { chorus, time, seed, folder: folder.path().to_owned(), only: args.only };
    eprintln!("referee: seed {seed}, {minutes} minutes");
    let report = referee::run(&plan);
    if !report.as_ref().is_ok_and(referee::Report::is_clean) {
        // What went wrong can be looked at.
        folder.disable_cleanup(true);
        eprintln!("kept: {}", folder.path().display());
    }
    let report = report?;
    println!("{report}");
    Ok(report.is_clean())
}
