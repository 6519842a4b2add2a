//! The [`Command`] trait: a value that states a request, its output, its audit entry, the texts it
//! carries, and how it is executed. Each family of commands implements it next to its rules.

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

/// The members who would become members of conversations through a command, by conversation.
pub(crate) type Seats = Vec<(ConversationKey, Vec<MemberKey>)>;

/// Whether a command may run in a turn whose caller has lost the right to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InTurn {
    /// No: it changes something, which only the current turn may do.
    Fenced,
    /// Only in a turn that has ended because its run reported its end.
    AfterEnd,
    /// Yes: it only reads.
    Reads,
}

/// What a command creates that is subject to a member's daily limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Makes {
    pub conversations: u32,
    /// Memberships for members other than the caller.
    pub seats: u64,
}

impl Makes {
    /// A conversation with these members; `by` may be among them.
    pub(crate) fn conversation_with(by: MemberKey, members: &[MemberKey]) -> Self {
        let seats = members.iter().filter(|m| **m != by).count();
        Self { conversations: 1, seats: seats as u64 }
    }
}

/// Why a command was not done.
#[derive(Clone, Debug)]
pub enum NotDone {
    Refused(Refusal),
    /// It waits for a person's approval.
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

/// How a command ended, for audit and observers.
pub type Done<'a, C> = std::result::Result<&'a <C as Command>::Output, &'a Refusal>;

/// One command. Its ids, time and random bytes are generated once, by the submitter, so that
/// executing it again gives the same result ([`Prepared`](super::Prepared)).
pub trait Command: Clone + Send + Sized + 'static {
    /// Its result.
    type Output: Send + 'static;

    /// Whether it may change anything.
    const CHANGES: bool = true;

    /// Whether it may run in a turn that the caller no longer holds.
    const IN_TURN: InTurn = if Self::CHANGES { InTurn::Fenced } else { InTurn::Reads };

    /// Whether an agent may do it that is paused.
    const WHILE_PAUSED: bool = !matches!(Self::IN_TURN, InTurn::Fenced);

    /// Whether others see what an agent says with it.
    const SPEAKS: bool = false;

    /// Its type's name.
    fn name(&self) -> &'static str {
        let name = std::any::type_name::<Self>();
        name.rsplit("::").next().unwrap_or(name)
    }

    /// Its entry in the audit log.
    fn audit(&self, done: Done<'_, Self>) -> Audit;

    /// Passes every user-written text to the redactor. Returns how many secrets were found.
    fn redact(&mut self, redact: &dyn Redact) -> u32;

    /// Its words and who would read them; none where it has none, or holds them back itself.
    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>>;

    /// The members it would add to existing conversations.
    fn seats(&self, run: &mut Context<'_>) -> Result<Seats> {
        let _ = run;
        Ok(Seats::new())
    }

    /// The earlier result of the same command. Called only when the command is refused because of
    /// its turn.
    fn given_before(&self, run: &mut Context<'_>) -> Result<Option<Self::Output>> {
        let _ = run;
        Ok(None)
    }

    /// What it creates that counts against the daily limits of its caller, `by`.
    fn makes(&self, by: MemberKey, directory: &Directory) -> Makes {
        let _ = (by, directory);
        Makes::default()
    }

    /// Whether something was created. A repeated command counts once.
    fn has_made(output: &Self::Output) -> bool {
        let _ = output;
        true
    }

    /// The event that it logged, if that event is offered.
    fn logged(output: &Self::Output) -> Option<&Entry> {
        let _ = output;
        None
    }

    /// Approximate number of bytes it writes, when they are many.
    fn bytes(&self) -> usize {
        0
    }

    /// The text that attention reads, if it has one.
    fn text(&self) -> Option<&Arc<str>> {
        None
    }

    /// Executes it.
    fn execute(self, run: &mut Context<'_>) -> Result<Self::Output>;
}

/// Implements the methods of a [`Command`] without texts.
macro_rules! no_text {
    () => {
        fn redact(&mut self, _: &dyn $crate::commands::redact::Redact) -> u32 {
            0
        }

        $crate::commands::command::not_shown!();
    };
}

/// Implements the method of a [`Command`] that shows its texts to nobody or holds them back itself.
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

pub(crate) use no_text;
pub(crate) use not_shown;
