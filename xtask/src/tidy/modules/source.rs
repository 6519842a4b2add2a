//! What one Rust file names: its `use` declarations and the paths in its code.
//!
//! A file is read as tokens and not as a syntax tree, because paths matter wherever they stand: in
//! the arguments of a macro and in the strings of an attribute as much as in an expression. Items
//! under `#[cfg(test)]` are left out.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// The segments of a path, or of a module from the root of its crate.
pub(super) type Path = Vec<String>;

/// A path that a file writes, and where.
pub(super) struct Named {
    /// As it is written: `crate::a`, `super::b::C`, or a name that is in scope.
    pub(super) path: Path,
    /// The module that it stands in, which is not the file's own inside `mod name { … }`.
    pub(super) module: Path,
    pub(super) line: usize,
}

/// What was found in one file.
#[derive(Default)]
pub(super) struct Source {
    pub(super) named: Vec<Named>,
    /// Names that `use` brings into scope, each with the path that it stands for.
    pub(super) aliases: BTreeMap<String, (Path, Path)>,
    /// Paths whose names `use path::*` brings into scope, each with the module that says so.
    pub(super) globs: Vec<(Path, Path)>,
    /// Modules of files that exist only for tests.
    pub(super) tests: Vec<Path>,
}

impl Source {
    /// Reads the file of `module`.
    pub(super) fn read(text: &str, module: &[String]) -> Result<Self, String> {
        let tokens: TokenStream = text.parse().map_err(|e| format!("{e}"))?;
        let mut source = Self::default();
        source.walk(tokens, module);
        Ok(source)
    }

    fn walk(&mut self, tokens: TokenStream, module: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    let inner = usize::from(is_mark(tokens.get(at + 1), '!'));
                    at += 1 + inner;
                    if let Some(attribute) = group(tokens.get(at), Delimiter::Bracket) {
                        at += 1;
                        if is_test(&attribute.stream()) {
                            at = self.leave_out(&tokens, at, module);
                        } else {
                            self.attribute(attribute.stream(), module);
                        }
                    }
                }
                TokenTree::Ident(_) => at = self.word(&tokens, at, module),
                TokenTree::Group(inner) => {
                    self.walk(inner.stream(), module);
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Reads what a word begins; says where the next token is.
    fn word(&mut self, tokens: &[TokenTree], at: usize, module: &[String]) -> usize {
        let next = tokens.get(at + 1);
        match name(&tokens[at]).as_deref() {
            // `pub(in path)` says who may see, not what is used.
            Some("pub") if group(next, Delimiter::Parenthesis).is_some() => at + 2,
            // `impl Trait + use<'a>` is no declaration.
            Some("use") if !is_mark(next, '<') => {
                let end = after(tokens, at, |token| is_mark(Some(token), ';'));
                let declared = tokens[at + 1..end].split(|token| is_mark(Some(token), ';'));
                declared.take(1).for_each(|tree| self.tree(tree, &[], module));
                end
            }
            Some("mod") if next.and_then(name).is_some() => {
                if let Some(body) = group(tokens.get(at + 2), Delimiter::Brace) {
                    let inner = joined(module, next.and_then(name));
                    self.walk(body.stream(), &inner);
                }
                at + 3
            }
            _ => {
                let (path, end) = path(tokens, at);
                // `::std::…` and `<T>::…` begin elsewhere.
                if path.len() > 1 && !is_after_colons(tokens, at) {
                    self.name(path, module, &tokens[at]);
                }
                end
            }
        }
    }

    /// A tree of `use`, below what is in front of its braces.
    fn tree(&mut self, tokens: &[TokenTree], prefix: &[String], module: &[String]) {
        let Some(first) = tokens.first() else { return };
        if is_mark(Some(first), ':') {
            return;
        }
        let (more, end) = path(tokens, 0);
        let mut path = [prefix, &more].concat();
        let is_itself = path.last().is_some_and(|last| last == "self") && path.len() > 1;
        if is_itself {
            path.pop();
        }
        let rest = match tokens.get(end) {
            Some(colon) if is_mark(Some(colon), ':') => tokens.get(end + 2),
            other => other,
        };
        if let Some(braces) = group(rest, Delimiter::Brace) {
            let inner: Vec<TokenTree> = braces.stream().into_iter().collect();
            for tree in inner.split(|token| is_mark(Some(token), ',')) {
                self.tree(tree, &path, module);
            }
            return;
        }
        if is_mark(rest, '*') {
            self.globs.push((path.clone(), module.to_vec()));
        } else {
            let renamed = rest.and_then(name).filter(|word| word == "as");
            let alias = match renamed {
                Some(_) => tokens.last().and_then(name),
                None => path.last().cloned(),
            };
            if let Some(alias) = alias {
                self.aliases.entry(alias).or_insert((path.clone(), module.to_vec()));
            }
        }
        self.name(path, module, first);
    }

    fn name(&mut self, path: Path, module: &[String], at: &TokenTree) {
        let line = at.span().start().line;
        self.named.push(Named { path, module: module.to_vec(), line });
    }

    /// `#[serde(with = "crate::time")]` names a module in a string.
    fn attribute(&mut self, tokens: TokenStream, module: &[String]) {
        for token in tokens.clone() {
            let text = token.to_string();
            let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            let paths = ["crate::", "super::", "self::"];
            if let Some(inner) = inner.filter(|inner| paths.iter().any(|p| inner.starts_with(p))) {
                let segments = inner.split("::").map(str::to_owned).collect();
                self.name(segments, module, &token);
            } else if let TokenTree::Group(inner) = token {
                self.attribute(inner.stream(), module);
            }
        }
        self.walk(
            tokens.into_iter().filter(|t| !matches!(t, TokenTree::Group(_))).collect(),
            module,
        );
    }

    /// Where what follows `#[cfg(test)]` ends. A module with a file of its own is noted.
    fn leave_out(&mut self, tokens: &[TokenTree], mut at: usize, module: &[String]) -> usize {
        while is_mark(tokens.get(at), '#') {
            at += 2;
        }
        let public = tokens.get(at).and_then(name).is_some_and(|word| word == "pub");
        at += usize::from(public);
        at += usize::from(public && group(tokens.get(at), Delimiter::Parenthesis).is_some());
        let first = tokens.get(at).and_then(name).unwrap_or_default();
        if first == "mod" && is_mark(tokens.get(at + 2), ';') {
            self.tests.push(joined(module, tokens.get(at + 1).and_then(name)));
        }
        let is_end = |token: &TokenTree| {
            let braces = group(Some(token), Delimiter::Brace).is_some();
            match first.as_str() {
                "use" | "let" | "const" | "static" | "type" => is_mark(Some(token), ';'),
                "fn" | "async" | "impl" | "mod" | "struct" | "enum" | "trait" | "unsafe" => {
                    braces || is_mark(Some(token), ';')
                }
                // A field, a variant, an arm of `match` or a statement.
                _ => is_mark(Some(token), ';') || is_mark(Some(token), ','),
            }
        };
        after(tokens, at, is_end)
    }
}

/// The place after the first token from `at` on that `is_end`, or after all of them.
fn after(tokens: &[TokenTree], at: usize, is_end: impl Fn(&TokenTree) -> bool) -> usize {
    let rest = tokens.get(at..).unwrap_or_default();
    rest.iter().position(is_end).map_or(tokens.len(), |found| at + found + 1)
}

/// The path that begins at `at`, and where it ends.
fn path(tokens: &[TokenTree], mut at: usize) -> (Path, usize) {
    let mut path = Path::new();
    while let Some(segment) = tokens.get(at).and_then(name) {
        path.push(segment);
        at += 1;
        let colons = is_mark(tokens.get(at), ':') && is_mark(tokens.get(at + 1), ':');
        if !colons || tokens.get(at + 2).and_then(name).is_none() {
            break;
        }
        at += 2;
    }
    (path, at)
}

fn joined(module: &[String], inner: Option<String>) -> Path {
    module.iter().cloned().chain(inner).collect()
}

fn name(token: &TokenTree) -> Option<String> {
    let TokenTree::Ident(word) = token else { return None };
    Some(word.to_string().trim_start_matches("r#").to_owned())
}

fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// Whether `::` stands before the token at `at`, and not only the `:` of a type.
fn is_after_colons(tokens: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(2).and_then(|first| tokens.get(first..at));
    matches!(before, Some([TokenTree::Punct(first), TokenTree::Punct(second)])
        if first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':')
}

fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// `cfg(test)`, or a condition that demands it among others.
fn is_test(attribute: &TokenStream) -> bool {
    let text: String = attribute.to_string().split_whitespace().collect();
    text == "cfg(test)" || (text.starts_with("cfg(all(") && text.contains("test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let source = Source::read(text, &["here".to_owned()]).unwrap();
        let shown = |named: &Named| format!("{}:{}", named.line, named.path.join("::"));
        source.named.iter().map(shown).collect()
    }

    #[test]
    fn every_way_to_name_a_path_is_seen() {
        for (text, expected) in [
            (
                "use crate::a::{b, c::{self, D as E}, f::*};",
                "1:crate::a::b 1:crate::a::c 1:crate::a::c::D 1:crate::a::f",
            ),
            ("pub(crate) use self::a::b;", "1:self::a::b"),
            ("fn f() {\n super::g::<u8>(crate::h::I { j: 1 })\n}", "2:super::g 2:crate::h::I"),
            ("const A: &[T] = &macro_name![super::x::Y, { a: z::B }];", "1:super::x::Y 1:z::B"),
            (
                "#[derive(crate::m::N)]\n#[serde(with = \"super::o\")]\nstruct S;",
                "2:super::o 1:crate::m::N",
            ),
            ("pub(in crate::a) struct S(pub(super) u8);", ""),
            (
                "use ::std::fmt; fn f() -> impl A + use<'a> { <T as crate::q::R>::s::t() }",
                "1:crate::q::R",
            ),
        ] {
            let mut found = paths(text);
            let mut expected: Vec<&str> = expected.split_whitespace().collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn tests_are_left_out_and_nothing_else() {
        for (text, expected) in [
            ("#[cfg(test)]\nuse crate::{a, b};\nuse crate::c::D;", "3:crate::c::D"),
            ("#[cfg(test)]\n#[path = \"x\"]\npub(crate) mod x;\nuse crate::c::D;", "4:crate::c::D"),
            ("#[cfg(test)] mod tests { use crate::a::B; }\nfn f() { c::d() }", "2:c::d"),
            ("#[cfg(test)] fn f<A, B>() -> a::C {}\nconst X: c::D = 1;", "2:c::D"),
            ("struct S {\n#[cfg(test)] a: b::C,\nd: e::F }", "3:e::F"),
            ("#[cfg(not(test))] use crate::a::B;", "1:crate::a::B"),
            ("#[cfg(all(test, unix))] use crate::a::B;", ""),
        ] {
            assert_eq!(paths(text).join(" "), expected, "{text}");
        }
        let source = Source::read("#[cfg(test)] mod x;", &["here".to_owned()]).unwrap();
        assert_eq!(source.tests, [["here", "x"]]);
    }
}
