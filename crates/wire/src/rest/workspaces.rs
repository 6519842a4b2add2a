//! `/v1/workspaces`: the workspaces beside the host's own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::time::Time;

/// `POST /v1/workspaces`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWorkspace {
    /// 2 to 40 of a-z, 0-9 and -: the last part of its address.
    pub name: String,
}

/// `GET /v1/workspaces?after=&limit=`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListWorkspaces {
    /// The name of the last one that was listed.
    pub after: Option<String>,
    /// How many, from 1 to 1,000; 100 if it is not said.
    pub limit: Option<u32>,
}

/// A workspace that was made, or whose operator asked for another link.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedWorkspace {
    pub workspace: Workspace,
    /// Signs its operator in, once, within ten minutes.
    #[redact(fixed = 3)]
    pub sign_in_url: String,
}

/// `GET /v1/workspaces`, in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceList {
    pub workspaces: Vec<Workspace>,
    /// Whether there are more after the last one; they are asked for with `after`.
    pub has_more: bool,
}

/// What a workspace may take. What is absent is as the host's settings `[workspaces]` say.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceQuota {
    /// Requests under way and connections at one time, from 1 to 10,000,000.
    pub connections: Option<u32>,
    /// Requests in a second; 0 is no limit.
    pub requests_per_second: Option<u32>,
    /// The burst of such requests, from 1 to 10,000,000.
    pub requests_burst: Option<u32>,
    /// Time of one core, in percent, up to 100,000; 0 is no limit.
    pub cpu_percent: Option<u32>,
    /// Files and log entries, in MiB; 0 is no limit.
    pub storage_mib: Option<u64>,
}

/// `PUT /v1/workspaces/{name}/copy?offset=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspacePiece {
    /// Where in the copy the piece begins. 0 begins anew.
    pub offset: u64,
}

/// How much has come of the copy of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceReceived {
    pub bytes: u64,
}

/// `POST /v1/workspaces/{name}/moved`.
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MovedWorkspace {
    /// Its address there.
    #[redact(fixed = 3)]
    pub to: String,
}

/// A workspace beside the host's own.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    pub name: String,
    /// Its address, below which it has all that the host's own workspace has.
    #[redact(fixed = 3)]
    pub url: String,
    /// `active`, `suspended` or `deleted`.
    pub state: String,
    pub created_at: Time,
    /// When it is removed for good, if it was deleted.
    pub removed_at: Option<Time>,
    /// Whether it is in memory. One that nobody uses is not, and is opened when somebody comes.
    pub open: bool,
    /// Why it cannot be used, if it cannot.
    pub trouble: Option<String>,
    /// Where it is now, if it was moved to another host.
    #[redact(fixed = 3)]
    pub moved_to: Option<String>,
    /// What it may take, where that is not what the host's settings say.
    pub quota: Option<WorkspaceQuota>,
    /// The id of the host that owns it, where hosts share a database (`/v1/hosts`); absent of one that nobody uses.
    pub host: Option<String>,
    /// Why it is at that host.
    pub why_host: Option<String>,
}
