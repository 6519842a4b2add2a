//! `cargo xtask test`: every check there is, in the order in which a mistake is cheapest to find.
//!
//! All steps run even after one has failed, except those that cannot mean anything then. The last
//! line counts the steps; the tests are counted by their own runner above it.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::{
    advisories, clients, contract, debian, instructions, lab, package, pages, postgres, repo, step,
    tidy, web,
};

/// Debian's package for amd64 brings it.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// `demo --check` plays its script in seconds; a hang in it must not cost CI its time.
const DEMO_LIMIT: Duration = Duration::from_secs(180);

type Check = fn() -> Result<(), String>;

/// What every run checks.
const QUICK: [(&str, Check); 6] = [
    ("format", format),
    ("tidy", || tidy::run(false)),
    ("clippy", clippy),
    ("PostgreSQL is there", postgres::install),
    ("tests", tests),
    ("tests on PostgreSQL", || if nextest()? { postgres::tests() } else { Ok(()) }),
];

/// What needs the release binary.
const RELEASE: [(&str, Check); 10] = [
    ("release build", step::build_host),
    ("commands shown", tidy::shown_commands),
    ("package", package::check),
    ("pages followed", pages::follow),
    ("API against its document", contract::check),
    ("real MCP clients", || if nextest()? { clients::check() } else { Ok(()) }),
    ("demo --check", demo),
    ("instructions", instructions::check),
    ("crash tests", crash),
    ("referee", lab::a_minute),
];

/// Runs the checks; with `fast`, only those that need no release build, and with `only`, those whose
/// names contain it.
pub(crate) fn run(fast: bool, only: Option<String>) -> Result<(), String> {
    if !fast && only.is_none() {
        clients::install_ahead();
    }
    let mut report = Report { only, ..Report::default() };
    for (name, check) in QUICK {
        report.take(name, check);
    }
    if step::cargo_has("deny") {
        report
            .take("cargo deny", || step::cargo(&["deny", "check", "licenses", "bans", "sources"]));
    }
    report.take("advisories", advisories::check);
    report.take("foreign issuer", foreign_issuer);
    report.take("page", web::step);
    for (name, check) in if fast { &[][..] } else { &RELEASE[..] } {
        report.take(name, *check);
    }
    report.close()
}

#[derive(Default)]
struct Report {
    only: Option<String>,
    lines: Vec<String>,
    failed: usize,
}

impl Report {
    fn take(&mut self, name: &str, check: impl FnOnce() -> Result<(), String>) {
        if self.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            return;
        }
        eprintln!("\n==> {name}");
        let started = Instant::now();
        let outcome = check();
        let seconds = started.elapsed().as_secs_f64();
        self.lines.push(match outcome {
            Ok(()) => format!("  ok      {seconds:7.1} s  {name}"),
            Err(why) => {
                eprintln!("{name} failed: {why}");
                self.failed += 1;
                format!("  FAILED  {seconds:7.1} s  {name}: {why}")
            }
        });
    }

    fn close(self) -> Result<(), String> {
        println!();
        for line in &self.lines {
            println!("{line}");
        }
        if self.lines.is_empty() {
            return Err("no step has such a name".to_owned());
        }
        println!("\nsteps: {} passed, {} failed", self.lines.len() - self.failed, self.failed);
        if self.failed == 0 { Ok(()) } else { Err(format!("{} steps failed", self.failed)) }
    }
}

fn format() -> Result<(), String> {
    step::cargo(&["fmt", "--all", "--check"])
}

fn clippy() -> Result<(), String> {
    let run = ["clippy", "--all-targets", "--quiet"];
    step::cargo(&[&run[..], &step::WORKSPACE, &["--", "--deny", "warnings"]].concat())
}

/// The quick suite, and then whether each test that `spec/COVERAGE.md` names is one that ran.
fn tests() -> Result<(), String> {
    if !nextest()? {
        let run = ["test", "--exclude", "chorus-lab", "--exclude", "chorus-clients"];
        return step::cargo(&[&run[..], &step::WORKSPACE].concat());
    }
    let at_once = step::at_once();
    step::cargo(&[&["nextest", "run", &at_once][..], &step::WORKSPACE].concat())?;
    let listed = listed_tests()?;
    let missing: Vec<String> =
        tidy::covering_tests()?.into_iter().filter(|test| !listed.contains(test)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("COVERAGE names tests that no test binary has: {}", missing.join(", ")))
}

/// The test of foreign issuers against a real OpenID provider, where Node.js is; without it the suite has a server of
/// its own for that.
fn foreign_issuer() -> Result<(), String> {
    let node = ["node", "npm"].iter().all(|program| {
        step::command(program, &["--version"]).output().is_ok_and(|output| output.status.success())
    });
    if !node || !nextest()? {
        eprintln!("no Node.js here: the OpenID provider is not tried");
        return Ok(());
    }
    let folder = repo::target_dir().join("oidc");
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for file in ["package.json", "provider.mjs"] {
        std::fs::copy(repo::root().join("xtask/oidc").join(file), folder.join(file))
            .map_err(failed)?;
    }
    let mut install = step::command("npm", &["install", "--no-audit", "--no-fund", "--silent"]);
    install.current_dir(&folder);
    step::run(install, Duration::from_secs(180))?;
    let filter = "binary_id(chorus-server::it) and test(/^oidc::/)";
    let nextest = [&["nextest", "run", "-E", filter][..], &step::WORKSPACE].concat();
    let mut test = step::command(repo::cargo(), &nextest);
    test.env("CHORUS_TEST_OIDC", folder.join("provider.mjs"));
    step::run(test, Duration::from_secs(10 * 60))
}

fn demo() -> Result<(), String> {
    let chorus = repo::release_binary("chorus");
    step::run(step::command(chorus, &["demo", "--check"]), DEMO_LIMIT)
}

fn crash() -> Result<(), String> {
    // What sets the clocks of the hosts.
    if !Path::new(FAKETIME).exists() {
        debian::install("faketime")?;
    }
    let run = if nextest()? {
        [&["nextest", "run", "--profile", "crash"][..], &step::WORKSPACE].concat()
    } else {
        vec!["test", "--package", "chorus-lab", "--locked"]
    };
    let mut command = step::command(repo::cargo(), &run);
    command.env("CHORUS_BIN", repo::release_binary("chorus"));
    step::run(command, Duration::from_secs(20 * 60))
}

/// Every test of the workspace as `binary id` and `path`, ignored ones left out.
fn listed_tests() -> Result<BTreeSet<String>, String> {
    let list = ["nextest", "list", "--message-format", "json"];
    let output = step::command(repo::cargo(), &[&list[..], &step::WORKSPACE].concat())
        .args(["--ignore-default-filter", "--cargo-quiet"])
        .output()
        .map_err(|e| format!("cargo nextest list: {e}"))?;
    let list: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo nextest list: {e}"))?;
    let mut names = BTreeSet::new();
    for (binary, suite) in list["rust-suites"].as_object().into_iter().flatten() {
        for (name, case) in suite["testcases"].as_object().into_iter().flatten() {
            if case["ignored"] != true {
                names.insert(format!("{binary} {name}"));
            }
        }
    }
    Ok(names)
}

/// Whether nextest can be used; a machine without it is given it once, from its own source.
fn nextest() -> Result<bool, String> {
    if step::cargo_has("nextest") {
        return Ok(true);
    }
    eprintln!("cargo-nextest is not on this machine; installing it");
    if step::cargo(&["install", "cargo-nextest", "--locked"]).is_ok() {
        return Ok(true);
    }
    eprintln!("cargo-nextest could not be installed; `cargo test` runs the tests instead");
    Ok(false)
}
