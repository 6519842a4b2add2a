//! Agents of this host are asked for jobs as for anything else: by a message in a thread, which is framed for their
//! runtime, wakes them, and obliges them to answer. Their answer is the result.
//!
//! Asking and answering are both idempotent: the message is posted under a key of the job, and a job takes one result.
//! So what a crash has cut off is done again.

use std::sync::Arc;

use chorus_core::commands::jobs::{Deliver, JobPosted};
use chorus_core::commands::messages::Logged;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::delivery::Unanswered;
use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Change, Event, Idempotency, Message};
use chorus_core::model::ids::{EventRef, MemberKey, Prefix, Uid};
use chorus_core::model::job::{Job, JobResult, Posted};
use chorus_core::model::ledger::Credits;
use chorus_core::model::limits;
use chorus_core::model::registry::Listing;
use chorus_core::model::requests::{Audience, Home, OpenThread, Post};
use chorus_core::model::thread::ThreadKind;
use chorus_store::reader::Start;
use chorus_store::{Line, Page};
use chorus_wire::canonical::canonical_json;
use serde_json::{Value, json};

use super::schemas::must_fit;
use super::steps::next;
use crate::dispatch::hiring::Hiring;
use crate::services::clock::HostClock;
use crate::services::commands::Commands;
use crate::services::reads::Reads;

/// Messages of a thread that are looked through for an answer.
const LOOKED: usize = 100;
/// What an answer begins with that is a failure.
const FAILURE: &str = "FAILURE";

/// Asking agents of this host, and taking their answers.
pub(crate) struct AskingService {
    pub(in crate::services) commands: Arc<Commands>,
    pub(in crate::services) reads: Arc<Reads>,
    pub(in crate::services) clock: Arc<HostClock>,
    pub(in crate::services) hiring: Arc<Hiring>,
}

impl AskingService {
    /// Asks an agent for a job, in the name of its hirer.
    pub(crate) async fn ask(&self, job: &Job, listing: &Listing) {
        let Some(member) = listing.member else { return };
        let (posted, asked_in) = match self.post(job, member).await {
            Ok((at, event)) => {
                self.hiring.note_asked(at, job.uid);
                (Posted::Taken, Some((at, event)))
            }
            Err(refusal) => {
                let why = refusal.message.chars().take(limits::JOB_NOTE_BYTES / 4);
                (Posted::Refused(why.collect::<String>().into()), None)
            }
        };
        let attempt = job.sending.attempts;
        let command = JobPosted { job: job.uid, end: false, attempt, posted, asked_in };
        if let Err(refusal) = self.commands.submit(By::host(), command).await {
            tracing::warn!(%refusal, "it is not known that an agent was asked for a job");
        }
        self.hiring.moved.notify_waiters();
    }

    async fn post(&self, job: &Job, member: MemberKey) -> Result<(EventRef, Uid), Refusal> {
        let (session, turn) = (None, None);
        let by = By { member: job.hirer, session, authority: Authority::Worker, turn };
        let once = |id: u128| Idempotency { key: id.to_be_bytes(), payload: id.to_be_bytes() };
        let (conversation, thread) = match job.thread {
            Some(thread) => {
                let read = move |readers: &chorus_store::Readers| {
                    let Some((home, _)) = readers.thread(thread)? else { return Ok(None) };
                    readers.conversation_by_key(home)
                };
                let home = self.reads.read(read).await?;
                (home.ok_or_else(|| Refusal::not_found("thread"))?.uid, thread)
            }
            None => {
                let opening = OpenThread {
                    home: Home::Own,
                    root: None,
                    title: format!("Job: {}", job.skill),
                    kind: ThreadKind::Workflow,
                    owner: Some(member),
                    participants: vec![member],
                    idempotency: Some(once(job.uid.0)),
                };
                let opened = self.commands.submit(by, opening).await?;
                (opened.conversation.uid, opened.thread.uid)
            }
        };
        let metadata = json!({"job_id": job.uid.show(Prefix::Uuid)}).to_string();
        let message = Message {
            text: request(job).into(),
            metadata: Some(metadata.into()),
            ..Message::default()
        };
        let post = Post {
            conversation,
            thread: Some(thread),
            message,
            in_reply_to: None,
            // Another key than that of the thread.
            idempotency: Some(once(!job.uid.0)),
            recipient: Some(member),
            mentions: Vec::new(),
            directedness: None,
            audience: Audience::AsAnswered,
            left_out: Vec::new(),
        };
        let Logged { entry, .. } = self.commands.submit_redacted(by, post).await?;
        let at = EventRef { conversation: entry.conversation.key, seq: entry.event.seq };
        Ok((at, entry.event.uid))
    }

    /// Takes an agent's message as the result of the job that it was asked for.
    pub(crate) async fn take_answer(&self, uid: Uid, event: &Event) {
        let read = move |readers: &chorus_store::Readers| {
            let Some(job) = readers.job(uid)? else { return Ok(None) };
            let listing = readers.listing(job.agent)?;
            Ok(listing.map(|(listing, _)| (job, listing)))
        };
        let (job, listing) = match self.reads.read(read).await {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(refusal) => {
                tracing::warn!(%refusal, "a job that was answered cannot be read");
                return;
            }
        };
        if job.state.has_ended() || job.result.is_some() {
            job.asked_in.into_iter().for_each(|at| self.hiring.forget_asked(at));
            return;
        }
        let Change::Posted(message) = &event.change else { return };
        if listing.member != Some(event.actor) {
            return;
        }
        let result = match Unanswered::reported_by(message) {
            Some(_) => failed(&job, &message.text),
            None => result(&job, &message.text).await,
        };
        let time_ms = event.at.since(job.made_at).unsigned_abs();
        let result = JobResult { time_ms, stated_at: self.clock.now(), ..result };
        let next = next(&self.reads, &job, &result).await;
        let deliver = Deliver { job: uid, agent: job.agent, result, next };
        if let Err(refusal) = self.commands.submit(By::host(), deliver).await {
            tracing::warn!(%refusal, "an agent's answer is no result of its job");
            // The agent has said its word, and the job waits for no other.
            let result = JobResult {
                time_ms,
                stated_at: self.clock.now(),
                ..failed(&job, &refusal.message)
            };
            let deliver = Deliver { job: uid, agent: job.agent, result, next: None };
            if let Err(refusal) = self.commands.submit(By::host(), deliver).await {
                tracing::warn!(%refusal, "a job that was answered could not be ended");
            }
        }
        job.asked_in.into_iter().for_each(|at| self.hiring.forget_asked(at));
        self.hiring.moved.notify_waiters();
    }

    /// Looks for answers to the jobs under way, in case one was missed.
    pub(crate) async fn look_for_answers(&self) {
        let jobs = match self.reads.read(|readers| readers.asked_jobs()).await {
            Ok(jobs) => jobs,
            Err(refusal) => {
                tracing::warn!(%refusal, "which jobs were asked for is not known");
                return;
            }
        };
        for job in jobs {
            let Some(at) = job.asked_in else { continue };
            self.hiring.note_asked(at, job.uid);
            let hiring = self.hiring.clone();
            let read = move |readers: &chorus_store::Readers| {
                let start = Start::After(at.seq);
                let page =
                    Page { conversation: at.conversation, line: Line::All, start, limit: LOOKED };
                let (entries, _) = readers.entries(&page)?.unwrap_or_default();
                let events = entries.into_iter().map(|stored| stored.entry.event);
                let mut posted = events.filter(|e| matches!(e.change, Change::Posted(_)));
                Ok(posted.find(|event| hiring.answered_by(event) == Some(job.uid)))
            };
            if let Ok(Some(event)) = self.reads.read(read).await {
                self.take_answer(job.uid, &event).await;
            }
        }
    }
}

/// What an agent is told. What the hirer gives it is in code, so that a name in it addresses nobody.
fn request(job: &Job) -> String {
    let input = pretty(&job.input);
    let mut text = format!(
        "You are hired for a job: {}, for {} credits.\n\nInput:\n```json\n{input}\n```\n",
        job.skill, job.price
    );
    match &*job.output_schema {
        "{}" | "true" => text.push_str("Answer with the result alone.\n"),
        schema => text.push_str(&format!(
            "Answer with the result alone, one JSON object that fits this schema:\n```json\n{}\n```\n",
            pretty(schema)
        )),
    }
    text.push_str(&format!(
        "If you cannot do it, begin your answer with {FAILURE} and say why. Your first answer counts. \
         Job {}; the tool deliver_job does the same.",
        job.uid.show(Prefix::Uuid)
    ));
    text
}

fn pretty(json: &str) -> String {
    let value: Option<Value> = serde_json::from_str(json).ok();
    value.and_then(|v| serde_json::to_string_pretty(&v).ok()).unwrap_or_else(|| json.to_owned())
}

/// An answer as the result of a job: JSON that fits, or else a failure that says why it does not.
async fn result(job: &Job, text: &str) -> JobResult {
    let text = text.trim();
    let failed = |why: &str| failed(job, why);
    if let Some(why) = text.strip_prefix(FAILURE) {
        let why = why.trim_start_matches([':', ' ', '\n', '.', '-', '–', '—']);
        return failed(if why.is_empty() { "the agent could not do it" } else { why });
    }
    let output = object(text).unwrap_or_else(|| json!({"text": text}).to_string());
    let output = match canonical_json(&output, limits::JOB_DATA_BYTES) {
        Ok(output) => output,
        Err(refusal) => return failed(&format!("the answer is no result: {}", refusal.message)),
    };
    match must_fit(job.agent, &job.output_schema, &output, "output_data").await {
        Ok(()) => JobResult {
            success: true,
            output: Some(output.into()),
            cost: job.price,
            error: None,
            ..failed("")
        },
        Err(refusal) => failed(&refusal.message),
    }
}

fn failed(job: &Job, why: &str) -> JobResult {
    JobResult {
        success: false,
        output: None,
        cost: Credits(0),
        time_ms: 0,
        error: Some(cut(why, limits::JOB_NOTE_BYTES).into()),
        stated_at: job.made_at,
    }
}

/// The JSON object that an answer is, or that stands in it.
fn object(text: &str) -> Option<String> {
    let fenced = || {
        let (_, rest) = text.split_once("```json").or_else(|| text.split_once("```"))?;
        rest.split_once("```").map(|(inside, _)| inside)
    };
    let braced = || text.find('{').zip(text.rfind('}')).and_then(|(a, b)| text.get(a..=b));
    let candidates = [Some(text), fenced(), braced()];
    let mut read = candidates.into_iter().flatten().map(str::trim);
    read.find(|json| serde_json::from_str::<Value>(json).is_ok_and(|v| v.is_object()))
        .map(str::to_owned)
}

fn cut(text: &str, most: usize) -> String {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: REG-48
    #[test]
    fn an_answer_is_the_json_that_stands_in_it() {
        for (text, found) in [
            (r#"{"a": 1}"#, Some(r#"{"a": 1}"#)),
            ("Here you are:\n```json\n{\"a\": 1}\n```\nBye.", Some(r#"{"a": 1}"#)),
            (r#"It is {"a": {"b": 2}}."#, Some(r#"{"a": {"b": 2}}"#)),
            ("[1, 2]", None),
            ("no braces", None),
            ("} backwards {", None),
        ] {
            assert_eq!(object(text).as_deref(), found, "{text}");
        }
    }
}
