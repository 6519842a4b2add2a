//! Names with an `@` that match nobody: the sender meant to notify somebody who was not notified.
//!
//! A text can have many an `@` that addresses nobody: packages, decorators, documentation tags.
//! Those are left out, so that the sender is warned only about text that reads as a name.

use std::ops::Range;

use super::{Index, Mention, scan, valid_handle};

/// At most this many are reported. A text with more is not an ordinary message.
const MOST: usize = 8;

/// What the text mentions, and the `@names` in its prose that match nobody, in the order of the
/// text, each of these once.
pub fn mentions_and_unknown<'t>(text: &'t str, index: &Index) -> (Vec<Mention>, Vec<&'t str>) {
    let mut names: Vec<&str> = Vec::new();
    let mut missed = |range: Range<usize>, limit| {
        let name = text[range.clone()].trim_end_matches(['.', '-', '_']);
        let reads_as_name = valid_handle(name)
            && name.starts_with(char::is_alphabetic)
            && !ANNOTATIONS.contains(&name)
            && !is_code(text, &range, limit);
        if reads_as_name && names.len() < MOST && !names.contains(&name) {
            names.push(name);
        }
    };
    let mentions = scan::scan(text, index, Some(&mut missed));
    (mentions, names)
}

/// Whether its context makes it a decorator: `@app.route("/")`, or a line of its own above a
/// declaration.
fn is_code(text: &str, name: &Range<usize>, limit: usize) -> bool {
    let after = &text[name.end..limit];
    if after.starts_with(['(', '{', '[', '<', '=', '\\', '/']) {
        return true;
    }
    let line = text[..name.start].rsplit('\n').next().unwrap_or_default();
    let mut lines = after.split('\n');
    let alone =
        matches!(line.trim(), "@" | "＠") && lines.next().is_some_and(|l| l.trim().is_empty());
    let declares = |line: &str| line.split_whitespace().next().is_some_and(is_declaration);
    alone && lines.next().is_some_and(declares)
}

fn is_declaration(word: &str) -> bool {
    word.starts_with('@') || DECLARATIONS.contains(&word)
}

const DECLARATIONS: [&str; 22] = [
    "abstract",
    "async",
    "class",
    "const",
    "def",
    "enum",
    "export",
    "extension",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "let",
    "private",
    "protected",
    "pub",
    "public",
    "static",
    "struct",
    "val",
    "var",
];

/// Decorators, annotations and tags that are mostly written without a bracket. Case-sensitive.
#[rustfmt::skip]
const ANNOTATIONS: [&str; 94] = [
    // Python.
    "abstractmethod", "cache", "cached_property", "classmethod", "contextmanager", "dataclass", "final", "lru_cache", "overload",
    "override", "property", "staticmethod", "wraps",
    // Java, Kotlin, TypeScript, Swift.
    "After", "AfterEach", "Autowired", "Bean", "Before", "BeforeEach", "Builder", "Column", "Component", "Composable", "Controller",
    "Data", "Deprecated", "Directive", "Entity", "Environment", "EnvironmentObject", "FunctionalInterface", "Getter", "Id", "Inject",
    "Injectable", "Input", "JvmStatic", "MainActor", "NgModule", "NonNull", "NotNull", "Nullable", "ObservedObject", "Output",
    "Override", "Pipe", "Published", "Repository", "Resource", "RestController", "SafeVarargs", "Service", "Setter", "Singleton",
    "State", "StateObject", "SuppressWarnings", "Table", "Test", "Transactional", "Value", "escaping", "objc",
    // Documentation.
    "deprecated", "example", "inheritdoc", "internal", "link", "param", "private", "public", "readonly", "return", "returns",
    "see", "since", "throws", "todo", "type", "typedef", "typeparam",
    // Style sheets, packages.
    "apply", "charset", "extend", "font-face", "import", "include", "keyframes", "latest", "layer", "media", "mixin", "supports",
    "tailwind",
];
