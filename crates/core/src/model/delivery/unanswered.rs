//! Why no answer comes, and the report in which the host says so in the member's name.

use crate::model::event::{Message, MessageKind};

/// Why no answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The run has failed.
    Failed,
    /// The deadline has passed.
    Overdue,
    /// The member who owed it has set it aside.
    SetAside,
}

impl Unanswered {
    const ALL: [Self; 3] = [Self::Failed, Self::Overdue, Self::SetAside];

    /// The reason that this message reports, if it is such a report.
    pub fn reported_by(message: &Message) -> Option<Self> {
        let metadata =
            message.metadata.as_deref().filter(|_| message.kind == MessageKind::System)?;
        Self::ALL.into_iter().find(|why| why.metadata() == metadata)
    }

    /// The type of the report.
    pub fn event_type(self) -> &'static str {
        match self {
            Self::Failed => "run_failed",
            Self::Overdue => "answer_overdue",
            Self::SetAside => "answer_set_aside",
        }
    }

    /// The metadata of the report.
    pub(crate) fn metadata(self) -> String {
        format!(r#"{{"event_type":"{}"}}"#, self.event_type())
    }

    /// The first words of the report.
    pub(crate) fn headline(self) -> &'static str {
        match self {
            Self::Failed => "The run failed, and nobody else can answer",
            Self::Overdue => "No answer came in time, and nobody else can answer",
            Self::SetAside => "This was set aside, and nobody else can answer",
        }
    }
}
