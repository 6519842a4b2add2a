//! `[limits]`.

use super::section::section;

section! {
    /// How much one caller may ask for.
    Limits ["limits"] {
    }
}
