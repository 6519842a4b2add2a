//! How a source file looks: it opens by saying what it is for, it is short, and nothing in it
//! belongs to one machine only.

use std::path::Path;

use super::Problems;
use crate::repo;

/// Lines of a Rust file above which it is two files. Most are well under 300.
const MOST_LINES: usize = 450;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 7] = ["utils", "util", "common", "helper", "helpers", "manager", "misc"];

/// Parts of paths that only exist on one machine. Written in halves, so that this file passes.
const MACHINE_PATHS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Marks of work not done. Written in halves, so that this file passes.
const UNDONE: [&str; 4] = [
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
];

/// The only file that may contain `unsafe`: SQLite's file layer is C.
const UNSAFE_ROOM: &str = "lab/src/lossy.rs";

/// Names of the standard library that the core may not even spell; clippy bans the commonest calls.
const WORLD: [&str; 5] = ["std::fs", "std::net", "std::env", "std::process", "std::thread"];

pub(super) fn check() -> Result<Problems, String> {
    let mut problems = Problems::new();
    for file in repo::files()? {
        let Some(text) = repo::read(&file) else { continue };
        let place = file.display();
        for path in MACHINE_PATHS {
            if let Some(line) = line_beginning(&text, path) {
                problems.push(format!("{place}:{line}: the path {path}… of one machine"));
            }
        }
        if file.extension().is_some_and(|extension| extension == "rs") {
            problems.extend(rust(&file, &text));
        }
    }
    Ok(problems)
}

fn rust(file: &Path, text: &str) -> Problems {
    let mut problems = Problems::new();
    let place = file.display();
    let lines = text.lines().count();
    if lines > MOST_LINES {
        problems.push(format!("{place}: {lines} lines; split it (at most {MOST_LINES})"));
    }
    // A file of tests may stand beside what it tests; its name says what it is for.
    let tests = file.file_stem().is_some_and(|stem| stem == "tests");
    let opening = text.lines().find(|line| !line.is_empty() && !line.starts_with("#!["));
    if !tests && !opening.is_some_and(|line| line.starts_with("//! ")) {
        problems.push(format!("{place}:1: open with `//!`: what it is for, and its invariant"));
    }
    if let Some(name) = file.file_stem().and_then(|stem| stem.to_str())
        && EMPTY_NAMES.contains(&name)
    {
        problems.push(format!("{place}: name the file for what it does"));
    }
    if file != Path::new(UNSAFE_ROOM)
        && let Some(line) = line_with(text, concat!("allow(unsafe", "_code)"))
    {
        problems.push(format!("{place}:{line}: unsafe belongs into {UNSAFE_ROOM} alone"));
    }
    if let Some(line) = doctest(text) {
        problems.push(format!("{place}:{line}: no step runs examples of comments; make it a test"));
    }
    for mark in UNDONE {
        if let Some(line) = line_with(text, mark) {
            problems.push(format!("{place}:{line}: {mark} is work not done"));
        }
    }
    if file.starts_with("crates/core/src") {
        for name in WORLD {
            if let Some(line) = line_with(text, name) {
                problems.push(format!("{place}:{line}: {name} asks the world; pass it in"));
            }
        }
    }
    problems
}

/// The first example in a comment that rustdoc would run.
fn doctest(text: &str) -> Option<usize> {
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        let code = line.trim_start();
        let comment = code.strip_prefix("///").or_else(|| code.strip_prefix("//!"));
        let Some(info) = comment.and_then(|text| text.trim().strip_prefix("```")) else { continue };
        inside = !inside;
        let runs = ["", "rust", "no_run", "should_panic", "compile_fail"];
        if inside && runs.contains(&info.split(',').next().unwrap_or_default()) {
            return Some(index + 1);
        }
    }
    None
}

/// The first line, counted from 1, that contains `part`.
/// The first line with this path as a path of its own, and not as the end of a longer one.
fn line_beginning(text: &str, path: &str) -> Option<usize> {
    let begins = |line: &str| {
        line.match_indices(path).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "._-}".contains(c))
        })
    };
    text.lines().position(begins).map(|line| line + 1)
}

fn line_with(text: &str, part: &str) -> Option<usize> {
    text.lines().position(|line| line.contains(part)).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::doctest;

    #[test]
    fn an_example_that_would_be_run_is_found() {
        assert_eq!(doctest("//! ```json\n//! {}\n//! ```\nfn f() {}\n"), None);
        assert_eq!(doctest("//! ```text\n//! ```\n/// ```\n/// f();\n/// ```\n"), Some(3));
        assert_eq!(doctest("    /// ```rust,no_run\n"), Some(1));
    }
}
