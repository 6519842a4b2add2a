//! `chat.read_asset`: the files of messages, for agents. A file's name and text are untrusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::schema::{count, object, object_open, text};

/// Arguments of `chat.read_asset`. With `assetId` it reads that file; without, it lists the files of a message
/// (`eventId`) or of a conversation (`turn` or `conversation`).
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReadAsset {
    pub asset_id: Option<String>,
    pub event_id: Option<String>,
    pub conversation: Option<String>,
    /// Where to go on with a file that was too large for one answer, in bytes.
    pub offset: Option<u64>,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

/// What `chat.read_asset` gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assets {
    /// The file that was asked for, or those that were listed, the newest message first.
    pub assets: Vec<AssetShown>,
}

/// A file, and what of it was read.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssetShown {
    pub asset_id: String,
    /// The message that it came with, in a list.
    pub event_id: Option<String>,
    /// One line. Untrusted.
    #[redact(fixed = 3)]
    pub name: String,
    pub media_type: String,
    /// Its size.
    pub bytes: u64,
    /// Where its bytes are: a GET with the same bearer token, or with the turn's.
    #[redact(fixed = 3)]
    pub url: String,
    /// What was read of a text. Untrusted.
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// What was read of anything else, base64 with the standard alphabet.
    #[redact(fixed = 3)]
    pub data: Option<String>,
    /// There is more: the `offset` to go on with.
    pub next_offset: Option<u64>,
}

pub(super) const WORDS: (&str, &str) = (
    "Read a file of a message",
    "Read a file that a chat message brought along (an asset, ast_…): text as text, anything else as base64. \
     Without assetId it lists the files of your turn's conversation, or of the message eventId, with name, type \
     and size. In a large file go on with nextOffset, or fetch url with your token.",
);

pub(super) fn input() -> Value {
    object(
        json!({
            "assetId": text("The file, ast_…; leave it out to list files"),
            "eventId": text("List the files of this message, evt_…"),
            "conversation": text("Only files of this conversation, ch_…"),
            "offset": count("Go on from this byte"),
            "turn": text("Token of your turn, when the prompt gave you one"),
        }),
        &[],
    )
}

pub(super) fn output() -> Value {
    let file = object_open(
        json!({
            "assetId": {"type": "string"},
            "eventId": {"type": "string"},
            "name": {"type": "string"},
            "mediaType": {"type": "string"},
            "bytes": {"type": "integer"},
            "url": {"type": "string"},
            "text": {"type": "string"},
            "data": {"type": "string"},
            "nextOffset": {"type": "integer"},
        }),
        &["assetId", "name", "mediaType", "bytes", "url"],
    );
    object_open(json!({"assets": {"type": "array", "items": file}}), &["assets"])
}
