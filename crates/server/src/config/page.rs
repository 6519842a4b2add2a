//! The settings as pages: `docs/settings.md` to read and `chorus.toml.sample` to copy from. Both are
//! made from the table that also parses the settings.

use std::fmt::Write;

use super::section::Entry;
use super::settings::{Settings, split};

const HEAD: &str = "# Settings\n\n\
    Made by `cargo xtask tidy --write` from `crates/server/src/config`. Do not edit this page.\n\n\
    Chorus reads `chorus.toml` in the folder where it is started, or the file that `--config` names. A\n\
    variable overrides the file, and a flag overrides the variable. Every setting has a variable, and\n\
    `chorus serve --set PATH=VALUE` is a flag for every setting. In a variable or flag, write a list as\n\
    in the file, or with commas between its items: `a,b`. `chorus config check` reads all settings and\n\
    names every mistake with its line. `chorus config show` prints what is in force and where each value\n\
    came from. The host reads its settings when it starts.\n";

/// The longest line of prose, in bytes.
const WIDTH: usize = 100;

/// `docs/settings.md`.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for (name, about, entries) in with_entries() {
        // Writing into a string does not fail.
        let title = if name.is_empty() {
            "Before the first section".to_owned()
        } else {
            format!("[{name}]")
        };
        let _ = write!(page, "\n## {title}\n\n");
        wrap(&mut page, "", &about);
        page.push_str("\n| setting | default | what it does |\n|---|---|---|\n");
        for entry in entries {
            let default = match entry.default.as_str() {
                "" => "none".to_owned(),
                default => format!("`{}`", default.replace('|', "\\|")),
            };
            let _ = writeln!(
                page,
                "| `{}` | {default} | {} Allowed: {}. `{}` |",
                split(&entry.path).1,
                entry.about.replace('|', "\\|"),
                entry.allowed().replace('|', "\\|"),
                entry.variable()
            );
        }
    }
    page
}

/// `chorus.toml.sample`: every setting as a comment, with its default.
pub fn sample() -> String {
    let mut sample = "# Every setting of Chorus with its default. Copy what you change into chorus.toml.\n\
                      # Made by `cargo xtask tidy --write`; docs/settings.md says the same in a table.\n"
        .to_owned();
    for (name, about, entries) in with_entries() {
        sample.push('\n');
        if !name.is_empty() {
            wrap(&mut sample, "#", &about);
            let _ = writeln!(sample, "#[{name}]");
        }
        for entry in entries {
            wrap(&mut sample, "#", &format!("{} Allowed: {}.", entry.about, entry.allowed()));
            let default = if entry.default.is_empty() { "\"\"" } else { &entry.default };
            let _ = writeln!(sample, "#{} = {default}", split(&entry.path).1);
        }
    }
    sample
}

fn with_entries() -> impl Iterator<Item = (&'static str, String, Vec<Entry>)> {
    Settings::sections().into_iter().filter(|(_, _, entries)| !entries.is_empty())
}

/// A text as lines that start with `start`.
fn wrap(out: &mut String, start: &str, text: &str) {
    let mut line = start.to_owned();
    for word in text.split_whitespace() {
        if line.len() + word.len() >= WIDTH {
            let _ = writeln!(out, "{line}");
            line = start.to_owned();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::config::load::{Written, load};

    fn file(name: &str) -> String {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        std::fs::read_to_string(format!("{root}{name}")).unwrap_or_default()
    }

    // covers: OPS-61
    #[test]
    fn every_setting_is_on_the_page_and_in_the_sample() {
        assert!(file("docs/settings.md") == page(), "stale; run `cargo xtask tidy --write`");
        assert!(file("chorus.toml.sample") == sample(), "stale; run `cargo xtask tidy --write`");
        for (_, about, entries) in Settings::sections() {
            assert!(!about.is_empty());
            for entry in entries {
                assert!(entry.about.ends_with('.'), "{} is said in sentences", entry.path);
            }
        }
    }

    #[test]
    fn the_sample_with_its_marks_taken_off_is_what_is_anyway() {
        let text: String = sample()
            .lines()
            .filter(|line| !line.starts_with("# "))
            .map(|line| line.trim_start_matches('#').to_owned() + "\n")
            .collect();
        let loaded = load(&Written { file: Some(("sample", &text)), ..Written::default() });
        // A sample issuer is none that could be asked.
        let loaded = loaded.or_else(|mistakes| {
            let text = text.split("[issuers.NAME]").next().unwrap();
            assert!(mistakes.iter().all(|m| m.path.starts_with("issuers")), "{mistakes:?}");
            load(&Written { file: Some(("sample", text)), ..Written::default() })
        });
        let (settings, default) = (loaded.unwrap().settings, Settings::default());
        for (name, _, entries) in Settings::sections() {
            for entry in entries {
                let key = split(&entry.path).1;
                assert_eq!(settings.show(name, key), default.show(name, key), "{}", entry.path);
            }
        }
    }
}
