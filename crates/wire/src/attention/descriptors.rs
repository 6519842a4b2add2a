//! The entries of `tools/list`: name, description, schemas and hints of every tool. Those of the
//! threads protocol are in [`crate::threads::descriptors`].
//!
//! A model chooses a tool by its description, so each says when to use it and when not, in the
//! terms of the response rules. Some model APIs reject dots in names; [`Names::Underscore`] writes
//! `chat_send_message`.

use chorus_core::model::attention::{Directedness, Mode, Policy};
use chorus_core::model::reaction::Signal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::files;
use super::listing::{self, ChannelList, ListChannels, ListMembers, MemberList};
use super::schema::{count, disposition, limit, list, object, object_open, one_of, text};
use crate::limits::KEY_BYTES;
use crate::threads::descriptors::Method;
use crate::{channels, schema as derived};

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// A tool of the threads protocol.
    Threads(Method),
    /// A tool of the channels protocol.
    Channels(channels::Tool),
    ListChannels,
    ListMembers,
    ListEvents,
    ReadThread,
    ReadAsset,
    SendMessage,
    React,
    Claim,
    Defer,
    Resolve,
}

/// How tool names are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// `chat.send_message`, as in the spec.
    #[default]
    Dotted,
    /// `chat_send_message`, requested with `?names=underscore`.
    Underscore,
}

/// One entry of `tools/list`, in MCP's format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    pub name: String,
    pub title: String,
    pub description: String,
    pub input_schema: Value,
    pub output_schema: Value,
    pub annotations: Annotations,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    pub read_only_hint: bool,
    pub destructive_hint: bool,
    /// Whether a call may be repeated with the same arguments.
    pub idempotent_hint: bool,
    /// Whether it reaches beyond this host.
    pub open_world_hint: bool,
}

/// Result of `tools/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolList {
    pub tools: Vec<Descriptor>,
}

impl Tool {
    pub const ALL: [Self; 10 + Method::ALL.len() + channels::Tool::ALL.len()] = [
        Self::Threads(Method::CreateThread),
        Self::Threads(Method::GetThread),
        Self::Threads(Method::PostMessage),
        Self::Threads(Method::ReadMessages),
        Self::Threads(Method::AckRead),
        Self::Threads(Method::UpdateThreadStatus),
        Self::Threads(Method::SummarizeThread),
        Self::Channels(channels::Tool::EmitOutput),
        Self::Channels(channels::Tool::SetChannelReaction),
        Self::Channels(channels::Tool::ReadChannelThread),
        Self::Channels(channels::Tool::CreateChannelStimulus),
        Self::ListChannels,
        Self::ListMembers,
        Self::ListEvents,
        Self::ReadThread,
        Self::ReadAsset,
        Self::SendMessage,
        Self::React,
        Self::Claim,
        Self::Defer,
        Self::Resolve,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Threads(method) => method.name(),
            Self::Channels(tool) => tool.name(),
            Self::ListChannels => "chat.list_channels",
            Self::ListMembers => "chat.list_members",
            Self::ListEvents => "chat.list_events",
            Self::ReadThread => "chat.read_thread",
            Self::ReadAsset => "chat.read_asset",
            Self::SendMessage => "chat.send_message",
            Self::React => "chat.react",
            Self::Claim => "chat.claim",
            Self::Defer => "chat.defer",
            Self::Resolve => "chat.resolve",
        }
    }

    /// Whether it posts a text of the caller.
    pub fn sends(self) -> bool {
        let output = Self::Channels(channels::Tool::EmitOutput);
        matches!(self, Self::SendMessage | Self::Threads(Method::PostMessage)) || self == output
    }

    /// Reads either form of the name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| {
            let dotted = tool.name();
            let bare = dotted.strip_prefix("chat.");
            name == dotted || bare.is_some() && name.strip_prefix("chat_") == bare
        })
    }

    pub fn descriptor(self, names: Names) -> Descriptor {
        let name = match names {
            Names::Dotted => self.name().to_owned(),
            Names::Underscore => self.name().replace('.', "_"),
        };
        let (title, description) = self.title_and_description();
        Descriptor {
            name,
            title: title.to_owned(),
            description: description.to_owned(),
            input_schema: self.input(),
            output_schema: self.output(),
            annotations: self.annotations(),
        }
    }

    fn annotations(self) -> Annotations {
        Annotations {
            read_only_hint: match self {
                Self::Threads(method) => method.only_reads(),
                Self::Channels(tool) => tool.only_reads(),
                tool => matches!(
                    tool,
                    Self::ListChannels
                        | Self::ListMembers
                        | Self::ListEvents
                        | Self::ReadThread
                        | Self::ReadAsset
                ),
            },
            // Closed is final.
            destructive_hint: self == Self::Threads(Method::UpdateThreadStatus),
            // Each call makes a thread; a message without a key is posted again, and so is a
            // stimulus after the last was said.
            idempotent_hint: !matches!(
                self,
                Self::Threads(Method::CreateThread | Method::PostMessage)
                    | Self::Channels(channels::Tool::CreateChannelStimulus)
            ),
            open_world_hint: false,
        }
    }

    fn title_and_description(self) -> (&'static str, &'static str) {
        match self {
            Self::Threads(method) => method.title_and_description(),
            Self::Channels(tool) => tool.title_and_description(),
            Self::ListChannels => listing::CHANNELS,
            Self::ListMembers => listing::MEMBERS,
            Self::ListEvents => (
                "List chat events",
                "List chat messages and events you may see: your inbox, mail, mentions and unanswered \
                 knocks. Filter by conversation, stream, response policy, directedness or time; \
                 `unsettled: true` shows only what you have not settled, `overdue: true` what concerns you \
                 and was not answered in time. Reading creates no obligation.",
            ),
            Self::ReadThread => (
                "Read a thread or conversation",
                "Read the messages of a chat thread, channel or direct conversation, oldest first. Use it to \
                 fetch the content behind a knock (pass its eventId) or to get context before you answer.",
            ),
            Self::ReadAsset => files::TITLE_AND_DESCRIPTION,
            Self::SendMessage => (
                "Send a chat message",
                "Send, post or reply with a chat message. Obey the response_policy of the event you answer: \
                 never reply to must_not_respond, react to ack_only, and for may_respond stay silent unless \
                 you help. Mention a member only to oblige them. Reuse the same idempotencyKey when you retry.",
            ),
            Self::React => (
                "React to a message",
                "Answer a chat message with a reaction signal instead of words: seen, agree, working, queued, \
                 claimed, done, declined, blocked or unclear. Prefer it whenever a signal says enough, such as \
                 thanks, acknowledgement, accepting or declining work.",
            ),
            Self::Claim => (
                "Claim a chat event",
                "Claim the right to answer a message that was addressed to a role or to nobody, before you reply \
                 to it. It gives you the content and a turn; CLAIMED_BY_OTHER means stay silent. \
                 `release: true` releases it.",
            ),
            Self::Defer => (
                "Defer a chat event",
                "Say that you will answer a must_respond message later, with the reason. With `until` it is \
                 offered to you again at that time, and its deadline counts from there. It records that \
                 you took responsibility; it posts nothing.",
            ),
            Self::Resolve => (
                "Resolve an event or thread",
                "Mark a chat event as handled without a message, or a thread as resolved. Pass eventId or \
                 threadId, and a note that says what was done.",
            ),
        }
    }

    fn input(self) -> Value {
        let conversation = || text(CONVERSATION);
        let event = || text("Event id, evt_…");
        let turn = || text("Token of your turn, when the prompt gave you one");
        match self {
            Self::ListChannels => derived::arguments::<ListChannels>(),
            Self::ListMembers => derived::arguments::<ListMembers>(),
            Self::ListEvents => object(
                json!({
                    "conversation": conversation(),
                    "stream": text("Stream id, str_…"),
                    "policy": one_of::<Policy>("Only events with this response policy"),
                    "directedness": one_of::<Directedness>("Only events with this directedness"),
                    "since": text("Only events at or after this time, ISO 8601 UTC"),
                    "afterSequence": count("With conversation: only later events"),
                    "unsettled": {"type": "boolean", "description": "Only events that you have not settled"},
                    "overdue": {"type": "boolean", "description": "Only events that were not answered in time"},
                    "limit": limit(),
                }),
                &[],
            ),
            Self::ReadThread => object(
                json!({
                    "conversation": conversation(),
                    "threadId": text("Thread id, th_…"),
                    "eventId": text("Show the messages up to and around this event"),
                    "beforeSequence": count("Only messages before this sequence"),
                    "afterSequence": count("Only messages after this sequence"),
                    "limit": limit(),
                }),
                &[],
            ),
            Self::ReadAsset => files::input(),
            Self::SendMessage => send_input(turn()),
            Self::React => object(
                json!({
                    "inReplyTo": event(),
                    "signal": one_of::<Signal>("What you want to say"),
                    "eta": text("When it will be done, in words"),
                    "remove": {"type": "boolean", "description": "Remove the signal"},
                    "turn": turn(),
                }),
                &["inReplyTo", "signal"],
            ),
            Self::Claim => object(
                json!({
                    "eventId": event(),
                    "release": {"type": "boolean", "description": "Release the claim"},
                    "turn": turn(),
                }),
                &["eventId"],
            ),
            Self::Defer => object(
                json!({
                    "eventId": event(),
                    "reason": text("Why not now"),
                    "until": text("When it is offered again: ISO 8601 UTC, or a span such as 30m; at most 7d"),
                    "turn": turn(),
                }),
                &["eventId", "reason"],
            ),
            Self::Resolve => object(
                json!({
                    "eventId": event(),
                    "threadId": text("Thread id, th_…"),
                    "note": text("What was done"),
                    "turn": turn(),
                }),
                &[],
            ),
            Self::Threads(method) => method.input(),
            Self::Channels(tool) => tool.input(),
        }
    }

    fn output(self) -> Value {
        match self {
            Self::ListChannels => derived::result::<ChannelList>(),
            Self::ListMembers => derived::result::<MemberList>(),
            Self::ListEvents => list("events"),
            Self::ReadThread => list("messages"),
            Self::ReadAsset => files::output(),
            Self::SendMessage => object_open(
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
            ),
            Self::React => object_open(
                json!({"eventId": {"type": "string"}, "disposition": disposition()}),
                &[],
            ),
            Self::Claim => object_open(
                json!({
                    "eventId": {"type": "string"},
                    "holder": {"type": "string"},
                    "fence": {"type": "integer"},
                    "expiresAt": {"type": "string"},
                    "turn": {"type": "object"},
                    "event": {"type": "object"},
                    "released": {"type": "boolean"},
                }),
                &[],
            ),
            Self::Defer => object_open(
                json!({"eventId": {"type": "string"}, "disposition": disposition()}),
                &[],
            ),
            Self::Resolve => object_open(
                json!({
                    "eventId": {"type": "string"},
                    "disposition": disposition(),
                    "threadId": {"type": "string"},
                    "status": {"type": "string"},
                }),
                &[],
            ),
            Self::Threads(method) => method.output(),
            Self::Channels(tool) => tool.output(),
        }
    }
}

/// What names a conversation.
pub(super) const CONVERSATION: &str = "A channel's name, #ops, or a conversation id, ch_…";

/// All tools.
pub fn list_tools(names: Names) -> ToolList {
    ToolList { tools: Tool::ALL.into_iter().map(|tool| tool.descriptor(names)).collect() }
}

fn send_input(turn: Value) -> Value {
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
            "turn": turn,
        }),
        &["target", "idempotencyKey", "visibility", "directedness"],
    )
}
