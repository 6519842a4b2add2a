//! The model of a screen by itself, for fuzzing: programs print anything.

use std::time::Instant;

use super::Size;
use super::screen::Model;

/// The rows of a screen on which this was printed, piece by piece, and what shows the same on another screen.
#[must_use]
pub fn screen(size: Size, pieces: &[&[u8]]) -> (Vec<String>, Vec<u8>) {
    let mut model = Model::new(size.or_default(), Instant::now());
    for piece in pieces {
        let queries = model.print(piece);
        let replies = model.replies(&queries);
        debug_assert!(queries.is_empty() || !replies.is_empty());
    }
    (model.rows(), model.redraw())
}
