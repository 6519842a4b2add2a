//! What a command is: a value that says what is asked, what it gives, what the audit log keeps of it, which texts
//! it brings, and how it is executed. Each family of commands implements this beside its rules.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::Shown;
use crate::commands::redact::Redact;
use crate::model::approval::Approval;
use crate::model::audit::Audit;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{ConversationKey, MemberKey, Prefix};
use crate::model::offer::Entry;
use crate::state::directory::Directory;

/// Whom a command would give a seat, by conversation.
pub(crate) type Seats = Vec<(ConversationKey, Vec<MemberKey>)>;

/// Whether a command is executed in a turn whose caller has lost the right to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InTurn {
    /// No: what changes something belongs to the turn.
    Fenced,
    /// In a turn whose run has said how it ended, but in no other.
    AfterEnd,
    /// Yes: it only reads.
    Reads,
}

/// What a command makes of which a member may make only so much in a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Makes {
    pub conversations: u32,
    /// Seats given to others than the caller.
    pub seats: u64,
}

impl Makes {
    /// A conversation with these members, `by` perhaps among them.
    pub(crate) fn conversation_with(by: MemberKey, members: &[MemberKey]) -> Self {
        let seats = members.iter().filter(|m| **m != by).count();
        Self { conversations: 1, seats: seats as u64 }
    }
}

/// Why a command was not done.
#[derive(Clone, Debug)]
pub enum NotDone {
    Refused(Refusal),
    /// It waits for a person.
    AwaitsApproval(Arc<Approval>),
}

impl From<NotDone> for Refusal {
    fn from(why: NotDone) -> Self {
        match why {
            NotDone::Refused(refusal) => refusal,
            NotDone::AwaitsApproval(approval) => {
                let id = approval.uid.show(Prefix::Approval);
                let message = format!(
                    "a person must agree first; it waits as {id}, and the same request made again is answered by the decision"
                );
                Self::new(Code::ApprovalRequired, message)
            }
        }
    }
}

impl From<Refusal> for NotDone {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// How a command ended, for those who look at it.
pub type Done<'a, C> = std::result::Result<&'a <C as Command>::Output, &'a Refusal>;

/// One command. Its ids, time and random bytes are drawn once, by whoever submits it, so that executing it again
/// gives the same result.
pub trait Command: Clone + Send + Sized + 'static {
    /// What it gives.
    type Output: Send + 'static;

    /// Whether it may change anything.
    const CHANGES: bool = true;

    /// Whether it is executed in a turn that is its caller's no more.
    const IN_TURN: InTurn = if Self::CHANGES { InTurn::Fenced } else { InTurn::Reads };

    /// Whether others see what an agent says with it.
    const SPEAKS: bool = false;

    /// Its name, as its type has it.
    fn name(&self) -> &'static str {
        let name = std::any::type_name::<Self>();
        name.rsplit("::").next().unwrap_or(name)
    }

    /// What the audit log keeps of it.
    fn audit(&self, done: Done<'_, Self>) -> Audit;

    /// Hands every text that somebody wrote to the redactor; says how many secrets it had.
    fn redact(&mut self, redact: &dyn Redact) -> u32;

    /// Its words and who would read them; none where it has none, or holds them back by itself.
    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>>;

    /// Whom it would give a seat in conversations that there are.
    fn seats(&self, run: &mut Context<'_>) -> Result<Seats> {
        let _ = run;
        Ok(Seats::new())
    }

    /// What the same command gave before; asked only where it is refused for its turn.
    fn given_before(&self, run: &mut Context<'_>) -> Result<Option<Self::Output>> {
        let _ = run;
        Ok(None)
    }

    /// What it makes of which its caller, `by`, may make only so much in a day.
    fn makes(&self, by: MemberKey, directory: &Directory) -> Makes {
        let _ = (by, directory);
        Makes::default()
    }

    /// Whether something was made: what was made before counts once.
    fn has_made(output: &Self::Output) -> bool {
        let _ = output;
        true
    }

    /// The event that it logged, if it logged one that is offered.
    fn logged(output: &Self::Output) -> Option<&Entry> {
        let _ = output;
        None
    }

    /// About how many bytes it writes, when they are many.
    fn bytes(&self) -> usize {
        0
    }

    /// Executes it.
    fn execute(self, run: &mut Context<'_>) -> Result<Self::Output>;
}

/// The methods of a [`Command`] that brings no text.
macro_rules! no_text {
    () => {
        fn redact(&mut self, _: &dyn $crate::commands::redact::Redact) -> u32 {
            0
        }

        $crate::commands::command::not_shown!();
    };
}

/// The method of a [`Command`] whose texts are shown to nobody by it, or are held back whole by itself.
macro_rules! not_shown {
    () => {
        fn shown(
            &self,
            _: &mut $crate::commands::context::Context<'_>,
        ) -> $crate::commands::context::Result<Option<$crate::commands::gate::shown::Shown>> {
            Ok(None)
        }
    };
}

pub(crate) use {no_text, not_shown};
