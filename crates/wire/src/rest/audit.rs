//! `/v1/audit`: who did what to whom, and the result; and the signed heads of all hash chains.

use std::collections::BTreeMap;

use chorus_core::model::caller::Authority;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// Query of `GET /v1/audit`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListAudit {
    /// Only entries in which this member acted, or was acted upon.
    pub member: Option<String>,
    /// Only this kind of entry: `claimed`, `message_posted`, …
    pub kind: Option<String>,
    pub conversation: Option<String>,
    pub since: Option<Time>,
    /// The `next` of the previous page.
    pub after: Option<String>,
    pub limit: Option<u32>,
}

/// `GET /v1/audit`, oldest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    pub entries: Vec<AuditEntry>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
}

/// One recorded action. It never contains the text of a message.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    pub at: Time,
    /// Member id of the actor; absent if it was the host.
    pub by: Option<String>,
    pub session: Option<String>,
    /// The role of the actor's token; absent in entries from a conversation's log.
    pub role: Option<Named<Authority>>,
    pub kind: String,
    pub conversation: Option<String>,
    pub seq: Option<u64>,
    /// The id of the object acted upon.
    #[redact(fixed = 3)]
    pub subject: Option<String>,
    /// The member acted upon.
    pub member: Option<String>,
    /// A role, stream, tool, token id or disposition.
    #[redact(fixed = 3)]
    pub name: Option<String>,
    /// The error code, if it was refused.
    pub refused: Option<String>,
    pub took_ms: Option<u32>,
}

/// `GET /v1/audit/heads`: the current head of every hash chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heads {
    pub workspace_id: String,
    pub at: Time,
    /// The newest block of the audit log, and its hash.
    pub audit: Head,
    /// By conversation id.
    pub conversations: BTreeMap<String, Head>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    pub seq: u64,
    /// Hexadecimal.
    pub hash: String,
}

/// Heads with the host's signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignedHeads {
    pub heads: Heads,
    /// A JSON Web Signature (EdDSA) over the same heads.
    pub signed: String,
    /// The public key, 32 bytes in hexadecimal.
    pub key: String,
}
