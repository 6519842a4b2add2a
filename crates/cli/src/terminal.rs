//! The terminal on which people read what is printed, where it goes to one.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Columns of a terminal that does not say how wide it is.
const USUAL: usize = 80;

/// 0 where a program reads.
static COLUMNS: AtomicUsize = AtomicUsize::new(0);

/// People read from now on: ids are short, and tables fit.
pub(crate) fn is_read() {
    let columns = terminal_size::terminal_size().map_or(USUAL, |(width, _)| width.0.into());
    COLUMNS.store(columns.max(1), Ordering::Relaxed);
}

/// How wide it is; none where a program reads.
pub(crate) fn columns() -> Option<usize> {
    Some(COLUMNS.load(Ordering::Relaxed)).filter(|columns| *columns > 0)
}
