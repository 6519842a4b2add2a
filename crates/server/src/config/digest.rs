//! `[digest]`.

use super::section::section;

section! {
    /// Digests of what nobody had to answer.
    Digest ["digest"] {
    }
}
