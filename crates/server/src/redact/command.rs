//! The texts of commands. Each command hands over its own ([`chorus_core::commands::Command::redact`]).

use chorus_core::commands::Redact;
use chorus_wire::canonical;

use super::Redactor;

impl Redact for Redactor {
    fn clean(&self, text: &str) -> Option<(String, u32)> {
        self.text(text)
    }

    fn clean_json(&self, json: &str) -> Option<(String, u32)> {
        let (clean, count) = self.json(json)?;
        // It was canonical, and marks do not make it too long for what reads it.
        Some((canonical::canonical_json(&clean, usize::MAX).unwrap_or(clean), count))
    }
}
