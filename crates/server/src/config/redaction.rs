//! `[redaction]`.

use super::section::section;
use crate::redact::{Redactor, names};

section! {
    /// Secrets that are removed from every text before it is kept, shown or logged: keys and
    /// passwords. `[redacted: npm-token]` takes their place. docs/retention.md names the built-in
    /// patterns.
    Redaction ["redaction"] {
        /// Whether secrets are redacted.
        enabled: bool = true;
        /// Names of built-in patterns that are turned off.
        off: Vec<String> = Vec::new();
        /// Your own regular expressions, in the syntax of Rust's regex crate. Each runs over every
        /// text.
        patterns: Vec<String> = Vec::new();
    }
    check |redaction| {
        let mut wrong = Vec::new();
        for name in &redaction.off {
            if !names().any(|known| known == name) {
                let known: Vec<_> = names().collect();
                wrong.push(("off", format!("{name:?} is no built-in pattern; they are {}", known.join(", "))));
            }
        }
        if let Err(why) = Redactor::new(&[], &redaction.patterns) {
            wrong.push(("patterns", why.to_string()));
        }
        wrong
    };
}

impl Redaction {
    /// What does it. Settings that were checked make one; others leave the built-in patterns.
    pub fn redactor(&self) -> Redactor {
        if !self.enabled {
            return Redactor::off();
        }
        Redactor::new(&self.off, &self.patterns).unwrap_or_else(|why| {
            tracing::error!(%why, "the operator's patterns are not used");
            Redactor::new(&[], &[]).unwrap_or_default()
        })
    }
}
