//! `[retention]`.

use std::path::PathBuf;

use chorus_core::model::conversation::Keep;

use super::kind::{Given, Kind, Span};
use super::section::section;

section! {
    /// How long conversations are kept. What is still owed is kept whatever its age, and so is
    /// everything that came after it.
    Retention ["retention"] {
        /// For conversations that do not set it themselves (`chorus channel set --keep`).
        keep: Keep = Keep::All;
        /// Where events are archived before they are dropped, in a folder per conversation. Without
        /// it they are only dropped.
        archive_dir: Option<PathBuf> = None;
        /// How often the host looks for old events.
        every: Span = Span::hours(1), Span::minutes(1) => Span::days(1);
    }
}

impl Kind for Keep {
    fn what() -> String {
        "all, or days such as 90d".to_owned()
    }

    fn read(given: &Given) -> Result<Self, Option<String>> {
        Self::read(&String::read(given)?).ok_or(None)
    }

    fn show(&self) -> String {
        format!("{:?}", self.to_string())
    }
}
