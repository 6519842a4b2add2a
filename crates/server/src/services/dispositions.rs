//! What a harness says of its turns: taken, ended, alive, typing (C2A "Event disposition", "Cancellation and
//! progress").

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use chorus_core::commands::{Command, deliveries};
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{EventRef, MemberKey, Prefix, Timestamp, Uid};
use chorus_core::model::thread::ThreadStatus;
use chorus_core::state::directory::Directory;
use chorus_core::state::effect::RemoteRun;
use chorus_wire::attention::disposition::{DispositionParams, DispositionResult};
use chorus_wire::attention::notifications::{Progress, Typing};
use chorus_wire::attention::{method, shared, tools};
use chorus_wire::error::sentence;
use chorus_wire::jsonrpc::{Id, Notification};
use chorus_wire::webhook::CallbackEvent;
use serde_json::json;

use super::clock::HostClock;
use super::commands::Commands;
use super::identity::Identity;
use super::ids;
use super::reads::Reads;
use super::threads::{Change, ThreadService};
use crate::auth::Caller;
use crate::dispatch::connections::{Connections, Note, Typing as Types};
use crate::dispatch::feed::{Feed, Live};
use crate::dispatch::replies::pending::Replies;
use crate::redact::Redactor;

/// Typing of one member in one conversation is passed on at most this often.
const TYPING_EVERY_MS: i64 = 1_000;
/// Longest note, in bytes: a line for people.
const NOTE_BYTES: usize = 4 * 1024;

/// When whoever was last said to type, and whether it did.
#[derive(Default)]
pub(crate) struct TypingRates(Mutex<HashMap<(MemberKey, Uid), (Timestamp, bool)>>);

/// To whom what is done in a run may be shown.
pub(crate) struct ShownTo {
    /// Those alone; none is everybody in the conversation.
    pub only: Option<Arc<[MemberKey]>>,
    /// The service that has delivered what is run, as it knows the run.
    pub remote: Option<RemoteRun>,
}

/// Turns on deliveries.
pub(crate) struct DispositionService {
    pub(super) commands: Arc<Commands>,
    pub(super) identity: Arc<Identity>,
    pub(super) reads: Arc<Reads>,
    pub(super) threads: Arc<ThreadService>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) connections: Arc<Connections>,
    pub(super) feed: Arc<Feed>,
    pub(super) redactor: Arc<Redactor>,
    pub(super) replies: Arc<Replies>,
    pub(super) typing: Arc<TypingRates>,
}

impl DispositionService {
    /// The harness has the offered event, which is refused when it was never offered. Nobody waits for the answer.
    pub(crate) fn accept(
        &self,
        by: By,
        event: EventRef,
        attempt: u16,
        refused: impl FnOnce(Refusal) + Send + 'static,
    ) {
        self.commands.hand_or(by, deliveries::Accept { event, attempt, epoch: None }, refused);
    }

    /// The harness or its connection could not take it.
    pub(crate) async fn reject(
        &self,
        by: By,
        event: EventRef,
        attempt: u16,
    ) -> Result<(), Refusal> {
        self.commands.submit(by, deliveries::Reject { event, attempt }).await.map(drop)
    }

    /// `chat/disposition`.
    pub(crate) async fn dispose(
        &self,
        caller: &Caller,
        params: DispositionParams,
    ) -> Result<DispositionResult, Refusal> {
        let caller = self.identity.in_turn(caller, params.turn.as_deref())?;
        self.end(&caller, &params.event_id, params.disposition.0, params.note).await
    }

    /// `chat.defer`.
    pub(crate) async fn defer(
        &self,
        caller: &Caller,
        args: tools::Defer,
    ) -> Result<DispositionResult, Refusal> {
        let caller = self.identity.in_turn(caller, args.turn.as_deref())?;
        if args.reason.trim().is_empty() {
            return Err(Refusal::invalid("say why it is deferred"));
        }
        if args.reason.len() > NOTE_BYTES {
            return Err(Refusal::invalid(format!("a reason has at most {NOTE_BYTES} bytes")));
        }
        let event = ids::event(&args.event_id)?;
        let until = args.until.map(|until| until.from(self.clock.now()));
        let reason = Some(args.reason.into());
        self.disposed(caller.by, deliveries::Defer { event, until, reason }).await
    }

    /// `chat.resolve`: an event is handled without a message, or a thread is resolved.
    pub(crate) async fn resolve(
        &self,
        caller: &Caller,
        args: tools::Resolve,
    ) -> Result<tools::Resolved, Refusal> {
        let caller = self.identity.in_turn(caller, args.turn.as_deref())?;
        match (args.event_id, args.thread_id) {
            (Some(event), None) => {
                let (event, note) = (ids::event(&event)?, args.note);
                check_note(note.as_deref())?;
                let note = note.map(Into::into);
                let ended = self.disposed(caller.by, deliveries::Resolve { event, note }).await?;
                Ok(tools::Resolved {
                    event_id: Some(ended.event_id),
                    disposition: Some(ended.disposition),
                    thread_id: None,
                    status: None,
                })
            }
            (None, Some(thread)) => {
                let change = Change {
                    status: Some(ThreadStatus::Resolved),
                    owner: None,
                    reason: args.note.unwrap_or_default(),
                    summary: None,
                    metadata: None,
                };
                let (thread, _) = self.threads.move_thread(&caller, &thread, change).await?;
                Ok(tools::Resolved {
                    event_id: None,
                    disposition: None,
                    thread_id: Some(thread.uid.show(Prefix::Thread)),
                    status: Some(thread.status.into()),
                })
            }
            _ => Err(Refusal::invalid("give eventId or threadId, and not both")),
        }
    }

    async fn end(
        &self,
        caller: &Caller,
        event: &str,
        disposition: Disposition,
        note: Option<String>,
    ) -> Result<DispositionResult, Refusal> {
        check_note(note.as_deref())?;
        let event = ids::event(event)?;
        // People read it; an agent may pass on a refusal as it came.
        let note = note.map(|note| sentence(&note).into());
        self.disposed(caller.by, deliveries::Dispose { event, disposition, note }).await
    }

    async fn disposed<C>(&self, by: By, command: C) -> Result<DispositionResult, Refusal>
    where
        C: Command<Output = deliveries::Disposed>,
    {
        let deliveries::Disposed { event, disposition } = self.commands.submit(by, command).await?;
        Ok(DispositionResult {
            event_id: event.show(Prefix::Event),
            disposition: disposition.into(),
        })
    }

    /// Proof of life of the runs that a session has accepted.
    pub(crate) fn life(&self, by: By) {
        if let Some(session) = by.session {
            self.commands.hand(by, deliveries::Life { session });
        }
    }

    /// The turn that a call comes with is its caller's still, and its run lives.
    pub(crate) async fn hold_turn(&self, by: By) -> Result<(), Refusal> {
        self.shown_to(by).await.map(drop)
    }

    /// The same; gives to whom what comes of it may be shown.
    pub(crate) async fn shown_to(&self, by: By) -> Result<ShownTo, Refusal> {
        let deliveries::Working { only, remote, .. } =
            self.commands.submit(by, deliveries::Progress { event: None }).await?;
        Ok(ShownTo { only, remote })
    }

    /// `notifications/cancelled` from the harness, of a delivery: its run says nothing more, and what it owes moves on.
    pub(crate) async fn cancel_delivery(
        &self,
        by: By,
        event: Uid,
        attempt: Option<u16>,
    ) -> Result<(), Refusal> {
        self.commands.submit(by, deliveries::CancelDelivery { event, attempt }).await.map(drop)
    }

    /// `notifications/progress`: shown to whoever follows, never chat, and wakes nobody. Where its run is: at the event it
    /// names, else the one its token is of, else the turn's, else that of the run which the session began last.
    pub(crate) async fn progress(
        &self,
        caller: &Caller,
        progress: &Progress,
    ) -> Result<(), Refusal> {
        let named = progress.event_id.as_deref().map(ids::event).transpose()?;
        let event = named.or_else(|| event_of(&progress.progress_token));
        let deliveries::Working { conversation, event, only, remote } =
            self.commands.submit(caller.by, deliveries::Progress { event }).await?;
        let followed = self.feed.is_followed(conversation.key);
        if !followed && remote.is_none() {
            return Ok(());
        }
        // Untrusted like every text of a runtime: one line, not too long.
        let message = progress
            .message
            .as_deref()
            .map(|text| text.chars().filter(|c| !c.is_control()).collect::<String>())
            // Before it is cut, or half a key would be none.
            .map(|text| self.redactor.clean(&text).chars().take(200).collect::<String>());
        if let Some(run) = remote {
            let status = message.clone().map(|status| CallbackEvent::Status { status });
            self.replies.progress(conversation.key, run, status);
        }
        if !followed {
            return Ok(());
        }
        let json = json!({
            "conversation": conversation.uid.show(Prefix::Conversation),
            "member": &*caller.member.id,
            "event_id": event.show(Prefix::Event),
            "progress": progress.progress,
            "total": progress.total,
            "message": message,
        });
        let live = Live::Activity { name: "progress", json: json.to_string().into(), only };
        self.feed.publish(conversation.key, live);
        Ok(())
    }

    /// Somebody types: told to the sessions that may be composing a turn from what is said there.
    pub(crate) async fn typing(&self, caller: &Caller, typing: &Typing) -> Result<(), Refusal> {
        self.directory.load().must_not_be_paused(caller.by.member)?;
        if caller.authority() == Authority::Auditor {
            return Err(Refusal::new(Code::Forbidden, "an auditor reads and writes nothing"));
        }
        let uid = ids::conversation(&typing.conversation)?;
        if caller.by.turn.is_some() {
            self.hold_turn(caller.by).await?;
        }
        // Before anything is noted of it: what cannot be seen is answered alike, however often it is asked.
        let place = self.reads.place(caller, uid).await?;
        let now = self.clock.now();
        if !self.typing.passes(caller.by.member, uid, typing.typing, now) {
            return Ok(());
        }
        let params = Typing {
            conversation: uid.show(Prefix::Conversation),
            author: Some(caller.member.id.to_string()),
            typing: typing.typing,
        };
        if self.feed.is_followed(place.conversation.key) {
            let json = json!(params).to_string().into();
            let live = Live::Activity { name: "typing", json, only: None };
            self.feed.publish(place.conversation.key, live);
        }
        let text = serde_json::to_string(&Notification::new(method::TYPING, &params));
        let Ok(text) = text else { return Ok(()) };
        for connection in self.connections.all() {
            let told = connection.can.utilities.typing && connection.member != caller.by.member;
            if told && connection.listens(uid, now) {
                let (author, on) = (caller.by.member, typing.typing);
                let typing = Some(Types { conversation: place.conversation.key, author, on });
                connection.note(Note { text: text.clone(), withdraws: None, typing });
            }
        }
        Ok(())
    }
}

fn check_note(note: Option<&str>) -> Result<(), Refusal> {
    match note.is_some_and(|note| note.len() > NOTE_BYTES) {
        true => Err(Refusal::invalid(format!("a note has at most {NOTE_BYTES} bytes"))),
        false => Ok(()),
    }
}

/// An event by its public id.
pub(crate) fn event_id(id: &str) -> Result<Uid, Refusal> {
    ids::event(id)
}

/// The event that a request's id or a progress token is of, when it is one of a delivery.
pub(crate) fn event_of(id: &Id) -> Option<Uid> {
    let Id::String(text) = id else { return None };
    delivery_of(id).map(|(event, _)| event).or_else(|| ids::event(text).ok())
}

/// The event and the attempt that the id of a delivery's request names.
pub(crate) fn delivery_of(id: &Id) -> Option<(Uid, u16)> {
    let Id::String(id) = id else { return None };
    shared::read_delivery_id(id)
}

impl TypingRates {
    /// The member has posted: that it types from now on is news.
    pub(crate) fn posted(&self, member: MemberKey, conversation: Uid) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.remove(&(member, conversation));
    }

    fn passes(&self, member: MemberKey, conversation: Uid, typing: bool, now: Timestamp) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() > 10_000 {
            last.retain(|_, (at, _)| now.since(*at) < TYPING_EVERY_MS);
        }
        let key = (member, conversation);
        let too_soon = last
            .get(&key)
            .is_some_and(|(at, was)| *was == typing && now.since(*at) < TYPING_EVERY_MS);
        if !too_soon {
            last.insert(key, (now, typing));
        }
        !too_soon
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: ATT-122
    #[test]
    fn typing_is_passed_on_once_a_second_and_its_end_at_once() {
        let rates = TypingRates::default();
        let at = |ms, typing| rates.passes(MemberKey(1), Uid(1), typing, Timestamp(ms));
        assert!(at(0, true));
        assert!(!at(999, true));
        assert!(at(999, false));
        assert!(at(1000, true));
        assert!(rates.passes(MemberKey(2), Uid(1), true, Timestamp(1000)));
    }
}
