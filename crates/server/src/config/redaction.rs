//! `[redaction]`.

use super::section::section;

section! {
    /// What is blacked out before anything is shown to agents or logged.
    Redaction ["redaction"] {
    }
}
