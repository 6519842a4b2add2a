//! Queries: read-only commands, and the barrier. Each is answered in its order among the commands.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::deliveries::Offers;
use crate::commands::redact::Redact;
use crate::commands::retention::Droppable as Dropping;
use crate::commands::turns::Subject;
use crate::model::attention::Attention;
use crate::model::audit::Audit;
use crate::model::conversation::Conversation;
use crate::model::delivery::Open;
use crate::model::ids::{MemberKey, SessionKey, Uid};
use crate::model::offer::Offer;
use crate::model::requests::Post;
use crate::model::wake::Wake;

/// It is answered only after everything submitted before it has been answered and its effects
/// handed out.
#[derive(Clone)]
pub struct Barrier;

impl Command for Barrier {
    type Output = ();

    const CHANGES: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, _: &mut Context<'_>) -> Result<()> {
        Ok(())
    }
}

/// Who would be notified of this post.
#[derive(Clone)]
pub struct Preview(pub Post);

impl Command for Preview {
    type Output = Arc<Attention>;

    const CHANGES: bool = false;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.message(&mut self.0.message)
    }

    // Nobody but the caller sees it.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Attention>> {
        run.preview(&self.0)
    }
}

/// What is still to be offered to this session, oldest first, at most `limit`.
#[derive(Clone)]
pub struct Owed {
    pub session: SessionKey,
    pub limit: usize,
}

impl Command for Owed {
    type Output = Offers;

    const CHANGES: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Offers> {
        run.owed(self.session, self.limit)
    }
}

/// The runs behind the connection string of this session's member that have said nothing, oldest
/// first.
#[derive(Clone)]
pub struct SilentRuns {
    pub session: SessionKey,
}

impl Command for SilentRuns {
    type Output = Vec<Offer>;

    const CHANGES: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Vec<Offer>> {
        run.silent_runs(self.session)
    }
}

/// The current state of an event's deliveries and claim.
#[derive(Clone)]
pub struct Standing {
    pub event: Uid,
}

impl Command for Standing {
    /// None when nothing about the event is open or was open recently.
    type Output = Option<Box<Open>>;

    const CHANGES: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Self::Output> {
        run.standing(self.event)
    }
}

/// Open events, of one member or of all, at most `limit`.
#[derive(Clone)]
pub struct Waiting {
    pub member: Option<MemberKey>,
    pub limit: usize,
}

impl Command for Waiting {
    type Output = Vec<(Arc<Conversation>, Open)>;

    const CHANGES: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Self::Output> {
        run.waiting(self.member, self.limit)
    }
}

/// Open events whose obligation was not met in time, for one member or for all, at most `limit`.
#[derive(Clone)]
pub struct Overdue {
    pub member: Option<MemberKey>,
    pub limit: usize,
}

impl Command for Overdue {
    type Output = Vec<(Arc<Conversation>, Open)>;

    const CHANGES: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Self::Output> {
        run.overdue(self.member, self.limit)
    }
}

/// Which of a conversation's oldest events can be dropped now, and what holds others back. For the
/// host's own use.
#[derive(Clone)]
pub struct Droppable {
    pub conversation: Uid,
}

impl Command for Droppable {
    type Output = Dropping;

    const CHANGES: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Dropping> {
        run.droppable(self.conversation)
    }
}

/// Wakes: the open ones, and after them the newest that ended, newest first. Those of one session or
/// about one event, if one is named. Whoever is neither the agent nor an operator, orchestrator or
/// auditor sees no words of them.
#[derive(Clone)]
pub struct Wakes {
    pub session: Option<Uid>,
    pub event: Option<Uid>,
}

impl Command for Wakes {
    type Output = Vec<Arc<Wake>>;

    const CHANGES: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Vec<Arc<Wake>>> {
        run.wakes(self.session, self.event)
    }
}

/// Who speaks about each subject of a channel, and who waits.
#[derive(Clone)]
pub struct Turns {
    pub conversation: Uid,
}

impl Command for Turns {
    /// Subjects with a speaker or a waiting member, oldest first.
    type Output = Vec<Subject>;

    const CHANGES: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Vec<Subject>> {
        run.turns(self.conversation)
    }
}
