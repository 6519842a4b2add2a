//! What a harness says of its turns: taken, ended, alive, typing (C2A "Event disposition", "Cancellation and
//! progress").

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use chorus_core::command::{By, Command, Outcome};
use chorus_core::delivery::Disposition;
use chorus_core::error::Refusal;
use chorus_core::event::EventRef;
use chorus_core::ids::{MemberKey, Prefix, Timestamp, Uid};
use chorus_core::thread::ThreadStatus;
use chorus_wire::attention::disposition::{DispositionParams, DispositionResult};
use chorus_wire::attention::notifications::{Progress, Typing};
use chorus_wire::attention::{method, tools};
use chorus_wire::jsonrpc::Notification;
use serde_json::json;

use super::{App, ids, unexpected};
use crate::auth::Caller;
use crate::couriers::connections::Note;
use crate::couriers::feed::Live;

/// Typing of one member in one conversation is passed on at most this often.
const TYPING_EVERY_MS: i64 = 1_000;
/// Longest note, in bytes: a line for people.
const NOTE_BYTES: usize = 4 * 1024;

/// When whoever was last said to type, and whether it did.
#[derive(Default)]
pub(crate) struct TypingRates(Mutex<HashMap<(MemberKey, Uid), (Timestamp, bool)>>);

impl App {
    /// The harness has the offered event. Refused when it was never offered.
    pub(crate) async fn accept(
        &self,
        by: By,
        event: EventRef,
        attempt: u16,
    ) -> Result<(), Refusal> {
        self.submit(by, Command::Accept { event, attempt }).await.map(drop)
    }

    /// The harness or its connection could not take it.
    pub(crate) async fn reject(
        &self,
        by: By,
        event: EventRef,
        attempt: u16,
    ) -> Result<(), Refusal> {
        self.submit(by, Command::Reject { event, attempt }).await.map(drop)
    }

    /// `chat/disposition`.
    pub(crate) async fn dispose(
        &self,
        caller: &Caller,
        params: DispositionParams,
    ) -> Result<DispositionResult, Refusal> {
        let caller = self.in_turn(caller, params.turn.as_deref())?;
        self.end(&caller, &params.event_id, params.disposition, params.note).await
    }

    /// `chat.defer`.
    pub(crate) async fn defer(
        &self,
        caller: &Caller,
        args: tools::Defer,
    ) -> Result<DispositionResult, Refusal> {
        let caller = self.in_turn(caller, args.turn.as_deref())?;
        if args.reason.trim().is_empty() {
            return Err(Refusal::invalid("say why it is deferred"));
        }
        if args.reason.len() > NOTE_BYTES {
            return Err(Refusal::invalid(format!("a reason has at most {NOTE_BYTES} bytes")));
        }
        let Some(until) = args.until else {
            return self
                .end(&caller, &args.event_id, Disposition::Deferred, Some(args.reason))
                .await;
        };
        let event = ids::event(&args.event_id)?;
        let until = until.from(self.now());
        self.disposed(caller.by, Command::Defer { event, until }).await
    }

    /// `chat.resolve`: an event is handled without a message, or a thread is resolved.
    pub(crate) async fn resolve(
        &self,
        caller: &Caller,
        args: tools::Resolve,
    ) -> Result<tools::Resolved, Refusal> {
        let caller = self.in_turn(caller, args.turn.as_deref())?;
        match (args.event_id, args.thread_id) {
            (Some(event), None) => {
                let ended = self.end(&caller, &event, Disposition::Responded, args.note).await?;
                Ok(tools::Resolved {
                    event_id: Some(ended.event_id),
                    disposition: Some(ended.disposition),
                    thread_id: None,
                    status: None,
                })
            }
            (None, Some(thread)) => {
                let reason = args.note.unwrap_or_default();
                let status = Some(ThreadStatus::Resolved);
                let (thread, _) =
                    self.move_thread(&caller, &thread, status, None, reason, None).await?;
                Ok(tools::Resolved {
                    event_id: None,
                    disposition: None,
                    thread_id: Some(thread.uid.show(Prefix::Thread)),
                    status: Some(thread.status),
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
        if note.as_ref().is_some_and(|n| n.len() > NOTE_BYTES) {
            return Err(Refusal::invalid(format!("a note has at most {NOTE_BYTES} bytes")));
        }
        let event = ids::event(event)?;
        let note = note.map(Into::into);
        self.disposed(caller.by, Command::Dispose { event, disposition, note }).await
    }

    async fn disposed(&self, by: By, command: Command) -> Result<DispositionResult, Refusal> {
        match self.submit(by, command).await? {
            Outcome::Disposed { event, disposition } => {
                Ok(DispositionResult { event_id: event.show(Prefix::Event), disposition })
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Proof of life of the runs that a session has accepted.
    pub(crate) fn life(&self, by: By) {
        if let Some(session) = by.session {
            self.hand(by, Command::Life { session });
        }
    }

    /// `notifications/progress`: shown to whoever follows, never chat, and wakes nobody.
    pub(crate) fn progress(
        &self,
        caller: &Caller,
        at: Option<&chorus_core::conversation::Conversation>,
        progress: &Progress,
    ) {
        let Some(conversation) = at else { return };
        let followed = self.feed.is_followed(conversation.key);
        if !followed && !self.backs.is_watched(conversation.key) {
            return;
        }
        // Untrusted like every text of a runtime: one line, not too long.
        let message = progress
            .message
            .as_deref()
            .map(|text| text.chars().filter(|c| !c.is_control()).collect::<String>())
            // Before it is cut, or half a key would be none.
            .map(|text| self.redactor.clean(&text).chars().take(200).collect::<String>());
        self.backs.progress(conversation.key, message.as_deref());
        if !followed {
            return;
        }
        let json = json!({
            "conversation": conversation.uid.show(Prefix::Conversation),
            "member": &*caller.member.id,
            "event_id": progress.event_id,
            "progress": progress.progress,
            "total": progress.total,
            "message": message,
        });
        let live = Live::Activity { name: "progress", json: json.to_string().into(), only: None };
        self.feed.publish(conversation.key, live);
    }

    /// Somebody types: told to the sessions that may be composing a turn from what is said there.
    pub(crate) async fn typing(&self, caller: &Caller, typing: &Typing) -> Result<(), Refusal> {
        let uid = ids::conversation(&typing.conversation)?;
        let now = self.now();
        if !self.typing.passes(caller.by.member, uid, typing.typing, now) {
            return Ok(());
        }
        let place = self.place(caller, uid).await?;
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
            if connection.member != caller.by.member && connection.listens(uid, now) {
                connection.note(Note { text: text.clone(), withdraws: None });
            }
        }
        Ok(())
    }
}

impl TypingRates {
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
