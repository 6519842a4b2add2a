//! What tests say to a host, and whether a line of its log repeats it.
//!
//! Each text that a test sends is a marker from then on: a record of the log that has it in a field ends the process, and
//! so its test. A text needs two words and some length, since a short one stands in lines by chance.

use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::{Level, Metadata};

/// The shortest text that is looked for, in bytes.
const SHORTEST: usize = 12;
/// Texts that are looked for, the newest, and lines that are kept.
const TEXTS: usize = 256;
const LINES: usize = 4_096;

static SAID: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
static HEARD: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
pub(super) static STATEMENTS: AtomicU64 = AtomicU64::new(0);

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No line of the log may have this text from here on.
pub fn said(text: &str) {
    let text = text.trim();
    if text.len() < SHORTEST || !text.contains(' ') {
        return;
    }
    let mut said = lock(&SAID);
    if said.iter().any(|known| known == text) {
        return;
    }
    if said.len() == TEXTS {
        said.pop_front();
    }
    said.push_back(text.to_owned());
}

/// The newest lines of the log, each with its target.
pub fn lines() -> Vec<String> {
    lock(&HEARD).iter().cloned().collect()
}

/// How many statements were sent to databases so far.
pub fn statements() -> u64 {
    STATEMENTS.load(Ordering::Relaxed)
}

/// Whether a host would log it at its most talkative: all of ours, and of libraries the warnings.
pub(super) fn is_logged(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    match target.starts_with("chorus") || target == "agent" {
        true => true,
        false => *metadata.level() <= Level::WARN && !target.starts_with("rmcp"),
    }
}

/// The fields of one record.
pub(super) struct Line(String);

impl Line {
    pub(super) fn of(metadata: &Metadata<'_>) -> Self {
        Self(metadata.target().to_owned())
    }

    /// Ends the process when it repeats what was said. What agents write into the log themselves is theirs.
    pub(super) fn end(self, metadata: &Metadata<'_>) {
        let own = metadata.target() == "agent";
        if let Some(text) = lock(&SAID).iter().find(|text| !own && self.0.contains(&***text)) {
            eprintln!("a line of the log repeats what somebody said, {text:?}:\n{}", self.0);
            // A panic would be caught by whoever keeps the host alive.
            std::process::abort();
        }
        let mut heard = lock(&HEARD);
        if heard.len() == LINES {
            heard.pop_front();
        }
        heard.push_back(self.0);
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.0, " {}={value}", field.name());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}
