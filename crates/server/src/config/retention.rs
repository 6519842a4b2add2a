//! `[retention]`.

use super::section::section;

section! {
    /// How long conversations are kept.
    Retention ["retention"] {
    }
}
