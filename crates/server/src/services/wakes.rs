//! Wakes: what brings a sleeping agent back to mail that waits for it (threads spec section 3.8).

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use chorus_core::commands::wakes;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Prefix, Timestamp, Uid};
use chorus_core::model::member::Session;
use chorus_core::model::wake::{Outcome, Wake, WakeState};
use chorus_core::queries;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::wake::{WakeReport, WakeReported};
use chorus_wire::limits::TRIGGER_PROMPT_BYTES;
use chorus_wire::rest::wakes::{ListWakes, NewWake, OpenedWake, Wakes};
use chorus_wire::threads::{Action, TriggerParticipant, TriggerResult, Triggered};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::commands::Commands;
use super::ids;
use super::reads::Reads;
use crate::auth::Caller;
use crate::view::wakes as view;

/// How long a trigger waits for the runner's first word: it looks at its lanes at once.
const FIRST_WORD: Duration = Duration::from_secs(3);

/// The reason of a wake, unless the caller gives one: the spec's example.
const UNREAD: &str = "new_unread_messages";

/// Wakes of agents.
pub(crate) struct WakeService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) reports: Reports,
}

/// Rises with each report that was taken.
pub(crate) struct Reports(watch::Sender<u64>);

impl Default for Reports {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl WakeService {
    /// `trigger_participant`: asks the agent's runner to wake it, and tells what came of it at once.
    pub(crate) async fn trigger(
        &self,
        caller: &Caller,
        args: TriggerParticipant,
    ) -> Result<Triggered, Refusal> {
        let thread = ids::thread(&args.thread_id)?;
        let new = New {
            thread,
            target: &args.target_agent_id,
            reason: args.reason,
            prompt: args.trigger_prompt,
            force: args.force,
        };
        let mut reports = self.reports.0.subscribe();
        let asked = self.ask(caller, new).await?;
        let (Some(mut wake), Some(session)) = (asked.wake, asked.session.clone()) else {
            return Ok(not_woken(args.target_agent_id, asked.result, asked.at));
        };
        let until = Instant::now() + FIRST_WORD;
        while is_undecided(&wake) && session.connected {
            if !matches!(timeout_at(until, reports.changed()).await, Ok(Ok(()))) {
                break;
            }
            wake = self.wake(caller, wake.uid).await?.unwrap_or(wake);
        }
        if wake.state == WakeState::Dead {
            let why = wake.outcome.map_or("no lane served", Outcome::name);
            let message = format!("the agent could not be woken: {why}");
            return Err(Refusal::new(Code::WakeFailed, message));
        }
        Ok(triggered(args.target_agent_id, &wake, &session, asked.at))
    }

    /// `POST /v1/wakes`
    pub(crate) async fn open(&self, caller: &Caller, new: NewWake) -> Result<OpenedWake, Refusal> {
        let thread = match new.thread.starts_with("ch_") {
            true => ids::conversation(&new.thread)?,
            false => ids::thread(&new.thread)?,
        };
        let asked = New {
            thread,
            target: &new.member,
            reason: new.reason,
            prompt: new.prompt,
            force: new.force,
        };
        let asked = self.ask(caller, asked).await?;
        Ok(OpenedWake { wake: self.show(asked.wake.into_iter().collect()).await?.pop() })
    }

    async fn ask(&self, caller: &Caller, new: New<'_>) -> Result<wakes::Triggered, Refusal> {
        caller.must_not_be_a_turn()?;
        let reason = new.reason.unwrap_or_else(|| UNREAD.to_owned());
        if reason.is_empty() || reason.len() > 64 || reason.chars().any(char::is_control) {
            return Err(Refusal::invalid("reason is one short word: new_unread_messages"));
        }
        if new.prompt.as_ref().is_some_and(|prompt| prompt.len() > TRIGGER_PROMPT_BYTES) {
            let why = format!("the prompt is at most {TRIGGER_PROMPT_BYTES} bytes");
            return Err(Refusal::new(Code::PayloadTooLarge, why));
        }
        let target = ids::member_for(&self.directory.load(), caller, new.target)?.id.to_string();
        let command = wakes::Trigger {
            thread: new.thread,
            target,
            reason,
            prompt: new.prompt,
            force: new.force,
        };
        self.commands.change(caller.by, command).await
    }

    /// `wake/report`: what became of a wake, from the runner that has it.
    pub(crate) async fn report(
        &self,
        caller: &Caller,
        report: WakeReport,
    ) -> Result<WakeReported, Refusal> {
        caller.must_not_be_a_turn()?;
        let command = wakes::ReportWake {
            wake: ids::wake(&report.wake_id)?,
            fence: report.fence,
            lane: report.lane.map(|lane| lane.0),
            result: report.result.0,
            why: report.why.map(Into::into),
            evidence: report.evidence.map(Into::into),
            deferred_until: report.deferred_until.map(|time| time.0),
            resume_id: report.resume_id.map(Into::into),
            lines: report.lines.map(Into::into),
        };
        let wake = self.commands.change(caller.by, command).await?;
        self.reports.0.send_modify(|reports| *reports += 1);
        Ok(WakeReported {
            wake_id: wake.uid.show(Prefix::Wake),
            state: wake.state.name().to_owned(),
            lease_until: wake.lease_until.map(Into::into),
        })
    }

    /// `GET /v1/wakes`
    pub(crate) async fn wakes(&self, caller: &Caller, query: ListWakes) -> Result<Wakes, Refusal> {
        caller.must_not_be_a_turn()?;
        let member = match query.member.as_deref() {
            Some(id) => Some(ids::member_for(&self.directory.load(), caller, id)?.key),
            None => None,
        };
        let mut found = self.found(caller).await?;
        found.retain(|wake| member.is_none_or(|member| wake.member == member));
        Ok(Wakes { wakes: self.show(found).await? })
    }

    /// What was done to wake agents for an event.
    pub(super) async fn of_event(
        &self,
        caller: &Caller,
        event: Uid,
    ) -> Result<Vec<chorus_wire::rest::wakes::Wake>, Refusal> {
        let query = queries::Wakes { session: None, event: Some(event) };
        self.show(self.commands.submit(caller.by, query).await?).await
    }

    async fn show(
        &self,
        wakes: Vec<Arc<Wake>>,
    ) -> Result<Vec<chorus_wire::rest::wakes::Wake>, Refusal> {
        let found = self.reads.read(move |readers| {
            let placed = wakes.into_iter().map(|wake| {
                let mut places = Vec::new();
                for place in &wake.threads {
                    let Some(conversation) = readers.conversation_by_key(place.conversation)?
                    else {
                        continue;
                    };
                    let thread = match place.thread {
                        Some(key) => readers.thread_by_key(place.conversation, key)?,
                        None => None,
                    };
                    places.push(view::Place {
                        conversation: conversation.uid,
                        thread: thread.map(|thread| thread.uid),
                        through_seq: place.through_seq,
                    });
                }
                Ok((wake, places))
            });
            placed.collect::<Result<Vec<_>, _>>()
        });
        let found = found.await?;
        let directory = self.directory.load();
        Ok(found.iter().map(|(wake, places)| view::wake(&directory, wake, places)).collect())
    }

    async fn found(&self, caller: &Caller) -> Result<Vec<Arc<Wake>>, Refusal> {
        self.commands.submit(caller.by, queries::Wakes { session: None, event: None }).await
    }

    async fn wake(&self, caller: &Caller, uid: Uid) -> Result<Option<Arc<Wake>>, Refusal> {
        Ok(self.found(caller).await?.into_iter().find(|wake| wake.uid == uid))
    }
}

/// A wake that was asked for.
struct New<'a> {
    thread: Uid,
    target: &'a str,
    reason: Option<String>,
    prompt: Option<String>,
    force: bool,
}

/// Whether the runner has not said yet what came of it.
fn is_undecided(wake: &Wake) -> bool {
    matches!(wake.state, WakeState::Pending | WakeState::Handed)
}

fn not_woken(target: String, why: wakes::TriggerResult, at: Timestamp) -> Triggered {
    let result = match why {
        wakes::TriggerResult::NothingUnread => TriggerResult::NothingUnread,
        _ => TriggerResult::Awake,
    };
    Triggered {
        target_agent_id: target,
        action: Action::None,
        result,
        defer_reason: None,
        deferred_until: None,
        fallback_action: None,
        runtime_command: None,
        triggered_at: at.into(),
        wake_id: None,
        lane: None,
    }
}

fn triggered(target: String, wake: &Wake, session: &Session, at: Timestamp) -> Triggered {
    let (result, defer_reason) = match wake.state {
        WakeState::Deferred => (TriggerResult::Deferred, Some("human_input_busy".to_owned())),
        WakeState::Running | WakeState::Done => (TriggerResult::Triggered, None),
        WakeState::Pending | WakeState::Handed | WakeState::Dead => (TriggerResult::Queued, None),
    };
    let confirmed = wake.attempts.last().filter(|_| result == TriggerResult::Triggered);
    let resumes = session.resumable && session.resume_id.is_some();
    Triggered {
        target_agent_id: target,
        action: Action::TriggerRuntime,
        result,
        defer_reason,
        deferred_until: wake.deferred_until.map(Into::into),
        fallback_action: Some(if resumes { "resume_session" } else { "start_session" }.to_owned()),
        runtime_command: resume_command(session, wake.prompt.as_deref().unwrap_or_default()),
        triggered_at: at.into(),
        wake_id: Some(wake.uid.show(Prefix::Wake)),
        lane: confirmed.map(|attempt| attempt.lane.name().to_owned()),
    }
}

/// The line by which a person would do what the runner's fallback does.
fn resume_command(session: &Session, prompt: &str) -> Option<String> {
    let id = session.resume_id.as_deref()?;
    let prompt: String = prompt.chars().filter(|c| !c.is_control()).take(200).collect();
    let (id, prompt) = (quoted(id), quoted(&prompt));
    match &*session.runtime {
        "codex_cli" => Some(format!("codex exec resume {id} {prompt}")),
        "claude_code" => Some(format!("claude -p --resume {id} {prompt}")),
        _ => None,
    }
}

/// A word as a shell reads it.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
