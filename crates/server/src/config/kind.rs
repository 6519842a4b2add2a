//! The kinds of values a setting can have: how each is read from `chorus.toml`, from a variable or a flag,
//! and how it is shown. A value that was read is one that the host can work with.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A value as somebody wrote it.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    Truth(bool),
    Whole(i64),
    Text(String),
    List(Vec<Given>),
    Table(Vec<(String, Given)>),
    /// A value of TOML that no setting has: a date, a fraction.
    Other(String),
    /// From a variable or a flag: its kind is the setting's.
    Raw(String),
}

/// A kind of value.
pub trait Kind: Sized {
    /// What may be written, for the page of settings and for refusals.
    fn what() -> String;
    /// Reads it; the error says what is wrong, or nothing when [`Kind::what`] says it.
    fn read(given: &Given) -> Result<Self, Option<String>>;
    /// As it is written in `chorus.toml`.
    fn show(&self) -> String;
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truth(value) => value.fmt(f),
            Self::Whole(value) => value.fmt(f),
            Self::Text(text) | Self::Raw(text) => write!(f, "{text:?}"),
            Self::List(list) => {
                let shown: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", shown.join(", "))
            }
            Self::Table(_) => f.write_str("a table"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl Given {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Raw(text) => Some(text),
            _ => None,
        }
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

impl Kind for bool {
    fn what() -> String {
        "true or false".to_owned()
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        match given {
            Given::Truth(value) => Ok(*value),
            Given::Raw(text) => text.parse().map_err(|_| None),
            _ => Err(None),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// Whole numbers that are not negative.
macro_rules! whole {
    ($($kind:ty)*) => {$(
        impl Kind for $kind {
            fn what() -> String {
                "a whole number".to_owned()
            }

            fn read(given: &Given) -> Result<Self, Option<String>> {
                match given {
                    Given::Whole(value) => Self::try_from(*value).map_err(|_| None),
                    Given::Raw(text) => text.parse().map_err(|_| None),
                    _ => Err(None),
                }
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
whole!(u32 u64 usize);

impl Kind for String {
    fn what() -> String {
        "a text".to_owned()
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        given.text().map(str::to_owned).ok_or(None)
    }

    fn show(&self) -> String {
        quoted(self)
    }
}

impl Kind for PathBuf {
    fn what() -> String {
        "a path".to_owned()
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        given.text().filter(|text| !text.is_empty()).map(Self::from).ok_or(None)
    }

    fn show(&self) -> String {
        quoted(&self.to_string_lossy())
    }
}

impl Kind for SocketAddr {
    fn what() -> String {
        "an address and a port, such as 127.0.0.1:7600".to_owned()
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        let text = given.text().ok_or(None)?;
        text.replacen("localhost:", "127.0.0.1:", 1).parse().map_err(|_| None)
    }

    fn show(&self) -> String {
        quoted(&self.to_string())
    }
}

/// A setting that may be absent; an empty text is none.
impl<K: Kind> Kind for Option<K> {
    fn what() -> String {
        K::what()
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        match given.text() {
            Some("") => Ok(None),
            _ => K::read(given).map(Some),
        }
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(String::new, Kind::show)
    }
}

/// A list. In a variable or a flag it is written as in the file, or its parts stand between commas.
impl<K: Kind> Kind for Vec<K> {
    fn what() -> String {
        format!("a list; each item is {}", K::what())
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        match given {
            Given::List(list) => list.iter().map(K::read).collect(),
            Given::Raw(text) if text.trim_start().starts_with('[') => {
                let line = format!("x = {text}");
                let table: BTreeMap<String, Vec<String>> = toml::from_str(&line).map_err(|_| {
                    let why = "what begins with [ is a list as in the file, such as [\"a\", \"b\"]";
                    Some(why.to_owned())
                })?;
                let parts = table.into_values().flatten();
                parts.map(|part| K::read(&Given::Text(part))).collect()
            }
            Given::Raw(text) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                parts.map(|part| K::read(&Given::Raw(part.to_owned()))).collect()
            }
            _ => Err(None),
        }
    }

    fn show(&self) -> String {
        format!("[{}]", self.iter().map(Kind::show).collect::<Vec<_>>().join(", "))
    }
}

/// Names and texts: `{ name = "text" }`. In a variable or a flag it is written as in the file.
impl Kind for BTreeMap<String, String> {
    fn what() -> String {
        "a table of names and texts".to_owned()
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        match given {
            Given::Table(entries) => entries
                .iter()
                .map(|(name, value)| Ok((name.clone(), String::read(value)?)))
                .collect(),
            Given::Raw(text) => {
                let line = format!("x = {text}");
                let table: BTreeMap<String, Self> = toml::from_str(&line).map_err(|_| None)?;
                Ok(table.into_values().next().unwrap_or_default())
            }
            _ => Err(None),
        }
    }

    fn show(&self) -> String {
        let entries =
            self.iter().map(|(name, text)| format!("{} = {}", quoted(name), quoted(text)));
        match self.is_empty() {
            true => "{}".to_owned(),
            false => format!("{{ {} }}", entries.collect::<Vec<_>>().join(", ")),
        }
    }
}

/// A span of time: `90s`, `15m`, `24h`, `7d`, `250ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl Span {
    pub const fn seconds(n: u64) -> Self {
        Self(Duration::from_secs(n))
    }

    pub const fn minutes(n: u64) -> Self {
        Self::seconds(n * 60)
    }

    pub const fn hours(n: u64) -> Self {
        Self::minutes(n * 60)
    }

    pub const fn days(n: u64) -> Self {
        Self::hours(n * 24)
    }

    /// In milliseconds, as the core counts.
    pub fn ms(self) -> i64 {
        i64::try_from(self.0.as_millis()).unwrap_or(i64::MAX)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.as_millis();
        let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
        match units.iter().find(|(unit, _)| ms >= *unit && ms.is_multiple_of(*unit)) {
            Some((unit, name)) => write!(f, "{}{name}", ms / unit),
            None => write!(f, "{ms}ms"),
        }
    }
}

impl Kind for Span {
    fn what() -> String {
        "a span of time, such as 90s, 15m, 24h or 7d".to_owned()
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        let text = given.text().ok_or(None)?.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(None),
        };
        let number: u64 = number.parse().map_err(|_| None)?;
        Ok(Self(Duration::from_millis(number.checked_mul(unit).ok_or(None)?)))
    }

    fn show(&self) -> String {
        quoted(&self.to_string())
    }
}

/// A text that is shown to nobody.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

impl Kind for Secret {
    fn what() -> String {
        "a text, which is never shown".to_owned()
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        String::read(given).map(Self)
    }

    fn show(&self) -> String {
        if self.0.is_empty() { quoted("") } else { quoted("(hidden)") }
    }
}
