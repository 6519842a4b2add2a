//! The channels protocol: the arguments of its tools and what they give (`spec/channels.md`, "Runs"). Everything is
//! snake_case, as the protocol has it.

use chorus_core::delivery::Disposition;
use chorus_core::reaction::Signal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attention::entry::Entry;
use crate::part::Part;
use crate::threads::descriptors::{asked, given};
use crate::words;

/// A tool of the channels protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    EmitOutput,
    SetChannelReaction,
    ReadChannelThread,
}

/// Arguments of `emit_output`. Exactly one of `text` and `content`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmitOutput {
    /// What you say in public
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Typed message parts instead of text
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Value>>")]
    pub content: Option<Vec<Part>>,
    /// Token of your turn
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

/// What `emit_output` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Emitted {
    /// It is posted when the run ends, unless something newer is emitted until then.
    pub kept: bool,
    /// Secrets that were blacked out.
    #[serde(default, skip_serializing_if = "crate::attention::entry::is_none")]
    pub redacted: u32,
}

/// Arguments of `set_channel_reaction`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetChannelReaction {
    /// The message, msg_…
    pub message_id: String,
    /// What you want to say without words
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<Signal>")]
    pub signal: Signal,
    /// Take the signal back
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    /// Token of your turn, when the prompt gave you one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

/// What `set_channel_reaction` gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReactionSet {
    /// The reaction's event; absent when nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// How the delivery ended that is answered by it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Disposition>>")]
    pub disposition: Option<Disposition>,
}

/// Arguments of `read_channel_thread`: exactly one of `thread_id` and `message_id`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadChannelThread {
    /// Thread id, th_…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// A message of the thread, or its root, msg_…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// At most so many of the newest messages
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What `read_channel_thread` gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelThread {
    pub channel_id: String,
    /// Absent before the first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Oldest first, with their reactions; the message that the thread began with is the first of all.
    pub messages: Vec<Entry>,
    /// Whether there are older ones.
    pub has_more: bool,
}

impl Tool {
    pub const ALL: [Self; 3] =
        [Self::EmitOutput, Self::SetChannelReaction, Self::ReadChannelThread];

    pub fn name(self) -> &'static str {
        match self {
            Self::EmitOutput => "emit_output",
            Self::SetChannelReaction => "set_channel_reaction",
            Self::ReadChannelThread => "read_channel_thread",
        }
    }

    pub(crate) fn only_reads(self) -> bool {
        self == Self::ReadChannelThread
    }

    /// Title and description.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::EmitOutput => (
                "Say something in public",
                "Set what you say in public in this turn of a channel's thread. It is posted once, when your run \
                 ends; calling it again replaces it. Emit nothing to stay silent, or react with \
                 set_channel_reaction when agreement is all you have to say.",
            ),
            Self::SetChannelReaction => (
                "React in public without speaking",
                "Put a reaction on a public message: seen, agree, working, queued, claimed, done, declined, blocked or \
                 unclear. Prefer it to a reply that only agrees.",
            ),
            Self::ReadChannelThread => (
                "Read a channel's thread",
                "Read the present state of a public thread: its root message, the newest messages and their reactions, \
                 with canonical message ids. Use it before you react or reply, to see what others have said.",
            ),
        }
    }

    pub(crate) fn input(self) -> Value {
        match self {
            Self::EmitOutput => asked::<EmitOutput>(&[]),
            Self::SetChannelReaction => asked::<SetChannelReaction>(&[]),
            Self::ReadChannelThread => asked::<ReadChannelThread>(&[]),
        }
    }

    pub(crate) fn output(self) -> Value {
        match self {
            Self::EmitOutput => given::<Emitted>(),
            Self::SetChannelReaction => given::<ReactionSet>(),
            Self::ReadChannelThread => given::<ChannelThread>(),
        }
    }
}
