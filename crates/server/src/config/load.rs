//! Settings from the file, then `CHORUS_*`, then flags; each later one wins. All mistakes are found at once, each
//! with the place where it was made.
//!
//! Nothing here reads a file or the environment: whoever starts the host passes them in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::issuers::Issuer;
use super::kind::Given;
use super::section::{Entry, Section};
use super::settings::{ISSUERS, Settings, join, split};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The name of the file and the line in it.
    File(String, usize),
    Variable(String),
    Flag(String),
}

/// Something that was written wrongly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub source: Source,
    /// The path of the setting; empty when the file is no TOML there.
    pub path: String,
    pub what: String,
}

/// What `chorus serve` works with.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    pub settings: Settings,
    /// Where each setting came from that is not its default.
    pub sources: BTreeMap<String, Source>,
}

impl Loaded {
    /// What is wrong with a setting, where it was written.
    pub fn mistake(&self, path: String, what: String) -> Mistake {
        let source = self.sources.get(&path).cloned();
        let source = source.unwrap_or_else(|| Source::Flag("settings".to_owned()));
        Mistake { source, path, what }
    }
}

/// What somebody wrote.
#[derive(Clone, Debug, Default)]
pub struct Written<'a> {
    /// The name of the file, and its text.
    pub file: Option<(&'a str, &'a str)>,
    /// The environment.
    pub variables: Vec<(String, String)>,
    /// Paths and values of flags, and how the flag was written.
    pub flags: Vec<(String, String, String)>,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(name, line) => write!(f, "{name}:{line}"),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.source)?;
        if !self.path.is_empty() {
            write!(f, "{} ", self.path)?;
        }
        f.write_str(&self.what)
    }
}

/// Reads all that was written; the mistakes in the order of their places when there are any.
pub fn load(written: &Written<'_>) -> Result<Loaded, Vec<Mistake>> {
    let mut loading =
        Loading { known: Known::new(), loaded: Loaded::default(), mistakes: Vec::new() };
    if let Some((name, text)) = written.file {
        loading.file(name, text);
    }
    loading.variables(&written.variables);
    for (path, value, flag) in &written.flags {
        loading.take(path, Given::Raw(value.clone()), Source::Flag(flag.clone()));
    }
    // What does not fit together is only known of a section in which each is what it should be.
    let broken: BTreeSet<String> =
        loading.mistakes.iter().map(|mistake| split(&mistake.path).0.to_owned()).collect();
    for (path, what) in loading.loaded.settings.check() {
        if !broken.contains(split(&path).0) {
            loading.mistakes.push(loading.loaded.mistake(path, what));
        }
    }
    loading.mistakes.sort_by_key(|mistake| match &mistake.source {
        Source::File(_, line) => *line,
        _ => usize::MAX,
    });
    match loading.mistakes.is_empty() {
        true => Ok(loading.loaded),
        false => Err(loading.mistakes),
    }
}

/// Variables that look like settings and are none, with the nearest; `ours` are those of commands.
pub fn unknown_variables(variables: &[(String, String)], ours: &[&str]) -> Vec<String> {
    let known = Known::new();
    let names: Vec<String> = known.entries.values().map(Entry::variable).collect();
    let is_known = |name: &str| {
        ours.contains(&name)
            || names.iter().any(|known| known == name)
            || known.issuer(name).is_some()
    };
    let unknown = variables.iter().map(|(name, _)| name.as_str());
    let unknown = unknown.filter(|name| name.starts_with("CHORUS_") && !is_known(name));
    unknown
        .map(|name| match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("{name} sets nothing; the nearest is {near}"),
            None => format!("{name} sets nothing"),
        })
        .collect()
}

struct Loading {
    known: Known,
    loaded: Loaded,
    mistakes: Vec<Mistake>,
}

impl Loading {
    fn file(&mut self, name: &str, text: &str) {
        let at = |span: Range<usize>| {
            let before = text.as_bytes().iter().take(span.start);
            Source::File(name.to_owned(), 1 + before.filter(|byte| **byte == b'\n').count())
        };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let source = at(error.span().unwrap_or_default());
            let what = error.message().to_owned();
            self.mistakes.push(Mistake { source, path: String::new(), what });
        }
        let broken: Vec<Source> = self.mistakes.iter().map(|m| m.source.clone()).collect();
        self.table("", table.get_ref(), &at);
        // What was guessed of a line that is no TOML is nobody's mistake.
        self.mistakes.retain(|m| m.path.is_empty() || !broken.contains(&m.source));
    }

    fn table(&mut self, section: &str, table: &DeTable<'_>, at: &dyn Fn(Range<usize>) -> Source) {
        for (key, value) in table {
            let path = join(section, key.get_ref());
            let source = at(key.span());
            let is_section = self.known.is_section(&path);
            match value.get_ref() {
                DeValue::Table(inner) if is_section => self.table(&path, inner, at),
                _ if is_section => {
                    let what = "is a section: write [".to_owned() + &path + "]";
                    self.mistakes.push(Mistake { source, path, what });
                }
                _ => self.take(&path, given(value), source),
            }
        }
    }

    fn variables(&mut self, variables: &[(String, String)]) {
        let mut found = Vec::new();
        for (name, value) in variables.iter().filter(|(_, value)| !value.is_empty()) {
            let entry = self.known.entries.values().find(|entry| entry.variable() == *name);
            // What the commands call the same.
            let alias = (name == "CHORUS_LOG").then(|| "telemetry.log".to_owned());
            let path = entry.map(|entry| entry.path.clone()).or(alias).or(self.known.issuer(name));
            found.extend(path.map(|path| (path, value.clone(), name.clone())));
        }
        for (path, value, name) in found {
            self.take(&path, Given::Raw(value), Source::Variable(name));
        }
    }

    /// Sets one, or notes why not.
    fn take(&mut self, path: &str, given: Given, source: Source) {
        let Some(entry) = self.known.entry(path) else {
            let what = match self.known.suggest(path) {
                Some(near) => format!("is no setting; the nearest is {near}"),
                None => "is no setting; docs/settings.md has all".to_owned(),
            };
            self.mistakes.push(Mistake { source, path: path.to_owned(), what });
            return;
        };
        let (section, key) = split(path);
        match self.loaded.settings.set(section, key, &given) {
            Ok(()) => {
                self.loaded.sources.insert(path.to_owned(), source);
            }
            Err(why) => {
                let allowed = entry.allowed();
                let what = match (why, entry.what.ends_with("shown to nobody")) {
                    (Some(why), _) => format!("= {given}: {why}; allowed is {allowed}"),
                    (None, true) => format!("has a value that cannot be; allowed is {allowed}"),
                    (None, false) => format!("= {given}: allowed is {allowed}"),
                };
                self.mistakes.push(Mistake { source, path: path.to_owned(), what });
            }
        }
    }
}

/// What there is to set.
struct Known {
    /// Paths in `issuers` have NAME for the name.
    entries: BTreeMap<String, Entry>,
    sections: Vec<&'static str>,
}

impl Known {
    fn new() -> Self {
        let sections = Settings::sections();
        let names = sections.iter().map(|(name, _, _)| *name).filter(|name| !name.is_empty());
        let sections_named = names.collect();
        let entries = sections.into_iter().flat_map(|(_, _, entries)| entries);
        Self {
            entries: entries.map(|entry| (entry.path.clone(), entry)).collect(),
            sections: sections_named,
        }
    }

    fn is_section(&self, path: &str) -> bool {
        let (parent, _) = split(path);
        path == ISSUERS || parent == ISSUERS || self.sections.contains(&path)
    }

    fn entry(&self, path: &str) -> Option<Entry> {
        let (section, key) = split(path);
        let general = match section.strip_prefix("issuers.") {
            Some(_) => join(Issuer::NAME, key),
            None => path.to_owned(),
        };
        self.entries.get(&general).cloned()
    }

    /// `CHORUS_ISSUERS_CORP_AUDIENCE` is `issuers.corp.audience`.
    fn issuer(&self, variable: &str) -> Option<String> {
        let rest = variable.strip_prefix("CHORUS_ISSUERS_")?;
        let keys = Issuer::entries().into_iter();
        let keys = keys.map(|entry| split(&entry.path).1.to_owned());
        let found = keys.filter_map(|key| {
            let name = rest.strip_suffix(&key.to_ascii_uppercase())?.strip_suffix('_')?;
            (!name.is_empty()).then(|| (name.to_ascii_lowercase(), key))
        });
        // The longest key: `jwks_url` before a name that ends in `jwks`.
        let (name, key) = found.max_by_key(|(_, key)| key.len())?;
        Some(format!("{ISSUERS}.{name}.{key}"))
    }

    /// What was probably meant.
    fn suggest(&self, path: &str) -> Option<String> {
        let (section, key) = split(path);
        let general = if section.starts_with("issuers.") { Issuer::NAME } else { section };
        let same_section = self
            .entries
            .values()
            .filter(|entry| split(&entry.path).0 == general)
            .map(|e| split(&e.path).1);
        // Beside the settings that are in no section stand the sections.
        let sections = self.sections.iter().copied().filter(|_| section.is_empty());
        if let Some(near) = nearest(key, same_section.chain(sections)) {
            return Some(join(section, near));
        }
        // The right key in the wrong section, or a section's name.
        if let Some(entry) = self.entries.values().find(|entry| split(&entry.path).1 == key) {
            return Some(entry.path.clone());
        }
        let all = self.entries.keys().map(String::as_str).chain(self.sections.iter().copied());
        nearest(path, all).map(str::to_owned)
    }
}

/// The name most like this one, if any is like it at all.
fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|other| (strsim::normalized_damerau_levenshtein(name, other), other));
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(score, _)| *score >= 0.5).map(|(_, name)| name)
}

fn given(value: &Spanned<DeValue<'_>>) -> Given {
    match value.get_ref() {
        DeValue::Boolean(value) => Given::Truth(*value),
        DeValue::String(text) => Given::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Given::Other(number.as_str().to_owned()), Given::Whole),
        DeValue::Float(number) => Given::Other(number.as_str().to_owned()),
        DeValue::Datetime(time) => Given::Other(time.to_string()),
        DeValue::Array(list) => Given::List(list.iter().map(given).collect()),
        DeValue::Table(table) => Given::Table(
            table.iter().map(|(key, value)| (key.get_ref().to_string(), given(value))).collect(),
        ),
    }
}

#[cfg(test)]
mod tests;
