//! `chat.read_asset`: files of messages, for agents. A file's name and text are untrusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use super::schema::{count, object, object_open, text};
use crate::tool::{Arguments, Effect, Reach, Shape, Tool};

/// Arguments of `chat.read_asset`. With `assetId` it reads that file; without, it lists the files
/// of a message (`eventId`) or of a conversation (`turn` or `conversation`).
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ReadAsset {
    pub asset_id: Option<String>,
    pub event_id: Option<String>,
    pub conversation: Option<String>,
    /// Byte offset at which to continue reading a large file.
    pub offset: Option<u64>,
    #[redact(fixed = 3)]
    pub turn: Option<String>,
}

impl Arguments for ReadAsset {
    type Result = Assets;

    const TOOL: &'static Tool = &Tool {
        name: "chat.read_asset",
        title: "Read a file of a message",
        description: "Read a file attached to a chat message (an asset, ast_…): text as text, anything \
                      else as base64. Without assetId it lists the files of your turn's conversation, or \
                      of the message eventId, with name, type and size. Continue a large file at \
                      nextOffset, or fetch url with your token.",
        effect: Effect::Reads,
        reach: Reach::All { narrowed_by: "conversation", widened_by: None },
        for_turns: true,
        sends: false,
        caller_fields: None,
        shape: Shape::written::<Self>(input, output),
    };
}

/// The result of `chat.read_asset`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assets {
    /// The requested file, or the list of files, newest message first.
    pub assets: Vec<AssetShown>,
}

/// A file, and the part of it that was read.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssetShown {
    pub asset_id: String,
    /// In a list: the message that it belongs to.
    pub event_id: Option<String>,
    /// One line. Untrusted.
    #[redact(fixed = 3)]
    pub name: String,
    pub media_type: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Where to GET its bytes, with the same bearer token or with the turn's.
    #[redact(fixed = 3)]
    pub url: String,
    /// The part that was read, if it is text. Untrusted.
    #[redact(fixed = 3)]
    pub text: Option<String>,
    /// The part that was read, otherwise: base64 with the standard alphabet.
    #[redact(fixed = 3)]
    pub data: Option<String>,
    /// The `offset` of the next part; absent at the end.
    pub next_offset: Option<u64>,
}

fn input() -> Value {
    object(
        json!({
            "assetId": text("The file, ast_…; leave it out to list files"),
            "eventId": text("List the files of this message, evt_…"),
            "conversation": text("Only files of this conversation: a channel's name, #ops, or an id, ch_…"),
            "offset": count("Continue from this byte"),
            "turn": text("Token of your turn, when the prompt gave you one"),
        }),
        &[],
    )
}

fn output() -> Value {
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
