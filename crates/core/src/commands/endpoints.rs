//! Agents that are reached by a connection string: their endpoints, and the handling of failed
//! posts (webhook spec sections 1 and 2).

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::commands::deliveries::dispose::Then;
use crate::model::audit::{self, Audit};
use crate::model::delivery::Unanswered;
use crate::model::delivery::{Delivery, Retry};
use crate::model::disposition::Disposition;
use crate::model::endpoint::{self, Act};
use crate::model::error::{Code, Refusal};
use crate::model::ids::{EventRef, MemberKey, SessionKey, Timestamp};
use crate::model::limits;

/// The outcome of giving up on a post to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// It is a dead letter, or no longer had to be sent.
    Dead,
    /// The agent has received the post, whatever its endpoint answered: it has spoken, or the
    /// matter is closed.
    Taken,
}

/// The outcome of repeating a post to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostedAgain {
    /// The attempt number of the post.
    Attempt(u16),
    /// The agent has received it already.
    Taken,
}

/// Creates, changes or removes the endpoint of an agent (webhook spec section 1).
#[derive(Clone)]
pub struct Endpoint {
    pub member: MemberKey,
    pub act: Act,
}

impl Command for Endpoint {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(audit::Action::ChangeEndpoint).member(self.member)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.endpoint(self.member, self.act)
    }
}

/// A post to an agent's endpoint cannot be delivered: it becomes a dead letter, and its obligation
/// moves on.
#[derive(Clone)]
pub struct GiveUp {
    pub event: EventRef,
    pub attempt: u16,
}

impl Command for GiveUp {
    type Output = GivenUp;

    no_text!();

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        match done {
            // Nothing was given up.
            Ok(GivenUp::Taken) => Audit::none(),
            _ => Audit::firm(audit::Action::GiveUp).event(self.event),
        }
    }

    fn execute(self, run: &mut Context<'_>) -> Result<GivenUp> {
        run.give_up(self.event, self.attempt)
    }
}

/// A post to an agent's endpoint failed and will be repeated.
#[derive(Clone)]
pub struct PostFailed {
    pub event: EventRef,
    pub attempt: u16,
    pub retry: Retry,
}

impl Command for PostFailed {
    type Output = ();

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        // It is the host's delivery progress.
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        run.post_failed(self.event, self.attempt, self.retry)
    }
}

/// A failed post to an agent's endpoint is about to be repeated, as a separate attempt, unless the
/// agent has received it after all.
#[derive(Clone)]
pub struct PostAgain {
    pub event: EventRef,
}

impl Command for PostAgain {
    type Output = PostedAgain;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::none()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<PostedAgain> {
        run.post_again(self.event)
    }
}

impl Context<'_> {
    pub(crate) fn endpoint(&mut self, member: MemberKey, act: Act) -> Result<()> {
        self.must_govern()?;
        let found = self.directory().member(member).filter(|m| !m.removed);
        let found = found.ok_or_else(|| Refusal::not_found("member"))?;
        if !found.is_agent() {
            return Err(Refusal::invalid("only an agent is reached by a connection string").into());
        }
        let endpoints = &self.directory().endpoints;
        if matches!(act, Act::Add { .. }) && endpoints.size() >= limits::ENDPOINTS {
            let most = limits::ENDPOINTS;
            let why = format!("at most {most} agents are reached by connection strings");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let before = endpoints.get(&member).cloned();
        let now = self.now;
        let after = endpoint::act(before.as_deref(), member, act, now)?.map(Arc::new);
        if after == before {
            return Ok(());
        }
        self.put_endpoint(member, after);
        Ok(())
    }

    pub(crate) fn put_endpoint(
        &mut self,
        member: MemberKey,
        endpoint: Option<Arc<endpoint::Endpoint>>,
    ) {
        let directory = self.directory_mut();
        match &endpoint {
            Some(endpoint) => directory.endpoints.insert_mut(member, endpoint.clone()),
            None => drop(directory.endpoints.remove_mut(&member)),
        }
        self.ws.changes.endpoints.push((member, endpoint));
    }

    /// The epoch of the connection string that the session serves, if it is the host's own session
    /// for its member's endpoint.
    pub(crate) fn carries_to(&self, session: SessionKey) -> Option<Timestamp> {
        let directory = self.directory();
        let session = directory.sessions.get(&session);
        let carrier = session.filter(|session| *session.runtime == *endpoint::RUNTIME)?;
        directory.endpoints.get(&carrier.member).map(|endpoint| endpoint.epoch)
    }

    /// An offer cannot be posted: it becomes a dead letter. An obligation moves on, as when it was
    /// not met. An agent that has spoken has received the post, whatever its status was.
    fn give_up(&mut self, at: EventRef, attempt: u16) -> Result<GivenUp> {
        let waits = self.waits_to_be_posted(at, attempt)?;
        if self.is_taken(at) {
            return Ok(GivenUp::Taken);
        }
        if waits {
            let me = self.by.member;
            let failed = self.room(at.conversation).open().get(&at.seq);
            let failed = failed.and_then(|o| o.delivery(me)).cloned();
            self.end(at, me, Disposition::Failed, Then::Dead)?;
            if let Some(failed) = failed {
                self.report_unanswered(
                    at,
                    &failed,
                    Unanswered::Failed,
                    Some("its endpoint does not take the message"),
                )?;
            }
        }
        Ok(GivenUp::Dead)
    }

    /// A post of an offer has failed and will be repeated.
    fn post_failed(&mut self, at: EventRef, attempt: u16, retry: Retry) -> Result<()> {
        if self.waits_to_be_posted(at, attempt)? {
            self.amend(at, self.by.member, |delivery| delivery.retry = Some(retry))?;
        }
        Ok(())
    }

    /// Repeats a failed post with a new attempt number, so that only one of two answers counts.
    /// Nothing is posted again that the agent has answered or visibly works on.
    fn post_again(&mut self, at: EventRef) -> Result<PostedAgain> {
        if !self.waits_to_be_posted(at, u16::MAX)? || self.is_taken(at) {
            return Ok(PostedAgain::Taken);
        }
        let mut next = 0;
        self.amend(at, self.by.member, |delivery| next = delivery.next_attempt())?;
        Ok(PostedAgain::Attempt(next))
    }

    /// Whether the caller's agent has received the offer, whatever the post's outcome: the matter
    /// is closed, or something came through a callback. Messages of a run that was accepted earlier
    /// say nothing about a reminder.
    fn is_taken(&self, at: EventRef) -> bool {
        let open = self.room(at.conversation).open().get(&at.seq);
        open.and_then(|open| open.delivery(self.by.member)).is_none_or(|d| {
            let spoke = d.taken.is_none() && (d.heard || d.voice > 0);
            !d.is_open() || d.state.is_running() || spoke
        })
    }

    /// Whether the offer with this attempt must still be posted by the caller.
    fn waits_to_be_posted(&mut self, at: EventRef, attempt: u16) -> Result<bool> {
        let session = self.offered(at)?;
        let open = self.room(at.conversation).open().get(&at.seq);
        Ok(open.and_then(|o| o.delivery(self.by.member)).is_some_and(|d| {
            d.session() == Some(session) && d.attempt <= attempt && !d.state.is_running()
        }))
    }

    /// A run that answers through its callback is over: later uses of that callback are refused.
    pub(crate) fn run_is_over(
        &mut self,
        at: EventRef,
        member: MemberKey,
        how: Disposition,
    ) -> Result<()> {
        if !how.settles() || how == Disposition::Deferred {
            return Ok(());
        }
        let by_callback = self.by.turn.is_some_and(|t| t.attempt > 0);
        if !by_callback {
            // Its harness ends the run with this. It is remembered as long as the event is, and
            // forces no commit.
            self.room_mut(at.conversation).end_run(at.seq, member);
            return Ok(());
        }
        self.amend(at, member, |delivery| delivery.over = !delivery.is_open())
    }

    /// Changes a member's delivery, whether its event is open or closed.
    pub(crate) fn amend(
        &mut self,
        at: EventRef,
        member: MemberKey,
        change: impl FnOnce(&mut Delivery),
    ) -> Result<()> {
        if self.room(at.conversation).open().contains_key(&at.seq) {
            let room = self.room_mut(at.conversation);
            if let Some(delivery) = room.delivery_mut(at.seq, member) {
                change(delivery);
            }
            return Ok(());
        }
        let known = self.room(at.conversation).closed().iter().any(|o| o.seq == at.seq);
        if !known && let Some(receipt) = self.recall(at)?.receipt {
            self.room_mut(at.conversation).keep_closed(receipt);
        }
        self.room_mut(at.conversation).amend_receipt(at.seq, |open| {
            if let Some(delivery) = open.delivery_mut(member) {
                change(delivery);
            }
        });
        Ok(())
    }
}
