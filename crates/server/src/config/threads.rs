//! `[threads]`.

use super::kind::Span;
use super::section::section;

section! {
    /// Threads over MCP (spec/threads.md).
    Threads ["threads"] {
        /// A command that writes the text of `summarize_thread`. It gets the host's summary as JSON
        /// on standard input, and what it prints is the summary. It is run by `sh -c`, at most two
        /// at a time, in the host's environment without `CHORUS_*`. If it fails, takes too long or
        /// prints more than 16 KiB, the host's own text is used.
        summary_command: Option<String> = None;
        /// How long the command may take.
        summary_timeout: Span = Span::seconds(30), Span::seconds(1) => Span::minutes(5);
    }
}
