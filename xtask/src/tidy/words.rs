//! What holds somebody's words, or what lets somebody in, does not print it: in the crates whose types carry
//! messages, a field with the name of a text or a secret is hidden from `Debug` (`#[redact(fixed = 3)]`), or its
//! type has none.

use std::path::Path;

use super::Problems;
use crate::repo;

/// Where types carry messages.
const CRATES: [&str; 2] = ["crates/core/src", "crates/wire/src"];

/// Fields that are somebody's words or secrets wherever they stand.
const WORDS: [&str; 21] = [
    "text",
    "body",
    "title",
    "note",
    "detail",
    "metadata",
    "description",
    "purpose",
    "summary",
    "display_name",
    "content",
    "sender",
    "status",
    "args",
    "arguments",
    "eta",
    "url",
    "callback",
    "token",
    "turn",
    "signing_secret",
];

/// Tools are described in our own words.
const OURS: [&str; 1] = ["crates/wire/src/tool.rs"];

pub(super) fn check() -> Result<Problems, String> {
    let mut problems = Problems::new();
    for file in repo::files()? {
        let ours = OURS.iter().any(|ours| file == Path::new(ours));
        if !CRATES.iter().any(|folder| file.starts_with(folder)) || ours {
            continue;
        }
        let text = repo::read(&file).unwrap_or_default();
        // What tests print is theirs.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (line, field) in shown(text) {
            problems.push(format!("{}:{line}: `{field}` is printed; redact it", file.display()));
        }
    }
    Ok(problems)
}

/// Fields that a derived `Debug` or `Redact` shows, with their lines.
fn shown(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut derives, mut hidden) = (Vec::new(), false, false);
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("#[derive(") {
            derives = ["(Debug", " Debug", "Redact"].iter().any(|name| line.contains(name));
        } else if line.starts_with('}') {
            derives = false;
        }
        let code = line.trim();
        let field = code.trim_start_matches("pub ").split_once(": ");
        if let Some((name, kind)) = field
            && derives
            && !hidden
            && WORDS.contains(&name)
            && is_text(kind)
        {
            found.push((index + 1, name));
        }
        hidden = code.starts_with("#[redact") || (hidden && code.starts_with(['#', '/']));
    }
    found
}

fn is_text(kind: &str) -> bool {
    ["String", "str", "Value"].iter().any(|text| kind.contains(text)) && !kind.contains("'static")
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_text_that_is_printed_is_found() {
        let text = "#[derive(Clone, Debug)]\npub struct A {\n    pub text: Arc<str>,\n    pub n: u8,\n}\n\
            #[derive(Clone, veil::Redact)]\nstruct B {\n    url: String,\n    id: String,\n}\n\
            #[derive(Debug)]\nstruct C {\n    #[redact(fixed = 3)]\n    note: Option<String>,\n}\n";
        assert_eq!(shown(text), [(3, "text"), (8, "url")]);
    }
}
