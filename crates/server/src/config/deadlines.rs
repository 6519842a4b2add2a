//! `[deadlines]`.

use super::kind::Span;
use super::section::section;

section! {
    /// How long agents put off their answers.
    Deadlines ["deadlines"] {
        /// How long an agent puts off what it owes if it does not say until when (`queued`,
        /// `blocked`, `chat.defer` without `until`). Then it is offered again.
        defer: Span = Span::minutes(10), Span::seconds(10) => Span::days(7);
    }
}
