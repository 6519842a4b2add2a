//! `[digest]`.

use super::kind::Span;
use super::section::section;

section! {
    /// Digests: what happened in a channel, for the members who follow it (participation
    /// `always_listen`).
    Digest ["digest"] {
        /// How long after a channel's first message its digest is made.
        every: Span = Span::minutes(15), Span::seconds(10) => Span::days(1);
        /// Whether digests are made.
        enabled: bool = true;
        /// A command that writes its own text for each digest. It gets the digest as JSON on
        /// standard input, and what it prints is kept with the digest. It is run by `sh -c`, one at
        /// a time, in the host's environment without `CHORUS_*`. If it fails, takes too long or
        /// prints more than 16 KiB, the host's own text is used.
        command: Option<String> = None;
        /// How long the command may take.
        timeout: Span = Span::seconds(60), Span::seconds(1) => Span::minutes(10);
    }
}
