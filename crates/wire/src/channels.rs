//! The channels protocol: the arguments of its tools and what they give (`spec/channels.md`, "Runs"). Everything is
//! snake_case, as the protocol has it.

use chorus_core::model::delivery::Disposition;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::reaction::Signal;
use chorus_core::model::stimulus::StimulusKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attention::entry::Entry;
use crate::part::Part;
use crate::rest::stimuli::{NewStimulus, Stimulus, StimulusScope, StimulusVisibility};
use crate::threads::descriptors::{asked, given};
use crate::words;

/// A tool of the channels protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    EmitOutput,
    SetChannelReaction,
    ReadChannelThread,
    CreateChannelStimulus,
}

/// Arguments of `emit_output`. Exactly one of `text` and `content`.
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmitOutput {
    /// What you say in public
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// Typed message parts instead of text
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Value>>")]
    pub content: Option<Vec<Part>>,
    /// Token of your turn
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
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
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    #[redact(fixed = 3)]
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

/// Arguments of `create_channel_stimulus`: those of [`NewStimulus`], and where.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateChannelStimulus {
    /// Channel id, ch_…
    pub channel_id: String,
    /// agent_idea, sidechain_milestone or observation_materialized; the others are for who runs the channel
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<StimulusKind>")]
    pub kind: StimulusKind,
    /// What is to be said
    #[redact(fixed = 3)]
    pub text: String,
    /// channel opens a subject, thread continues one
    #[serde(default)]
    pub scope: StimulusScope,
    /// With scope thread: the thread, th_…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Title of the subject's thread; else the first line of the text
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub title: Option<String>,
    /// Member whose word it is: you, unless you run the channel
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub source: Option<String>,
    /// Members whom it is for
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// Who is shown it; targets only in a thread
    #[serde(default)]
    pub visibility: StimulusVisibility,
    /// The same progress again takes the place of the last word on it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    /// The same key again takes the place of what still waits
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub dedupe_key: Option<String>,
    /// The undertaking: with a thread of its own already, it is continued there
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    /// Not said by then, it is not said; ISO 8601 UTC
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub expires_at: Option<Timestamp>,
    /// Token of your turn, when the prompt gave you one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

impl CreateChannelStimulus {
    /// The channel, the turn, and what `POST /v1/channels/{id}/stimuli` takes.
    pub fn parts(self) -> (String, Option<String>, NewStimulus) {
        let new = NewStimulus {
            kind: self.kind,
            text: self.text,
            scope: self.scope,
            thread: self.thread,
            title: self.title,
            source: self.source,
            targets: self.targets,
            visibility: self.visibility,
            progress_key: self.progress_key,
            dedupe_key: self.dedupe_key,
            initiative_key: self.initiative_key,
            expires_at: self.expires_at,
        };
        (self.channel_id, self.turn, new)
    }
}

impl Tool {
    pub const ALL: [Self; 4] = [
        Self::EmitOutput,
        Self::SetChannelReaction,
        Self::ReadChannelThread,
        Self::CreateChannelStimulus,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::EmitOutput => "emit_output",
            Self::SetChannelReaction => "set_channel_reaction",
            Self::ReadChannelThread => "read_channel_thread",
            Self::CreateChannelStimulus => "create_channel_stimulus",
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
            Self::CreateChannelStimulus => (
                "Propose something in a channel without being asked",
                "Queue a stimulus: ask the host to start a new topic in a channel, or to follow up in a thread, on your \
                 own initiative: an idea, a milestone, an observation. The host posts it later, when the channel's \
                 quiet period and budgets allow, and may drop it. Use it instead of a message whenever nobody asked \
                 you; do not use it to answer.",
            ),
        }
    }

    pub(crate) fn input(self) -> Value {
        match self {
            Self::EmitOutput => asked::<EmitOutput>(&[]),
            Self::SetChannelReaction => asked::<SetChannelReaction>(&[]),
            Self::ReadChannelThread => asked::<ReadChannelThread>(&[]),
            Self::CreateChannelStimulus => asked::<CreateChannelStimulus>(&[]),
        }
    }

    pub(crate) fn output(self) -> Value {
        match self {
            Self::EmitOutput => given::<Emitted>(),
            Self::SetChannelReaction => given::<ReactionSet>(),
            Self::ReadChannelThread => given::<ChannelThread>(),
            Self::CreateChannelStimulus => given::<Stimulus>(),
        }
    }
}
