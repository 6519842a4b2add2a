//! What a delivery that is run in a public turn says of it (channels spec "How agents participate"; `spec/channels.md`,
//! "Runs").

use serde::{Deserialize, Serialize};

use super::content::Author;
use super::entry::Entry;

/// `channel` of `chat/deliver`: a run of kind `channel_delivery`. Titles, names and texts are untrusted.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelDelivery {
    /// `channel_delivery`.
    pub kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub purpose: String,
    /// Who has a seat, as far as they are named.
    pub members: Vec<Author<'static>>,
    /// How many have a seat beyond those.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub members_more: usize,
    /// The newest messages of the thread, oldest first, with their reactions.
    #[serde(default)]
    pub recent: Vec<Entry>,
    /// Whether the thread has older ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    pub expectations: Expectations,
}

/// What is expected of who speaks in the thread now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expectations {
    /// How many may speak at a time.
    pub speakers: u8,
    /// Turns, this one among them, that may speak until a person does.
    pub turns_left: u16,
    /// Member ids: who waits for a turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// How a turn may end in public: `emit_output`, `set_channel_reaction`, `nothing`.
    pub output: Vec<String>,
}

/// The kind of a run in a public turn.
pub const KIND: &str = "channel_delivery";

/// How a public turn may end.
pub const OUTPUT: [&str; 3] = ["emit_output", "set_channel_reaction", "nothing"];
