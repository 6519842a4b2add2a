//! Jobs for hire: asked for, delivered, decided about (registry spec sections 3.3 and 3.4).

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use chorus_core::commands::jobs::{
    Cancel, DecideDispute, Deliver, Delivered, Dispute, Evaluate, ReportProgress, Request,
};
use chorus_core::model::caller::By;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Prefix, Timestamp, Uid};
use chorus_core::model::job::{Evaluation, Job, JobResult, JobState, Payment};
use chorus_core::model::ledger::EntryKind;
use chorus_core::model::limits;
use chorus_core::model::registry::{Listing, owner_of};
use chorus_core::state::directory::Directory;
use chorus_store::JobsOf;
use chorus_wire::canonical::canonical_json;
use chorus_wire::registry::{
    Contest, Job as ShownJob, JobQuery, JobRequest, JobResult as StatedResult, Jobs, JobsQuery,
    Receipts, ResultStatus, ResultTaken, Side,
};
use serde_json::value::RawValue;

use super::agents::{AgentService, check_currency, check_version, must_not_be_negative};
use super::ledger::sees_everything;
use super::receipts;
use super::schemas::must_fit;
use super::steps::next;
use crate::auth::{Auth, Caller};
use crate::dispatch::hiring::Hiring;
use crate::dispatch::webhook::state::Webhooks;
use crate::egress::check_url;
use crate::services::clock::HostClock;
use crate::services::commands::Commands;
use crate::services::pages;
use crate::services::reads::Reads;
use crate::services::{IdGenerator, ids};
use crate::view;

/// The longest wait for the end of a job.
const WAIT_MS: u64 = 30_000;
/// How soon a waiting caller looks again, in case it was not told.
const LOOK_MS: u64 = 1_000;

/// Jobs.
pub(crate) struct JobService {
    pub(in crate::services) agents: Arc<AgentService>,
    pub(in crate::services) commands: Arc<Commands>,
    pub(in crate::services) reads: Arc<Reads>,
    pub(in crate::services) auth: Arc<Auth>,
    pub(in crate::services) clock: Arc<HostClock>,
    pub(in crate::services) directory: Arc<ArcSwap<Directory>>,
    pub(in crate::services) hiring: Arc<Hiring>,
    pub(in crate::services) id_generator: Arc<IdGenerator>,
    pub(in crate::services) webhooks: Arc<Webhooks>,
}

impl JobService {
    /// Asks for a job. One that was asked for before is answered as it is now.
    pub(crate) async fn request(
        &self,
        caller: &Caller,
        asked: JobRequest,
    ) -> Result<ShownJob, Refusal> {
        check_version(asked.version.as_deref())?;
        check_currency(asked.currency.as_deref())?;
        self.agents.check_time(asked.timestamp_utc)?;
        let job = match asked.job_id.as_deref() {
            Some(id) => ids::uuid(id, "job_id")?,
            None => self.id_generator.uid(self.clock.now())?,
        };
        let payment = match asked.payment.as_deref() {
            None => Payment::Escrow,
            Some(name) => Payment::ALL
                .into_iter()
                .find(|payment| payment.name() == name)
                .ok_or_else(|| Refusal::invalid("payment is escrow or direct"))?,
        };
        let agent = asked.agent_id.as_deref().ok_or_else(|| {
            Refusal::invalid("agent_id says who is to do it: a UUID, or a member as @handle")
        })?;
        let agent = self.agents.agent_named(agent).await?;
        let input = data(&asked.input_data, "input_data")?;
        self.must_fit_input(agent, &asked.skill_name, &input, job).await?;
        let callback = asked.callback_url.as_deref().map(|url| self.checked_callback(url));
        let evaluator = asked.evaluator.as_deref().map(|id| {
            let directory = self.directory.load();
            let member = match view::registry::member_named(&directory, id) {
                Some(member) => member.key,
                None => ids::member_for(&directory, caller, id)?.key,
            };
            let within_ms = asked.evaluation_ms.unwrap_or(limits::JOB_EVALUATION_MS);
            Ok::<_, Refusal>(Evaluation { by: member, within_ms })
        });
        if asked.evaluator.is_none() && asked.evaluation_ms.is_some() {
            let why = "evaluation_ms is how long the evaluator has, and evaluator names none";
            return Err(Refusal::invalid(why));
        }
        let orchestrator = asked.orchestrator_id.as_deref();
        let request = Request {
            job,
            agent,
            orchestrator: orchestrator.map(|id| ids::uuid(id, "orchestrator_id")).transpose()?,
            skill: asked.skill_name.into(),
            input: input.into(),
            budget: must_not_be_negative(asked.budget.0)?,
            payment,
            payment_identifier: asked.payment_identifier.map(Into::into),
            callback: callback.transpose()?,
            evaluation: evaluator.transpose()?,
            timeout_ms: asked.timeout_ms.unwrap_or(limits::JOB_TIMEOUT_MS),
            pipeline: None,
            thread: asked
                .thread_id
                .as_deref()
                .map(|id| Uid::read(Prefix::Thread, id).ok_or_else(|| Refusal::not_found("thread")))
                .transpose()?,
        };
        let done = self.commands.submit(caller.by, request).await?;
        self.hiring.moved.notify_waiters();
        let mut shown = view::registry::job(&self.directory.load(), &done.job)?;
        shown.duplicate = Some(done.duplicate);
        Ok(shown)
    }

    pub(super) fn checked_callback(&self, url: &str) -> Result<Arc<str>, Refusal> {
        let url = check_url(url, &self.webhooks.strangers).map_err(|refusal| Refusal {
            message: format!("callback_url: {}", refusal.message),
            ..refusal
        })?;
        Ok(url.as_str().into())
    }

    /// Refuses input that does not fit the skill. A job that is known was checked when it was new,
    /// and what is not there is refused by the command.
    pub(super) async fn must_fit_input(
        &self,
        agent: Uid,
        skill: &str,
        input: &str,
        job: Uid,
    ) -> Result<(), Refusal> {
        let read = move |readers: &chorus_store::Readers| {
            Ok((readers.listing(agent)?, readers.job(job)?.is_some()))
        };
        let (found, is_known) = self.reads.read(read).await?;
        let Some((listing, _)) = found.filter(|_| !is_known) else { return Ok(()) };
        match listing.skill(skill) {
            Some(skill) => must_fit(agent, &skill.input, input, "input_data").await,
            None => Ok(()),
        }
    }

    /// Asks one agent for a direct job, as the protocol has it.
    pub(crate) async fn request_directly(
        &self,
        caller: &Caller,
        agent: String,
        asked: JobRequest,
    ) -> Result<ShownJob, Refusal> {
        if asked.payment.as_deref().is_some_and(|payment| payment != Payment::Direct.name()) {
            let why =
                "this is the agent's own door, for direct jobs; ask for others with POST /jobs";
            return Err(Refusal::invalid(why));
        }
        if let Some(stated) = asked.agent_id.as_deref()
            && self.agents.agent_named(stated).await? != self.agents.agent_named(&agent).await?
        {
            return Err(Refusal::invalid("agent_id is not the agent of the path; leave it out"));
        }
        let payment = Some(Payment::Direct.name().to_owned());
        self.request(caller, JobRequest { agent_id: Some(agent), payment, ..asked }).await
    }

    /// A job that the caller may know of.
    pub(super) async fn seen(&self, caller: &Caller, job: Uid) -> Result<Arc<Job>, Refusal> {
        let found = self.with_listing(job).await?.ok_or_else(|| Refusal::not_found("job"))?;
        let (job, listing) = found;
        // Its agent may have another owner than when it was asked for.
        let directory = self.directory.load();
        let agent = listing.member.and_then(|member| directory.member(member));
        let is_owner = agent.is_some_and(|agent| owner_of(agent) == owner_of(&caller.member));
        match is_owner || may_see(caller, &job) {
            true => Ok(job),
            false => Err(Refusal::not_found("job")),
        }
    }

    pub(crate) async fn job(
        &self,
        caller: &Caller,
        id: &str,
        query: JobQuery,
    ) -> Result<ShownJob, Refusal> {
        let uid = ids::named_uuid(id, "job")?;
        let job = self.await_end(caller, uid, query.wait_ms).await?;
        view::registry::job(&self.directory.load(), &job)
    }

    /// The job when it has ended, or as it is when the time is over.
    async fn await_end(
        &self,
        caller: &Caller,
        uid: Uid,
        wait_ms: Option<u64>,
    ) -> Result<Arc<Job>, Refusal> {
        let wait_ms = wait_ms.unwrap_or(0);
        if wait_ms > WAIT_MS {
            return Err(Refusal::invalid(format!("wait_ms is at most {WAIT_MS}")));
        }
        let mut left = wait_ms;
        loop {
            let moved = self.hiring.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            let job = self.seen(caller, uid).await?;
            let is_in = job.state.has_ended() || job.state == JobState::Submitted;
            if is_in || left == 0 {
                return Ok(job);
            }
            let step = left.min(LOOK_MS);
            let before = self.clock.now();
            tokio::select! {
                () = moved => {}
                () = self.clock.wait(Duration::from_millis(step)) => {}
            }
            left = left.saturating_sub(self.clock.now().since(before).max(1) as u64);
        }
    }

    pub(crate) async fn jobs(&self, caller: &Caller, query: JobsQuery) -> Result<Jobs, Refusal> {
        let limit = pages::limit(query.limit)?;
        let owner = owner_of(&caller.member).to_string();
        let (side, disputed) = (query.side.unwrap_or_default(), query.disputed.unwrap_or(false));
        if disputed && side != Side::All {
            return Err(Refusal::invalid("disputed is for side=all; your own jobs show it each"));
        }
        let of = match side {
            Side::Hirer => JobsOf::Hirer(owner),
            Side::Worker => JobsOf::Worker(owner),
            Side::All if sees_everything(caller) && disputed => JobsOf::Contested,
            Side::All if sees_everything(caller) => JobsOf::Everybody,
            Side::All => {
                let why = "the jobs of everybody are for operators and auditors";
                return Err(Refusal::new(Code::InsufficientAuthority, why));
            }
        };
        let before = query.after.as_deref().map(place).transpose()?;
        let read = move |readers: &chorus_store::Readers| readers.jobs(&of, before, limit + 1);
        let mut found = self.reads.read(read).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more);
        let next = next.map(|job| format!("{}.{}", job.made_at.0, job.uid.show(Prefix::Uuid)));
        let directory = self.directory.load();
        let jobs = found.iter().map(|job| view::registry::job(&directory, job));
        Ok(Jobs { jobs: jobs.collect::<Result<_, _>>()?, next })
    }

    /// A job with its agent, for whoever posts it.
    pub(crate) async fn with_listing(
        &self,
        uid: Uid,
    ) -> Result<Option<(Arc<Job>, Arc<Listing>)>, Refusal> {
        let read = move |readers: &chorus_store::Readers| {
            let Some(job) = readers.job(uid)? else { return Ok(None) };
            let listing = readers.listing(job.agent)?;
            Ok(listing.map(|(listing, _)| (job, listing)))
        };
        self.reads.read(read).await
    }

    /// The result that an agent delivers with its own token.
    pub(crate) async fn deliver(
        &self,
        caller: &Caller,
        id: &str,
        stated: StatedResult,
    ) -> Result<ResultTaken, Refusal> {
        self.take(caller.by, id, stated).await
    }

    /// The result that comes to the callback of a job, whose token is all the authority there is.
    pub(crate) async fn deliver_by_token(
        &self,
        id: &str,
        token: &str,
        stated: StatedResult,
    ) -> Result<ResultTaken, Refusal> {
        let job = ids::named_uuid(id, "job")?;
        if !self.auth.is_job_token(token, job) {
            let why = "this is no callback of this host, or the host has other keys since";
            return Err(Refusal::new(Code::Unauthorized, why));
        }
        self.take(By::host(), id, stated).await
    }

    async fn take(&self, by: By, id: &str, stated: StatedResult) -> Result<ResultTaken, Refusal> {
        let job = ids::named_uuid(id, "job")?;
        if ids::uuid(&stated.job_id, "job_id")? != job {
            return Err(Refusal::invalid("job_id is not that of the path"));
        }
        let agent = ids::uuid(&stated.agent_id, "agent_id")?;
        self.agents.check_time(stated.timestamp_utc)?;
        if stated.status == ResultStatus::Pending {
            let note = stated.error_message.unwrap_or_else(|| "working".to_owned());
            let progress = ReportProgress { job, agent, note: note.into() };
            let job = self.commands.submit(by, progress).await?;
            return Ok(taken(&job, ResultStatus::Pending, false));
        }
        let success = stated.status == ResultStatus::Success;
        let known = self.reads.read(move |readers| readers.job(job)).await?;
        let output = stated.output_data.as_deref().filter(|json| json.get() != "null");
        let output = output.map(|json| data(json, "output_data")).transpose()?;
        // What a stranger's job must fit is not said: the command refuses it.
        let known = known.filter(|known| known.agent == agent);
        if let (Some(known), Some(output), true) = (&known, &output, success)
            && known.result.is_none()
        {
            must_fit(agent, &known.output_schema, output, "output_data").await?;
        }
        let price = known.as_ref().map(|known| known.price).unwrap_or_default();
        let cost = stated.execution_cost.map(|cost| must_not_be_negative(cost.0)).transpose()?;
        let result = JobResult {
            success,
            output: output.map(Into::into),
            cost: cost.unwrap_or(if success { price } else { Default::default() }),
            time_ms: stated.execution_time_ms,
            error: stated.error_message.map(Into::into),
            stated_at: stated.timestamp_utc.map_or_else(|| self.clock.now(), |time| *time),
        };
        let next = match &known {
            Some(known) => next(&self.reads, known, &result).await,
            None => None,
        };
        let Delivered { job, duplicate } =
            self.commands.submit(by, Deliver { job, agent, result, next }).await?;
        self.hiring.moved.notify_waiters();
        Ok(taken(&job, stated.status, duplicate))
    }

    pub(crate) async fn cancel(&self, caller: &Caller, id: &str) -> Result<ShownJob, Refusal> {
        let job = ids::named_uuid(id, "job")?;
        let job = self.commands.submit(caller.by, Cancel { job }).await?;
        self.moved(&job)
    }

    pub(crate) async fn evaluate(
        &self,
        caller: &Caller,
        id: &str,
        accept: bool,
    ) -> Result<ShownJob, Refusal> {
        let job = ids::named_uuid(id, "job")?;
        let job = self.commands.submit(caller.by, Evaluate { job, accept }).await?;
        self.moved(&job)
    }

    pub(crate) async fn contest(
        &self,
        caller: &Caller,
        id: &str,
        asked: Contest,
    ) -> Result<ShownJob, Refusal> {
        let job = ids::named_uuid(id, "job")?;
        let reason = asked.reason.into();
        let job = self.commands.submit(caller.by, Dispute { job, reason }).await?;
        self.moved(&job)
    }

    pub(crate) async fn decide_dispute(
        &self,
        caller: &Caller,
        id: &str,
        asked: chorus_wire::registry::DecideDispute,
    ) -> Result<ShownJob, Refusal> {
        caller.must_operate()?;
        let job = ids::named_uuid(id, "job")?;
        let command = DecideDispute { job, for_hirer: asked.refund, note: asked.note.into() };
        let job = self.commands.submit(caller.by, command).await?;
        self.moved(&job)
    }

    fn moved(&self, job: &Job) -> Result<ShownJob, Refusal> {
        self.hiring.moved.notify_waiters();
        view::registry::job(&self.directory.load(), job)
    }

    pub(crate) async fn receipts(&self, caller: &Caller, id: &str) -> Result<Receipts, Refusal> {
        let uid = ids::named_uuid(id, "job")?;
        let job = self.seen(caller, uid).await?;
        let entries = self.reads.read(move |readers| readers.entries_of_job(uid)).await?;
        let paid =
            entries.iter().find(|entry| matches!(entry.kind, EntryKind::Pay | EntryKind::Transfer));
        let result = job.result.as_ref().map(|result| receipts::Delivered::of(&job, result));
        Ok(Receipts {
            job_id: uid.show(Prefix::Uuid),
            offer: self.auth.sign_receipt(&receipts::Offer::of(&job))?,
            result: result.map(|result| self.auth.sign_receipt(&result)).transpose()?,
            payment: paid
                .map(|entry| self.auth.sign_receipt(&receipts::Paid::of(entry, Some(&job))))
                .transpose()?,
        })
    }
}

pub(super) fn may_see(caller: &Caller, job: &Job) -> bool {
    let owner = owner_of(&caller.member);
    sees_everything(caller)
        || owner == job.hirer_owner
        || owner == job.agent_owner
        || job.evaluation.is_some_and(|evaluation| evaluation.by == caller.by.member)
}

fn taken(job: &Job, status: ResultStatus, duplicate: bool) -> ResultTaken {
    ResultTaken {
        job_id: job.uid.show(Prefix::Uuid),
        status,
        state: view::registry::job_status(job.state),
        paid: job.paid.into(),
        duplicate,
    }
}

/// A JSON object in its canonical form.
pub(super) fn data(json: &RawValue, what: &str) -> Result<String, Refusal> {
    if !json.get().starts_with('{') {
        return Err(Refusal::invalid(format!("{what} is a JSON object")));
    }
    canonical_json(json.get(), limits::JOB_DATA_BYTES)
        .map_err(|refusal| Refusal { message: format!("{what}: {}", refusal.message), ..refusal })
}

fn place(text: &str) -> Result<(Timestamp, Uid), Refusal> {
    let read = || {
        let (at, job) = text.split_once('.')?;
        Some((Timestamp(at.parse().ok()?), Uid::read(Prefix::Uuid, job)?))
    };
    read().ok_or_else(|| Refusal::invalid("after is the next of the page before"))
}

/// States in which an agent is to work.
pub(crate) fn is_to_send(job: &Job) -> bool {
    let waits = matches!(job.state, JobState::Open | JobState::Funded);
    waits && job.sending.next_at.is_some() && !job.sending.is_done()
}
