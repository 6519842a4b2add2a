//! Words for reports.

use chorus_wire::attention::wake::Wake;

use crate::lanes::{Lane, Reason, WakeInput};

/// Bytes of a screen that go into a report.
const LINES_BYTES: usize = 4_096;

/// `codex_socket: no_socket; pty: person_typing`.
pub(super) fn not_taken(passed: &[(Lane, Reason)]) -> String {
    let worth = passed.iter().filter(|(_, reason)| *reason != Reason::NotThisProgram);
    let words: Vec<_> =
        worth.map(|(lane, reason)| format!("{}: {}", lane.name(), reason.name())).collect();
    words.join("; ")
}

/// The end of a text that is too long for a report.
pub(super) fn bounded(text: &str) -> String {
    let text = text.trim();
    let from = text.ceil_char_boundary(text.len().saturating_sub(LINES_BYTES));
    text[from..].to_owned()
}

/// What the lanes need of a wake.
pub(super) fn input(wake: &Wake) -> WakeInput<'_> {
    WakeInput {
        wake: &wake.wake_id,
        fence: wake.fence,
        prompt: &wake.prompt,
        summary: wake.summary.as_deref(),
    }
}
