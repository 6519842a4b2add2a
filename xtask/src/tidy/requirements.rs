//! Requirement ids: where `spec/*.md` defines them, and where tests say what they cover.
//!
//! A requirement is defined once, in bold, in the spec of its protocol: `**ATT-12**`. One that promises
//! several things gives each a letter, `(a) …; (b) …`, and then each of these clauses is covered for
//! itself. A test says `// covers: ATT-12, ATT-13b` right above its attributes. A test is known by the
//! name that nextest gives it: the binary, a space, and the path in it.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use super::Problems;

/// Requirement ids, each with the name of the spec page it stands in; of one with clauses, theirs.
pub(super) type Requirements = BTreeMap<Id, String>;

/// A requirement id, or that of one of its clauses; ids sort by word and then by number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    word: String,
    number: u32,
    clause: Option<char>,
}

impl Id {
    /// Reads `ATT-12` or `ATT-12b`: two to six capitals, a dash, a number, and a clause's letter.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (word, number) = text.split_once('-')?;
        let clause = number.chars().next_back().filter(char::is_ascii_lowercase);
        let number = number.strip_suffix(|c| Some(c) == clause).unwrap_or(number);
        let capitals =
            (2..=6).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase());
        let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        if !capitals || !digits {
            return None;
        }
        Some(Self { word: word.to_owned(), number: number.parse().ok()?, clause })
    }

    /// Whether it is this requirement or one of its clauses.
    pub(super) fn is_of(&self, requirement: &Self) -> bool {
        let whole = Self { clause: None, ..self.clone() };
        self == requirement || whole == *requirement
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.word, self.number)?;
        self.clause.map_or(Ok(()), |clause| write!(f, "{clause}"))
    }
}

/// The ids that a spec page defines, in its order; in place of a requirement with clauses, theirs.
pub(super) fn defined(page: &str) -> Vec<Id> {
    let mut found = Vec::new();
    // Between two bold marks stands either an id or something else; both kinds are tried.
    let mut parts = page.split("**").peekable();
    while let Some(part) = parts.next() {
        let Some(id) = Id::read(part).filter(|id| id.clause.is_none()) else { continue };
        let clauses = clauses(parts.peek().copied().unwrap_or_default());
        let of = |clause| Id { clause: Some(clause), ..id.clone() };
        found.extend(clauses.iter().copied().map(of));
        if clauses.is_empty() {
            found.push(id);
        }
    }
    found
}

/// The letters of a requirement's clauses: `(a)`, and those that follow it.
fn clauses(text: &str) -> Vec<char> {
    let requirement = text.split("\n- ").next().unwrap_or_default();
    let requirement = requirement.split("\n\n").next().unwrap_or_default();
    ('a'..='z').take_while(|letter| requirement.contains(&format!("({letter})"))).collect()
}

/// A test and what it says it covers.
#[derive(Debug, PartialEq)]
pub(super) struct Covering {
    /// As nextest names it: `chorus-core attention::policy::tests::the_matrix`.
    pub(super) test: String,
    pub(super) covers: Vec<Id>,
}

/// The tests of one Rust file that say what they cover.
///
/// The enclosing modules are found by indentation, which rustfmt guarantees; that does not stumble
/// over braces in strings.
pub(super) fn covering(file: &Path, text: &str) -> (Vec<Covering>, Problems) {
    let (mut found, mut problems) = (Vec::new(), Problems::new());
    let Some(home) = Home::of(file) else { return (found, problems) };
    let mut openers: BTreeMap<usize, Option<String>> = BTreeMap::new();
    let mut covers: Vec<Id> = Vec::new();
    let mut attributes: Vec<&str> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = format!("{}:{}", file.display(), index + 1);
        let indent = line.len() - line.trim_start().len();
        let code = line.trim();
        if let Some(opener) = opener(code) {
            openers.insert(indent, opener);
        }
        if let Some(list) = code.strip_prefix("// covers:") {
            for id in list.split(',').map(str::trim) {
                match Id::read(id) {
                    Some(id) => covers.push(id),
                    None => problems.push(format!("{place}: `{id}` is no requirement id")),
                }
            }
        } else if code.starts_with('#') {
            attributes.push(code);
        } else if let Some(name) = function(code) {
            if !covers.is_empty() {
                let is_test = |a: &&str| a.starts_with("#[test]") || a.starts_with("#[tokio::test");
                if attributes.iter().any(|a| a.starts_with("#[ignore")) {
                    problems.push(format!("{place}: {name} is ignored, so it covers nothing"));
                } else if !attributes.iter().any(is_test) {
                    problems.push(format!("{place}: `covers:` stands above {name}, not a test"));
                } else {
                    let test = home.test(&openers, indent, name);
                    found.push(Covering { test, covers: std::mem::take(&mut covers) });
                }
            }
            covers.clear();
            attributes.clear();
        } else if !code.starts_with("//") {
            if !covers.is_empty() {
                problems.push(format!("{place}: put `covers:` right above the test it is about"));
                covers.clear();
            }
            attributes.clear();
        }
    }
    (found, problems)
}

/// A line that opens a level of indentation a test may stand in: a module, or a macro without name.
fn opener(code: &str) -> Option<Option<String>> {
    if code.ends_with("! {") || code.ends_with("!{") {
        return Some(None);
    }
    let rest = code.strip_suffix('{')?.trim_end();
    let name = rest.strip_prefix("mod ").or_else(|| rest.strip_prefix("pub(crate) mod "))?;
    Some(Some(name.trim().to_owned()))
}

/// The name of the function that this line begins.
fn function(code: &str) -> Option<&str> {
    let rest = ["fn ", "async fn ", "pub fn ", "pub(crate) fn "]
        .iter()
        .find_map(|start| code.strip_prefix(start))?;
    rest.split(['(', '<']).next()
}

/// The test binary a file is compiled into, and its module path there.
struct Home {
    binary: String,
    modules: Vec<String>,
}

impl Home {
    fn of(file: &Path) -> Option<Self> {
        let parts: Vec<&str> = file
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => name.to_str(),
                _ => None,
            })
            .collect();
        let (package, rest) = match parts.as_slice() {
            ["crates", "cli", rest @ ..] => ("chorus".to_owned(), rest),
            ["crates", name, rest @ ..] => (format!("chorus-{name}"), rest),
            ["lab", name @ ("clients" | "parsers" | "rooms"), rest @ ..] => {
                (format!("chorus-{name}"), rest)
            }
            ["lab", rest @ ..] => ("chorus-lab".to_owned(), rest),
            ["xtask", rest @ ..] => ("xtask".to_owned(), rest),
            _ => return None,
        };
        let (kind, rest) = rest.split_first()?;
        let mut modules: Vec<String> =
            rest.iter().map(|part| part.trim_end_matches(".rs").to_owned()).collect();
        let binary = match *kind {
            // A crate with a main.rs and no lib.rs is one binary of the package's own name.
            "src" if matches!(package.as_str(), "chorus" | "chorus-rooms" | "xtask") => {
                format!("{package}::bin/{package}")
            }
            "src" => package,
            "tests" => format!("{package}::{}", modules.remove(0)),
            _ => return None,
        };
        if modules.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
            modules.pop();
        }
        Some(Self { binary, modules })
    }

    fn test(&self, openers: &BTreeMap<usize, Option<String>>, indent: usize, name: &str) -> String {
        let inner =
            (0..indent).step_by(4).filter_map(|level| openers.get(&level).cloned().flatten());
        let path: Vec<String> =
            self.modules.iter().cloned().chain(inner).chain([name.to_owned()]).collect();
        format!("{} {}", self.binary, path.join("::"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Id {
        Id::read(text).unwrap()
    }

    #[test]
    fn ids_are_read_and_sorted_by_number() {
        assert_eq!(Id::read("ATT-12").map(|id| id.to_string()), Some("ATT-12".to_owned()));
        assert_eq!(Id::read("ATT-12b").map(|id| id.to_string()), Some("ATT-12b".to_owned()));
        for wrong in ["ATT", "att-1", "ATT-", "ATT-a", "ATT-1ab", "ATT-1A", "A-1", "UTF-", "-1"] {
            assert_eq!(Id::read(wrong), None, "{wrong}");
        }
        assert!(id("ATT-9") < id("ATT-10") && id("ATT-9a") < id("ATT-9b"));
    }

    #[test]
    fn a_page_defines_what_stands_in_bold() {
        let page = "- **ATT-1** Must. See ATT-9 and **this**.\n- **ATT-2** Should.";
        assert_eq!(defined(page), [id("ATT-1"), id("ATT-2")]);
        let page = "- **ATT-1** (a) Must;\n  (b) should **not**; (c) may.\n- **ATT-2** As\n  before.\n\n(a) Not.";
        let (a, b) = (id("ATT-1a"), id("ATT-1b"));
        assert_eq!(defined(page)[..2], [a.clone(), b]);
        assert_eq!(defined(page).last(), Some(&id("ATT-2")));
        assert!(a.is_of(&id("ATT-1")) && a.is_of(&a) && !id("ATT-1").is_of(&a));
    }

    #[test]
    fn a_test_is_named_by_file_and_modules() {
        let text = "mod tests {\n    mod deep {\n        // covers: ATT-1, ATT-2\n        // covers: ATT-3\n        \
                    /// Why.\n        #[test]\n        fn holds() {\n            let s = \"}\n}\n\";\n        }\n    }\n\n    \
                    proptest! {\n        // covers: ATT-4\n        #[test]\n        fn always(x in 0..1) {}\n    }\n}\n";
        let (found, problems) = covering(Path::new("crates/core/src/attention/mod.rs"), text);
        assert_eq!(problems, Problems::new());
        let named: Vec<_> = found.iter().map(|c| (c.test.as_str(), c.covers.len())).collect();
        assert_eq!(
            named,
            [
                ("chorus-core attention::tests::deep::holds", 3),
                ("chorus-core attention::tests::always", 1)
            ]
        );
    }

    #[test]
    fn an_integration_test_is_named_by_its_binary() {
        let text =
            "// covers: ATT-1\n#[tokio::test(flavor = \"multi_thread\")]\nasync fn works() {}\n";
        let (found, _) = covering(Path::new("crates/server/tests/all/attention.rs"), text);
        assert_eq!(found[0].test, "chorus-server::all attention::works");
        let (found, _) = covering(Path::new("lab/tests/crash.rs"), text);
        assert_eq!(found[0].test, "chorus-lab::crash works");
        let (found, _) = covering(Path::new("crates/cli/src/render.rs"), text);
        assert_eq!(found[0].test, "chorus::bin/chorus render::works");
    }

    #[test]
    fn a_claim_that_nothing_runs_is_a_problem() {
        for text in [
            "// covers: ATT-1\n#[test]\n#[ignore]\nfn a() {}\n",
            "#[ignore = \"slow\"]\n// covers: ATT-1\n#[test]\nfn a() {}\n",
            "// covers: ATT-1\nfn a() {}\n",
            "// covers: ATT-1\nlet x = 1;\n",
            "// covers: nothing\n#[test]\nfn a() {}\n",
        ] {
            let (found, problems) = covering(Path::new("crates/core/src/a.rs"), text);
            assert_eq!((found.len(), problems.len()), (0, 1), "{text}");
        }
    }
}
