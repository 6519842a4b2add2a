//! `[approvals]`.

use super::section::section;

section! {
    /// Sends and tools that wait for a person.
    Approvals ["approvals"] {
    }
}
