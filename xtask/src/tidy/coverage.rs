//! `spec/COVERAGE.md`: every requirement, with the tests that cover it or the reason why none does.
//!
//! The page is made from four sources and never by hand: the ids that `spec/*.md` defines, the
//! `covers:` lines above tests, the reasons in `spec/uncovered.toml`, and the sentences of the protocols
//! ([`sentences`]). A requirement without a test and without a reason fails tidy, and so does a page that is
//! not what the sources say.

use std::collections::BTreeMap;
use std::fs;

use super::Problems;
use super::requirements::{self, Covering, Id, Requirements};
use super::sentences::{self, Protocol};
use crate::repo;

const PAGE: &str = "spec/COVERAGE.md";
const REASONS: &str = "spec/uncovered.toml";

/// Pages under `spec/` that speak about requirements without defining any.
const NO_SPECS: [&str; 2] = ["COVERAGE", "DECISIONS"];

const HEAD: &str = "# Coverage\n\n\
    Made by `cargo xtask tidy --write` from the requirement ids in this folder, the `covers:` lines above\n\
    tests, `uncovered.toml` and `sentences`. A test is named as `cargo nextest run` names it. Do not edit this page.\n";

/// The names of all tests that cover a requirement, as nextest gives them.
pub(crate) fn covering_tests() -> Result<Vec<String>, String> {
    let sources = Sources::read()?;
    Ok(sources.tests.into_iter().map(|covering| covering.test).collect())
}

/// Writes the page anew.
pub(super) fn write() -> Result<(), String> {
    let page = Sources::read()?.page();
    fs::write(repo::root().join(PAGE), page).map_err(|e| format!("{PAGE}: {e}"))
}

pub(super) fn check() -> Result<Problems, String> {
    let sources = Sources::read()?;
    let mut problems = sources.problems();
    if repo::read(PAGE).unwrap_or_default() != sources.page() {
        problems.push(format!("{PAGE}: stale; run `cargo xtask tidy --write`"));
    }
    Ok(problems)
}

/// What the page is made from.
struct Sources {
    requirements: Requirements,
    tests: Vec<Covering>,
    reasons: BTreeMap<Id, String>,
    protocols: Vec<Protocol>,
    /// What was wrong while reading them.
    found: Problems,
}

impl Sources {
    fn read() -> Result<Self, String> {
        let (mut requirements, mut tests) = (Requirements::new(), Vec::new());
        let mut found = Problems::new();
        for file in repo::files()? {
            let Some(text) = repo::read(&file) else { continue };
            let extension = file.extension().and_then(|extension| extension.to_str());
            let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if extension == Some("md") && file.starts_with("spec") && !NO_SPECS.contains(&stem) {
                for id in requirements::defined(&text) {
                    if let Some(page) = requirements.insert(id.clone(), stem.to_owned()) {
                        found.push(format!("spec/{stem}.md: {id} is already in spec/{page}.md"));
                    }
                }
            }
            if extension == Some("rs") {
                let (covering, problems) = requirements::covering(&file, &text);
                tests.extend(covering);
                found.extend(problems);
            }
        }
        let reasons = reasons(&mut found)?;
        let protocols = sentences::read()?;
        Ok(Self { requirements, tests, reasons, protocols, found })
    }

    fn problems(&self) -> Problems {
        let mut problems = self.found.clone();
        for covering in &self.tests {
            for id in covering.covers.iter().filter(|id| !self.requirements.contains_key(id)) {
                let clauses: Vec<String> =
                    self.requirements.keys().filter(|c| c.is_of(id)).map(Id::to_string).collect();
                problems.push(match clauses.is_empty() {
                    true => format!("{}: covers {id}, which no spec defines", covering.test),
                    false => {
                        let clauses = clauses.join(", ");
                        format!("{}: covers {id}; say which of {clauses}", covering.test)
                    }
                });
            }
        }
        for protocol in &self.protocols {
            problems.extend(protocol.problems(&self.requirements));
        }
        for id in self.reasons.keys() {
            if !self.requirements.contains_key(id) {
                problems.push(format!("{REASONS}: {id} is defined by no spec"));
            } else if self.tests_of(id).next().is_some() {
                problems.push(format!("{REASONS}: {id} is covered by a test; drop its reason"));
            }
        }
        let mut open: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (id, page) in &self.requirements {
            if self.tests_of(id).next().is_none() && !self.reasons.contains_key(id) {
                open.entry(page).or_default().push(id.to_string());
            }
        }
        for (page, ids) in open {
            let (count, ids) = (ids.len(), ids.join(" "));
            problems.push(format!(
                "spec/{page}.md: {count} without a test or a reason in {REASONS}: {ids}"
            ));
        }
        problems
    }

    fn tests_of<'a>(&'a self, id: &'a Id) -> impl Iterator<Item = &'a str> {
        let covers = move |covering: &&Covering| covering.covers.contains(id);
        self.tests.iter().filter(covers).map(|covering| covering.test.as_str())
    }

    /// Whether a test covers the requirement; of one with clauses, each of them.
    fn is_covered(&self, id: &Id) -> bool {
        let mut clauses = self.requirements.keys().filter(|clause| clause.is_of(id)).peekable();
        clauses.peek().is_some() && clauses.all(|clause| self.tests_of(clause).next().is_some())
    }

    fn page(&self) -> String {
        let mut page = HEAD.to_owned();
        let mut section = "";
        let covered = self.requirements.keys().filter(|id| self.tests_of(id).next().is_some());
        page.push_str(&format!(
            "\n{} requirements, {} of them covered by a test.\n",
            self.requirements.len(),
            covered.count()
        ));
        let mut ids: Vec<(&Id, &String)> = self.requirements.iter().collect();
        ids.sort_by_key(|(id, spec)| (*spec, *id));
        for (id, spec) in ids {
            if section != spec {
                section = spec;
                page.push_str(&format!("\n## {spec}\n\n| requirement | test |\n|---|---|\n"));
            }
            let mut tests: Vec<String> =
                self.tests_of(id).map(|test| format!("`{test}`")).collect();
            tests.sort();
            let cell = match (tests.is_empty(), self.reasons.get(id)) {
                (false, _) => tests.join("<br>"),
                (true, Some(reason)) => format!("no test: {reason}"),
                (true, None) => "no test, and no reason".to_owned(),
            };
            page.push_str(&format!("| {id} | {cell} |\n"));
        }
        for protocol in &self.protocols {
            page.push_str(&protocol.page(|id| self.is_covered(id)));
        }
        page
    }
}

/// Why a requirement has no test: a table of id and reason.
fn reasons(found: &mut Problems) -> Result<BTreeMap<Id, String>, String> {
    let text = repo::read(REASONS).unwrap_or_default();
    let table: toml::Table = text.parse().map_err(|e| format!("{REASONS}: {e}"))?;
    let mut reasons = BTreeMap::new();
    for (key, value) in table {
        match (Id::read(&key), value.as_str().map(str::trim)) {
            (Some(id), Some(reason)) if !reason.is_empty() => {
                reasons.insert(id, reason.to_owned());
            }
            _ => found.push(format!("{REASONS}: {key} must be an id with a reason in words")),
        }
    }
    Ok(reasons)
}
