//! What an agent says by its callback (webhook spec section 3): messages are sends of its delivery, judged as on
//! every door; the rest is shown as its activity, is never chat and wakes nobody.

use chorus_core::command::Command;
use chorus_core::delivery::Disposition;
use chorus_core::error::{Code, Refusal};
use chorus_core::event::EventRef;
use chorus_core::ids::{Prefix, Seq, Uid};
use chorus_wire::attention::descriptors::KEY_BYTES;
use chorus_wire::rest::messages::NewMessage;
use chorus_wire::webhook::{CallbackEvent, Lifecycle, StandingCallback};
use serde_json::{Value, json};

use super::App;
use super::send::Letter;
use crate::auth::callback::{Callback, Called, Purpose, STANDING_MS};
use crate::couriers::feed::Live;

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

    /// Takes one event. `key` is what makes it known when it comes again, beside an id of its own.
    pub(crate) async fn callback(
        &self,
        called: &Called,
        event: CallbackEvent,
        key: Option<String>,
    ) -> Result<Took, Refusal> {
        if called.callback.purpose == Purpose::Test {
            self.webhooks.tried(called.caller.by.member, self.now());
            return Ok(Took::default());
        }
        // That it lives is known first: what it says may be its last word.
        if called.callback.purpose == Purpose::Delivery {
            self.life(called.caller.by);
            self.may_go_on(called, &event)?;
        }
        match event {
            CallbackEvent::Message { content, id } => self.say(called, content, key.or(id)).await,
            CallbackEvent::Lifecycle { state: Lifecycle::Processing } => {
                self.show_activity(called, json!({"type": "lifecycle", "state": "processing"}));
                Ok(Took::default())
            }
            CallbackEvent::Lifecycle { state: Lifecycle::Idle } => {
                self.show_activity(called, json!({"type": "lifecycle", "state": "idle"}));
                self.rest(called).await
            }
            CallbackEvent::RequestCallback => self.standing(called).await,
            CallbackEvent::ToolCall { name, args, id } => {
                let args = args.map(|args| self.plain(&text_of(&args)));
                let name = self.plain(&name);
                let id = id.map(|id| self.plain(&id));
                self.show_activity(
                    called,
                    json!({"type": "tool_call", "name": name, "args": args, "id": id}),
                );
                Ok(Took::default())
            }
            CallbackEvent::ToolResult { id, content } => {
                let content = content.map(|content| self.plain(&text_of(&content)));
                let id = id.map(|id| self.plain(&id));
                self.show_activity(
                    called,
                    json!({"type": "tool_result", "id": id, "content": content}),
                );
                Ok(Took::default())
            }
            CallbackEvent::Status { status } => {
                let status = self.plain(&status);
                self.show_activity(called, json!({"type": "status", "status": status}));
                Ok(Took::default())
            }
            CallbackEvent::Error { message, code } => {
                let message = self.plain(&message);
                let code = code.map(|code| self.plain(&code));
                self.show_activity(
                    called,
                    json!({"type": "error", "message": message, "code": code}),
                );
                Ok(Took::default())
            }
        }
    }

    /// Nothing is taken of a run that its author has added to; what is shown of another keeps anything from joining it.
    fn may_go_on(&self, called: &Called, event: &CallbackEvent) -> Result<(), Refusal> {
        let Callback { turn, .. } = called.callback;
        let (runs, member) = (&self.webhooks.runs, called.caller.by.member);
        let at = EventRef { conversation: turn.key, seq: turn.seq };
        match event {
            CallbackEvent::Lifecycle { state: Lifecycle::Processing }
            | CallbackEvent::RequestCallback => Ok(()),
            // A message is seen once it was taken.
            CallbackEvent::Lifecycle { .. } | CallbackEvent::Message { .. } => {
                runs.may_go_on(member, at)
            }
            _ => runs.says(member, at),
        }
    }

    /// A message: an answer to what was delivered, or a word of its own with a callback that is for none.
    async fn say(
        &self,
        called: &Called,
        content: String,
        id: Option<String>,
    ) -> Result<Took, Refusal> {
        let Callback { turn, purpose, .. } = called.callback;
        let key = match id {
            Some(id) if id.is_empty() || id.len() > KEY_BYTES / 2 => {
                let most = KEY_BYTES / 2;
                return Err(Refusal::invalid(format!("the id of a message has 1 to {most} bytes")));
            }
            // Of one delivery: the next may count its messages from one again.
            Some(id) => format!("{}:{id}", turn.event.show(Prefix::Event)),
            None => self.draw.uid(self.now())?.show(Prefix::Event),
        };
        let answers = purpose == Purpose::Delivery;
        let message = NewMessage {
            conversation: turn.conversation.show(Prefix::Conversation),
            in_reply_to: answers.then(|| turn.event.show(Prefix::Event)),
            text: Some(content),
            idempotency_key: Some(key),
            ..NewMessage::default()
        };
        let (_, duplicate, _) = self.send(&called.caller, Letter::from(message), true).await?;
        Ok(Took { duplicate, callback: None })
    }

    /// The run is over: what it has not answered it will not.
    async fn rest(&self, called: &Called) -> Result<Took, Refusal> {
        if called.callback.purpose != Purpose::Delivery {
            return Ok(Took::default());
        }
        let event = called.callback.turn.event;
        let disposition = Disposition::Acknowledged;
        let ended = Command::Dispose { event, disposition, note: None };
        self.submit(called.caller.by, ended).await?;
        Ok(Took::default())
    }

    /// A callback with which the agent may speak unasked, where the channel grants it.
    async fn standing(&self, called: &Called) -> Result<Took, Refusal> {
        let turn = called.callback.turn;
        let place = self.place(&called.caller, turn.conversation).await?;
        if !place.conversation.settings.proactive {
            return Err(Refusal::new(
                Code::Forbidden,
                "this channel gives out no callbacks to speak unasked",
            ));
        }
        let expires = self.now().plus(STANDING_MS);
        let callback = Callback {
            purpose: Purpose::Standing,
            turn: crate::auth::Turn {
                event: Uid::default(),
                seq: Seq(0),
                fence: 0,
                expires,
                ..turn
            },
            attempt: 0,
            ..called.callback
        };
        let url = self.callback_url(&callback);
        Ok(Took {
            callback: Some(StandingCallback { url, expires_at: expires }),
            ..Took::default()
        })
    }

    /// The URL of a callback.
    pub(crate) fn callback_url(&self, callback: &Callback) -> String {
        let channel = callback.turn.conversation.show(Prefix::Conversation);
        let token = self.auth.write_callback(callback);
        format!("{}/channels/{channel}/inbox/{token}", self.public_url)
    }

    /// Shows what an agent does to whoever follows the conversation.
    fn show_activity(&self, called: &Called, mut activity: Value) {
        let turn = called.callback.turn;
        if !self.feed.is_followed(turn.key) {
            return;
        }
        if let Some(activity) = activity.as_object_mut() {
            activity.retain(|_, value| !value.is_null());
            activity.insert(
                "conversation".to_owned(),
                turn.conversation.show(Prefix::Conversation).into(),
            );
            activity.insert("member".to_owned(), called.caller.member.id.to_string().into());
            if called.callback.purpose == Purpose::Delivery {
                activity.insert("event_id".to_owned(), turn.event.show(Prefix::Event).into());
            }
        }
        let live =
            Live::Activity { name: "activity", json: activity.to_string().into(), only: None };
        self.feed.publish(turn.key, live);
    }

    /// A text of a runtime as it is shown: without secrets and control characters, and not too long.
    fn plain(&self, text: &str) -> String {
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
