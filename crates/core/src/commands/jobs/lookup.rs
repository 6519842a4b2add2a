//! Finding jobs.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::model::caller::Authority;
use crate::model::error::{Code, Refusal};
use crate::model::event::{Event, MessageKind};
use crate::model::ids::{ConversationKey, EventRef, Timestamp, Uid};
use crate::model::job::Job;
use crate::model::registry::owner_of;
use crate::state::workspace::Failure;

impl Context<'_> {
    pub(crate) fn maybe_job(&mut self, uid: Uid) -> Result<Option<Arc<Job>>> {
        match self.ws.changes.jobs.get(&uid) {
            Some(job) => Ok(Some(job.clone())),
            None => Ok(self.facts.job(uid)?),
        }
    }

    /// A job that the caller may know of: it is its owner's on either side, or it decides about it.
    pub(crate) fn job(&mut self, uid: Uid) -> Result<Arc<Job>> {
        let me = self.me()?;
        let owner = owner_of(&me);
        let found = self.maybe_job(uid)?;
        // The agent's owner may be another than when the job was asked for.
        let agent_owner = match &found {
            Some(job) => self.maybe_listing(job.agent)?.map(|l| self.owner_of_listing(&l)),
            None => None,
        };
        let found = found.filter(|job| {
            self.by.authority == Authority::Operator
                || owner == job.hirer_owner
                || owner == job.agent_owner
                || agent_owner.as_ref() == Some(&owner)
                || job.evaluation.is_some_and(|evaluation| evaluation.by == me.key)
        });
        Ok(found.ok_or_else(|| Refusal::not_found("job"))?)
    }

    /// When the member that was asked for the job answered in words, which the host takes for the
    /// result with a command of its own.
    pub(super) fn answered_at(&mut self, job: &Job) -> Result<Option<Timestamp>> {
        let Some(at) = job.asked_in.filter(|_| job.result.is_none()) else { return Ok(None) };
        let Some(member) = self.maybe_listing(job.agent)?.and_then(|listing| listing.member) else {
            return Ok(None);
        };
        if !self.is_there(at.conversation)? {
            return Ok(None);
        }
        let answers = |event: &&Arc<Event>| {
            let to = event.reply_to.map(|seq| EventRef { seq, ..at });
            let said = event.change.message().is_some_and(|m| m.kind != MessageKind::System);
            event.actor == member && said && (event.cause == Some(at) || to == Some(at))
        };
        Ok(self.room(at.conversation).tail().iter().find(answers).map(|event| event.at))
    }

    /// Loads the conversation in which a job was asked for, unless that is gone.
    pub(super) fn is_there(&mut self, conversation: ConversationKey) -> Result<bool> {
        match self.load(conversation) {
            Ok(()) => Ok(true),
            Err(Failure::Refused(_)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Refuses whoever has not asked for the job, and is no person of its owner.
    pub(super) fn must_be_hirer(&mut self, job: &Job) -> Result<()> {
        let me = self.me()?;
        let is_person_of_owner = !me.is_agent() && owner_of(&me) == job.hirer_owner;
        if is_person_of_owner || job.hirer == me.key {
            return Ok(());
        }
        let why = "only who asked for the job may do this";
        Err(Refusal::new(Code::Forbidden, why).into())
    }
}

/// A refusal because the job has ended.
pub(super) fn has_ended(job: &Job) -> Refusal {
    let how = job.outcome.map_or("", |outcome| outcome.name()).replace('_', " ");
    let why = format!("the job is {} already: {how}", job.state.name());
    Refusal::new(Code::Conflict, why)
}
