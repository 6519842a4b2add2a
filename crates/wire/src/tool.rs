//! A tool for models, declared once, beside the type of its arguments: what `tools/list` says of it
//! and what the host must know before it calls it. [`crate::tool_list`] has all of them.
//!
//! A model chooses a tool by its description, so each says when to use it and when not, in the
//! terms of the response rules.

use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::schema;

/// The arguments of a tool, which is declared with them.
pub trait Arguments: DeserializeOwned {
    type Result: Serialize;

    const TOOL: &'static Tool;
}

/// A tool. Its name identifies it.
pub struct Tool {
    /// In its dotted form, where it has one: `chat.send_message`.
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub effect: Effect,
    pub reach: Reach,
    /// Whether the token of a turn may call it. A turn speaks and reads; it manages nothing.
    pub for_turns: bool,
    /// Whether it posts a text of the caller.
    pub sends: bool,
    /// The fields, of those in which callers may state who they are, that the schema shows. The host
    /// compares all such fields with the token and removes them before the type reads the others.
    /// `None` if it takes no such field.
    pub caller_fields: Option<&'static [&'static str]>,
    pub shape: Shape,
}

/// What a call does to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It changes something, and the same call again changes nothing more.
    Sets,
    /// Each call adds something.
    Adds,
    /// Like [`Effect::Sets`], and what it does may be final.
    Ends,
}

/// Which conversations a call can reach. At the MCP endpoint of one channel a call reaches only
/// that channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Those of the ids that its arguments must name.
    Named,
    /// All that the caller sees, unless the argument `narrowed_by` names one. With the argument
    /// `widened_by` it reaches several whatever else it says.
    All { narrowed_by: &'static str, widened_by: Option<&'static str> },
}

/// The JSON of a tool's arguments and of its result.
pub struct Shape {
    input: fn() -> Value,
    output: fn() -> Value,
    read: fn(&str) -> Result<(), serde_json::Error>,
}

impl Shape {
    /// The schemas are derived from the types.
    pub(crate) const fn derived<A>() -> Self
    where
        A: Arguments + JsonSchema,
        A::Result: JsonSchema,
    {
        Self::written::<A>(schema::arguments::<A>, schema::result::<A::Result>)
    }

    /// The schemas are written by hand.
    pub(crate) const fn written<A: Arguments>(input: fn() -> Value, output: fn() -> Value) -> Self {
        Self { input, output, read: read::<A> }
    }
}

fn read<A: DeserializeOwned>(arguments: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<A>(arguments).map(drop)
}

/// Fields in which callers may state who they are. They must match the token and have no other
/// effect.
const CALLER_FIELDS: [(&str, &str); 5] = [
    ("workspace_id", "Your workspace, as in your token, or its name; optional"),
    ("agent_id", "Your member id, as in your token; optional"),
    ("created_by", "Your member id, as in your token; optional"),
    ("sender_agent_id", "Your member id, as in your token; optional"),
    ("sender_session_id", "Your session, as in your token; optional"),
];

/// How tool names are written. Some model APIs reject dots in names.
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

impl Tool {
    pub fn descriptor(&self, names: Names) -> Descriptor {
        Descriptor {
            name: match names {
                Names::Dotted => self.name.to_owned(),
                Names::Underscore => self.name.replace('.', "_"),
            },
            title: self.title.to_owned(),
            description: self.description.to_owned(),
            input_schema: self.input(),
            output_schema: (self.shape.output)(),
            annotations: Annotations {
                read_only_hint: self.effect == Effect::Reads,
                destructive_hint: self.effect == Effect::Ends,
                idempotent_hint: self.effect != Effect::Adds,
                open_world_hint: false,
            },
        }
    }

    fn input(&self) -> Value {
        let mut schema = (self.shape.input)();
        for (name, about) in CALLER_FIELDS {
            if self.caller_fields.is_some_and(|shown| shown.contains(&name)) {
                schema["properties"][name] = json!({"type": "string", "description": about});
            }
        }
        schema
    }

    /// Whether it is called so, in either form of the name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let bare = self.name.strip_prefix("chat.");
        name == self.name || bare.is_some() && name.strip_prefix("chat_") == bare
    }

    /// Reads arguments as the tool's type does, which has none of the `caller_fields`.
    pub fn try_read(&self, arguments: &str) -> Result<(), serde_json::Error> {
        (self.shape.read)(arguments)
    }
}

impl PartialEq for Tool {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Tool {}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
