//! `/v1/search`: what was said, by words, by author, by place and by time.

use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::messages::MessageAuthor;
use crate::words;

/// Query of `GET /v1/search`.
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["q"]))]
pub struct Search {
    /// Words that must all be there; `"quotation marks"` hold a phrase together. No other sign means anything.
    #[redact(fixed = 3)]
    pub q: String,
    /// Member id of who said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Only in this conversation, of whatever kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Where, when no conversation is named; channels unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Said at this time or later.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub since: Option<Timestamp>,
    /// Said before this time.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub until: Option<Timestamp>,
    /// `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// At most 200; 50 unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Private messages are searched only when they are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Channels and conversations of threads.
    #[default]
    Channels,
    /// Conversations of kind `dm`.
    Mail,
    All,
}

impl Scope {
    /// Whether conversations of this kind are meant.
    pub fn holds(self, kind: ConversationKind) -> bool {
        match self {
            Self::All => true,
            Self::Mail => kind == ConversationKind::Dm,
            Self::Channels => kind != ConversationKind::Dm,
        }
    }
}

/// `GET /v1/search`, best first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    pub hits: Vec<Hit>,
    /// Where the next page begins; absent at the end. A page may have fewer hits than asked for, or none, and a next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The newest messages are not indexed yet: what was said a moment ago may be missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub behind: bool,
}

/// A message that holds what was asked for, as it is now.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    pub event_id: String,
    pub message_id: String,
    pub conversation: String,
    #[serde(with = "words::one")]
    #[schemars(with = "words::As<ConversationKind>")]
    pub conversation_kind: ConversationKind,
    /// What the conversation is called. Untrusted.
    #[redact(fixed = 3)]
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    pub seq: u64,
    pub author: MessageAuthor,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub edited_at: Option<Timestamp>,
    /// The stretch of its text where it was found; the pieces one after the other. Untrusted.
    pub snippet: Vec<Piece>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Piece {
    #[redact(fixed = 3)]
    pub text: String,
    /// Whether this is what was searched for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub found: bool,
}
