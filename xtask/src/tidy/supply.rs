//! What comes from elsewhere: licences we may ship, one source, and crates we decided against.
//!
//! The lists are those of `deny.toml`, which serves developers who have cargo-deny; here they are
//! checked on every run, with nothing to install.

use super::Problems;
use super::metadata::Metadata;
use crate::repo;

/// The only place dependencies may come from, as cargo names it.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn check(metadata: &Metadata) -> Problems {
    let lists = match Lists::read() {
        Ok(lists) => lists,
        Err(problem) => return vec![problem],
    };
    let mut problems = Problems::new();
    for package in &metadata.packages {
        let crate_name = format!("{} {}", package.name, package.version);
        match package.source.as_deref() {
            None | Some(REGISTRY) => {}
            Some(other) => problems.push(format!("{crate_name}: comes from {other}")),
        }
        match package.license.as_deref() {
            None => problems.push(format!("{crate_name}: names no licence")),
            Some(expression) if !Terms::allow(expression, &lists.licences) => {
                problems.push(format!("{crate_name}: licence {expression} is not in deny.toml"));
            }
            Some(_) => {}
        }
        if let Some(banned) = lists.banned.iter().find(|banned| banned.name == package.name)
            && (!banned.wrapped || is_ours(metadata, &package.name))
        {
            problems.push(format!("{crate_name}: banned, since {}", banned.why));
        }
    }
    problems
}

/// Whether a crate of this checkout depends on it, and not only somebody else's.
fn is_ours(metadata: &Metadata, name: &str) -> bool {
    let ours = metadata.packages.iter().filter(|package| package.source.is_none());
    ours.flat_map(|package| &package.dependencies).any(|dependency| dependency.name == name)
}

/// What `deny.toml` says.
struct Lists {
    licences: Vec<String>,
    banned: Vec<Banned>,
}

struct Banned {
    name: String,
    why: String,
    /// Some crate that we use may bring it along (`wrappers`; which one is cargo-deny's to check).
    wrapped: bool,
}

impl Lists {
    fn read() -> Result<Self, String> {
        let text = repo::read("deny.toml").ok_or("deny.toml: missing")?;
        let file: toml::Table = text.parse().map_err(|e| format!("deny.toml: {e}"))?;
        let list = |section: &str, key: &str| {
            file.get(section)
                .and_then(|section| section.get(key))
                .and_then(toml::Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        let text_of = |value: &toml::Value, key: &str| {
            value.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned()
        };
        Ok(Self {
            licences: list("licenses", "allow")
                .iter()
                .filter_map(|licence| licence.as_str().map(str::to_owned))
                .collect(),
            banned: list("bans", "deny")
                .iter()
                .map(|entry| Banned {
                    name: text_of(entry, "crate"),
                    why: text_of(entry, "reason"),
                    wrapped: entry.get("wrappers").is_some(),
                })
                .collect(),
        })
    }
}

/// A reader of SPDX expressions: `AND` binds tighter than `OR`, `WITH` belongs to its licence.
struct Terms<'a> {
    tokens: Vec<String>,
    at: usize,
    allowed: &'a [String],
}

impl<'a> Terms<'a> {
    /// Whether some choice that `expression` offers needs only `allowed` licences.
    fn allow(expression: &str, allowed: &'a [String]) -> bool {
        let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let tokens = spaced.split_whitespace().map(str::to_owned).collect();
        let mut terms = Self { tokens, at: 0, allowed };
        terms.either() && terms.at == terms.tokens.len()
    }

    fn either(&mut self) -> bool {
        let mut allowed = self.both();
        while self.takes("OR") {
            // Each side is read whatever the other said, or the position would be lost.
            let other = self.both();
            allowed |= other;
        }
        allowed
    }

    fn both(&mut self) -> bool {
        let mut allowed = self.one();
        while self.takes("AND") {
            let other = self.one();
            allowed &= other;
        }
        allowed
    }

    fn one(&mut self) -> bool {
        if self.takes("(") {
            let allowed = self.either();
            return self.takes(")") && allowed;
        }
        let Some(mut licence) = self.tokens.get(self.at).cloned() else { return false };
        self.at += 1;
        if self.takes("WITH") {
            let exception = self.tokens.get(self.at).cloned().unwrap_or_default();
            self.at += 1;
            licence = format!("{licence} WITH {exception}");
        }
        self.allowed.contains(&licence)
    }

    fn takes(&mut self, token: &str) -> bool {
        let there = self.tokens.get(self.at).is_some_and(|next| next == token);
        self.at += usize::from(there);
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_allowed_when_some_choice_is() {
        let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception", "ISC"].map(str::to_owned);
        let cases = [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("MIT AND ISC", true),
            ("GPL-3.0 OR MIT AND ISC", true),
            ("(GPL-3.0 OR MIT) AND BSD-3-Clause", false),
            ("(GPL-3.0 OR MIT) AND (ISC OR BSD-3-Clause)", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("MIT MIT", false),
            ("", false),
        ];
        for (expression, expected) in cases {
            assert_eq!(Terms::allow(expression, &allowed), expected, "{expression}");
        }
    }
}
