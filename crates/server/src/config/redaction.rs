//! `[redaction]`.

use super::section::section;
use crate::redact::{Redactor, names};

section! {
    /// What is blacked out in every text before it is kept, shown or logged: keys and passwords. `[redacted: npm-token]` stands in its
    /// place. The built-in patterns are named in docs/operations.md.
    Redaction ["redaction"] {
        /// Whether anything is blacked out.
        enabled: bool = true;
        /// Built-in patterns that are not used, by name.
        off: Vec<String> = Vec::new();
        /// Regular expressions of your own, in the syntax of Rust's regex crate. Each runs over every text.
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
