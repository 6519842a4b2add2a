//! Writes `chat/deliver`. The part that is the same for all receivers is encoded once ([`Shared`]);
//! each receiver's frame is that text plus its own part ([`DeliverFor`]). So a message to a hundred
//! members is serialized once, not a hundred times.
//!
//! The result can be read as [`super::deliver::Deliver`]; a test checks that.

use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::ids::{MemberKey, Prefix, Uid};
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::channel::ChannelDelivery;
use super::content::{Author, ConversationRef, Source, Timing, TurnGrant};
use super::deliver::Knock;
use super::method;
use super::told::Told;
use crate::named::Named;
use crate::webhook::McpServer;

/// The part of an event that is the same for all receivers.
#[derive(veil::Redact)]
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
    /// Canonical JSON of an object, made by [`crate::canonical::metadata`] and inserted verbatim.
    #[redact(fixed = 3)]
    pub metadata: Option<&'a str>,
    /// The id of the one member whom the sender names as its recipient.
    pub recipient: Option<&'a str>,
    pub told: Told,
}

/// A message's content in core's representation.
#[derive(Clone, Copy, veil::Redact)]
pub enum Body<'a> {
    Text(#[redact(fixed = 3)] &'a str),
    /// Canonical JSON of the list of parts, made by [`crate::part::Content`] and inserted verbatim.
    Parts(#[redact(fixed = 3)] &'a str),
}

/// The encoded shared part. Immutable; kept in an `Arc` with the event.
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
    /// As JSON.
    recipient: Option<String>,
    told: Told,
}

/// The part of an event that is for one receiver.
#[derive(Clone, veil::Redact)]
pub struct DeliverFor<'a> {
    pub receiver: MemberKey,
    /// The receiver's member id.
    pub member: &'a str,
    /// It is for the receiver, as the sender or the direct conversation says.
    pub is_recipient: bool,
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
    pub knock: Option<Knock<'a>>,
    /// Tools that another service sent with the message, and its description of its channel.
    pub mcp: &'a [McpServer],
    #[redact(fixed = 3)]
    pub channel_context: Option<&'a str>,
}

#[skip_serializing_none]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    event_id: &'a str,
    source: &'a Source<'a>,
    conversation: &'a ConversationRef<'a>,
    author: &'a Author<'a>,
    timing: Timing,
    replaces: Option<String>,
    in_reply_to: Option<String>,
}

#[skip_serializing_none]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tail<'a> {
    attention: Attention<'a>,
    injection: Injection,
    reliability: Reliability<'a>,
    turn: Option<&'a TurnGrant<'a>>,
    channel: Option<&'a ChannelDelivery>,
    knock: Option<&'a Knock<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    mcp: &'a [McpServer],
    channel_context: Option<&'a str>,
}

#[skip_serializing_none]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attention<'a> {
    policy: Named<Policy>,
    reason: &'a str,
    priority: Named<Priority>,
    deadline_ms: Option<u32>,
    intent: Named<Intent>,
}

#[derive(Serialize)]
struct Injection {
    mode: Named<Mode>,
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
    /// Encodes the shared part, once for all receivers.
    pub fn encode(self) -> Shared {
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
        let (intent, recipient, told) = (self.intent, self.recipient.map(json), self.told);
        let head = inner(&head).to_owned();
        Shared { event_id, head, mentions, body, intent, recipient, told }
    }
}

impl Shared {
    pub fn event_id(&self) -> &str {
        &self.event_id
    }

    /// Its size in bytes, for the limit of a queue.
    pub fn len(&self) -> usize {
        self.event_id.len() + self.head.len() + self.mentions.len() + self.body.len()
    }

    /// Always false, because an event has an id.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The whole frame for one receiver: the request `chat/deliver` under the id of this attempt.
    pub fn frame(&self, to: &DeliverFor<'_>) -> String {
        let mut out = Vec::with_capacity(self.len() + ROOM);
        // The event's hexadecimal digits need no escape.
        let hex = self.event_id.trim_start_matches(Prefix::Event.as_str());
        let id = format!("dlv_{hex}.{}", to.attempt);
        push(&mut out, [r#"{"jsonrpc":"2.0","id":""#, &id, r#"","method":""#]);
        push(&mut out, [method::DELIVER, r#"","params":"#]);
        self.write_params(&mut out, to);
        out.push(b'}');
        String::from_utf8(out).unwrap_or_default()
    }

    /// Only the params, as `chat.claim` returns them in `event`.
    pub fn params(&self, to: &DeliverFor<'_>) -> String {
        let mut out = Vec::with_capacity(self.len() + ROOM);
        self.write_params(&mut out, to);
        String::from_utf8(out).unwrap_or_default()
    }

    /// The params, with the content only if the mode shows it.
    fn write_params(&self, out: &mut Vec<u8>, to: &DeliverFor<'_>) {
        push(out, ["{", &self.head, r#","target":{"mentions":"#, &self.mentions]);
        match &self.recipient {
            _ if to.is_recipient => push(out, [r#","recipient":"#, &json(to.member)]),
            Some(recipient) => push(out, [r#","recipient":"#, recipient]),
            None => {}
        }
        push(out, [r#","directedness":"#, &json(&Named(to.directedness)), "}"]);
        if to.mode.shows_content() {
            push(out, [",", &self.body]);
        }
        self.told.write_others(out, to.receiver);
        let key = format!("{}:{}", self.event_id, to.member);
        let tail = Tail {
            attention: Attention {
                policy: to.policy.into(),
                reason: to.reason,
                priority: to.priority.into(),
                deadline_ms: to.deadline_ms,
                intent: self.intent.into(),
            },
            injection: Injection { mode: to.mode.into(), context: "thread_window", role: "user" },
            reliability: Reliability { attempt: to.attempt, idempotency_key: &key },
            turn: to.turn.as_ref(),
            channel: to.channel,
            knock: to.knock.as_ref(),
            mcp: to.mcp,
            channel_context: to.channel_context,
        };
        let begins = out.len();
        // Structs of strings and numbers cannot fail.
        let _ = serde_json::to_writer(&mut *out, &tail);
        // Its fields go on with those before, and its brace ends them all.
        if let Some(brace) = out.get_mut(begins) {
            *brace = b',';
        }
    }
}

fn push<const N: usize>(out: &mut Vec<u8>, pieces: [&str; N]) {
    pieces.iter().for_each(|piece| out.extend_from_slice(piece.as_bytes()));
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

/// Room for what one receiver's part of a frame needs, so that it need not grow while it is written.
const ROOM: usize = 1_536;

/// Serializes a value. Structs of strings and numbers cannot fail.
fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
