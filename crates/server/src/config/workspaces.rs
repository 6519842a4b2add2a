//! `[workspaces]`: workspaces beside the host's own.

use super::kind::Span;
use super::section::section;

section! {
    /// Workspaces beside the host's own, which `chorus workspace` makes. Each has a folder of its own.
    Workspaces ["workspaces"] {
        /// Workspaces that are open at one time. Each takes memory and threads; when another is
        /// wanted, the one that nobody has used for the longest is closed.
        open: usize = 200, 1 => 10_000;
        /// How long a workspace stays open that nobody uses.
        idle: Span = Span::minutes(5), Span::seconds(1) => Span::hours(24);
        /// How long a workspace is kept that was deleted, so that it can be brought back.
        grace: Span = Span::days(7), Span::seconds(0) => Span::days(365);
    }
}
