//! The channels protocol: the arguments and results of its tools (`spec/channels.md`, "Runs").
//! Everything is snake_case, as in the protocol.

use chorus_core::model::disposition::Disposition;
use chorus_core::model::reaction::Signal;
use chorus_core::model::stimulus::StimulusKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::attention::entry::Entry;
use crate::named::Named;
use crate::part::Part;
use crate::rest::stimuli::{NewStimulus, Stimulus, StimulusScope, StimulusVisibility};
use crate::time::Time;
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// The tools of the protocol, in the order of `tools/list`.
pub(crate) const TOOLS: &[&Tool] = &[
    EmitOutput::TOOL,
    SetChannelReaction::TOOL,
    ReadChannelThread::TOOL,
    CreateChannelStimulus::TOOL,
];

/// Arguments of `emit_output`. Give exactly one of `text` and `content`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmitOutput {
    /// What you say in public
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// Typed message parts instead of text
    #[schemars(with = "Option<Vec<Value>>")]
    pub content: Option<Vec<Part>>,
    /// Token of your turn
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

impl Arguments for EmitOutput {
    type Result = Emitted;

    const TOOL: &'static Tool = &Tool {
        name: "emit_output",
        title: "Say something in public",
        description: "Set what you say in public in this turn of a channel's thread. It is posted once, \
                      when your run ends; calling it again replaces it. Emit nothing to stay silent, or \
                      react with set_channel_reaction when agreement is all you have to say.",
        effect: Effect::Sets,
        reach: Reach::Named,
        for_turns: true,
        sends: true,
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

/// The result of `emit_output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Emitted {
    /// It will be posted when the run ends, unless newer output replaces it.
    pub kept: bool,
    /// Number of secrets that were redacted.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub redacted: u32,
}

/// Arguments of `set_channel_reaction`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetChannelReaction {
    /// The message, msg_…
    pub message_id: String,
    /// What you want to say without words
    pub signal: Named<Signal>,
    /// Remove the signal
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    /// Token of your turn, when the prompt gave you one
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

impl Arguments for SetChannelReaction {
    type Result = ReactionSet;

    const TOOL: &'static Tool = &Tool {
        name: "set_channel_reaction",
        title: "React in public without speaking",
        description: "Put a reaction on a public message: seen, agree, working, queued, claimed, done, \
                      declined, blocked or unclear. Prefer it to a reply that only agrees.",
        effect: Effect::Sets,
        reach: Reach::Named,
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

/// The result of `set_channel_reaction`.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReactionSet {
    /// The reaction's event; absent if nothing changed.
    pub event_id: Option<String>,
    /// The disposition of the delivery that it answers.
    pub disposition: Option<Named<Disposition>>,
}

/// Arguments of `read_channel_thread`: exactly one of `thread_id` and `message_id`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadChannelThread {
    /// Thread id, th_…
    pub thread_id: Option<String>,
    /// A message of the thread, or its root, msg_…
    pub message_id: Option<String>,
    /// Maximum number of messages, the newest ones
    pub limit: Option<u32>,
}

impl Arguments for ReadChannelThread {
    type Result = ChannelThread;

    const TOOL: &'static Tool = &Tool {
        name: "read_channel_thread",
        title: "Read a channel's thread",
        description: "Read the present state of a public thread: its root message, the newest messages \
                      and their reactions, with canonical message ids. Use it before you react or reply, \
                      to see what others have said.",
        effect: Effect::Reads,
        reach: Reach::Named,
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

/// The result of `read_channel_thread`.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelThread {
    pub channel_id: String,
    /// Absent before the first reply.
    pub thread_id: Option<String>,
    /// Oldest first, with their reactions. The first of all is the thread's root message.
    pub messages: Vec<Entry>,
    /// Whether there are older messages.
    pub has_more: bool,
}

/// Arguments of `create_channel_stimulus`: the channel, and the fields of [`NewStimulus`].
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateChannelStimulus {
    /// A channel's name, #ops, or its id, ch_…
    pub channel_id: String,
    /// agent_idea, sidechain_milestone or observation_materialized; the others are for operators
    /// and orchestrators
    pub kind: Named<StimulusKind>,
    /// The text to post
    #[redact(fixed = 3)]
    pub text: String,
    /// channel opens a subject, thread continues one
    #[serde(default)]
    pub scope: StimulusScope,
    /// With scope thread: the thread, th_…
    pub thread: Option<String>,
    /// Title of the subject's thread; by default the first line of the text
    #[redact(fixed = 3)]
    pub title: Option<String>,
    /// Member in whose name it is posted: you, unless you are an operator or orchestrator
    #[redact(fixed = 3)]
    pub source: Option<String>,
    /// The members it is for, @handle or id
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// Who sees it; targets only in a thread
    #[serde(default)]
    pub visibility: StimulusVisibility,
    /// Key of a progress report; it replaces the last report with the same key
    #[redact(fixed = 3)]
    pub progress_key: Option<String>,
    /// A new stimulus with the same key replaces the one that still waits
    #[redact(fixed = 3)]
    pub dedupe_key: Option<String>,
    /// Key of an initiative; if the initiative already has a thread, it is continued there
    #[redact(fixed = 3)]
    pub initiative_key: Option<String>,
    /// Time after which it is no longer posted, ISO 8601 UTC
    pub expires_at: Option<Time>,
    /// Token of your turn, when the prompt gave you one
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

impl Arguments for CreateChannelStimulus {
    type Result = Stimulus;

    const TOOL: &'static Tool = &Tool {
        name: "create_channel_stimulus",
        title: "Propose something in a channel without being asked",
        description: "Queue a stimulus: ask the host to start a new topic in a channel, or to follow up \
                      in a thread, on your own initiative: an idea, a milestone, an observation. The \
                      host posts it later, when the channel's quiet period and budgets allow, and may \
                      drop it. Use it instead of a message whenever nobody asked you; do not use it to \
                      answer.",
        effect: Effect::Adds,
        reach: Reach::All { narrowed_by: "channel_id", widened_by: None },
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::derived::<Self>(),
    };
}

impl CreateChannelStimulus {
    /// The channel, the turn, and the body of `POST /v1/channels/{id}/stimuli`.
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
