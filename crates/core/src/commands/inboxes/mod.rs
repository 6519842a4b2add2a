//! Inboxes: made and changed by who keeps the agent; what other services deliver to them, and what goes back.

pub(crate) mod inbox;

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text, not_shown};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Readers, Shown, plain};
use crate::commands::messages::Logged;
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::event::Hash;
use crate::model::ids::{ConversationKey, MemberKey, Seq, Uid};
use crate::model::inbox::{Checks, Inbox, Patch, Received};
use crate::model::offer::Entry;
pub(crate) use inbox::Elsewhere;

/// An inbox's name, which everybody reads.
fn name_shown(name: Option<&Arc<str>>) -> Option<Shown> {
    let fields = name.map(|name| vec![("name", name.to_string())]);
    fields.map(|fields| plain("inbox", Readers::everybody(), fields))
}

#[derive(Clone)]
pub struct AddInbox {
    pub agent: MemberKey,
    /// The agent's where none is given.
    pub name: Option<Arc<str>>,
    /// The hash of its secret.
    pub secret: Hash,
    pub checks: Checks,
}

impl Command for AddInbox {
    type Output = Arc<Inbox>;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        let uid = done.ok().map(|inbox| inbox.uid);
        Audit::firm(Action::ChangeInbox).member(self.agent).subject(uid)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.name)
    }

    fn shown(&self, _: &mut Context<'_>) -> Result<Option<Shown>> {
        Ok(name_shown(self.name.as_ref()))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Inbox>> {
        run.add_inbox(self.agent, self.name, self.secret, self.checks)
    }
}

#[derive(Clone)]
pub struct ChangeInbox {
    pub inbox: Uid,
    pub patch: Patch,
}

impl Command for ChangeInbox {
    type Output = Arc<Inbox>;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::ChangeInbox).subject(self.inbox)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.patch.name)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        // To whom it is not, it is unknown, and nothing waits.
        run.inbox_to_keep(self.inbox)?;
        Ok(name_shown(self.patch.name.as_ref()))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Inbox>> {
        run.change_inbox(self.inbox, self.patch)
    }
}

/// The inbox gets another secret.
#[derive(Clone)]
pub struct RotateInbox {
    pub inbox: Uid,
    pub secret: Hash,
}

impl Command for RotateInbox {
    type Output = Arc<Inbox>;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::ChangeInbox).subject(self.inbox)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Inbox>> {
        run.rotate_inbox(self.inbox, self.secret)
    }
}

#[derive(Clone)]
pub struct RemoveInbox {
    pub inbox: Uid,
}

impl Command for RemoveInbox {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::ChangeInbox).subject(self.inbox)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.remove_inbox(self.inbox)
    }
}

/// What an inbox's agent said could not be sent back. The host's.
#[derive(Clone)]
pub struct NoteTrouble {
    pub inbox: Uid,
    pub what: Arc<str>,
}

impl Command for NoteTrouble {
    type Output = ();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // What could not be sent back stands with the inbox.
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.text(&mut self.what)
    }

    // The host says it.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.note_trouble(self.inbox, self.what)
    }
}

/// Another service delivers to an inbox. The host's, which has read and checked it.
#[derive(Clone)]
pub struct Receive(pub Received);

impl Command for Receive {
    type Output = Logged;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // In the log of its conversation.
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.message(&mut self.0.message)
            + redact.text(&mut self.0.channel.title)
            + redact.text(&mut self.0.channel.context)
    }

    // It is no agent's of this host.
    not_shown!();

    fn logged(output: &Logged) -> Option<&Entry> {
        (!output.duplicate).then_some(&output.entry)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Logged> {
        run.receive(self.0)
    }
}

/// What was said in a channel of another service is to be sent there by this host of several. The host's.
#[derive(Clone)]
pub struct SendBack {
    pub conversation: ConversationKey,
}

impl Command for SendBack {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // Who sends it back, and how far, is no act of anybody.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.send_back(self.conversation)
    }
}

/// What was said in a channel of another service was sent there up to this, or given up. The host's.
#[derive(Clone)]
pub struct SentBack {
    pub conversation: ConversationKey,
    pub through: Seq,
}

impl Command for SentBack {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.sent_back(self.conversation, self.through)
    }
}

/// Drops callbacks that are over. The host's.
#[derive(Clone)]
pub struct SweepCallbacks;

impl Command for SweepCallbacks {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.sweep_callbacks()
    }
}
