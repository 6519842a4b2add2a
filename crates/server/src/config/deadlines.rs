//! `[deadlines]`.

use super::kind::Span;
use super::section::section;

section! {
    /// When an answer is overdue, and who is told.
    Deadlines ["deadlines"] {
        /// For how long an agent puts off what it owes when it does not say until when (`queued`, `blocked`, `chat.defer` without `until`);
        /// then it is offered again.
        defer: Span = Span::minutes(10), Span::seconds(10) => Span::days(7);
    }
}
