//! `/v1/audit`: who did what to whom, and how it ended; and the signed ends of all chains.

use std::collections::BTreeMap;

use chorus_core::model::caller::Authority;
use chorus_core::model::ids::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// Query of `GET /v1/audit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListAudit {
    /// Whose acts, and acts about whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// What was done: `claimed`, `message_posted`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::time::iso_option")]
    #[schemars(with = "Option<crate::time::Iso>")]
    pub since: Option<Timestamp>,
    /// `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// `GET /v1/audit`, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    pub entries: Vec<AuditEntry>,
    /// Where the next page begins; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One thing that was done. Never what was said.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub at: Timestamp,
    /// Member id; absent when the host did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The role of its token; absent in entries of a conversation's log.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::option")]
    #[schemars(with = "Option<words::As<Authority>>")]
    pub role: Option<Authority>,
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The id of what it was done to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub subject: Option<String>,
    /// The member it was done to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// A role, stream, tool, token id or disposition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[redact(fixed = 3)]
    pub name: Option<String>,
    /// The code with which it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u32>,
}

/// `GET /v1/audit/heads`: where every chain ends now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heads {
    pub workspace_id: String,
    #[serde(with = "crate::time::iso")]
    #[schemars(with = "crate::time::Iso")]
    pub at: Timestamp,
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
