//! How many files this process may have open: each connection is one, and the host has some of its own.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Kept for the database, its readers, keys, logs, and what a backup and commands beside it open.
const OWN: u64 = 256;

/// The limit of open files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Files {
    /// As the process found it.
    pub before: u64,
    pub now: u64,
}

/// Raises the limit of open files to what this process may have at most. Where that fails it stays as it was.
pub fn raise() -> Files {
    let Ok((before, most)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return Files { before: 0, now: 0 };
    };
    let raised = before < most && setrlimit(Resource::RLIMIT_NOFILE, most, most).is_ok();
    Files { before, now: if raised { most } else { before } }
}

/// How many connections the limit leaves room for.
pub(crate) fn for_connections() -> usize {
    // A limit that cannot be read is no reason to refuse anybody; the system will.
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(u64::MAX, |(soft, _)| soft);
    usize::try_from(left(limit)).unwrap_or(usize::MAX)
}

/// Half of a limit that is very low.
fn left(limit: u64) -> u64 {
    limit.saturating_sub(OWN).max(limit / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_get_what_the_host_does_not_need() {
        assert_eq!(left(256), 128);
        assert_eq!(left(1_024), 768);
        assert_eq!(left(u64::MAX), u64::MAX - OWN);
    }
}
