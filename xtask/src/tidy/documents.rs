//! The pages for people: they exist, their links lead somewhere, and the commands they show are
//! commands the binary has.

use std::path::Path;

use super::Problems;
use crate::{repo, step};

/// Every page a newcomer is promised.
const PAGES: [&str; 9] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "LICENSE",
    "spec/attention.md",
    "spec/DECISIONS.md",
    "spec/COVERAGE.md",
];

pub(super) fn check() -> Result<Problems, String> {
    let mut problems = Problems::new();
    for page in PAGES {
        if !repo::root().join(page).is_file() {
            problems.push(format!("{page}: missing"));
        }
    }
    let version = env!("CARGO_PKG_VERSION");
    if !repo::read("CHANGELOG.md").unwrap_or_default().contains(&format!("## [{version}]")) {
        problems.push(format!("CHANGELOG.md: has no section [{version}]"));
    }
    for file in repo::files()? {
        if file.extension().is_some_and(|extension| extension == "md") {
            problems.extend(links(&file, &repo::read(&file).unwrap_or_default()));
        }
    }
    problems.extend(commands());
    Ok(problems)
}

/// Links to files of this repository lead to a file or folder.
fn links(page: &Path, text: &str) -> Problems {
    let folder = repo::root().join(page.parent().unwrap_or(Path::new("")));
    let mut problems = Problems::new();
    for rest in text.split("](").skip(1) {
        let link = rest.split([')', '#', ' ']).next().unwrap_or_default();
        if link.is_empty() || link.contains("://") || link.starts_with("mailto:") {
            continue;
        }
        if !folder.join(link).exists() {
            problems.push(format!("{}: the link to {link} leads nowhere", page.display()));
        }
    }
    problems
}

/// Each `chorus …` in a code block of the README is a subcommand that `chorus --help` prints.
///
/// The binary is the release build; without one there is nothing to compare with. `cargo xtask test`
/// asks again once it has built it.
pub(super) fn commands() -> Problems {
    let readme = repo::read("README.md").unwrap_or_default();
    let chorus = repo::release_binary("chorus");
    let Ok(help) = step::command(chorus, &["--help"]).output() else { return Problems::new() };
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let known: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .collect();
    shown(&readme)
        .into_iter()
        .filter(|command| !known.contains(command))
        .map(|command| format!("README.md: `chorus {command}` is no command of the binary"))
        .collect()
}

/// The subcommands a page shows in its code blocks, after `chorus` or `cargo run … --`.
fn shown(page: &str) -> Vec<&str> {
    let mut inside = false;
    let mut commands = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
            continue;
        }
        let code = line.trim().trim_start_matches("$ ");
        let rest = code.strip_prefix("chorus ").or_else(|| {
            code.strip_prefix("cargo run ").and_then(|run| run.split_once("-- ")?.1.into())
        });
        if let (true, Some(rest)) = (inside, rest)
            && let Some(command) = rest.split_whitespace().find(|word| !word.starts_with('-'))
        {
            commands.push(command);
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_from_code_blocks_only() {
        let page = "chorus prose\n```sh\n$ chorus serve --data x\ncargo run --release -- demo --check\n\
                    cargo xtask test\nls\n```\nchorus more\n";
        assert_eq!(shown(page), ["serve", "demo"]);
    }
}
