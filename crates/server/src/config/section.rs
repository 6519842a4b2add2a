//! What a section of settings is, and the macro that declares one: the same lines give the struct, its
//! defaults, what is read, what is refused, and the page [docs/settings.md](../../../../docs/settings.md).

use super::kind::{Given, Kind};

/// A setting, for the page and for `chorus config show`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// `digest.interval`; a setting of no section is its key alone.
    pub path: String,
    /// What it does, in sentences.
    pub about: String,
    pub what: String,
    /// The smallest and the greatest value, as they are written.
    pub range: Option<(String, String)>,
    /// As it is written in the file; empty when it is absent.
    pub default: String,
}

impl Entry {
    /// The variable that sets it: `CHORUS_DIGEST_INTERVAL`.
    pub fn variable(&self) -> String {
        let path = self.path.replace(['.', '-'], "_");
        format!("CHORUS_{}", path.to_ascii_uppercase())
    }

    /// What may be written.
    pub fn allowed(&self) -> String {
        match &self.range {
            Some((low, high)) => format!("{}, from {low} to {high}", self.what),
            None => self.what.clone(),
        }
    }
}

/// A section of `chorus.toml`.
pub trait Section: Default {
    /// Its name; the settings that stand above all sections have none.
    const NAME: &'static str;
    fn about() -> String;
    fn entries() -> Vec<Entry>;
    /// Sets one; false when it cannot have this value.
    fn set(&mut self, key: &str, given: &Given) -> Result<(), Option<String>>;
    /// As it is now.
    fn show(&self, key: &str) -> String;
    /// Settings that do not fit each other: the key, and what is wrong.
    fn check(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// The lines of a comment as one text.
pub(super) fn text(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

pub(super) fn within<K: Kind + PartialOrd>(
    value: K,
    low: &K,
    high: &K,
) -> Result<K, Option<String>> {
    if *low <= value && value <= *high { Ok(value) } else { Err(None) }
}

/// Declares a section: `key: Kind = default, least => most;`, each with a comment that says what it does. The
/// path of a section inside another has dots.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $name:ident [$section:literal] {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $kind:ty = $default:expr $(, $low:expr => $high:expr)?;
            )*
        }
        $(check $check:expr;)?
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $key: $kind,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $default,)* }
            }
        }

        // A section without settings uses none of its arguments.
        #[allow(unused_variables, clippy::match_single_binding)]
        impl $crate::config::section::Section for $name {
            const NAME: &'static str = $section;

            fn about() -> String {
                $crate::config::section::text(&[$($about),+])
            }

            fn entries() -> Vec<$crate::config::section::Entry> {
                let defaults = Self::default();
                vec![$({
                    let key = stringify!($key);
                    let range: Option<(String, String)> = None;
                    $(let range = Some((
                        $crate::config::kind::Kind::show(&{ let low: $kind = $low; low }),
                        $crate::config::kind::Kind::show(&{ let high: $kind = $high; high }),
                    ));)?
                    $crate::config::section::Entry {
                        path: if $section.is_empty() { key.to_owned() } else { format!("{}.{key}", $section) },
                        about: $crate::config::section::text(&[$($doc),+]),
                        what: <$kind as $crate::config::kind::Kind>::what(),
                        range,
                        default: $crate::config::kind::Kind::show(&defaults.$key),
                    }
                }),*]
            }

            fn set(&mut self, key: &str, given: &$crate::config::kind::Given) -> Result<(), Option<String>> {
                match key {
                    $(stringify!($key) => {
                        let value = <$kind as $crate::config::kind::Kind>::read(given)?;
                        $(let value = $crate::config::section::within(value, &$low, &$high)?;)?
                        self.$key = value;
                        Ok(())
                    })*
                    _ => Err(Some("no such setting".to_owned())),
                }
            }

            fn show(&self, key: &str) -> String {
                match key {
                    $(stringify!($key) => $crate::config::kind::Kind::show(&self.$key),)*
                    _ => String::new(),
                }
            }

            $(fn check(&self) -> Vec<(&'static str, String)> {
                let check: fn(&Self) -> Vec<(&'static str, String)> = $check;
                check(self)
            })?
        }
    };
}
pub(super) use section;

/// A kind of value that is one of a few words.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $word:literal = $variant:ident),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $crate::config::kind::Kind for $name {
            fn what() -> String {
                [$($word),+].join(" or ")
            }

            fn read(given: &$crate::config::kind::Given) -> Result<Self, Option<String>> {
                match String::read(given)?.as_str() {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(None),
                }
            }

            fn show(&self) -> String {
                let word = match self {
                    $(Self::$variant => $word,)+
                };
                format!("{word:?}")
            }
        }
    };
}
pub(super) use words;
