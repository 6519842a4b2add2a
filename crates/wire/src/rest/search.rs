//! `/v1/search`: messages by text, author, conversation and time.

use chorus_core::model::conversation::ConversationKind;
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
    /// Words that must all occur. `"Quotation marks"` enclose a phrase. There are no other
    /// operators.
    #[redact(fixed = 3)]
    pub q: String,
    /// Member id of the author.
    pub author: Option<String>,
    /// Only in this conversation, of any kind.
    pub conversation: Option<String>,
    /// Where to search if no conversation is given; `channels` by default.
    pub scope: Option<Scope>,
    /// Posted at this time or later.
    pub since: Option<Time>,
    /// Posted before this time.
    pub until: Option<Time>,
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// At most 200; 50 by default.
    pub limit: Option<u32>,
}

/// Which conversations to include. Direct messages are included only on request.
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
    /// Whether it includes conversations of this kind.
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
    /// Cursor of the next page; absent on the last one. A page that is not the last may have fewer
    /// hits than requested, or none.
    pub next: Option<String>,
    /// The newest messages are not indexed yet and may be missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub behind: bool,
}

/// A matching message in its current state.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    pub event_id: String,
    pub message_id: String,
    pub conversation: String,
    pub conversation_kind: Named<ConversationKind>,
    /// The conversation's title. Untrusted.
    #[redact(fixed = 3)]
    pub title: String,
    pub thread_id: Option<String>,
    pub seq: u64,
    pub author: MessageAuthor,
    pub created_at: Time,
    pub edited_at: Option<Time>,
    /// The matching part of its text, as consecutive pieces. Untrusted.
    pub snippet: Vec<Piece>,
}

#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Piece {
    #[redact(fixed = 3)]
    pub text: String,
    /// Whether this piece is a match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub found: bool,
}
