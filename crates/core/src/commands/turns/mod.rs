//! Public turns: granting and revoking them, and the pauses in between.

pub(crate) mod pause;
mod shown;
pub(crate) mod turn;

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::{Action, Audit};
use crate::model::conversation::Conversation;
use crate::model::ids::{MemberKey, Timestamp, Uid};
use crate::model::thread::Thread;
use crate::model::turn::Turn;

/// A subject of a channel and its speakers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The event it begins with: its root message, or the opening of a thread without one.
    pub root: Uid,
    pub thread: Option<Uid>,
    pub turn: Turn,
    /// Remaining turns until a person speaks again.
    pub budget: u16,
    /// The event that each lease answers, in the order of the leases.
    pub causes: Vec<Uid>,
    pub waiting: Vec<Waits>,
}

/// A member who waits for the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    pub member: MemberKey,
    pub event: Uid,
    pub since: Timestamp,
    pub obligation: bool,
}

#[derive(Clone, Debug)]
pub struct Continued {
    pub conversation: Arc<Conversation>,
    pub thread: Option<Arc<Thread>>,
    pub was_paused: bool,
}

/// Lets agents continue after they have used up the timeline's budget for agents without a person.
#[derive(Clone)]
pub struct Continue {
    pub conversation: Uid,
    pub thread: Option<Uid>,
}

impl Command for Continue {
    type Output = Continued;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::logged(Action::Continue).subject(self.conversation)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Continued> {
        run.go_on(self.conversation, self.thread)
    }
}

/// An operator revokes a member's turn. The subject is named by its root message or its thread.
#[derive(Clone)]
pub struct BreakTurn {
    pub conversation: Uid,
    pub subject: Uid,
    pub member: MemberKey,
}

impl Command for BreakTurn {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::BreakTurn).subject(self.conversation).member(self.member)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.break_turn(self.conversation, self.subject, self.member)
    }
}
