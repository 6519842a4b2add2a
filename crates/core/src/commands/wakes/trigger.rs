//! Somebody asks that an agent be woken (threads spec section 3.8).

use std::sync::Arc;

use crate::commands::command::{Command, Done};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::Shown;
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::error::Refusal;
use crate::model::ids::{Prefix, Timestamp, Uid};
use crate::model::member::Session;
use crate::model::wake::Wake;

/// Wakes an agent that has unread messages in a thread or conversation.
#[derive(Clone)]
pub struct Trigger {
    /// A thread or a conversation.
    pub thread: Uid,
    /// The agent's member id.
    pub target: String,
    pub reason: String,
    /// What it is told besides what there is to read.
    pub prompt: Option<String>,
    /// Although a person is typing. Only an operator may insist, and that is in the audit log.
    pub force: bool,
}

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triggered {
    pub result: TriggerResult,
    /// The open wake; none where none was needed.
    pub wake: Option<Arc<Wake>>,
    /// The runner's session that is woken, or the connected session that needs no wake.
    pub session: Option<Arc<Session>>,
    /// What a new session would be told of the thread.
    pub summary: Arc<str>,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TriggerResult {
    /// The target has read everything there; nothing was done.
    NothingUnread,
    /// A connected session of the agent takes its mail itself; nothing was done.
    Awake,
    /// The runner was told.
    Triggered,
    /// It waits: for the runner to come back, or because a person is typing
    /// ([`Wake::deferred_until`]).
    Deferred,
    /// The agent is awake already, and its runner is told of this too.
    Running,
}

impl TriggerResult {
    pub fn name(self) -> &'static str {
        match self {
            Self::NothingUnread => "nothing_unread",
            Self::Awake => "awake",
            Self::Triggered => "triggered",
            Self::Deferred => "deferred",
            Self::Running => "running",
        }
    }
}

impl Command for Trigger {
    type Output = Triggered;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        let wake = done.ok().and_then(|done| done.wake.as_ref());
        Audit::firm(Action::TriggerWake)
            .subject(wake.map(|wake| wake.uid))
            .member(wake.map(|wake| wake.member))
            .name(self.force.then_some("force"))
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        let prompt = self.prompt.as_mut().map_or(0, |prompt| redact.string(prompt));
        redact.string(&mut self.reason) + prompt
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let _ = (run, Prefix::Wake);
        Ok(None)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Triggered> {
        run.trigger(self)
    }
}

impl Context<'_> {
    fn trigger(&mut self, _: Trigger) -> Result<Triggered> {
        Err(Refusal::not_found("agent").into())
    }
}
