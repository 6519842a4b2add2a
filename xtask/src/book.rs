//! `cargo xtask docs`: builds the documentation as a book, in `target/book`.
//!
//! The pages of the book are the pages of the repository, in the order of `docs/SUMMARY.md`. They are
//! copied to a folder of their own with the same layout, so that a relative link leads to the same page
//! on disk and in the book. A link to any other file, such as a source file, brings that file along.
//! Nothing else is built with the book, and nothing else needs it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::tidy::links;
use crate::{repo, step};

const VERSION: &str = "0.5.4";
/// The table of contents. Every page that it names is part of the book.
const SUMMARY: &str = "docs/SUMMARY.md";
const SETTINGS: &str = "docs/book.toml";
const LIMIT: Duration = Duration::from_secs(120);

/// Builds the book. Fails on a link between pages that leads nowhere.
pub(crate) fn build() -> Result<(), String> {
    let program = installed()?;
    let staged = repo::target_dir().join("tmp/book");
    stage(&staged)?;
    let book = repo::target_dir().join("book");
    let mut mdbook = step::command(program, &["build"]);
    mdbook.arg("--dest-dir").arg(&book).arg(&staged);
    step::run(mdbook, LIMIT)?;
    let problems = dead_links(&book)?;
    for problem in &problems {
        eprintln!("book: {problem}");
    }
    if !problems.is_empty() {
        return Err(format!("{} dead links", problems.len()));
    }
    println!("{}", book.join("index.html").display());
    Ok(())
}

/// mdBook, installed once per version beside the other caches of the checkout.
fn installed() -> Result<PathBuf, String> {
    let folder = repo::root().join(".cache").join(format!("mdbook-{VERSION}"));
    let program = folder.join("bin/mdbook");
    if !program.exists() {
        let at = folder.display().to_string();
        let features = ["--no-default-features", "--features", "search"];
        let install = ["install", "mdbook", "--version", VERSION, "--locked", "--root", &at];
        step::cargo(&[&install[..], &features].concat())?;
    }
    Ok(program)
}

/// Copies the pages, and the files that they link to, into `folder` as mdBook wants them.
fn stage(folder: &Path) -> Result<(), String> {
    // Nothing of an earlier build may remain; it may also not exist yet.
    let _ = fs::remove_dir_all(folder);
    let summary = repo::read(SUMMARY).ok_or_else(|| format!("{SUMMARY}: missing"))?;
    let mut files = BTreeSet::new();
    for page in pages(&summary) {
        let text = repo::read(&page).ok_or_else(|| format!("{}: missing", page.display()))?;
        files.extend(
            links::targets(&text)
                .map(|link| resolve(&page, link.path))
                .filter(|file| file.extension().is_none_or(|extension| extension != "md"))
                .filter(|file| repo::root().join(file).is_file()),
        );
        files.insert(page);
    }
    for file in files {
        copy(&file, &folder.join("src").join(&file))?;
    }
    copy(Path::new(SETTINGS), &folder.join("book.toml"))?;
    let path = folder.join("src/SUMMARY.md");
    fs::write(&path, rebased(&summary)).map_err(|e| format!("{}: {e}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", from.display());
    fs::create_dir_all(to.parent().unwrap_or(to)).map_err(failed)?;
    fs::copy(repo::root().join(from), to).map_err(failed)?;
    Ok(())
}

/// The pages of the book, relative to the root of the checkout.
fn pages(summary: &str) -> impl Iterator<Item = PathBuf> {
    links::targets(summary).map(|link| resolve(Path::new(SUMMARY), link.path))
}

/// The table of contents with links that start at the root of the checkout.
fn rebased(summary: &str) -> String {
    summary
        .lines()
        .map(|line| {
            match line
                .split_once("](")
                .and_then(|(head, rest)| Some((head, rest.strip_suffix(')')?)))
            {
                Some((head, link)) => {
                    format!("{head}]({})\n", resolve(Path::new(SUMMARY), link).display())
                }
                None => format!("{line}\n"),
            }
        })
        .collect()
}

/// The file that `link` leads to from `page`; both are relative to the same root.
fn resolve(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// Links of the built pages to files or anchors that the book does not have.
fn dead_links(book: &Path) -> Result<Vec<String>, String> {
    let mut html = BTreeMap::new();
    let mut folders = vec![book.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let text = fs::read_to_string(&path).map_err(failed)?;
                html.insert(path.strip_prefix(book).unwrap_or(&path).to_owned(), text);
            }
        }
    }
    // These repeat the other pages, or are served in their place.
    for repeated in ["print.html", "404.html", "toc.html"] {
        html.remove(Path::new(repeated));
    }
    let mut problems = Vec::new();
    for (page, text) in &html {
        for link in text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            if link.contains(':') || link.is_empty() {
                continue;
            }
            let target = if path.is_empty() { page.clone() } else { resolve(page, path) };
            let found = book.join(&target).is_file()
                && (anchor.is_empty()
                    || html.get(&target).is_none_or(|text| has_anchor(text, anchor)));
            if !found {
                problems.push(format!("{}: the link to {link} leads nowhere", page.display()));
            }
        }
    }
    Ok(problems)
}

fn has_anchor(text: &str, anchor: &str) -> bool {
    text.contains(&format!("id=\"{anchor}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_followed_from_its_page() {
        assert_eq!(resolve(Path::new("docs/a.md"), "../spec/b.md"), Path::new("spec/b.md"));
        assert_eq!(resolve(Path::new("docs/a.md"), "b.md"), Path::new("docs/b.md"));
        assert_eq!(resolve(Path::new("a.md"), "docs/b.md"), Path::new("docs/b.md"));
    }

    #[test]
    fn the_table_of_contents_is_moved_to_the_root() {
        let summary = "# Contents\n\n[Start](../README.md)\n\n- [A](a.md)\n";
        assert_eq!(rebased(summary), "# Contents\n\n[Start](README.md)\n\n- [A](docs/a.md)\n");
        assert_eq!(
            pages(summary).collect::<Vec<_>>(),
            [Path::new("README.md"), Path::new("docs/a.md")]
        );
    }
}
