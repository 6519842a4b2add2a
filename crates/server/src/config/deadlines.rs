//! `[deadlines]`.

use super::section::section;

section! {
    /// When an answer is overdue, and who is told.
    Deadlines ["deadlines"] {
    }
}
