//! `/v1/search`: what was said, by words, by author, by place and by time.

use chorus_core::conversation::ConversationKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::messages::MessageAuthor;
use crate::named::Named;
use crate::time::Time;

/// Query of `GET /v1/search`.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["q"]))]
pub struct Search {
    /// Words that must all be there; `"quotation marks"` hold a phrase together. No other sign means anything.
    #[redact(fixed = 3)]
    pub q: String,
    /// Member id of who said it.
    pub author: Option<String>,
    /// Only in this conversation, of whatever kind.
    pub conversation: Option<String>,
    /// Where, when no conversation is named; channels unless said.
    pub scope: Option<Scope>,
    /// Said at this time or later.
    pub since: Option<Time>,
    /// Said before this time.
    pub until: Option<Time>,
    /// `next` of the page before.
    pub after: Option<String>,
    /// At most 200; 50 unless said.
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
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    pub hits: Vec<Hit>,
    /// Where the next page begins; absent at the end. A page may have fewer hits than asked for, or none, and a next.
    pub next: Option<String>,
    /// The newest messages are not indexed yet: what was said a moment ago may be missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub behind: bool,
}

/// A message that holds what was asked for, as it is now.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    pub event_id: String,
    pub message_id: String,
    pub conversation: String,
    pub conversation_kind: Named<ConversationKind>,
    /// What the conversation is called. Untrusted.
    #[redact(fixed = 3)]
    pub title: String,
    pub thread_id: Option<String>,
    pub seq: u64,
    pub author: MessageAuthor,
    pub created_at: Time,
    pub edited_at: Option<Time>,
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
