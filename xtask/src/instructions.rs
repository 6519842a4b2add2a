//! Instructions of a post, a delivery and a decision, counted by callgrind and held against committed
//! numbers (`xtask/instructions.toml`).
//!
//! Unlike a time, a count is nearly the same on every machine and in every run, so that it can be held.

use std::path::Path;
use std::process::Stdio;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{debian, repo, step};

const LIST: &str = "xtask/instructions.toml";

/// How far a count may be from the committed one, as a part of it.
const TOLERANCE: f64 = 0.1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    program: Vec<Program>,
}

/// A program that does one thing a number of times.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    metric: String,
    /// A program of the lab.
    program: String,
    /// The arguments of a run that does it seldom, and of one that does it often.
    few: Vec<String>,
    many: Vec<String>,
    /// How much more often the second run does it.
    operations: u64,
    /// What one took when somebody last looked; none while nobody has.
    committed: Option<u64>,
}

/// Prints a line for each program; with names, for those alone.
pub(crate) fn bench(only: &[String]) -> Result<(), String> {
    let programs = programs()?;
    let wanted = |program: &&Program| only.is_empty() || only.contains(&program.metric);
    let missing = valgrind().err();
    step::build_host()?;
    for program in programs.iter().filter(wanted) {
        println!("{}", program.line(missing.as_deref())?);
    }
    Ok(())
}

/// Fails where a count is too far from the committed one. Says so when it cannot count; in CI it has to.
pub(crate) fn check() -> Result<(), String> {
    let in_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    match valgrind() {
        Ok(()) => {}
        Err(_) if in_ci => debian::install("valgrind").and_then(|()| valgrind())?,
        Err(why) => {
            eprintln!("SKIPPED: no instructions are counted: {why}");
            return Ok(());
        }
    }
    let mut wrong = Vec::new();
    step::build_host()?;
    for program in programs()? {
        let counted = program.count()?;
        eprintln!("{}: {counted:.0} instructions", program.metric);
        wrong.extend(program.problem(counted));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

fn programs() -> Result<Vec<Program>, String> {
    let text = repo::read(LIST).ok_or_else(|| format!("{LIST}: missing"))?;
    let list: List = toml::from_str(&text).map_err(|e| format!("{LIST}: {e}"))?;
    Ok(list.program)
}

/// Whether there is one.
fn valgrind() -> Result<(), String> {
    match step::command("valgrind", &["--version"]).stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("valgrind: {status}")),
        Err(_) => Err("valgrind is not here (Debian's package valgrind)".to_owned()),
    }
}

impl Program {
    /// The line of the benchmark; `missing` says why nothing can be counted.
    fn line(&self, missing: Option<&str>) -> Result<Value, String> {
        let mut line = json!({ "bench": "host", "metric": self.metric });
        if let Some(reason) = missing {
            line["absent"] = json!(true);
            line["reason"] = json!(reason);
            return Ok(line);
        }
        let counted = self.count()?;
        line["value"] = json!(counted.round());
        line["unit"] = json!("instructions");
        line["cost"] = json!(true);
        line["holds"] = json!(self.problem(counted).is_none());
        if let Some(committed) = self.committed {
            let ratio = counted / committed as f64;
            line["vs"] = json!("committed");
            line["ratio"] = json!((ratio * 1_000.0).round() / 1_000.0);
            line["target"] = json!(1.0 + TOLERANCE);
        }
        Ok(line)
    }

    fn problem(&self, counted: f64) -> Option<String> {
        let metric = &self.metric;
        let Some(committed) = self.committed else {
            return Some(format!(
                "{metric} takes {counted:.0} instructions; commit that to {LIST}"
            ));
        };
        let ratio = counted / committed as f64;
        if (ratio - 1.0).abs() <= TOLERANCE {
            return None;
        }
        let what = if ratio > 1.0 { "more" } else { "fewer" };
        Some(format!(
            "{metric} takes {counted:.0} instructions, over a tenth {what} than the {committed} of \
             {LIST}; find out why, or commit the new number"
        ))
    }

    /// The instructions of one.
    fn count(&self) -> Result<f64, String> {
        let binary = repo::release_binary(&self.program);
        let (few, many) = (collected(&binary, &self.few)?, collected(&binary, &self.many)?);
        let more = many.checked_sub(few).filter(|_| self.operations > 0);
        let more = more.ok_or_else(|| format!("{}: {many} are no more than {few}", self.metric))?;
        Ok(more as f64 / self.operations as f64)
    }
}

/// What callgrind counts in one run.
fn collected(binary: &Path, args: &[String]) -> Result<u64, String> {
    let callgrind = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let mut command = step::command("valgrind", &callgrind);
    command.arg(binary).args(args);
    let output = command.output().map_err(|e| format!("valgrind: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count =
        said.lines().rev().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    match count {
        Some(count) if output.status.success() => Ok(count),
        _ => Err(format!("{} {}: {}\n{said}", binary.display(), args.join(" "), output.status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_held_within_a_tenth_both_ways() {
        let text = "[[program]]\nmetric = \"m\"\nprogram = \"p\"\nfew = []\n\
            many = []\noperations = 1\ncommitted = 1000\n";
        let list: List = toml::from_str(text).unwrap();
        let program = &list.program[0];
        for (counted, wrong) in
            [(1_000.0, false), (1_099.0, false), (901.0, false), (1_101.0, true), (899.0, true)]
        {
            assert_eq!(program.problem(counted).is_some(), wrong, "{counted}");
        }
        let absent = program.line(Some("no valgrind")).unwrap();
        assert_eq!(absent["absent"], true);
        let first = Program { committed: None, ..list.program.into_iter().next().unwrap() };
        assert!(first.problem(7.0).unwrap().contains("takes 7 instructions; commit"));
        assert!(programs().is_ok());
    }
}
