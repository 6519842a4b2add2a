//! The end of a job: what was held is paid and returned, and reputation moves, all at once.
//!
//! Invariant: a job that has ended holds nothing, and has moved reputation at most once, and only
//! if it moved credits.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::deliveries::dispose::Then;
use crate::commands::ledger::posting::Posting;
use crate::model::disposition::Disposition;
use crate::model::ids::Uid;
use crate::model::job::{Job, JobState, Outcome, Payment, Sending};
use crate::model::ledger::{Credits, ESCROW, EntryKind};
use crate::model::limits;
use crate::model::registry::{Listing, Reputation, ReputationChange, Why, owner_of};
use crate::state::effect::Effect;

impl Context<'_> {
    /// Ends a job. What a direct job paid is in it already.
    pub(crate) fn end_job(&mut self, mut job: Job, outcome: Outcome) -> Result<Arc<Job>> {
        let held = job.held;
        // Whoever owns the agent now is paid.
        if let Some(listing) = self.maybe_listing(job.agent)? {
            job.agent_owner = self.owner_of_listing(&listing);
            self.open_account(&job.agent_owner)?;
        }
        if job.payment == Payment::Escrow {
            job.paid = match (&job.result, outcome) {
                (Some(result), Outcome::Paid) => job.payable(result).min(held),
                _ => Credits(0),
            };
            self.release_escrow(&mut job)?;
        }
        let why = match outcome {
            Outcome::Paid if !job.paid.is_zero() => Some(Why::Success),
            _ if !held.is_zero() && self.is_to_blame(&job, outcome) => Some(Why::Failure),
            _ => None,
        };
        if let Some(why) = why {
            let change = self.move_reputation(&job, why)?;
            if why == Why::Success {
                let gained = change.map_or(0.0, |c| c.after.score() - c.before.score());
                job.gained = gained.to_bits();
            }
        }
        job.state = match outcome {
            Outcome::Paid => JobState::Completed,
            Outcome::TimedOut | Outcome::Undelivered | Outcome::Unpaid => JobState::Expired,
            _ => JobState::Rejected,
        };
        let answered = matches!(outcome, Outcome::Paid | Outcome::Failed | Outcome::Refused);
        self.settle_request(&job, answered)?;
        (job.outcome, job.ended_at, job.decide_by) = (Some(outcome), Some(self.now), None);
        if outcome == Outcome::Paid {
            self.take_next_step(&mut job)?;
        }
        if job.callback.is_some() && job.notice.attempts == 0 {
            job.notice = Sending::begun(self.now);
            self.effect(Effect::Job(job.uid));
        }
        Ok(self.put_job(job))
    }

    /// Whether a job that failed is held against its agent. What a hirer could bring about alone, and
    /// for nothing, is not: a refusal by its own side, a deadline sooner than the usual one, a job
    /// that had no price.
    fn is_to_blame(&self, job: &Job, outcome: Outcome) -> bool {
        let by_hirer = job.evaluation.is_some_and(|evaluation| {
            let evaluator = self.directory().member(evaluation.by);
            evaluator.is_none_or(|evaluator| owner_of(evaluator) == job.hirer_owner)
        });
        let had_time = job.deadline_at.since(job.made_at) >= limits::JOB_TIMEOUT_MS;
        let is_fair = match outcome {
            Outcome::Failed => true,
            Outcome::Refused => !by_hirer,
            Outcome::TimedOut => had_time,
            _ => false,
        };
        is_fair && !job.price.is_zero()
    }

    /// Ends the request in which a member of this host was asked: a result answers it, and any other
    /// end calls it off.
    pub(super) fn settle_request(&mut self, job: &Job, answered: bool) -> Result<()> {
        let Some(at) = job.asked_in else { return Ok(()) };
        let Some(member) = self.maybe_listing(job.agent)?.and_then(|listing| listing.member) else {
            return Ok(());
        };
        if !self.is_there(at.conversation)? {
            return Ok(());
        }
        let open = self.room(at.conversation).open().get(&at.seq);
        let delivery = open.and_then(|open| open.delivery(member)).filter(|d| d.is_open()).cloned();
        let Some(delivery) = delivery else { return Ok(()) };
        if answered {
            return self.end(at, member, Disposition::Responded, Then::Ends);
        }
        self.cancel_all(at, vec![delivery], "the job has ended")?;
        self.end(at, member, Disposition::Superseded, Then::Ends)
    }

    pub(crate) fn put_job(&mut self, job: Job) -> Arc<Job> {
        let uid = job.uid;
        self.ws.put_job(job);
        self.ws.changes.jobs[&uid].clone()
    }

    /// Pays what is to be paid out of escrow, and returns the rest.
    fn release_escrow(&mut self, job: &mut Job) -> Result<()> {
        let (uid, held) = (job.uid, std::mem::take(&mut job.held));
        let rest = Credits(held.0 - job.paid.0);
        for (kind, to, amount) in [
            (EntryKind::Pay, job.agent_owner.clone(), job.paid),
            (EntryKind::Refund, job.hirer_owner.clone(), rest),
        ] {
            if !amount.is_zero() {
                self.post_entry(Posting::of_job(kind, uid, ESCROW, &to, amount))?;
            }
        }
        let spending = self.spending(job.hirer)?.returned(rest, job.made_at);
        self.put_spending(spending);
        Ok(())
    }

    /// Changes the reputation of the job's agent.
    fn move_reputation(&mut self, job: &Job, why: Why) -> Result<Option<ReputationChange>> {
        let hirer = self.reputation_of_hirer(job)?;
        self.change_reputation(job.agent, job.uid, why, |before| match why {
            Why::Success => before.after_success(hirer),
            Why::Failure => before.after_failure(),
            Why::Reversal => before.after_reversal(f64::from_bits(job.gained)),
        })
    }

    /// What a contested job had gained is taken back, and it counts as a failure.
    pub(super) fn reverse_reputation(&mut self, job: &Job) -> Result<()> {
        self.move_reputation(job, Why::Reversal).map(drop)
    }

    /// The reputation of the agent on whose behalf the job was asked for: of the hirer, if it is one
    /// itself. A hirer without an agent counts as a new one.
    fn reputation_of_hirer(&mut self, job: &Job) -> Result<Reputation> {
        let listing = match (self.listing_of(job.hirer)?, job.orchestrator) {
            (None, Some(agent)) => self.maybe_listing(agent)?,
            (own, _) => own,
        };
        let is_theirs = |listing: &Arc<Listing>| self.owner_of_listing(listing) == job.hirer_owner;
        let listing = listing.filter(is_theirs);
        Ok(listing.map_or(Reputation::NEW, |listing| listing.reputation))
    }

    fn change_reputation(
        &mut self,
        agent: Uid,
        job: Uid,
        why: Why,
        change: impl FnOnce(Reputation) -> Reputation,
    ) -> Result<Option<ReputationChange>> {
        let Some(listing) = self.maybe_listing(agent)? else { return Ok(None) };
        let mut listing = Listing::clone(&listing);
        let before = listing.reputation;
        listing.reputation = change(before);
        listing.changes += 1;
        match why {
            Why::Success => {
                listing.successes += 1;
                listing.last_success = Some(self.now);
            }
            Why::Failure => listing.failures += 1,
            Why::Reversal => {
                listing.successes = listing.successes.saturating_sub(1);
                listing.failures += 1;
            }
        }
        let (number, at, after) = (listing.changes, self.now, listing.reputation);
        let change = ReputationChange { agent, number, at, job, why, before, after };
        self.ws.changes.reputations.push(change);
        self.ws.changes.listings.insert(agent, Arc::new(listing));
        Ok(Some(change))
    }
}
