//! An agent without a server of its own: it says that it lives, and does its jobs by a command, one
//! after the other.
//!
//! Invariant: a job is begun only after the host knows that it is worked on, and its result is sent
//! until the host has it or refuses it.

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chorus_client::{Client, Error, backoff};
use chorus_core::model::error::Code;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::limits::{JOB_DATA_BYTES, JOB_NOTE_BYTES, JOB_TIMEOUTS_MS};
use chorus_harness::runtime::{Bounds, End, Told, Work, command};
use chorus_wire::registry::{
    Job, JobQuery, JobResult, JobStatus, JobsQuery, ListingHeartbeat, ResultStatus, ResultTaken,
    Side,
};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::super::job::taken;
use super::super::serve;
use super::seat::Seat;
use crate::failure::{Failure, Result};
use crate::print::line;
use crate::printer::Printer;

/// The host takes an agent for offline that is silent for 90 s.
const BEAT: Duration = Duration::from_secs(25);
/// How often it looks for jobs.
const LOOK: Duration = Duration::from_secs(1);
/// How often it looks whether the job that it works on was taken back.
const CHECK: Duration = Duration::from_secs(5);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// Jobs that are listed at once.
const PAGE: u32 = 200;
/// A token that was issued here is good for a day.
const RENEW: Duration = Duration::from_secs(12 * 3_600);

/// Works until a signal ends it.
pub(super) async fn run(
    seat: Seat,
    agent_id: String,
    skill: String,
    command: String,
    print: Printer,
) -> Result {
    let folder = std::env::current_dir().map_err(|e| Failure::here("there is no folder", e))?;
    let client = Mutex::new(seat.client.clone());
    let worker = Worker { seat, client, agent_id, skill, command, folder, print };
    tokio::select! {
        ended = worker.beat() => ended,
        ended = worker.work() => ended,
        ended = serve::stopped() => ended,
    }
}

struct Worker {
    seat: Seat,
    client: Mutex<Client>,
    agent_id: String,
    skill: String,
    command: String,
    folder: std::path::PathBuf,
    print: Printer,
}

/// How far back the list of jobs was read.
struct Seen {
    /// All jobs that were asked for before have been seen.
    since: Timestamp,
    /// Those that were begun.
    begun: HashSet<String>,
}

impl Worker {
    fn client(&self) -> Client {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn renew(&self) -> Result<bool> {
        let Some(renewed) = self.seat.renewed().await? else { return Ok(false) };
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = renewed;
        Ok(true)
    }

    /// Says that the agent lives, for ever; ends when the host does not know it any more.
    async fn beat(&self) -> Result {
        let (mut is_away, mut renewed) = (false, Instant::now());
        let beat = ListingHeartbeat { agent_id: Some(self.agent_id.clone()), timestamp_utc: None };
        loop {
            if renewed.elapsed() > RENEW && self.renew().await.unwrap_or(false) {
                renewed = Instant::now();
            }
            match self.client().heartbeat(&beat).await {
                Ok(_) => {
                    if std::mem::take(&mut is_away) {
                        self.print.note("the host is back");
                    }
                    tokio::time::sleep(BEAT).await;
                }
                Err(error) if error.is_retryable() => {
                    if !std::mem::replace(&mut is_away, true) {
                        self.print.note("the host is away; waiting for it");
                    }
                    tokio::time::sleep(LOOK).await;
                }
                Err(error) if error.code() == Some(Code::Unauthorized) && self.renew().await? => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn work(&self) -> Result {
        let oldest = now().plus(-JOB_TIMEOUTS_MS[1]);
        let mut seen = Seen { since: oldest, begun: HashSet::new() };
        loop {
            for job in self.next_jobs(&mut seen).await? {
                self.do_job(job).await?;
            }
        }
    }

    /// The next jobs that are to be done, the oldest first; looks again every second until there
    /// are some, since the host has no call that waits for them.
    async fn next_jobs(&self, seen: &mut Seen) -> Result<Vec<Job>> {
        loop {
            match self.look(seen).await {
                Ok(found) if found.is_empty() => {}
                Ok(found) => return Ok(found),
                Err(error) if self.may_pass(&error) => {}
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// What is new since the last look.
    async fn look(&self, seen: &mut Seen) -> std::result::Result<Vec<Job>, Error> {
        let (client, mut found) = (self.client(), Vec::new());
        let mut query =
            JobsQuery { side: Some(Side::Worker), limit: Some(PAGE), ..Default::default() };
        let mut newest = seen.since;
        loop {
            let page = client.jobs(&query).await?;
            newest = page.jobs.first().map_or(newest, |job| newest.max(job.created_at.0));
            let is_read = page.jobs.last().is_none_or(|job| job.created_at.0 < seen.since);
            let new = page.jobs.into_iter().filter(|job| job.created_at.0 >= seen.since);
            found.extend(new.filter(|job| self.is_to_do(job) && !seen.begun.contains(&job.job_id)));
            query.after = page.next.filter(|_| !is_read);
            if query.after.is_none() {
                break;
            }
        }
        if newest > seen.since {
            seen.since = newest;
            seen.begun.clear();
        }
        seen.begun.extend(found.iter().map(|job| job.job_id.clone()));
        found.reverse();
        Ok(found)
    }

    fn is_to_do(&self, job: &Job) -> bool {
        let is_open = match job.state {
            JobStatus::Funded => true,
            JobStatus::Open => job.payment == "direct",
            _ => false,
        };
        is_open && job.agent_id == self.agent_id && job.skill_name == self.skill
    }

    /// Whether the same may go well later.
    fn may_pass(&self, error: &Error) -> bool {
        error.is_retryable() || error.code() == Some(Code::Unauthorized)
    }

    /// Does one job. What the host refuses of it is said, and the next one is done.
    async fn do_job(&self, job: Job) -> Result {
        let left = job.deadline_at.0.since(now());
        let Ok(left) = u64::try_from(left) else { return Ok(()) };
        if !self.tell(&self.result(&job, ResultStatus::Pending, 0)).await {
            return Ok(());
        }
        let began = Instant::now();
        let Some(end) = self.run_command(&job, Duration::from_millis(left)).await else {
            self.print.note(&format!("{} was taken back", line(&job.job_id)));
            return Ok(());
        };
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut result = self.result(&job, ResultStatus::Success, took);
        match output(end) {
            Ok(output) => result.output_data = Some(output),
            Err(why) => failed(&mut result, &why),
        }
        match self.deliver(result).await {
            Some(delivered) => self.print.show(&delivered, taken),
            None => Ok(()),
        }
    }

    fn result(&self, job: &Job, status: ResultStatus, execution_time_ms: u64) -> JobResult {
        JobResult {
            job_id: job.job_id.clone(),
            agent_id: self.agent_id.clone(),
            status,
            output_data: None,
            execution_cost: None,
            execution_time_ms,
            error_message: None,
            timestamp_utc: None,
        }
    }

    /// Runs the command with the job's input; none if the job has ended in the meantime.
    async fn run_command(&self, job: &Job, timeout: Duration) -> Option<End> {
        let work = Work {
            prompt: job.input_data.get().to_owned(),
            environment: vec![
                ("CHORUS_JOB_ID", job.job_id.clone()),
                ("CHORUS_JOB_SKILL", job.skill_name.clone()),
            ],
            folder: self.folder.clone(),
            session: None,
            noted_in: None,
        };
        let bounds = Bounds { timeout, output: JOB_DATA_BYTES, grace: GRACE };
        let (_going, cancel) = oneshot::channel();
        let (tell, told) = mpsc::unbounded_channel();
        tokio::select! {
            end = command::run(&self.command, work, bounds, cancel, tell) => Some(end),
            () = self.report(job, told) => None,
        }
    }

    /// Tells the host how far the command is; ends when the job has ended without it.
    async fn report(&self, job: &Job, mut told: mpsc::UnboundedReceiver<Told>) {
        let mut is_telling = true;
        loop {
            let progress = tokio::select! {
                told = told.recv(), if is_telling => {
                    is_telling = told.is_some();
                    told
                }
                () = tokio::time::sleep(CHECK) => None,
            };
            if let Some(Told::Progress(far)) = progress {
                let mut result = self.result(job, ResultStatus::Pending, 0);
                result.error_message = Some(end_of(&far).to_owned());
                // How far it is matters only now: what is not taken is not said again.
                let _ = self.client().deliver_job(&job.job_id, &result).await;
                continue;
            }
            let now = self.client().job(&job.job_id, &JobQuery::default()).await;
            if now.is_ok_and(|now| !self.is_to_do(&now)) {
                return;
            }
        }
    }

    /// Says that a job is worked on; whether it may be.
    async fn tell(&self, result: &JobResult) -> bool {
        let told = self.until_heard(|client| {
            let result = result.clone();
            async move { client.deliver_job(&result.job_id, &result).await }
        });
        match told.await {
            Ok(_) => true,
            Err(error) => {
                self.print.note(&format!("{} is left: {error}", line(&result.job_id)));
                false
            }
        }
    }

    /// Delivers a result. One that the host does not take becomes a failure that says why.
    async fn deliver(&self, mut result: JobResult) -> Option<ResultTaken> {
        loop {
            let sent = self.until_heard(|client| {
                let result = result.clone();
                async move { client.deliver_job(&result.job_id, &result).await }
            });
            let error = match sent.await {
                Ok(delivered) => return Some(delivered),
                Err(error) => error,
            };
            let is_wrong =
                matches!(error.code(), Some(Code::ValidationError | Code::PayloadTooLarge));
            if !is_wrong || result.status != ResultStatus::Success {
                let job = line(&result.job_id);
                self.print.note(&format!("the result of {job} was not taken: {error}"));
                return None;
            }
            let Error::Refused { message, .. } = &error else { return None };
            self.print.note(&format!("{}: {}", line(&result.job_id), line(message)));
            failed(&mut result, message);
        }
    }

    /// Calls until the host answers.
    async fn until_heard<T, F>(&self, call: impl Fn(Client) -> F) -> std::result::Result<T, Error>
    where
        F: Future<Output = std::result::Result<T, Error>>,
    {
        let mut attempt = 0;
        loop {
            match call(self.client()).await {
                Err(error) if error.is_retryable() => {
                    let random = uuid::Uuid::now_v7().as_u64_pair().1;
                    tokio::time::sleep(backoff(attempt, random)).await;
                    attempt += 1;
                }
                done => return done,
            }
        }
    }
}

fn failed(result: &mut JobResult, why: &str) {
    result.status = ResultStatus::Failure;
    result.output_data = None;
    result.error_message = Some(end_of(why).to_owned());
}

/// The JSON that a command has printed, or why there is none.
fn output(end: End) -> std::result::Result<Box<RawValue>, String> {
    match end {
        End::Said(text) => RawValue::from_string(text)
            .map_err(|e| format!("the command printed something else than JSON: {e}")),
        End::Silent | End::Disposed => Err("the command printed nothing".to_owned()),
        End::Failed { note } | End::TimedOut { note } => Err(note),
        End::Cancelled => Err("the command was stopped".to_owned()),
    }
}

/// As much of the end as the host takes.
fn end_of(text: &str) -> &str {
    let mut from = text.len().saturating_sub(JOB_NOTE_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    // covers: REG-91
    #[test]
    fn what_a_command_printed_is_json_or_a_failure_with_its_reason() {
        assert_eq!(output(End::Said("{\"a\": 1}".to_owned())).unwrap().get(), "{\"a\": 1}");
        for (end, why) in [
            (End::Said("hello".to_owned()), "something else than JSON"),
            (End::Silent, "printed nothing"),
            (End::Failed { note: "no such language".to_owned() }, "no such language"),
        ] {
            assert!(output(end).unwrap_err().contains(why), "{why}");
        }
        let long = format!("ä{}", "b".repeat(JOB_NOTE_BYTES - 1));
        assert_eq!(end_of(&long).len(), JOB_NOTE_BYTES - 1);
    }
}
