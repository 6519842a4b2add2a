//! What a service POSTs to an agent (webhook spec section 2).

use std::collections::BTreeMap;
use std::fmt;

use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::member::MemberKind;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::attention::channel::ChannelDelivery;
use crate::part::Part;
use crate::words;

/// The body of a POST to a connection string.
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    pub channel: Channel,
    pub message: Message,
    /// Where output goes. Opaque; it is all the authority that is needed.
    #[redact(fixed = 3)]
    pub callback: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpServers>,
    /// What Chorus says besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chorus: Option<Extension>,
}

/// What an agent is sent that took a message and has been silent since: a signal of its own, which asks nothing anew.
#[derive(Clone, veil::Redact, PartialEq, Serialize, Deserialize)]
pub struct Reminder {
    pub kind: Reminds,
    pub channel: Channel,
    /// The message that was delivered: its `message.id`.
    pub event_id: String,
    /// For a run that has lost its own. A run speaks by one of them.
    #[redact(fixed = 3)]
    pub callback: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpServers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chorus: Option<Extension>,
}

/// The word by which a reminder is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reminds {
    Reminder,
}

#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Never changes.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub name: Option<String>,
    /// The hosting service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub service: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// Tools of the service. One server is an object, several are an array (webhook spec section 7, question 1).
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

/// An MCP server over HTTP, for an MCP client library to take as it is. Its `Debug` shows nothing: there are secrets in it.
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

/// What a Chorus host adds to a delivery; every field may be absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Extension {
    /// Rises each time the same message is delivered again.
    #[serde(deserialize_with = "known::number", skip_serializing_if = "is_default")]
    pub attempt: u16,
    /// How many agents' messages lie between this one and a person's; 0 for a person's.
    #[serde(deserialize_with = "known::number")]
    pub hop: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<Sender>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<Attention>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread>,
    /// The message answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    #[serde(
        serialize_with = "crate::time::iso_option::serialize",
        deserialize_with = "known::time",
        skip_serializing_if = "Option::is_none"
    )]
    pub created_at: Option<Timestamp>,
    /// Ids of others who are told of it, as far as they are named: who knows does not answer twice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<String>,
    /// How many are told beyond those.
    #[serde(deserialize_with = "known::number", skip_serializing_if = "is_default")]
    pub audience_more: usize,
    /// The content is withheld: it is pulled with a tool of `mcp`, if at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knock: Option<Knock>,
    /// Content that is more than text (webhook spec section 7, question 4).
    #[serde(deserialize_with = "parts", skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// What the same author said just before, oldest first: one thought in several messages (question 5).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Message>,
    /// Ids of messages that were delivered before and of which nothing was said yet: this delivery has them too and takes
    /// their place. What is answered to those is refused with STALE_TURN.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// The run is a public turn of a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<ChannelDelivery>,
    /// Sent to try the connection; nothing that is answered is shown to anybody.
    #[serde(skip_serializing_if = "is_default")]
    pub test: bool,
}

/// Words that are not known here are tolerated: another service may have more of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    #[serde(default, deserialize_with = "or_default")]
    pub id: String,
    /// Whatever is not known to be a person counts as an agent, so that no chain of programs passes for people.
    #[serde(
        default = "known::default::kind",
        serialize_with = "words::one::serialize",
        deserialize_with = "known::kind"
    )]
    pub kind: MemberKind,
}

/// What was decided about the message for this agent (C2A "Response policy").
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attention {
    #[serde(
        default = "known::default::directedness",
        serialize_with = "words::one::serialize",
        deserialize_with = "known::directedness"
    )]
    pub directedness: Directedness,
    #[serde(
        default = "known::default::policy",
        serialize_with = "words::one::serialize",
        deserialize_with = "known::policy"
    )]
    pub policy: Policy,
    #[serde(
        default = "known::default::intent",
        serialize_with = "words::one::serialize",
        deserialize_with = "known::intent"
    )]
    pub intent: Intent,
    #[serde(
        default = "known::default::mode",
        serialize_with = "words::one::serialize",
        deserialize_with = "known::mode"
    )]
    pub mode: Mode,
    #[serde(
        default = "known::default::priority",
        serialize_with = "words::one::serialize",
        deserialize_with = "known::priority"
    )]
    pub priority: Priority,
    /// The rule that decided.
    #[serde(default)]
    #[redact(fixed = 3)]
    pub reason: String,
    /// Within which an answer is owed, from `created_at`.
    #[serde(
        default,
        deserialize_with = "known::optional_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub deadline_ms: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// `th_…`
    pub id: String,
    /// The message's place in it.
    #[serde(
        default,
        deserialize_with = "known::optional_number",
        skip_serializing_if = "Option::is_none"
    )]
    pub sequence: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knock {
    /// The tool that gives the content.
    pub pull_with: String,
}

/// Words and numbers of others, read so that an unknown word means what is meant where nothing is said, and a number that is
/// too large is the largest there is.
mod known {
    use chorus_core::model::attention::{Directedness, Intent, Mode, Policy, Priority};
    use chorus_core::model::ids::Timestamp;
    use chorus_core::model::member::MemberKind;
    use serde::{Deserialize, Deserializer};
    use serde_json::Value;

    use crate::words::Word;

    fn or<'de, W: Word, D: Deserializer<'de>>(from: D, other: W) -> Result<W, D::Error> {
        let word = Value::deserialize(from)?;
        Ok(word.as_str().and_then(W::from_word).unwrap_or(other))
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

    /// One that cannot be read is none.
    pub(super) fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
        let time = Value::deserialize(from)?;
        Ok(crate::time::iso::deserialize(time).ok())
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
            $(pub(super) fn $name<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                or(from, $other)
            })*

            pub(super) mod default {
                use super::*;

                $(pub(in super::super) fn $name() -> $type {
                    $other
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

/// Parts of a kind that is not known here are named.
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

/// What is `null` is absent.
fn or_default<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
