//! Asking for a job (registry spec section 3.3).
//!
//! Invariant: a funded job has its whole budget in escrow, which nothing else can spend.

use std::iter;
use std::sync::Arc;

use crate::commands::command::{Command, Done};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Readers, Shown, plain};
use crate::commands::ledger::posting::Posting;
use crate::commands::redact::Redact;
use crate::model::audit::{Action, Audit};
use crate::model::caller::By;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{MemberKey, Prefix, Uid};
use crate::model::job::{Evaluation, Job, JobState, Payment, Pipeline, Sending};
use crate::model::ledger::{Credits, ESCROW, EntryKind};
use crate::model::limits;
use crate::model::registry::{Listing, owner_of};
use crate::state::effect::Effect;
use crate::state::workspace::Failure;

/// Asks an agent for a job. Idempotent by the job's id.
#[derive(Clone)]
pub struct Request {
    pub job: Uid,
    /// Who is to do it.
    pub agent: Uid,
    /// The caller's own agent on whose behalf it is asked for.
    pub orchestrator: Option<Uid>,
    pub skill: Arc<str>,
    /// Canonical JSON that fits the skill's schema: the edge has checked that.
    pub input: Arc<str>,
    pub budget: Credits,
    pub payment: Payment,
    pub payment_identifier: Option<Arc<str>>,
    /// An address that may be posted to: the edge has checked that.
    pub callback: Option<Arc<str>>,
    pub evaluation: Option<Evaluation>,
    pub timeout_ms: i64,
    /// The thread in which a member of this host is asked.
    pub thread: Option<Uid>,
    /// The pipeline that it is a step of.
    pub pipeline: Option<Pipeline>,
}

/// The job, and whether it was asked for before.
pub struct Requested {
    pub job: Arc<Job>,
    pub duplicate: bool,
}

impl Command for Request {
    type Output = Requested;

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::RequestJob).subject(self.job).name(&*self.skill)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        let Some((clean, count)) = redact.clean_json(&self.input) else { return 0 };
        self.input = clean.into();
        count
    }

    fn shown(&self, run: &mut Context<'_>) -> Result<Option<Shown>> {
        let listing = run.listing(self.agent)?;
        let readers = match (&listing.endpoint, listing.member) {
            (None, Some(member)) => Readers { members: vec![member], ..Readers::default() },
            _ => Readers::everybody(),
        };
        let fields = vec![
            ("agent_id", listing.agent.show(Prefix::Uuid)),
            ("input_data", self.input.to_string()),
            ("skill_name", self.skill.to_string()),
        ];
        Ok(Some(plain("request_job", readers, fields)))
    }

    fn has_made(requested: &Requested) -> bool {
        !requested.duplicate
    }

    fn bytes(&self) -> usize {
        self.input.len()
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Requested> {
        let me = run.me()?;
        let owner = owner_of(&me);
        check(&self)?;
        self.check_ids()?;
        let known = run.maybe_job(self.job)?;
        let listing = match &known {
            // It may have left in the meantime.
            Some(known) => match run.maybe_listing(known.agent)? {
                Some(listing) if listing.agent == self.agent => listing,
                _ => return Err(self.is_known_otherwise().into()),
            },
            None => run.listing(self.agent)?,
        };
        let other = self.is_known_otherwise();
        let job = run.new_job(self, owner, &listing)?;
        if let Some(known) = known {
            if !known.asks_the_same(&job) {
                return Err(other.into());
            }
            return Ok(Requested { job: known, duplicate: true });
        }
        run.hire(job, &listing)
    }
}

impl Request {
    /// The jobs of a pipeline are numbered from its own id, which must leave room for that.
    fn check_ids(&self) -> Result<(), Refusal> {
        let ends = self.pipeline.as_ref().map(|p| (p.uid.0, p.rest.len() as u128 + 1));
        if ends.is_some_and(|(id, steps)| id.checked_add(steps).is_none()) {
            let why = "pipeline_id is too near the end of all UUIDs; use another";
            return Err(Refusal::invalid(why));
        }
        Ok(())
    }

    fn is_known_otherwise(&self) -> Refusal {
        let id = if self.pipeline.is_some() { "pipeline_id" } else { "job_id" };
        let why = format!("this {id} was used for another request; use a new one");
        Refusal::new(Code::Conflict, why)
    }
}

impl Context<'_> {
    /// Asks for a job that is new.
    fn hire(&mut self, job: Job, listing: &Listing) -> Result<Requested> {
        self.must_be_hireable(&job, listing)?;
        // A direct job is posted to its endpoint by the hirer.
        let by_host = job.payment == Payment::Escrow && listing.endpoint.is_some();
        let is_sent = by_host || listing.is_asked();
        self.fund(job, is_sent)
    }

    /// Asks for the next step of a pipeline, in the name of whoever asked for this one. What keeps it
    /// from being asked for is noted.
    pub(super) fn take_next_step(&mut self, before: &mut Job) -> Result<()> {
        let Some(pipeline) = before.pipeline.clone() else { return Ok(()) };
        let (Some((step, rest)), Some(input)) = (pipeline.rest.split_first(), &pipeline.next)
        else {
            return Ok(());
        };
        let job = Pipeline::job(pipeline.uid, pipeline.step + 1);
        if self.maybe_job(job)?.is_some() {
            let why = "the id of its next job is that of another job";
            before.pipeline = Some(Pipeline { stopped: Some(why.into()), ..pipeline });
            return Ok(());
        }
        let asked = Request {
            job,
            agent: step.agent,
            orchestrator: before.orchestrator,
            skill: step.skill.clone(),
            input: input.clone(),
            budget: step.budget,
            payment: Payment::Escrow,
            payment_identifier: before.payment_identifier.clone(),
            callback: before.callback.clone(),
            evaluation: None,
            timeout_ms: step.timeout_ms,
            thread: None,
            pipeline: Some(Pipeline {
                step: pipeline.step + 1,
                rest: rest.to_vec(),
                next: None,
                ..pipeline.clone()
            }),
        };
        let hirer = By { member: before.hirer, session: None, turn: None, ..self.by };
        let by = std::mem::replace(&mut self.by, hirer);
        let hired = self.listing(step.agent).and_then(|listing| {
            let job = self.new_job(asked, before.hirer_owner.clone(), &listing)?;
            self.hire(job, &listing)
        });
        self.by = by;
        if let Some(pipeline) = &mut before.pipeline {
            match hired {
                Ok(requested) => pipeline.next_job = Some(requested.job.uid),
                Err(Failure::Refused(refusal)) => pipeline.stopped = Some(refusal.message.into()),
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    fn new_job(&mut self, asked: Request, owner: Arc<str>, listing: &Listing) -> Result<Job> {
        if let Some(orchestrator) = asked.orchestrator {
            let theirs = self.maybe_listing(orchestrator)?;
            if theirs.is_some_and(|theirs| self.owner_of_listing(&theirs) != owner) {
                let why = "orchestrator_id is the agent of another owner";
                return Err(Refusal::new(Code::ClaimMismatch, why).into());
            }
        }
        let own = self.listing_of(self.by.member)?.map(|own| own.agent);
        if let (Some(own), Some(stated)) = (own, asked.orchestrator)
            && own != stated
        {
            let own = own.show(Prefix::Uuid);
            let why = format!(
                "you are the agent {own}, and ask in no other's name; leave out orchestrator_id"
            );
            return Err(Refusal::new(Code::ClaimMismatch, why).into());
        }
        let now = self.now;
        let skill = listing.skill(&asked.skill);
        let none = || (Credits(0), Arc::from("{}"));
        let (price, output_schema) = skill.map_or_else(none, |s| (s.cost, s.output.clone()));
        Ok(Job {
            uid: asked.job,
            state: JobState::Open,
            payment: asked.payment,
            hirer: self.by.member,
            hirer_owner: owner,
            orchestrator: asked.orchestrator.or(own),
            agent: listing.agent,
            agent_owner: self.owner_of_listing(listing),
            skill: asked.skill,
            price,
            budget: asked.budget,
            input: asked.input,
            output_schema,
            payment_identifier: asked.payment_identifier,
            callback: asked.callback,
            evaluation: asked.evaluation,
            thread: asked.thread,
            asked_in: None,
            asked_by_event: None,
            made_at: now,
            deadline_at: now.plus(asked.timeout_ms),
            sending: Sending::default(),
            progress: None,
            result: None,
            submitted_at: None,
            decide_by: None,
            outcome: None,
            ended_at: None,
            held: Credits(0),
            paid: Credits(0),
            notice: Sending::default(),
            dispute: None,
            pipeline: asked.pipeline,
            gained: 0,
        })
    }

    fn must_be_hireable(&mut self, job: &Job, listing: &Listing) -> Result<()> {
        if job.hirer_owner == job.agent_owner {
            let why = format!(
                "{} owns this agent and you; nobody hires their own agents, ask it in a message",
                job.agent_owner
            );
            return Err(Refusal::invalid(why).into());
        }
        if listing.skill(&job.skill).is_none() {
            let skills: Vec<_> = listing.skills.iter().map(|skill| &*skill.name).collect();
            let skills = skills.join(", ");
            let why = format!("{} has no skill {}; it has {skills}", listing.name, job.skill);
            return Err(Refusal::new(Code::SkillMismatch, why).into());
        }
        if job.budget < job.price {
            let why = format!("{} costs {}, and budget is {}", job.skill, job.price, job.budget);
            return Err(Refusal::new(Code::BudgetInsufficient, why).into());
        }
        if let Some(thread) = job.thread {
            if !listing.is_asked() {
                let why = "thread_id is for an agent that takes jobs as a member of this host";
                return Err(Refusal::invalid(why).into());
            }
            let (key, _) = self.thread_by_uid(thread)?;
            self.must_sit(key)?;
        }
        if let Some(evaluation) = &job.evaluation {
            self.must_be_impartial(evaluation.by, job)?;
        }
        if !self.is_agent_online(listing)? {
            let why = format!(
                "{} is offline: it missed its heartbeats, or was removed; try again later, or hire \
                 another agent",
                listing.name
            );
            return Err(Refusal::new(Code::AgentOffline, why).into());
        }
        Ok(())
    }

    /// An evaluator is a member who gains nothing by the decision.
    fn must_be_impartial(&self, evaluator: MemberKey, job: &Job) -> Result<()> {
        let member = self.directory().member(evaluator).filter(|member| !member.removed);
        let member = member.ok_or_else(|| Refusal::not_found("member to evaluate the result"))?;
        if owner_of(member) == job.agent_owner {
            let why = "the evaluator may not be of the owner who is paid";
            return Err(Refusal::invalid(why).into());
        }
        Ok(())
    }

    /// Holds the budget, and sends the job out.
    fn fund(&mut self, mut job: Job, is_sent: bool) -> Result<Requested> {
        let mut open = self.facts.open_jobs(&job.hirer_owner)?;
        let recent = self.ws.changes.jobs.values();
        // Those of earlier batches are stored, however they stand now.
        let is_new = |j: &Job| j.made_at == self.now && !j.state.has_ended();
        let recent = recent.filter(|j| is_new(j) && j.hirer_owner == job.hirer_owner);
        open += recent.count() as u64;
        if open >= limits::JOBS_OPEN {
            let most = limits::JOBS_OPEN;
            let why = format!("{} has {most} jobs under way; wait until some end", job.hirer_owner);
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        if job.payment == Payment::Escrow {
            self.open_account(&job.agent_owner)?;
            self.must_have(&job.hirer_owner, job.budget)?;
            let spending = self.may_spend(job.budget)?;
            if !job.budget.is_zero() {
                let (uid, budget) = (job.uid, job.budget);
                let hold = Posting::of_job(EntryKind::Hold, uid, &job.hirer_owner, ESCROW, budget);
                self.post_entry(hold)?;
            }
            self.put_spending(spending);
            (job.state, job.held) = (JobState::Funded, job.budget);
        }
        if is_sent {
            job.sending = Sending::begun(self.now);
            self.effect(Effect::Job(job.uid));
        }
        let uid = job.uid;
        self.ws.put_job(job);
        let job = self.ws.changes.jobs[&uid].clone();
        Ok(Requested { job, duplicate: false })
    }
}

fn check(asked: &Request) -> Result<(), Refusal> {
    let later = || asked.pipeline.iter().flat_map(|pipeline| &pipeline.rest);
    for skill in iter::once(&asked.skill).chain(later().map(|step| &step.skill)) {
        crate::model::registry::check_skill_name(skill)?;
    }
    let [least, most] = limits::JOB_TIMEOUTS_MS;
    let mut timeouts = iter::once(asked.timeout_ms).chain(later().map(|step| step.timeout_ms));
    if timeouts.any(|timeout| !(least..=most).contains(&timeout)) {
        let spans = limits::spans(least, most);
        return Err(Refusal::invalid(format!("timeout_ms is {spans}")));
    }
    let [least, most] = limits::JOB_EVALUATIONS_MS;
    if asked.evaluation.is_some_and(|e| !(least..=most).contains(&e.within_ms)) {
        let spans = limits::spans(least, most);
        return Err(Refusal::invalid(format!("evaluation_ms is {spans}")));
    }
    let texts = [&asked.callback, &asked.payment_identifier];
    if texts.into_iter().flatten().any(|text| text.len() > limits::JOB_URL_BYTES) {
        let most = limits::JOB_URL_BYTES;
        let why = format!("callback_url and payment_identifier have at most {most} bytes");
        return Err(Refusal::invalid(why));
    }
    if asked.input.len() > limits::JOB_DATA_BYTES {
        let most = limits::JOB_DATA_BYTES;
        let why = format!("input_data has at most {most} bytes; refer to a file for more");
        return Err(Refusal::new(Code::PayloadTooLarge, why));
    }
    Ok(())
}
