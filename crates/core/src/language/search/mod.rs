//! Searching what was said: what a word is, in any script; what was asked for; which of what was found comes
//! first; and the piece of a text that shows why.
//!
//! Invariant: a text and a question are cut into words by one function, so that whatever is in a text is found by
//! writing it as it stands there. The index itself is the store's; nothing here knows how it is kept.

mod query;
mod rank;
mod snippet;
mod words;

pub use query::{Query, Term};
pub use rank::score;
pub use snippet::{Piece, snippet};
pub use words::{Word, words};
