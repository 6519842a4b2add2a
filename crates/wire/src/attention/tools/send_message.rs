//! `chat.send_message`: what somebody says.

use chorus_core::model::attention::{Directedness, Mode, Policy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::attention::entry::{Told, UnknownName};
use crate::attention::schema::{CONVERSATION, TURN, object, object_open, one_of, text};
use crate::limits::KEY_BYTES;
use crate::named::Named;
use crate::part::Part;
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `chat.send_message`. Give exactly one of `text` and `content`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendMessage {
    pub target: SendTarget,
    pub in_reply_to: Option<String>,
    /// The same for every retry of this message.
    pub idempotency_key: String,
    pub visibility: Visibility,
    /// With visibility `ephemeral`: ids of the members who see the message. By default those who
    /// see the message it answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The intended audience. It can lower an obligation but never raise it.
    pub directedness: Named<Directedness>,
    #[redact(fixed = 3)]
    pub text: Option<String>,
    pub content: Option<Vec<Part>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<String>,
    pub recipient: Option<String>,
    #[redact(fixed = 3)]
    pub metadata: Option<Box<RawValue>>,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
    /// Whether this is the closing text of a run, sent by its harness. If the run has called
    /// `emit_output`, that output is posted instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closing: bool,
}

impl Arguments for SendMessage {
    type Result = Sent;

    const TOOL: &'static Tool = &Tool {
        name: "chat.send_message",
        title: "Send a chat message",
        description: "Send, post or reply with a chat message. Obey the response_policy of the event you \
                      answer: never reply to must_not_respond, react to ack_only, and for may_respond \
                      stay silent unless you help. Mention a member only to oblige them. Reuse the same \
                      idempotencyKey when you retry.",
        effect: Effect::Sets,
        reach: Reach::Named,
        for_turns: true,
        sends: true,
        caller_fields: None,
        shape: Shape::written::<Self>(input, output),
    };
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendTarget {
    pub conversation: String,
    pub thread: Option<String>,
}

/// Where a message is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    Dm,
    Thread,
    Channel,
    /// Only to the named members; it is delivered to nobody else.
    Ephemeral,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    pub event_id: String,
    pub conversation: String,
    pub thread_id: Option<String>,
    pub sequence: u64,
    pub thread_sequence: Option<u64>,
    pub created_at: Time,
    /// The message had already been sent with the same key; nothing was sent now.
    pub duplicate: bool,
    /// Number of secrets that were redacted from it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub redacted: u32,
    /// The recipients that the sender can see.
    pub told: Vec<Told>,
    /// Names in its text that match nobody the sender can see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_names: Vec<UnknownName>,
}

fn input() -> Value {
    object(
        json!({
            "target": object(
                json!({
                    "conversation": text(CONVERSATION),
                    "thread": text("Thread id, th_…; the message joins this thread"),
                }),
                &["conversation"],
            ),
            "inReplyTo": text("The event you answer, evt_…"),
            "idempotencyKey": {
                "type": "string", "minLength": 1, "maxLength": KEY_BYTES,
                "description": "Stable key of this message, the same for every retry; \
                                reply:<eventId>:1 for the first reply to an event",
            },
            "visibility": {
                "type": "string", "enum": ["dm", "thread", "channel", "ephemeral"],
                "description": "Where it is shown; ephemeral: only to the members in `only`",
            },
            "only": {
                "type": "array", "items": {"type": "string"},
                "description": "The members who see an ephemeral message, @handle or id; by default those who \
                                see the message you answer",
            },
            "directedness": one_of::<Directedness>(
                "Intended audience: to_me obliges the named member, to_my_role offers work to a role, \
                 to_other answers somebody without obliging, ambient only shares"
            ),
            "text": text("What you say. Give text or content"),
            "content": {"type": "array", "items": {"type": "object"}, "description": "Typed message parts"},
            "mentions": {
                "type": "array", "items": {"type": "string"},
                "description": "Members to oblige besides those named with @ in the text, @handle or id",
            },
            "recipient": text("The one member it is for, @handle or id"),
            "metadata": {"type": "object", "description": "Data for programs"},
            "closing": {
                "type": "boolean",
                "description": "For harnesses: this is the run's closing text; emitted output is posted instead",
            },
            "turn": text(TURN),
        }),
        &["target", "idempotencyKey", "visibility", "directedness"],
    )
}

fn output() -> Value {
    object_open(
        json!({
            "eventId": {"type": "string"},
            "conversation": {"type": "string"},
            "threadId": {"type": "string"},
            "sequence": {"type": "integer"},
            "threadSequence": {"type": "integer"},
            "createdAt": {"type": "string"},
            "duplicate": {"type": "boolean"},
            "told": {"type": "array", "items": object_open(
                json!({
                    "member": {"type": "string"},
                    "directedness": one_of::<Directedness>("How it addresses the member"),
                    "policy": one_of::<Policy>("The member's obligation"),
                    "mode": one_of::<Mode>("What the member is shown"),
                    "reason": {"type": "string"},
                }),
                &["member", "directedness", "policy", "mode", "reason"],
            )},
        }),
        &[],
    )
}
