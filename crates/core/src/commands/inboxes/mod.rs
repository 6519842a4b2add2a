//! Inboxes: creating and changing them by the agent's keeper, receiving deliveries of other
//! services, and sending answers back.

pub(crate) mod inbox;

use std::sync::Arc;

pub(crate) use inbox::Elsewhere;

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

/// An inbox's name. Everybody can read it.
fn name_shown(name: Option<&Arc<str>>) -> Option<Shown> {
    let fields = name.map(|name| vec![("name", name.to_string())]);
    fields.map(|fields| plain("inbox", Readers::everybody(), fields))
}

#[derive(Clone)]
pub struct AddInbox {
    pub agent: MemberKey,
    /// Defaults to the agent's name.
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
        // Callers who may not manage the inbox get an unknown-inbox refusal, and nothing waits for
        // approval.
        run.inbox_to_keep(self.inbox)?;
        Ok(name_shown(self.patch.name.as_ref()))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Inbox>> {
        run.change_inbox(self.inbox, self.patch)
    }
}

/// Gives the inbox a new secret.
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

/// Records that an answer of an inbox's agent could not be sent back. For the host's own use.
#[derive(Clone)]
pub struct NoteTrouble {
    pub inbox: Uid,
    pub what: Arc<str>,
}

impl Command for NoteTrouble {
    type Output = ();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // The failure is stored with the inbox.
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.text(&mut self.what)
    }

    // The host itself says it.
    not_shown!();

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.note_trouble(self.inbox, self.what)
    }
}

/// Another service delivers to an inbox. For the host's own use, after it has parsed and checked
/// the delivery.
#[derive(Clone)]
pub struct Receive(pub Received);

impl Command for Receive {
    type Output = Logged;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // It is in the log of its conversation.
        Audit::none()
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.message(&mut self.0.message)
            + redact.text(&mut self.0.channel.title)
            + redact.text(&mut self.0.channel.context)
    }

    // It does not come from an agent of this host.
    not_shown!();

    fn logged(output: &Logged) -> Option<&Entry> {
        (!output.duplicate).then_some(&output.entry)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Logged> {
        run.receive(self.0)
    }
}

/// Messages of a mirrored channel were sent to the service up to this one, or given up. For the
/// host's own use.
#[derive(Clone)]
pub struct SentBack {
    pub conversation: ConversationKey,
    pub through: Seq,
}

impl Command for SentBack {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // Sending back is nobody's action.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.sent_back(self.conversation, self.through)
    }
}

/// Drops expired callbacks. For the host's own use.
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
