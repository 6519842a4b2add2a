//! Deliveries: offering, accepting, claiming, deferring, ending.

pub(crate) mod accept;
pub(crate) mod claim;
pub(crate) mod defer;
pub(crate) mod deliver;
pub(crate) mod dispose;
pub(crate) mod escalate;
pub(crate) mod failure;
pub(crate) mod listing;

use std::sync::Arc;

use crate::commands::command::{Command, Done, InTurn, no_text};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::Shown;
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::claim::Claim as HeldClaim;
use crate::model::conversation::Conversation;
use crate::model::disposition::Disposition;
use crate::model::ids::{EventRef, MemberKey, SessionKey, Timestamp, Uid};
use crate::model::offer::{Entry, Offer};
use crate::state::effect::RemoteRun;

#[derive(Clone, Debug)]
pub struct Claimed {
    pub entry: Entry,
    pub claim: HeldClaim,
    pub delivery: Offer,
}

/// What is still to be offered to a session.
#[derive(Clone, Debug)]
pub struct Offers {
    pub offers: Vec<Offer>,
    pub more: bool,
}

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disposed {
    pub event: Uid,
    pub disposition: Disposition,
}

/// The run that reports progress, and where it runs.
#[derive(Clone, Debug)]
pub struct Working {
    pub conversation: Arc<Conversation>,
    pub event: Uid,
    /// The only members who can see the event; none means everybody in the conversation.
    pub only: Option<Arc<[MemberKey]>>,
    /// The run's id at the service that delivered the event to this agent, if one did.
    pub remote: Option<RemoteRun>,
}

/// Offers everything that was accepted again, because the tokens that came with it are no longer
/// valid. For the host's own use.
#[derive(Clone)]
pub struct OfferAgain;

impl Command for OfferAgain {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // Part of the key rotation, which is audited itself.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.offer_again()
    }
}

#[derive(Clone)]
pub struct Claim {
    pub event: Uid,
}

impl Command for Claim {
    type Output = Claimed;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::Claim).subject(self.event)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Claimed> {
        run.claim(self.event)
    }
}

#[derive(Clone)]
pub struct Release {
    pub event: Uid,
}

impl Command for Release {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::Release).subject(self.event)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.release(self.event)
    }
}

/// The harness has accepted the offered event.
#[derive(Clone)]
pub struct Accept {
    pub event: EventRef,
    /// The attempt that it acknowledges.
    pub attempt: u16,
    /// The epoch of the connection string that accepted it, if one did.
    pub epoch: Option<Timestamp>,
}

impl Command for Accept {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::soft(Action::Accept).event(self.event)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.accept(self.event, self.attempt, self.epoch)
    }
}

/// The harness or the connection could not accept it.
#[derive(Clone)]
pub struct Reject {
    pub event: EventRef,
    pub attempt: u16,
}

impl Command for Reject {
    type Output = ();

    const WHILE_PAUSED: bool = true;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::soft(Action::Reject).event(self.event)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.reject(self.event, self.attempt)
    }
}

#[derive(Clone)]
pub struct Dispose {
    pub event: Uid,
    pub disposition: Disposition,
    pub note: Option<Arc<str>>,
}

impl Command for Dispose {
    type Output = Disposed;

    // The outcome is answered as it was the first time.
    const IN_TURN: InTurn = InTurn::AfterEnd;
    const WHILE_PAUSED: bool = false;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::Dispose).subject(self.event).name(self.disposition.name())
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.note)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        run.remark_on(self.event, "events.dispose", self.note.as_ref())
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Disposed> {
        run.dispose(self.event, self.disposition, self.note)
    }
}

/// The obligation for an event was met without a message, for whichever version of its message is
/// named.
#[derive(Clone)]
pub struct Resolve {
    pub event: Uid,
    pub note: Option<Arc<str>>,
}

impl Command for Resolve {
    type Output = Disposed;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::Dispose).subject(self.event).name(Disposition::Responded.name())
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.note)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        run.remark_on(self.event, "chat.resolve", self.note.as_ref())
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Disposed> {
        run.resolve(self.event, self.note)
    }
}

/// Defers the caller's obligation: it is offered again at `until`, or after the default time.
#[derive(Clone)]
pub struct Defer {
    pub event: Uid,
    pub until: Option<Timestamp>,
    pub reason: Option<Arc<str>>,
}

impl Command for Defer {
    type Output = Disposed;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::Defer).subject(self.event)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        redact.maybe(&mut self.reason)
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        run.remark_on(self.event, "chat.defer", self.reason.as_ref())
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Disposed> {
        run.defer(self.event, self.until, self.reason)
    }
}

/// The caller was shown the content of a knock.
#[derive(Clone)]
pub struct Retrieve {
    pub event: Uid,
}

impl Command for Retrieve {
    type Output = ();

    // Recording that the content of a knock was fetched is part of reading it.
    const IN_TURN: InTurn = InTurn::Reads;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::soft(Action::Retrieve).subject(self.event)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.retrieve(self.event)
    }
}

/// A sign of life of the runs that a session has accepted.
#[derive(Clone)]
pub struct Life {
    pub session: SessionKey,
}

impl Command for Life {
    type Output = ();

    const WHILE_PAUSED: bool = true;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.life(self.session)
    }
}

/// A run reports progress; returns where to show it. Without an event: the turn it comes with,
/// otherwise the run that the session began last. Records nothing.
#[derive(Clone)]
pub struct Progress {
    pub event: Option<Uid>,
}

impl Command for Progress {
    type Output = Working;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Working> {
        run.progress(self.event)
    }
}

/// Whether the caller may act in a conversation unprompted, and whether it may show its actions to
/// everybody there. Records nothing.
#[derive(Clone)]
pub struct MayActUnasked {
    pub conversation: Uid,
    pub shows: bool,
}

impl Command for MayActUnasked {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.may_act_unasked(self.conversation, self.shows)
    }
}

/// The harness no longer works on a delivery.
#[derive(Clone)]
pub struct CancelDelivery {
    pub event: Uid,
    /// The attempt that it means, if stated.
    pub attempt: Option<u16>,
}

impl Command for CancelDelivery {
    /// None when nothing was left to cancel.
    type Output = Option<Disposed>;

    // The outcome is answered as it was the first time.
    const IN_TURN: InTurn = InTurn::AfterEnd;
    const WHILE_PAUSED: bool = false;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::Dispose)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Option<Disposed>> {
        run.cancel_delivery(self.event, self.attempt)
    }
}

/// Send a dead letter again.
#[derive(Clone)]
pub struct Redeliver {
    pub event: Uid,
    pub member: MemberKey,
}

impl Command for Redeliver {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::Redeliver).subject(self.event).member(self.member)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.redeliver(self.event, self.member)
    }
}

/// Somebody who may steer the agent ends its delivery: its run stops, and it owes nothing for it.
#[derive(Clone)]
pub struct EndDelivery {
    pub event: Uid,
    pub member: MemberKey,
}

impl Command for EndDelivery {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::EndDelivery).subject(self.event).member(self.member)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.end_delivery(self.event, self.member)
    }
}
