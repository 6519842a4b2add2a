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
        /// Requests under way and connections of one workspace at one time. Beyond it, requests are
        /// refused with RATE_LIMITED. So one workspace never takes all of a host's time.
        connections: u32 = 5_000, 1 => 10_000_000;
        /// Requests per second to one workspace, over all its members; 0 means no limit.
        requests_per_second: u32 = 0;
        /// The burst of such requests.
        requests_burst: u32 = 2_000, 1 => 10_000_000;
        /// Time of one core that the requests of one workspace may take, in percent; 0 means no limit.
        /// 200 is two cores. Beyond it, requests are refused with RATE_LIMITED. A second may be
        /// saved up.
        cpu_percent: u32 = 0, 0 => 100_000;
        /// Storage of one workspace, in MiB; 0 means no limit. Its files count with their size, and
        /// each log entry as 1 KiB. Beyond it, messages, edits and files are refused with
        /// RATE_LIMITED until the setting is raised, or retention drops what is old.
        storage_mib: u64 = 0;
    }
}
