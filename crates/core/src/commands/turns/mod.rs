//! Public turns: granted, taken away, and the pauses between.

pub(crate) mod pause;
pub(crate) mod turn;

use std::sync::Arc;

use crate::audit::{Act, Audit};
use crate::commands::command::{Command, Done, no_text};
use crate::commands::run::{Result, Run};
use crate::conversation::Conversation;
use crate::ids::{MemberKey, Uid};
use crate::thread::Thread;

#[derive(Clone, Debug)]
pub struct Continued {
    pub conversation: Arc<Conversation>,
    pub thread: Option<Arc<Thread>>,
    pub was_paused: bool,
}

/// Let agents go on that have used their no-human budget up on this line.
#[derive(Clone)]
pub struct Continue {
    pub conversation: Uid,
    pub thread: Option<Uid>,
}

impl Command for Continue {
    type Output = Continued;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::logged(Act::Continue).subject(self.conversation)
    }

    fn execute(self, run: &mut Run<'_>) -> Result<Continued> {
        run.go_on(self.conversation, self.thread)
    }
}

/// An operator takes the turn of a member away; the subject is named by its root message or its thread.
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
        Audit::firm(Act::BreakTurn).subject(self.conversation).member(self.member)
    }

    fn execute(self, run: &mut Run<'_>) -> Result<()> {
        run.break_turn(self.conversation, self.subject, self.member)
    }
}
