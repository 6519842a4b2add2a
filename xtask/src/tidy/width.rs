//! Lines of Markdown are wrapped at 100 columns, so that a change shows the words that changed.
//!
//! Excepted is what cannot be wrapped: tables, code, definitions of links, comments, a line that is
//! one word, and pages that are made and not written.

use std::path::Path;

use super::Problems;
use crate::repo;

const MOST_COLUMNS: usize = 100;

/// What a page says that is made from something else.
const MADE: &str = "Do not edit this page.";

pub(super) fn check() -> Result<Problems, String> {
    let mut problems = Problems::new();
    for file in repo::files()? {
        let is_page = file.extension().is_some_and(|extension| extension == "md");
        let Some(text) = repo::read(&file).filter(|_| is_page) else { continue };
        problems.extend(problem(&file, &wide(&text)));
    }
    Ok(problems)
}

fn problem(page: &Path, wide: &[usize]) -> Option<String> {
    let (first, page) = (wide.first()?, page.display());
    let count = wide.len();
    Some(format!("{page}:{first}: wrap at {MOST_COLUMNS} columns ({count} lines of this page)"))
}

/// The lines of a page that are too long, counted from 1.
fn wide(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    if text.lines().take(5).any(|line| line.contains(MADE)) {
        return found;
    }
    let (mut fence, mut comment): (Option<&str>, bool) = (None, false);
    for (index, line) in text.lines().enumerate() {
        let words = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| words.starts_with(mark));
        let is_code = fence.is_some() || mark.is_some();
        fence = match fence {
            Some(open) if mark == Some(open) => None,
            None => mark,
            open => open,
        };
        let is_comment = comment || words.starts_with("<!--");
        comment = is_comment && !line.contains("-->");
        let is_table = words.starts_with('|');
        let is_definition = words.starts_with('[') && words.contains("]: ");
        // The mark of a list or a heading stands before the first word.
        let words = words.trim_start_matches(['-', '*', '#', '>', ' ']);
        let is_word = !words.contains(' ');
        let excepted = is_code || is_comment || is_table || is_definition || is_word;
        if line.chars().count() > MOST_COLUMNS && !excepted {
            found.push(index + 1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_what_cannot_be_is_left() {
        let long = "word ".repeat(21);
        let fits = "é".repeat(50) + " " + &"é".repeat(49);
        assert_eq!(wide(&fits), [0; 0]);
        assert_eq!(wide(&format!("{fits}é\n\n- {long}\n## {long}")), [1, 3, 4]);
        let url = "https://example.com/".repeat(6);
        for excepted in [
            format!("| {long} |"),
            format!("```sh\n{long}\n~~~ {long}\n```"),
            format!("<!-- then: {long}\n{long}\n-->"),
            format!("[label]: {url} {long}"),
            format!("- {url}"),
            format!("# Page\n\nMade by a tool. Do not edit this page.\n\n{long}"),
        ] {
            assert_eq!(wide(&excepted), [0; 0], "{excepted}");
        }
        assert_eq!(wide(&format!("```\n{long}\n```\n{long}")), [4]);
        assert_eq!(wide(&format!("<!-- {long} -->\n{long}")), [2]);
    }
}
