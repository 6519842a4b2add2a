//! `[audit]`.

use super::section::section;

section! {
    /// The audit log.
    Audit ["audit"] {
    }
}
