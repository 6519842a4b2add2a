//! Links between the Markdown pages: the file exists, and so does the heading that the link names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Problems;
use crate::repo;

/// A link of a page to a file of this repository.
pub(crate) struct Link<'a> {
    /// Relative to the page; empty for a link within the page.
    pub path: &'a str,
    /// The heading, as its slug.
    pub anchor: Option<&'a str>,
}

/// The links of a page that lead to files of this repository.
pub(crate) fn targets(text: &str) -> impl Iterator<Item = Link<'_>> {
    text.split("](").skip(1).filter_map(|rest| {
        let link = rest.split([')', ' ']).next().unwrap_or_default();
        if link.is_empty() || link.contains("://") || link.starts_with("mailto:") {
            return None;
        }
        let (path, anchor) = match link.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (link, None),
        };
        Some(Link { path, anchor })
    })
}

pub(super) fn check() -> Result<Problems, String> {
    let mut pages = BTreeMap::new();
    for file in repo::files()? {
        if file.extension().is_some_and(|extension| extension == "md") {
            let text = repo::read(&file).unwrap_or_default();
            pages.insert(file, text);
        }
    }
    let mut problems = Problems::new();
    for (page, text) in &pages {
        for Link { path, anchor } in targets(text) {
            let folder = page.parent().unwrap_or(Path::new(""));
            let target = if path.is_empty() {
                repo::root().join(page)
            } else {
                repo::root().join(folder).join(path)
            };
            let Ok(target) = target.canonicalize() else {
                problems.push(format!("{}: the link to {path} leads nowhere", page.display()));
                continue;
            };
            let root = repo::root().canonicalize().unwrap_or_default();
            let headed = target.strip_prefix(root).ok().and_then(|target| pages.get(target));
            if let (Some(anchor), Some(headed)) = (anchor, headed)
                && !headings(headed).contains(anchor)
            {
                let page = page.display();
                problems.push(format!("{page}: {path}#{anchor}: there is no such heading"));
            }
        }
    }
    Ok(problems)
}

/// The slugs of a page's headings, as GitHub and mdBook make them.
fn headings(text: &str) -> BTreeSet<String> {
    let mut slugs = BTreeSet::new();
    let mut inside = false;
    for line in text.lines() {
        inside ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if inside || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug: String = title
            .trim()
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
            .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
            .collect();
        slugs.insert(slug);
    }
    slugs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_this_repository_are_found() {
        let text = "[a](b.md#c), [d](https://example.com), [e](#f) and [g](h.md)";
        let found: Vec<_> = targets(text).map(|link| (link.path, link.anchor)).collect();
        assert_eq!(found, [("b.md", Some("c")), ("", Some("f")), ("h.md", None)]);
    }

    #[test]
    fn a_heading_has_the_slug_that_a_link_names() {
        let text =
            "# Where it posts to\n```sh\n# no heading\n```\n## `[limits]`\n### 10. Recovery\n";
        let found: Vec<_> = headings(text).into_iter().collect();
        assert_eq!(found, ["10-recovery", "limits", "where-it-posts-to"]);
    }
}
