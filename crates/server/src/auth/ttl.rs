//! How long a token may last.

/// A year, for what a person keeps in a file and asks for.
pub(crate) const LONGEST_TTL_S: u64 = 366 * 24 * 3600;
