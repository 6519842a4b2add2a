//! The part of a delivery that describes its public turn (channels spec "How agents participate";
//! `spec/channels.md`, "Runs").

use serde::{Deserialize, Serialize};

use super::content::Author;
use super::entry::Entry;

/// The field `channel` of `chat/deliver`, present in a run of kind `channel_delivery`. Titles,
/// names and texts are untrusted.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelDelivery {
    /// `channel_delivery`.
    pub kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[redact(fixed = 3)]
    pub purpose: String,
    /// Members of the channel; a long list is cut off.
    pub members: Vec<Author<'static>>,
    /// Number of members beyond those in `members`.
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

/// What is expected of the member that has the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expectations {
    /// Maximum number of members that speak at a time.
    pub speakers: u8,
    /// Number of turns left until a person must speak, including this one.
    pub turns_left: u16,
    /// Ids of the members that wait for a turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
    /// How a turn may end in public: `emit_output`, `set_channel_reaction`, `nothing`.
    pub output: Vec<String>,
}

/// The kind of a run in a public turn.
pub const KIND: &str = "channel_delivery";

/// How a public turn may end.
pub const OUTPUT: [&str; 3] = ["emit_output", "set_channel_reaction", "nothing"];
