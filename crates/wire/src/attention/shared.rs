//! Writing `chat/deliver`: what is the same for all receivers is encoded once ([`Shared`]), and each
//! receiver's frame is that text with its own part ([`DeliverFor`]) put beside it. A message told to a
//! hundred members is serialised once, not a hundred times.
//!
//! What is written reads back as [`super::deliver::Deliver`]; the test below holds both to it.

use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::ids::{Prefix, Uid};
use serde::Serialize;

use super::channel::ChannelDelivery;
use super::content::{Author, ConversationRef, Source, Timing, TurnGrant};
use super::deliver::{Knock, is_none};
use super::method;
use crate::webhook::McpServer;
use crate::words;

/// What every receiver of an event is told alike.
#[derive(Clone, veil::Redact)]
pub struct DeliverShared<'a> {
    pub event: Uid,
    pub source: Source<'a>,
    pub conversation: ConversationRef<'a>,
    pub author: Author<'a>,
    pub timing: Timing,
    /// Member ids named in the message.
    pub mentions: &'a [&'a str],
    pub content: Body<'a>,
    pub intent: Intent,
    pub replaces: Option<Uid>,
    pub in_reply_to: Option<Uid>,
    /// Canonical JSON of an object, as [`crate::canonical::metadata`] made it; put in verbatim.
    #[redact(fixed = 3)]
    pub metadata: Option<&'a str>,
}

/// A message's content, as core keeps it.
#[derive(Clone, Copy, veil::Redact)]
pub enum Body<'a> {
    Text(#[redact(fixed = 3)] &'a str),
    /// Canonical JSON of the list of parts, as [`crate::part::Content`] made it; put in verbatim.
    Parts(#[redact(fixed = 3)] &'a str),
}

/// The encoded shared part; immutable, to be held in an `Arc` beside the event.
#[derive(veil::Redact)]
pub struct Shared {
    event_id: String,
    /// `"eventId":…,…,"timing":…`, without braces.
    #[redact(fixed = 3)]
    head: String,
    /// The list of mentions.
    mentions: String,
    /// `"content":…` and `,"metadata":…`: withheld from knocks.
    #[redact(fixed = 3)]
    body: String,
    intent: Intent,
}

/// What one receiver is told.
#[derive(Clone, veil::Redact)]
pub struct DeliverFor<'a> {
    /// The receiver's member id.
    pub member: &'a str,
    /// The recipient the sender named.
    pub recipient: Option<&'a str>,
    pub directedness: Directedness,
    pub policy: Policy,
    #[redact(fixed = 3)]
    pub reason: &'a str,
    pub priority: Priority,
    pub deadline_ms: Option<u32>,
    pub mode: Mode,
    pub attempt: u16,
    pub turn: Option<TurnGrant<'a>>,
    pub channel: Option<&'a ChannelDelivery>,
    /// Members that were told too, and how many beyond those.
    pub audience: &'a [&'a str],
    pub audience_more: usize,
    pub knock: Option<Knock<'a>>,
    /// Tools that another service sent along, and what it says of its channel.
    pub mcp: &'a [McpServer],
    #[redact(fixed = 3)]
    pub channel_context: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    event_id: &'a str,
    source: &'a Source<'a>,
    conversation: &'a ConversationRef<'a>,
    author: &'a Author<'a>,
    timing: Timing,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_reply_to: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tail<'a> {
    attention: Attention<'a>,
    injection: Injection,
    reliability: Reliability<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<&'a TurnGrant<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<&'a ChannelDelivery>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    audience: &'a [&'a str],
    #[serde(skip_serializing_if = "is_none")]
    audience_more: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    knock: Option<&'a Knock<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    mcp: &'a [McpServer],
    #[serde(skip_serializing_if = "Option::is_none")]
    channel_context: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attention<'a> {
    #[serde(with = "words::one")]
    policy: Policy,
    reason: &'a str,
    #[serde(with = "words::one")]
    priority: Priority,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline_ms: Option<u32>,
    #[serde(with = "words::one")]
    intent: Intent,
}

#[derive(Serialize)]
struct Injection {
    #[serde(with = "words::one")]
    mode: Mode,
    context: &'static str,
    role: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reliability<'a> {
    attempt: u16,
    idempotency_key: &'a str,
}

impl DeliverShared<'_> {
    /// Encodes it, once for all receivers.
    pub fn encode(&self) -> Shared {
        let event_id = self.event.show(Prefix::Event);
        let head = json(&Head {
            event_id: &event_id,
            source: &self.source,
            conversation: &self.conversation,
            author: &self.author,
            timing: self.timing,
            replaces: self.replaces.map(|uid| uid.show(Prefix::Event)),
            in_reply_to: self.in_reply_to.map(|uid| uid.show(Prefix::Event)),
        });
        let mut body = match self.content {
            Body::Text(text) => format!(r#""content":[{{"type":"text","text":{}}}]"#, json(text)),
            Body::Parts(parts) => format!(r#""content":{parts}"#),
        };
        if let Some(metadata) = self.metadata {
            body.push_str(r#","metadata":"#);
            body.push_str(metadata);
        }
        let mentions = json(self.mentions);
        Shared { event_id, head: inner(&head).to_owned(), mentions, body, intent: self.intent }
    }
}

impl Shared {
    pub fn event_id(&self) -> &str {
        &self.event_id
    }

    /// Bytes it holds, for a bound on a queue.
    pub fn len(&self) -> usize {
        self.event_id.len() + self.head.len() + self.mentions.len() + self.body.len()
    }

    /// Never; an event has an id.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The whole frame for one receiver: the request `chat/deliver` under the id of this attempt.
    pub fn frame(&self, to: &DeliverFor<'_>) -> String {
        let mut out = String::with_capacity(self.len() + 768);
        out.push_str(r#"{"jsonrpc":"2.0","id":""#);
        // The event's hexadecimal digits need no escape.
        let hex = self.event_id.trim_start_matches(Prefix::Event.as_str());
        out.push_str(&format!("dlv_{hex}.{}", to.attempt));
        out.push_str(r#"","method":""#);
        out.push_str(method::DELIVER);
        out.push_str(r#"","params":"#);
        self.write_params(&mut out, to);
        out.push('}');
        out
    }

    /// The params alone, as `chat.claim` returns them for its `event`. The content stands in them only when
    /// the mode shows it.
    pub fn write_params(&self, out: &mut String, to: &DeliverFor<'_>) {
        out.push('{');
        out.push_str(&self.head);
        out.push_str(r#","target":{"mentions":"#);
        out.push_str(&self.mentions);
        if let Some(recipient) = to.recipient {
            out.push_str(r#","recipient":"#);
            out.push_str(&json(recipient));
        }
        out.push_str(r#","directedness":"#);
        out.push_str(&json(&words::As(to.directedness)));
        out.push_str("},");
        if to.mode.shows_content() {
            out.push_str(&self.body);
            out.push(',');
        }
        let key = format!("{}:{}", self.event_id, to.member);
        let tail = json(&Tail {
            attention: Attention {
                policy: to.policy,
                reason: to.reason,
                priority: to.priority,
                deadline_ms: to.deadline_ms,
                intent: self.intent,
            },
            injection: Injection { mode: to.mode, context: "thread_window", role: "user" },
            reliability: Reliability { attempt: to.attempt, idempotency_key: &key },
            turn: to.turn.as_ref(),
            channel: to.channel,
            audience: to.audience,
            audience_more: to.audience_more,
            knock: to.knock.as_ref(),
            mcp: to.mcp,
            channel_context: to.channel_context,
        });
        out.push_str(inner(&tail));
        out.push('}');
    }
}

/// The JSON-RPC id of one attempt to deliver: `dlv_<event hex>.<attempt>`.
pub fn delivery_id(event: Uid, attempt: u16) -> String {
    format!("dlv_{:032x}.{attempt}", event.0)
}

/// Reads what [`delivery_id`] wrote.
pub fn read_delivery_id(id: &str) -> Option<(Uid, u16)> {
    let (hex, attempt) = id.strip_prefix("dlv_")?.split_once('.')?;
    // `parse` would take a sign and leading zeros.
    let plain = attempt.bytes().all(|b| b.is_ascii_digit()) && !attempt.starts_with('0');
    if !plain {
        return None;
    }
    Some((hex.parse().ok()?, attempt.parse().ok()?))
}

/// An object's text without its braces.
fn inner(object: &str) -> &str {
    object.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default()
}

/// Plain structs of strings and numbers always have a JSON text.
fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
