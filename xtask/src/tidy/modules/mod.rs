//! Which file may use which inside a crate: none in a circle, and where `layers` has an order, none a
//! later layer.
//!
//! An arrow goes from a file to the file of each module that it names: in `use` and `pub use`, in a
//! path of its code, in an argument of a macro, in an attribute. A `mod` line is no arrow. A name that
//! a `mod.rs` passes on counts as the `mod.rs`, which has arrows to all that it passes on; one that
//! the crate's root passes on counts as the file that the root has it from. What no path says is not
//! seen: a method that another file defines.
//!
//! A circle is a strongly connected component. A file may use what its own ancestors define although
//! they name it: a module and its children are one thing in several files. That exception ends where
//! the ancestor names the child by a path from `crate`, `self` or `super`.

mod graph;
mod layers;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as File, PathBuf};

use super::Problems;
use super::metadata::Metadata;
use crate::repo;
use graph::Arrows;
use layers::LAYERS;
use source::{Path, Source};

pub(super) fn check(metadata: &Metadata) -> Result<Problems, String> {
    let files = repo::files()?;
    let mut problems = Problems::new();
    for package in metadata.members() {
        let folder = package.folder()?.join("src");
        let texts = files.iter().filter_map(|file| {
            let module = module(file.strip_prefix(&folder).ok()?)?;
            Some((module, (file.clone(), repo::read(file)?)))
        });
        let tree = Crate::read(texts.collect())?;
        problems.extend(tree.circles(&package.name));
        let order = LAYERS.iter().find(|(name, _)| *name == package.name);
        problems.extend(order.into_iter().flat_map(|(_, order)| tree.layers(order)));
    }
    Ok(problems)
}

/// The module of a file below `src`; `None` for tests and for programs beside the crate's own.
fn module(file: &File) -> Option<Path> {
    if file.extension()? != "rs" || file.starts_with("bin") {
        return None;
    }
    let stem = file.with_extension("");
    let mut module: Path = stem.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    Some(module).filter(|module| !module.iter().any(|part| part == "tests"))
}

/// The files of a crate, each with what it names.
struct Crate {
    files: BTreeMap<Path, (PathBuf, String)>,
    sources: BTreeMap<Path, Source>,
    /// From module to module.
    arrows: BTreeMap<(Path, Path), Arrow>,
}

struct Arrow {
    /// The first line that makes it.
    line: usize,
    /// Whether a path from `crate`, `self` or `super` makes it, and not only the name of a child.
    explicit: bool,
}

impl Crate {
    fn read(mut files: BTreeMap<Path, (PathBuf, String)>) -> Result<Self, String> {
        let mut sources = BTreeMap::new();
        for (module, (file, text)) in &files {
            let source = Source::read(text, module);
            let source = source.map_err(|e| format!("{}: {e}", file.display()))?;
            sources.insert(module.clone(), source);
        }
        let tests: Vec<Path> = sources.values().flat_map(|source| source.tests.clone()).collect();
        let is_test = |module: &Path| tests.iter().any(|test| module.starts_with(test));
        files.retain(|module, _| !is_test(module));
        sources.retain(|module, _| !is_test(module));
        let mut tree = Self { files, sources, arrows: BTreeMap::new() };
        for (from, source) in &tree.sources {
            for named in &source.named {
                let found = tree.absolute(&named.path, &named.module, source);
                let Some((path, explicit)) = found else { continue };
                let to = tree.home(&path, true);
                if to == *from {
                    continue;
                }
                let arrow = Arrow { line: named.line, explicit };
                let known = tree.arrows.entry((from.clone(), to)).or_insert(arrow);
                if explicit && !known.explicit {
                    *known = Arrow { line: named.line, explicit };
                }
            }
        }
        Ok(tree)
    }

    /// A path from the root of the crate, and whether it is explicit; `None` when it begins in another
    /// crate.
    fn absolute(
        &self,
        path: &[String],
        module: &[String],
        source: &Source,
    ) -> Option<(Path, bool)> {
        let explicit = |path: &[String]| {
            path.first().is_some_and(|first| matches!(first.as_str(), "crate" | "self" | "super"))
        };
        if let Some(full) = self.anchored(path, module) {
            return Some((full, explicit(path)));
        }
        let (first, rest) = path.split_first()?;
        if let Some((alias, home)) = source.aliases.get(first).filter(|(alias, _)| alias != path) {
            return Some(([&self.anchored(alias, home)?, rest].concat(), explicit(alias)));
        }
        source.globs.iter().find_map(|(glob, home)| {
            let base = self.anchored(glob, home)?;
            let child = [&base[..], &path[..1]].concat();
            let full = [&base, path].concat();
            self.files.contains_key(&child).then(|| (full, explicit(glob)))
        })
    }

    /// A path that begins with `crate`, `self`, `super` or a child of its module.
    fn anchored(&self, path: &[String], module: &[String]) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let mut base = module.split_last()?.1;
                let supers = rest.iter().take_while(|segment| *segment == "super").count();
                base = base.get(..base.len().checked_sub(supers)?)?;
                Some([base, &rest[supers..]].concat())
            }
            _ => {
                let child = [module, &path[..1]].concat();
                self.files.contains_key(&child).then(|| [module, path].concat())
            }
        }
    }

    /// The file that has what a path leads to: of its longest part that is a file.
    fn home(&self, path: &[String], through_root: bool) -> Path {
        let is_file = |length: &usize| self.files.contains_key(&path[..*length]);
        match (1..=path.len()).rev().find(is_file) {
            Some(length) => path[..length].to_vec(),
            None if through_root => self.passed_on(path).unwrap_or_default(),
            None => Path::new(),
        }
    }

    /// Where the root of the crate has a name from.
    fn passed_on(&self, path: &[String]) -> Option<Path> {
        let root = self.sources.get(&Path::new())?;
        let (alias, home) = root.aliases.get(path.first()?)?;
        Some(self.home(&self.anchored(alias, home)?, false))
    }

    /// One problem a circle: its files, and a line of source for each of its arrows.
    fn circles(&self, package: &str) -> Problems {
        let (mut problems, mut known) = (Problems::new(), Vec::<BTreeSet<String>>::new());
        let all = self.arrows.iter();
        let downward = all.clone().filter(|((from, to), _)| !from.starts_with(to)).collect();
        let explicit = all.filter(|(_, arrow)| arrow.explicit).collect();
        for arrows in [downward, explicit] {
            let arrows: Vec<(&(Path, Path), &Arrow)> = arrows;
            let named: Vec<_> = arrows.iter().map(|((f, t), _)| (shown(f), shown(t))).collect();
            let mut graph = Arrows::new();
            for (from, to) in &named {
                graph.entry(from).or_default().insert(to);
            }
            for circle in graph::circles(&graph) {
                let circle: BTreeSet<String> = circle.into_iter().map(str::to_owned).collect();
                if known.iter().any(|known| known.is_superset(&circle)) {
                    continue;
                }
                let files: Vec<&str> = circle.iter().map(String::as_str).collect();
                let (count, files) = (files.len(), files.join(", "));
                let mut text = format!("{package}: a circle of {count} files: {files}");
                for ((from, to), arrow) in &arrows {
                    if [from, to].iter().all(|end| circle.contains(&shown(end))) {
                        let line = self.line(from, arrow.line);
                        text.push_str(&format!("\n    -> {}: {line}", shown(to)));
                    }
                }
                problems.push(text);
                known.push(circle);
            }
        }
        problems
    }

    /// Top-level modules that have no place in `order`, and arrows from one to a later one.
    fn layers(&self, order: &[&str]) -> Problems {
        let place = |module: &Path| {
            order.iter().position(|layer| module.first().is_some_and(|top| top == layer))
        };
        let mut problems = Problems::new();
        let mut unknown = BTreeSet::new();
        for (module, (file, _)) in self.files.iter().filter(|(module, _)| !module.is_empty()) {
            if place(module).is_none() && unknown.insert(&module[0]) {
                let file = file.display();
                problems
                    .push(format!("{file}: {} is no layer (tidy/modules/layers.rs)", module[0]));
            }
        }
        for ((from, to), arrow) in &self.arrows {
            if let (Some(lower), Some(upper)) = (place(from), place(to))
                && lower < upper
            {
                let (lower, upper) = (order[lower], order[upper]);
                let line = self.line(from, arrow.line);
                problems.push(format!("{line}: {lower} is below {upper} and may not use it"));
            }
        }
        problems
    }

    /// A line of a file, as `file:line: text`.
    fn line(&self, module: &Path, line: usize) -> String {
        let Some((file, text)) = self.files.get(module) else { return String::new() };
        let code = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        format!("{}:{line}: {}", file.display(), code.trim())
    }
}

fn shown(module: &Path) -> String {
    if module.is_empty() { "the root".to_owned() } else { module.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate of files, each with a text.
    fn tree(files: &[(&str, &str)]) -> Crate {
        let read = |(file, text): &(&str, &str)| {
            (module(File::new(file)).unwrap(), (PathBuf::from(file), (*text).to_owned()))
        };
        Crate::read(files.iter().map(read).collect()).unwrap()
    }

    fn arrows(files: &[(&str, &str)]) -> String {
        let arrows: Vec<String> = tree(files)
            .arrows
            .keys()
            .map(|(from, to)| format!("{}>{}", shown(from), shown(to)))
            .collect();
        arrows.join(" ")
    }

    #[test]
    fn an_arrow_leads_to_the_longest_module_that_is_a_file() {
        let rest = [("a/mod.rs", ""), ("a/b.rs", ""), ("c.rs", "")];
        for (text, expected) in [
            ("use crate::a::b::{X, y::Z};", "d>a/b"),
            ("use crate::a::X;", "d>a"),
            ("use crate::a; fn f() { a::b::g() }", "d>a d>a/b"),
            ("use crate::a::*; fn f() { b::g() }", "d>a d>a/b"),
            ("use super::c as e; fn f() { e::g(); std::c::h() }", "d>c"),
            ("mod inner { use super::super::c::X; use super::Y; }", "d>c"),
            ("pub(super) use crate::a::b::X;", "d>a/b"),
        ] {
            let found = arrows(&[&rest[..], &[("lib.rs", ""), ("d.rs", text)]].concat());
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_parent_has_arrows_to_children_that_it_names_but_not_to_those_it_declares() {
        let files = [("a/mod.rs", "mod b; mod c; pub use c::X;"), ("a/b.rs", ""), ("a/c.rs", "")];
        assert_eq!(arrows(&files), "a>a/c");
    }

    #[test]
    fn the_root_passes_names_on_from_where_it_has_them() {
        let root = ("lib.rs", "mod a; pub use a::X; pub struct Y;");
        assert_eq!(arrows(&[root, ("a.rs", ""), ("b.rs", "use crate::X;")]), "the root>a b>a");
        assert_eq!(
            arrows(&[root, ("a.rs", ""), ("b.rs", "use crate::Y;")]),
            "the root>a b>the root"
        );
    }

    #[test]
    fn a_circle_is_named_with_its_lines_and_a_child_may_use_its_parent() {
        let circle = |a: &str, b: &str, c: &str| {
            let files = [("lib.rs", "mod a; mod c;"), ("a/mod.rs", a), ("a/b.rs", b), ("c.rs", c)];
            tree(&files).circles("it").join("; ")
        };
        assert_eq!(circle("mod b; pub use b::X; fn f() { b::g() }", "use super::Y;", ""), "");
        let says = "it: a circle of 2 files: a, a/b\n    \
            -> a/b: a/mod.rs:2: pub use self::b::X;\n    -> a: a/b.rs:1: use super::Y;";
        assert_eq!(circle("mod b;\npub use self::b::X;", "use super::Y;", ""), says);
        let found = circle("fn f() { b::g() }", "use crate::c::X;", "use crate::a::Y;");
        assert!(found.starts_with("it: a circle of 3 files: a, a/b, c\n"), "{found}");
        assert_eq!(found.lines().count(), 4, "{found}");
    }

    #[test]
    fn files_for_tests_are_left_out() {
        let files = [
            ("a/mod.rs", "#[cfg(test)] mod b; mod c;"),
            ("a/b.rs", "use super::c;"),
            ("a/c.rs", ""),
            ("c/tests.rs", ""),
        ];
        assert!(module(File::new("c/tests.rs")).is_none());
        assert_eq!(arrows(&files[..3]), "");
    }

    #[test]
    fn an_arrow_against_the_order_is_a_problem() {
        let files = [
            ("lib.rs", "pub use b::X;"),
            ("a.rs", "use crate::b::X;"),
            ("b.rs", "use crate::a::Y;"),
            ("c.rs", ""),
        ];
        let problems = tree(&files).layers(&["a", "b"]);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("c.rs: c is no layer"), "{problems:?}");
        assert!(problems[1].contains("a.rs:1: use crate::b::X;: a is below b"), "{problems:?}");
    }
}
