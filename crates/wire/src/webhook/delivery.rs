//! What a service POSTs to an agent (webhook spec section 2).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::member::MemberKind;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::attention::channel::ChannelDelivery;
use crate::named::Named;
use crate::part::Part;
use crate::time::Time;

/// The body of a POST to a connection string.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize)]
pub struct Delivery<'a> {
    pub channel: Channel,
    pub message: Message,
    /// The URL to which the agent posts its output. Opaque; knowing it is the only authorization.
    #[redact(fixed = 3)]
    pub callback: String,
    pub mcp: Option<McpServers>,
    /// Chorus's extension.
    pub chorus: Option<Extension<'a>>,
}

/// A reminder to an agent that accepted a message and has not answered. It is a separate signal,
/// not a new delivery.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize)]
pub struct Reminder<'a> {
    pub kind: ReminderKind,
    pub channel: Channel,
    /// The `message.id` of the delivered message.
    pub event_id: String,
    /// A callback for a run that has lost its own. A run uses only one of them.
    #[redact(fixed = 3)]
    pub callback: String,
    pub mcp: Option<McpServers>,
    pub chorus: Option<Extension<'a>>,
}

/// The value of `kind` that identifies a reminder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReminderKind {
    Reminder,
}

#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Never changes.
    pub id: String,
    #[redact(fixed = 3)]
    pub name: Option<String>,
    /// The hosting service.
    #[redact(fixed = 3)]
    pub service: Option<String>,
    #[redact(fixed = 3)]
    pub context: Option<String>,
}

#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: String,
    /// A display name or an identifier; untrusted.
    #[redact(fixed = 3)]
    pub sender: String,
    /// Plain text or Markdown; untrusted.
    #[redact(fixed = 3)]
    pub content: String,
}

/// MCP servers of the service. One is an object, several are an array (webhook spec section 7,
/// question 1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum McpServers {
    One(McpServer),
    Many(Vec<McpServer>),
}

impl McpServers {
    pub fn servers(&self) -> &[McpServer] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// An MCP server over HTTP, in the form that MCP client libraries take. Its `Debug` output is
/// empty, because it contains secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpServer {
    pub url: String,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("McpServer(…)")
    }
}

/// What a Chorus host adds to a delivery. Every field may be absent.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Extension<'a> {
    /// Increases each time the same message is delivered again.
    #[serde(deserialize_with = "known::number", skip_serializing_if = "crate::is_default")]
    pub attempt: u16,
    /// Number of agents' messages between this message and the last one of a person; 0 for a
    /// person's message.
    #[serde(deserialize_with = "known::number")]
    pub hop: u8,
    pub sender: Option<Sender>,
    pub attention: Option<Attention>,
    pub thread: Option<Thread>,
    /// The message answered.
    pub in_reply_to: Option<String>,
    #[serde(deserialize_with = "known::time")]
    pub created_at: Option<Time>,
    /// Ids of other recipients; a long list is cut off. Agents need to know them so that they do
    /// not all answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Cow<'a, str>>,
    /// Number of further recipients.
    #[serde(deserialize_with = "known::number", skip_serializing_if = "crate::is_default")]
    pub audience_more: usize,
    /// The content is withheld; it can be fetched with a tool of `mcp`.
    pub knock: Option<Knock>,
    /// The content, if it is more than text (webhook spec section 7, question 4).
    #[serde(deserialize_with = "parts", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Messages that the same author posted just before and that belong to this one, oldest first
    /// (question 5).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Message>,
    /// Ids of earlier deliveries that are still unanswered. This delivery includes their messages
    /// and replaces them; answers to them are refused with STALE_TURN.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// The public turn, if the run is one.
    pub turn: Option<ChannelDelivery>,
    /// A test of the connection; answers to it are shown to nobody.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub test: bool,
}

/// The author. Unknown names are tolerated, because another service may have more of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    #[serde(default, deserialize_with = "or_default")]
    pub id: String,
    /// Any unknown kind counts as an agent, so that no chain of programs passes for people.
    #[serde(default = "known::default::kind", deserialize_with = "known::kind")]
    pub kind: Named<MemberKind>,
}

/// What the host decided about the message for this agent (C2A "Response policy").
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attention {
    #[serde(default = "known::default::directedness", deserialize_with = "known::directedness")]
    pub directedness: Named<Directedness>,
    #[serde(default = "known::default::policy", deserialize_with = "known::policy")]
    pub policy: Named<Policy>,
    #[serde(default = "known::default::intent", deserialize_with = "known::intent")]
    pub intent: Named<Intent>,
    #[serde(default = "known::default::mode", deserialize_with = "known::mode")]
    pub mode: Named<Mode>,
    #[serde(default = "known::default::priority", deserialize_with = "known::priority")]
    pub priority: Named<Priority>,
    /// The rule that decided.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub reason: String,
    /// Milliseconds from `created_at` within which an answer is owed.
    #[serde(default, deserialize_with = "known::optional_number")]
    pub deadline_ms: Option<u32>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// `th_…`
    pub id: String,
    /// The message's position in the thread.
    #[serde(default, deserialize_with = "known::optional_number")]
    pub sequence: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knock {
    /// The tool that returns the content.
    pub pull_with: String,
}

/// Lenient reading of names and numbers from other services: an unknown name reads as the default,
/// and a number that is too large as the largest one.
mod known {
    use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
    use chorus_core::model::member::MemberKind;
    use serde::{Deserialize, Deserializer};
    use serde_json::Value;

    use crate::named::{Named, NamedEnum};
    use crate::time::Time;

    fn or<'de, E: NamedEnum, D: Deserializer<'de>>(
        from: D,
        other: E,
    ) -> Result<Named<E>, D::Error> {
        let name = Value::deserialize(from)?;
        Ok(Named(name.as_str().and_then(E::from_name).unwrap_or(other)))
    }

    pub(super) fn number<'de, N, D>(from: D) -> Result<N, D::Error>
    where
        N: TryFrom<u64> + Bounded,
        D: Deserializer<'de>,
    {
        Ok(optional_number(from)?.unwrap_or(N::LEAST))
    }

    pub(super) fn optional_number<'de, N, D>(from: D) -> Result<Option<N>, D::Error>
    where
        N: TryFrom<u64> + Bounded,
        D: Deserializer<'de>,
    {
        let value = Value::deserialize(from)?;
        // From a float whatever is out of range is the nearest that is in it.
        let number = value.as_u64().or_else(|| value.as_f64().map(|float| float as u64));
        Ok(number.map(|number| N::try_from(number).unwrap_or(N::MOST)))
    }

    /// Reads a time; an invalid one is none.
    pub(super) fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
        let time = Value::deserialize(from)?;
        Ok(Time::deserialize(time).ok())
    }

    pub(super) trait Bounded {
        const LEAST: Self;
        const MOST: Self;
    }

    macro_rules! bounded {
        ($($number:ty),*) => {
            $(impl Bounded for $number {
                const LEAST: Self = <$number>::MIN;
                const MOST: Self = <$number>::MAX;
            })*
        };
    }

    bounded!(u8, u16, u32, u64, usize);

    macro_rules! known {
        ($($name:ident: $type:ty = $other:expr;)*) => {
            $(pub(super) fn $name<'de, D: Deserializer<'de>>(from: D) -> Result<Named<$type>, D::Error> {
                or(from, $other)
            })*

            pub(super) mod default {
                use super::*;

                $(pub(in super::super) fn $name() -> Named<$type> {
                    Named($other)
                })*
            }
        };
    }

    known! {
        kind: MemberKind = MemberKind::Agent;
        directedness: Directedness = Directedness::ToMe;
        policy: Policy = Policy::MustRespond;
        intent: Intent = Intent::Statement;
        mode: Mode = Mode::Buffered;
        priority: Priority = Priority::Normal;
    }
}

/// Reads parts. An unknown kind of part becomes a text that names it.
fn parts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Part>, D::Error> {
    let parts = Vec::<Value>::deserialize(from)?;
    let part = |value: Value| match Part::deserialize(&value) {
        Ok(part) => Ok(part),
        Err(why) => match value.get("type").and_then(Value::as_str) {
            Some(kind) if !Part::KINDS.contains(&kind) => {
                let kind: String = kind.chars().filter(|c| !c.is_control()).take(40).collect();
                Ok(Part::text(format!("[a part that cannot be shown here: {kind}]")))
            }
            _ => Err(D::Error::custom(why)),
        },
    };
    parts.into_iter().map(part).collect()
}

/// Reads `null` as the default.
fn or_default<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
