//! `/v1/hosts`: the hosts of a database, and which of them owns the workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::time::Time;

/// `GET /v1/hosts`, the one that has been up longest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hosts {
    pub hosts: Vec<HostInfo>,
    /// How many owners the workspace has had on this database; absent where it is a file.
    pub epoch: Option<u64>,
}

/// A host that is up.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostInfo {
    /// New with each of its starts; absent where the workspace is a file.
    pub id: Option<String>,
    /// How clients reach it.
    #[redact(fixed = 3)]
    pub url: String,
    /// How other hosts reach it; absent where there can be none.
    pub peer: Option<String>,
    pub version: String,
    /// Whether it owns the workspace, and so serves it. Others pass requests on to the owner.
    pub owner: bool,
    /// How many workspaces it owns, with the hosts' own; absent where the workspace is a file.
    pub workspaces: Option<u64>,
    /// Since when it has been up, by the database's clock.
    pub since: Option<Time>,
    /// Milliseconds until others take over what it owns, unless it renews its lease.
    pub lease_ms: Option<u64>,
}
