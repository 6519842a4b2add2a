//! `[budget]`.

use super::section::section;

section! {
    /// How long agents may talk among themselves.
    Budget ["budget"] {
    }
}
