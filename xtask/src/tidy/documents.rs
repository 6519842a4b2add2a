//! The pages for people: they exist, and they show the commands that the binary has, and all of them.

use std::path::{Path, PathBuf};

use super::Problems;
use crate::{repo, step};

/// Every page a newcomer is promised.
const PAGES: [&str; 10] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "LICENSE",
    CONTENTS,
    "spec/attention.md",
    "spec/DECISIONS.md",
    "spec/COVERAGE.md",
];

/// The table of contents of the documentation.
const CONTENTS: &str = "docs/SUMMARY.md";

/// The page with a row for each command.
const TABLE: &str = "docs/commands.md";

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
    problems.extend(unlisted()?);
    problems.extend(commands()?);
    Ok(problems)
}

/// Pages of the documentation that the table of contents leaves out.
fn unlisted() -> Result<Problems, String> {
    let contents = repo::read(CONTENTS).unwrap_or_default();
    let listed = |page: &Path| {
        let name = page.file_name().unwrap_or_default().display();
        page == Path::new(CONTENTS) || contents.contains(&format!("({name})"))
    };
    let mut pages = followed()?;
    pages.retain(|page| page.starts_with("docs") && !listed(page));
    Ok(pages.iter().map(|page| format!("{CONTENTS}: {} is missing", page.display())).collect())
}

/// Every command that a page shows in a code block is one that `chorus --help` prints, and the table
/// of commands has a row for each of those.
///
/// The binary is the release build; without one there is nothing to compare with. `cargo xtask test`
/// asks again once it has built it.
pub(super) fn commands() -> Result<Problems, String> {
    let chorus = repo::release_binary("chorus");
    let Ok(help) = step::command(chorus, &["--help"]).output() else { return Ok(Problems::new()) };
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let known: Vec<&str> = help
        .lines()
        .take_while(|line| !line.starts_with("Help on"))
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    let mut problems = Problems::new();
    for page in followed()? {
        let text = repo::read(&page).unwrap_or_default();
        problems.extend(
            shown(&text)
                .into_iter()
                .filter(|shown| !known.contains(shown))
                .map(|command| format!("{}: `chorus {command}` is no command", page.display())),
        );
    }
    let table = repo::read(TABLE).unwrap_or_default();
    problems.extend(
        known
            .iter()
            .filter(|command| !table.contains(&format!("`{command}`")))
            .map(|command| format!("{TABLE}: the command {command} is missing")),
    );
    Ok(problems)
}

/// The pages whose code blocks people type: README and the documentation.
pub(crate) fn followed() -> Result<Vec<PathBuf>, String> {
    let mut pages = repo::files()?;
    pages.retain(|file| {
        file == Path::new("README.md")
            || file.parent() == Some(Path::new("docs"))
                && file.extension().is_some_and(|extension| extension == "md")
    });
    Ok(pages)
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
