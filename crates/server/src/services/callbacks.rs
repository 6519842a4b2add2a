//! What an agent says by its callback (webhook spec section 3): messages are sends of its delivery, judged as on
//! every transport; the rest is shown as its activity, is never chat and wakes nobody.

use std::sync::Arc;

use chorus_core::commands::deliveries;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Prefix, Seq, Uid};
use chorus_wire::limits::KEY_BYTES;
use chorus_wire::rest::messages::NewMessage;
use chorus_wire::webhook::{CallbackEvent, Lifecycle, StandingCallback};
use serde_json::Value;

use super::App;
use super::send::OutgoingMessage;
use super::turns::ShownTo;
use crate::auth::callback::{Callback, Called, Purpose, STANDING_MS};
use crate::dispatch::feed::Live;

/// Characters of a text of an activity that are shown; who wants more looks at the agent itself.
const SHOWN: usize = 2_000;

/// What became of an event that was taken.
#[derive(Default)]
pub(crate) struct Took {
    /// It had come before.
    pub duplicate: bool,
    pub callback: Option<StandingCallback>,
}

impl App {
    /// The callback behind a token of `/channels/{id}/inbox/{token}`.
    pub(crate) fn called(&self, channel: &str, token: &str) -> Result<Called, Refusal> {
        let unknown = || Refusal::new(Code::Unauthorized, "this is no callback of this host");
        let channel = super::ids::conversation(channel).map_err(|_| unknown())?;
        self.auth.verify_callback(token, channel, &self.directory(), self.now())
    }

    /// Takes one event. `key` is what makes it known when it comes again, where it has no id of its own.
    ///
    /// This is the one gate of what comes with a delivery: whatever the event is, the callback still holds, its run is
    /// not over and no other attempt was heard, the agent has its seat, a channel that lets agents speak unasked still
    /// does, and what is shown goes to those alone who are shown the delivered message.
    pub(crate) async fn callback(
        &self,
        called: &Called,
        event: CallbackEvent,
        key: Option<String>,
    ) -> Result<Took, Refusal> {
        let (by, purpose) = (called.caller.by, called.callback.purpose);
        self.auth.still_holds(called, &self.directory(), self.now())?;
        if purpose == Purpose::Test {
            self.webhooks.tried(by.member, self.now());
            return Ok(Took::default());
        }
        match (event, purpose) {
            // What a turn may still say and how it ended are judged with the command itself, which knows what came
            // before.
            (CallbackEvent::Message { content, id }, Purpose::Delivery) => {
                // That it lives is known first: what it says may be its last word.
                self.life(by);
                self.may_go_on(called)?;
                self.say(called, content, id, key).await
            }
            (idle @ CallbackEvent::Lifecycle { state: Lifecycle::Idle }, Purpose::Delivery) => {
                let shown = self.pass(called, false).await;
                self.may_go_on(called)?;
                self.rest(called).await?;
                if let Ok(shown) = shown {
                    self.show_activity(called, shown.only, &idle);
                }
                Ok(Took::default())
            }
            (event, _) => {
                let shows_words = matches!(
                    event,
                    CallbackEvent::Status { .. }
                        | CallbackEvent::ToolCall { .. }
                        | CallbackEvent::ToolResult { .. }
                        | CallbackEvent::Error { .. }
                );
                let shown = self.pass(called, shows_words).await?;
                match event {
                    CallbackEvent::Message { content, id } => {
                        self.say(called, content, id, key).await
                    }
                    CallbackEvent::RequestCallback => self.standing(called).await,
                    event => self.relay(called, shown, event),
                }
            }
        }
    }

    /// The gate, which is core's: what has no right to be shown is refused. Gives to whom it may be. A message has a gate
    /// of its own for what it shows.
    async fn pass(&self, called: &Called, shows: bool) -> Result<ShownTo, Refusal> {
        let by = called.caller.by;
        match called.callback.purpose {
            Purpose::Delivery => self.shown_to(by).await,
            _ => {
                self.may_act_unasked(called, shows).await?;
                Ok(ShownTo { only: None, remote: None })
            }
        }
    }

    async fn may_act_unasked(&self, called: &Called, shows: bool) -> Result<(), Refusal> {
        let conversation = called.callback.turn.conversation;
        let asked = deliveries::MayActUnasked { conversation, shows };
        self.submit(called.caller.by, asked).await.map(drop)
    }

    /// Shows what an agent does, beside its words, here and to the service that asked.
    fn relay(
        &self,
        called: &Called,
        shown: ShownTo,
        event: CallbackEvent,
    ) -> Result<Took, Refusal> {
        let event = self.plain(event);
        let is_work = !matches!(event, CallbackEvent::Lifecycle { .. });
        if is_work {
            self.is_seen(called)?;
        }
        self.show_activity(called, shown.only, &event);
        if let Some(run) = shown.remote {
            // Where the agent is behind a string of ours, its service follows too.
            let does = is_work.then(|| with_objects(event));
            self.replies.progress(called.callback.turn.key, run, does);
        }
        Ok(Took::default())
    }

    /// Nothing is taken of a run that its author has added to. A message is seen once it was taken.
    fn may_go_on(&self, called: &Called) -> Result<(), Refusal> {
        match called.callback.purpose {
            Purpose::Delivery => {
                self.webhooks.runs.may_go_on(called.caller.by.member, called.callback.at())
            }
            _ => Ok(()),
        }
    }

    /// The same of what is shown, which keeps anything from joining the run.
    fn is_seen(&self, called: &Called) -> Result<(), Refusal> {
        match called.callback.purpose {
            Purpose::Delivery => {
                self.webhooks.runs.says(called.caller.by.member, called.callback.at())
            }
            _ => Ok(()),
        }
    }

    /// A message: an answer to what was delivered, or a word of its own with a callback that is for none. An id is
    /// what it is known by, whatever the header says.
    async fn say(
        &self,
        called: &Called,
        content: String,
        id: Option<String>,
        key: Option<String>,
    ) -> Result<Took, Refusal> {
        let Callback { turn, purpose, .. } = called.callback;
        let known = id.as_deref().or(key.as_deref());
        if known.is_some_and(|known| known.is_empty() || known.len() > KEY_BYTES / 2) {
            let most = KEY_BYTES / 2;
            return Err(Refusal::invalid(format!("the id of a message has 1 to {most} bytes")));
        }
        // Of one delivery: the next may count its messages from one again.
        let event = turn.event.show(Prefix::Event);
        let key = match (id, key) {
            (Some(id), _) => format!("{event}:{id}"),
            (None, Some(key)) => format!("{event}/{key}"),
            (None, None) => self.draw.uid(self.now())?.show(Prefix::Event),
        };
        let answers = purpose == Purpose::Delivery;
        let message = NewMessage {
            conversation: turn.conversation.show(Prefix::Conversation),
            in_reply_to: answers.then(|| turn.event.show(Prefix::Event)),
            text: Some(content),
            idempotency_key: Some(key),
            ..NewMessage::default()
        };
        let mut letter = OutgoingMessage::from(message);
        letter.unasked = !answers;
        let (_, duplicate, _) = self.send(&called.caller, letter, true).await?;
        Ok(Took { duplicate, callback: None })
    }

    /// The run is over: what it has not answered it will not.
    async fn rest(&self, called: &Called) -> Result<(), Refusal> {
        let event = called.callback.turn.event;
        let disposition = Disposition::Acknowledged;
        let ended = deliveries::Dispose { event, disposition, note: None };
        self.submit(called.caller.by, ended).await.map(drop)
    }

    /// A callback with which the agent may speak unasked, where the channel grants it.
    async fn standing(&self, called: &Called) -> Result<Took, Refusal> {
        self.may_act_unasked(called, false).await?;
        let expires = self.now().plus(STANDING_MS);
        let callback = Callback {
            purpose: Purpose::Standing,
            turn: crate::auth::Turn {
                event: Uid::default(),
                seq: Seq(0),
                fence: 0,
                expires,
                ..called.callback.turn
            },
            attempt: 0,
            ..called.callback
        };
        let url = self.callback_url(&callback);
        Ok(Took {
            callback: Some(StandingCallback { url, expires_at: expires.into() }),
            ..Took::default()
        })
    }

    /// The URL of a callback.
    pub(crate) fn callback_url(&self, callback: &Callback) -> String {
        let channel = callback.turn.conversation.show(Prefix::Conversation);
        let token = self.auth.write_callback(callback);
        format!("{}/channels/{channel}/inbox/{token}", self.public_url)
    }

    /// Shows what an agent does to whoever follows the conversation, and may see it.
    fn show_activity(
        &self,
        called: &Called,
        only: Option<Arc<[MemberKey]>>,
        event: &CallbackEvent,
    ) {
        let turn = called.callback.turn;
        if !self.feed.is_followed(turn.key) {
            return;
        }
        let Ok(Value::Object(mut activity)) = serde_json::to_value(event) else { return };
        activity
            .insert("conversation".to_owned(), turn.conversation.show(Prefix::Conversation).into());
        activity.insert("member".to_owned(), called.caller.member.id.to_string().into());
        if called.callback.purpose == Purpose::Delivery {
            activity.insert("event_id".to_owned(), turn.event.show(Prefix::Event).into());
        }
        let json = Value::Object(activity).to_string().into();
        self.feed.publish(turn.key, Live::Activity { name: "activity", json, only });
    }

    /// An event as it is shown: its texts without secrets and control characters, and not too long.
    fn plain(&self, event: CallbackEvent) -> CallbackEvent {
        let shown = |text: String| self.as_shown(&text);
        let value = |value: Value| Value::String(self.as_shown(&text_of(&value)));
        match event {
            CallbackEvent::ToolCall { name, args, id } => CallbackEvent::ToolCall {
                name: shown(name),
                args: args.map(value),
                id: id.map(shown),
            },
            CallbackEvent::ToolResult { id, content } => {
                CallbackEvent::ToolResult { id: id.map(shown), content: content.map(value) }
            }
            CallbackEvent::Status { status } => CallbackEvent::Status { status: shown(status) },
            CallbackEvent::Error { message, code } => {
                CallbackEvent::Error { message: shown(message), code: code.map(shown) }
            }
            other => other,
        }
    }

    fn as_shown(&self, text: &str) -> String {
        let text: String =
            text.chars().filter(|c| !c.is_control() || *c == '\n').take(4 * SHOWN).collect();
        // Before it is cut, or half a key would be none.
        self.redactor.clean(&text).chars().take(SHOWN).collect()
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What stood as an object or a list in an event, and was made a text to be cleaned, is one again where it still can be.
fn with_objects(event: CallbackEvent) -> CallbackEvent {
    let read = |value: Value| {
        let read = value.as_str().and_then(|text| serde_json::from_str(text).ok());
        read.filter(|read: &Value| read.is_object() || read.is_array()).unwrap_or(value)
    };
    match event {
        CallbackEvent::ToolCall { name, args, id } => {
            CallbackEvent::ToolCall { name, args: args.map(read), id }
        }
        CallbackEvent::ToolResult { id, content } => {
            CallbackEvent::ToolResult { id, content: content.map(read) }
        }
        other => other,
    }
}
