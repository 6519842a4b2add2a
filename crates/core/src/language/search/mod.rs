//! Search: splits text into words in any script, parses queries, ranks results, and cuts snippets.
//!
//! Invariant: one function splits both texts and queries into words, so text can be found by typing
//! it as it is written. The index belongs to the store; nothing here depends on how it is kept.

mod query;
mod rank;
mod snippet;
mod words;

pub use query::{Query, Term};
pub use rank::score;
pub use snippet::{Piece, snippet};
pub use words::{Word, words};
