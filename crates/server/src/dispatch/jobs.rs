//! Jobs on their way: to the endpoints of agents, to the callbacks of their hirers, and the challenges by which
//! endpoints prove that they answer (registry spec sections 3.1 and 3.3).
//!
//! A job is owed until its row says that it was taken: what is lost here is begun again by the job's timer.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, HeaderValue};
use chorus_core::commands::jobs::JobPosted;
use chorus_core::commands::registry::ChallengeEndpoint;
use chorus_core::model::caller::By;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::job::{CURRENCY, Job, JobState, Posted};
use chorus_core::model::ledger::Credits;
use chorus_core::model::registry::{Listing, VERSION};
use chorus_core::state::directory::Directory;
use chorus_wire::registry::{JobDelivery, JobResult, ResultStatus};
use chorus_wire::webhook::IDEMPOTENCY_KEY;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};
use url::Url;

use super::hiring::{Due, Hiring};
use super::webhook::state::Webhooks;
use crate::auth::Auth;
use crate::egress::{Answer, To, check_url};
use crate::services::IdGenerator;
use crate::services::clock::HostClock;
use crate::services::commands::Commands;
use crate::services::registry::agents::AgentService;
use crate::services::registry::asking::AskingService;
use crate::services::registry::jobs::{JobService, is_to_send};
use crate::view;
use crate::view::registry::payment_identifier;

/// Endpoints whose challenges are noted at once.
const CHALLENGES: usize = 128;
/// How often due challenges are looked for.
const LOOK: Duration = Duration::from_secs(15);
/// What the skill of a challenge is called. Whoever does not know it answers that it failed, which proves as much.
const CHALLENGE: &str = "chorus.verify";

/// What is used of the host.
pub(crate) struct Handles {
    pub(crate) agents: Arc<AgentService>,
    pub(crate) asking: Arc<AskingService>,
    pub(crate) auth: Arc<Auth>,
    pub(crate) clock: Arc<HostClock>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) directory: Arc<ArcSwap<Directory>>,
    pub(crate) hiring: Arc<Hiring>,
    pub(crate) id_generator: Arc<IdGenerator>,
    pub(crate) jobs: Arc<JobService>,
    pub(crate) public_url: Arc<str>,
    pub(crate) webhooks: Arc<Webhooks>,
}

/// Posts jobs, and takes the answers of those who were asked, until the host stops.
pub(crate) async fn serve(
    host: Arc<Handles>,
    mut due: mpsc::Receiver<Due>,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        let next = tokio::select! {
            next = due.recv() => next,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        match next {
            Some(Due::Job(job)) => drop(tokio::spawn(host.clone().send(job))),
            Some(Due::Answer(job, event)) => {
                let asking = host.asking.clone();
                drop(tokio::spawn(async move { asking.take_answer(job, &event).await }));
            }
            None => return,
        }
    }
}

/// Challenges endpoints, and looks for answers that were missed, until the host stops.
pub(crate) async fn look(host: Arc<Handles>, mut stopped: watch::Receiver<bool>) {
    let again = host.clock.wait(LOOK);
    tokio::pin!(again);
    loop {
        host.asking.look_for_answers().await;
        host.challenge().await;
        let is_time = tokio::select! {
            () = host.hiring.challenges.notified() => false,
            () = &mut again => true,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        if is_time {
            again.set(host.clock.wait(LOOK));
        }
    }
}

impl Handles {
    /// Posts a job to its agent, or its end to its hirer, whichever is due.
    async fn send(self: Arc<Self>, uid: Uid) {
        let (job, listing) = match self.jobs.with_listing(uid).await {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(refusal) => {
                tracing::warn!(%refusal, "a job that is to be sent cannot be read");
                return;
            }
        };
        // Whoever waits for it is told of the end, whatever moved it.
        self.hiring.moved.notify_waiters();
        if is_to_send(&job) && listing.is_asked() {
            self.asking.ask(&job, &listing).await;
            return;
        }
        let (end, attempt, posted) = if is_to_send(&job) {
            let Some(posted) = self.offer(&job, &listing).await else { return };
            (false, job.sending.attempts, posted)
        } else if job.notice.next_at.is_some() && !job.notice.is_done() {
            let Some(posted) = self.tell(&job).await else { return };
            (true, job.notice.attempts, posted)
        } else {
            return;
        };
        let command = JobPosted { job: uid, end, attempt, posted, asked_in: None };
        if let Err(refusal) = self.commands.submit(By::host(), command).await {
            tracing::warn!(%refusal, "how the post of a job ended is not known");
        }
        self.hiring.moved.notify_waiters();
    }

    /// Posts a job to its agent's endpoint; none for an agent that has none.
    async fn offer(&self, job: &Job, listing: &Listing) -> Option<Posted> {
        let endpoint = listing.endpoint.as_deref()?;
        let id = job.uid.show(Prefix::Uuid);
        let token = self.auth.write_job_token(job.uid);
        let delivery = JobDelivery {
            orchestrator_id: orchestrator(job),
            agent_id: job.agent.show(Prefix::Uuid),
            skill_name: job.skill.to_string(),
            input_data: RawValue::from_string(job.input.to_string()).ok()?,
            budget: job.budget.into(),
            currency: CURRENCY.to_owned(),
            callback_url: format!("{}/jobs/{id}/result/{token}", self.public_url),
            timestamp_utc: job.made_at.into(),
            version: VERSION.to_owned(),
            payment_identifier: payment_identifier(job),
            deadline_utc: job.deadline_at.into(),
            evaluator: job.evaluation.map(|e| view::id(&self.directory.load(), e.by)),
            job_id: id.clone(),
        };
        let to = To::Agent(job.agent);
        Some(self.post(endpoint, listing.by_operator, &delivery, Some(&id), to).await)
    }

    /// Posts the end of a job to its hirer's callback.
    async fn tell(&self, job: &Job) -> Option<Posted> {
        let callback = job.callback.as_deref()?;
        let result = job.result.as_ref();
        let status = match job.state {
            JobState::Completed | JobState::Submitted => ResultStatus::Success,
            _ => ResultStatus::Failure,
        };
        let outcome = || job.outcome.map(|outcome| outcome.name().replace('_', " "));
        let output = result.and_then(|result| result.output.as_deref());
        let stated = JobResult {
            job_id: job.uid.show(Prefix::Uuid),
            agent_id: job.agent.show(Prefix::Uuid),
            status,
            output_data: output.and_then(|json| RawValue::from_string(json.to_owned()).ok()),
            execution_cost: Some(match result {
                Some(result) if status == ResultStatus::Success => job.payable(result).into(),
                _ => job.paid.into(),
            }),
            execution_time_ms: result.map_or(0, |result| result.time_ms),
            error_message: match status {
                ResultStatus::Success => None,
                _ => result.and_then(|r| r.error.as_ref()).map(|e| e.to_string()).or_else(outcome),
            },
            timestamp_utc: job.ended_at.map(Into::into),
        };
        let id = format!("{}.end", stated.job_id);
        Some(self.post(callback, false, &stated, Some(&id), To::Agent(job.uid)).await)
    }

    /// Challenges the endpoints that are due, each at once.
    async fn challenge(self: &Arc<Self>) {
        let now = self.clock.now();
        let due = match self.agents.to_challenge(now, CHALLENGES).await {
            Ok(due) => due,
            Err(refusal) => {
                tracing::warn!(%refusal, "which endpoints are to be challenged is not known");
                return;
            }
        };
        if due.len() == CHALLENGES {
            self.hiring.challenges.notify_one();
        }
        // Together, so that one commit notes them all.
        let asked = due.into_iter().map(|listing| {
            let asked = ChallengeEndpoint { agent: listing.agent, answered: None };
            self.commands.submit(By::host(), asked)
        });
        for noted in futures_util::future::join_all(asked).await {
            match noted {
                Ok(listing) => drop(tokio::spawn(self.clone().challenge_one(listing))),
                Err(refusal) => tracing::warn!(%refusal, "an endpoint is not challenged"),
            }
        }
    }

    /// Posts a job that costs nothing, whose result proves that the endpoint takes jobs and answers.
    async fn challenge_one(self: Arc<Self>, listing: Arc<Listing>) {
        let Some(endpoint) = listing.endpoint.as_deref() else { return };
        let now = self.clock.now();
        let Ok(job) = self.id_generator.uid(now) else { return };
        let agent = listing.agent.show(Prefix::Uuid);
        let token = self.auth.write_challenge(listing.agent, endpoint, now);
        let Ok(input_data) = RawValue::from_string("{}".to_owned()) else { return };
        let delivery = JobDelivery {
            job_id: job.show(Prefix::Uuid),
            orchestrator_id: job.show(Prefix::Uuid),
            agent_id: agent.clone(),
            skill_name: CHALLENGE.to_owned(),
            input_data,
            budget: Credits::default().into(),
            currency: CURRENCY.to_owned(),
            callback_url: format!("{}/agents/{agent}/challenge/{token}", self.public_url),
            timestamp_utc: now.into(),
            version: VERSION.to_owned(),
            payment_identifier: job.show(Prefix::Uuid),
            deadline_utc: now.plus(60_000).into(),
            evaluator: None,
        };
        let to = To::Agent(listing.agent);
        let posted = self.post(endpoint, listing.by_operator, &delivery, None, to).await;
        tracing::debug!(agent, ?posted, "an endpoint was challenged");
    }

    async fn post<T: Serialize>(
        &self,
        url: &str,
        by_operator: bool,
        body: &T,
        id: Option<&str>,
        to: To,
    ) -> Posted {
        // It was checked when it came; what is allowed may be less since.
        let allowed = match by_operator {
            true => &self.webhooks.allowed,
            false => &self.webhooks.strangers,
        };
        let url = match check_url(url, allowed) {
            Ok(url) => {
                if id.is_some_and(|id| id.ends_with(".end")) {
                    url
                } else {
                    for_jobs(url)
                }
            }
            Err(refusal) => return Posted::Refused(refusal.message.into()),
        };
        let Ok(body) = serde_json::to_vec(body) else {
            return Posted::Refused("it cannot be written as JSON".into());
        };
        let mut headers = HeaderMap::new();
        if let Some(id) = id.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(IDEMPOTENCY_KEY, id);
        }
        let _turn = self.webhooks.places.take(to).await;
        match self.webhooks.egress.post(&url, body.into(), headers, self.webhooks.timeout).await {
            Answer::Taken => Posted::Taken,
            Answer::Gone => Posted::Refused("HTTP 410".into()),
            Answer::Refused { status } => Posted::Refused(format!("HTTP {status}").into()),
            Answer::Address => Posted::Refused("its address is none that may be posted to".into()),
            Answer::Again { why, after } => {
                let after = after.and_then(|after| i64::try_from(after.as_millis()).ok());
                Posted::Again(why.to_string().into(), after)
            }
        }
    }
}

/// The agent on whose behalf a job is asked for; a hirer that is none has the job's own id.
fn orchestrator(job: &Job) -> String {
    job.orchestrator.unwrap_or(job.uid).show(Prefix::Uuid)
}

/// Where an endpoint takes jobs: `…/jobs`, whether or not it says so itself.
fn for_jobs(mut url: Url) -> Url {
    let path = url.path().trim_end_matches('/');
    if !path.ends_with("/jobs") {
        let path = format!("{path}/jobs");
        url.set_path(&path);
    }
    url
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // covers: REG-31
    #[test]
    fn jobs_are_posted_to_jobs_whether_or_not_the_endpoint_says_so() {
        for (endpoint, posted) in [
            ("https://a.example/jobs", "https://a.example/jobs"),
            ("https://a.example/jobs/", "https://a.example/jobs/"),
            ("https://a.example", "https://a.example/jobs"),
            ("https://a.example/agent", "https://a.example/agent/jobs"),
            ("https://a.example/agent/?k=1", "https://a.example/agent/jobs?k=1"),
            ("https://a.example/myjobs", "https://a.example/myjobs/jobs"),
        ] {
            assert_eq!(for_jobs(Url::parse(endpoint).unwrap()).as_str(), posted);
        }
    }
}
