//! Agents for hire, jobs and the ledger in the words of the wire.

use std::sync::Arc;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Prefix, Timestamp, Uid};
use chorus_core::model::job::{self, CURRENCY, JobState};
use chorus_core::model::ledger;
use chorus_core::model::member::Member;
use chorus_core::model::registry::Listing;
use chorus_core::state::directory::Directory;
use chorus_store::Found;
use chorus_wire::registry::{
    Account, Agent, AgentStatus, Contested, Evaluation, FoundAgent, FoundSkill, Job, JobStatus,
    LedgerEntry, ResultStatus, Skill,
};
use serde_json::value::RawValue;

/// Where an agent takes jobs that has no endpoint of its own.
pub(crate) fn own_endpoint(public_url: &str, agent: Uid) -> String {
    format!("{public_url}/agents/{}/jobs", agent.show(Prefix::Uuid))
}

/// A member by its handle with or without `@`, or by its id.
pub(crate) fn member_named<'a>(directory: &'a Directory, name: &str) -> Option<&'a Arc<Member>> {
    let bare = name.strip_prefix('@').unwrap_or(name);
    let by_handle = || {
        let mut present = directory.members.iter().filter(|m| !m.removed);
        present.find(|m| m.handle.eq_ignore_ascii_case(bare))
    };
    directory.by_id(bare).or_else(by_handle)
}

fn status(
    directory: &Directory,
    listing: &Listing,
    seen: Option<Timestamp>,
    now: Timestamp,
) -> AgentStatus {
    let is_out = |member| directory.is_out(member);
    if is_out(listing.by) || listing.member.is_some_and(is_out) {
        return AgentStatus::Offline;
    }
    let is_here = listing.member.is_some_and(|member| directory.can_be_reached(member));
    match is_here || Listing::is_online(seen, now) {
        true => AgentStatus::Online,
        false => AgentStatus::Offline,
    }
}

/// JSON that was checked before it was stored.
pub(crate) fn raw(json: &str) -> Result<Box<RawValue>, Refusal> {
    RawValue::from_string(json.to_owned())
        .map_err(|e| Refusal::new(Code::Unavailable, format!("stored JSON cannot be read: {e}")))
}

pub(crate) fn agent(
    directory: &Directory,
    listing: &Listing,
    seen: Option<Timestamp>,
    now: Timestamp,
    public_url: &str,
) -> Result<Agent, Refusal> {
    let skills = listing.skills.iter().map(|skill| {
        Ok(Skill {
            skill_name: skill.name.to_string(),
            description: skill.description.to_string(),
            cost_per_call: skill.cost.into(),
            input_schema: raw(&skill.input)?,
            output_schema: raw(&skill.output)?,
        })
    });
    Ok(Agent {
        agent_id: listing.agent.show(Prefix::Uuid),
        agent_name: listing.name.to_string(),
        owner_id: listing.owner.to_string(),
        member: listing.member.map(|member| super::id(directory, member)),
        api_endpoint: Some(endpoint(listing, public_url)),
        pull: listing.pulls,
        skills: skills.collect::<Result<_, Refusal>>()?,
        reputation_score: listing.reputation.score(),
        status: status(directory, listing, seen, now),
        verified: listing.check.verified_at.is_some(),
        verified_at: listing.check.verified_at.map(Into::into),
        last_heartbeat_at: seen.map(Into::into),
        jobs_succeeded: listing.successes,
        jobs_failed: listing.failures,
        last_success_at: listing.last_success.map(Into::into),
        registered_at: listing.registered_at.into(),
        removed_at: listing.removed_at.map(Into::into),
    })
}

fn endpoint(listing: &Listing, public_url: &str) -> String {
    let own = || own_endpoint(public_url, listing.agent);
    listing.endpoint.as_ref().map_or_else(own, |endpoint| endpoint.to_string())
}

pub(crate) fn found(
    directory: &Directory,
    found: &Found,
    now: Timestamp,
    public_url: &str,
) -> FoundAgent {
    let listing = &found.listing;
    let skill = listing.skill(&found.position.skill);
    FoundAgent {
        agent_id: listing.agent.show(Prefix::Uuid),
        agent_name: listing.name.to_string(),
        api_endpoint: endpoint(listing, public_url),
        skill: FoundSkill {
            skill_name: found.position.skill.clone(),
            cost_per_call: skill.map(|skill| skill.cost).unwrap_or_default().into(),
            description: skill.map_or_else(String::new, |skill| skill.description.to_string()),
        },
        reputation_score: listing.reputation.score(),
        status: status(directory, listing, found.seen_at, now),
        owner_id: listing.owner.to_string(),
        member: listing.member.map(|member| super::id(directory, member)),
        verified: listing.check.verified_at.is_some(),
        last_success_at: listing.last_success.map(Into::into),
    }
}

pub(crate) fn job_status(state: JobState) -> JobStatus {
    match state {
        JobState::Open => JobStatus::Open,
        JobState::Funded => JobStatus::Funded,
        JobState::Submitted => JobStatus::Submitted,
        JobState::Completed => JobStatus::Completed,
        JobState::Rejected => JobStatus::Rejected,
        JobState::Expired => JobStatus::Expired,
    }
}

pub(crate) fn result_status(state: JobState) -> ResultStatus {
    match state {
        JobState::Completed => ResultStatus::Success,
        JobState::Rejected | JobState::Expired => ResultStatus::Failure,
        JobState::Open | JobState::Funded | JobState::Submitted => ResultStatus::Pending,
    }
}

/// The hirer's name for a payment, or the job's own id.
pub(crate) fn payment_identifier(job: &job::Job) -> String {
    let own = || job.uid.show(Prefix::Uuid);
    job.payment_identifier.as_ref().map_or_else(own, |name| name.to_string())
}

pub(crate) fn job(directory: &Directory, job: &job::Job) -> Result<Job, Refusal> {
    let result = job.result.as_ref();
    Ok(Job {
        job_id: job.uid.show(Prefix::Uuid),
        event_id: job.asked_by_event.map(|uid| uid.show(Prefix::Event)),
        status: result_status(job.state),
        state: job_status(job.state),
        outcome: job.outcome.map(|outcome| outcome.name().to_owned()),
        agent_id: job.agent.show(Prefix::Uuid),
        agent_owner: job.agent_owner.to_string(),
        hirer: super::id(directory, job.hirer),
        hirer_owner: job.hirer_owner.to_string(),
        orchestrator_id: job.orchestrator.map(|uid| uid.show(Prefix::Uuid)),
        skill_name: job.skill.to_string(),
        input_data: raw(&job.input)?,
        payment: job.payment.name().to_owned(),
        budget: job.budget.into(),
        price: job.price.into(),
        currency: CURRENCY.to_owned(),
        held: job.held.into(),
        paid: job.paid.into(),
        payment_identifier: payment_identifier(job),
        created_at: job.made_at.into(),
        deadline_at: job.deadline_at.into(),
        taken_at: job.sending.taken_at.map(Into::into),
        attempts: job.sending.attempts,
        delivery_error: job.sending.failure.as_ref().map(|why| why.to_string()),
        progress: job.progress.as_ref().map(|progress| progress.note.to_string()),
        progress_at: job.progress.as_ref().map(|progress| progress.at.into()),
        output_data: result.and_then(|r| r.output.as_deref()).map(raw).transpose()?,
        execution_cost: result.map(|r| r.cost.into()),
        execution_time_ms: result.map(|r| r.time_ms),
        error_message: result.and_then(|r| r.error.as_ref()).map(|error| error.to_string()),
        submitted_at: job.submitted_at.map(Into::into),
        ended_at: job.ended_at.map(Into::into),
        evaluation: job.evaluation.map(|evaluation| Evaluation {
            evaluator: super::id(directory, evaluation.by),
            decide_by: job.decide_by.map(Into::into),
        }),
        dispute: job.dispute.as_ref().map(|dispute| contested(directory, dispute)),
        duplicate: None,
    })
}

fn contested(directory: &Directory, dispute: &job::Dispute) -> Contested {
    let decided = dispute.decided.as_ref();
    let winner = |decision: &job::DisputeDecision| match decision.refunded {
        Some(_) => "hirer".to_owned(),
        None => "agent".to_owned(),
    };
    Contested {
        reason: dispute.reason.to_string(),
        opened_at: dispute.opened_at.into(),
        decided_for: decided.map(winner),
        decided_at: decided.map(|decision| decision.at.into()),
        decided_by: decided.map(|decision| super::id(directory, decision.by)),
        refunded: decided.and_then(|decision| decision.refunded).map(Into::into),
        note: decided.map(|decision| decision.note.to_string()),
    }
}

pub(crate) fn account(account: &ledger::Account) -> Account {
    Account {
        owner_id: account.owner.to_string(),
        balance: account.balance.into(),
        currency: CURRENCY.to_owned(),
        opened_at: account.opened_at.into(),
    }
}

pub(crate) fn entry(entry: &ledger::Entry) -> LedgerEntry {
    LedgerEntry {
        entry: entry.number,
        at: entry.at.into(),
        kind: entry.kind.name().to_owned(),
        from_owner: entry.from.to_string(),
        to_owner: entry.to.to_string(),
        amount: entry.amount.into(),
        job_id: entry.job.map(|uid| uid.show(Prefix::Uuid)),
        transfer_id: entry.transfer.map(|uid| uid.show(Prefix::Uuid)),
        memo: entry.memo.as_ref().map(|memo| memo.to_string()),
        hash: hex(&entry.hash),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
