//! Wakes: the host asks a runner to bring its program back to the mail that waits, and the runner
//! reports what came of it (threads spec section 3.8, design section 5 "Wake").
//!
//! A runner is a harness that connects with `session.runner`. It is offered no deliveries. The
//! program reads and answers by MCP, with a token of the runner's session.

use chorus_core::model::wake::{Lane, ReportResult};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::named::Named;
use crate::time::Time;

/// `session/wake`, host to runner. It is sent again, with the same fence, when more mail has come
/// or the runner has connected again.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wake {
    /// `wake_…`
    pub wake_id: String,
    /// Reports with an older fence are refused.
    pub fence: u32,
    /// Why it is woken: `new_unread_messages`.
    pub reason: String,
    /// Whether an operator asked not to wait for a person who types. A draft is never touched.
    pub force: bool,
    /// Whether this fence was sent before.
    pub again: bool,
    pub threads: Vec<WakeThread>,
    /// What to tell the program, at most 8 KiB. Untrusted parts are framed as data.
    #[redact(fixed = 3)]
    pub prompt: String,
    /// What a new session needs to know, at most 8 KiB. Untrusted.
    #[redact(fixed = 3)]
    pub summary: Option<String>,
    /// Lanes that have failed too often and are not to be tried.
    pub skip: Vec<Named<Lane>>,
}

/// Where mail waits.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WakeThread {
    /// `ch_…`
    pub conversation_id: String,
    /// `th_…`, where the mail is in a thread.
    pub thread_id: Option<String>,
    #[redact(fixed = 3)]
    pub title: String,
    /// The newest message that the wake covers: its place in the thread, or in the conversation's
    /// log where it is in none.
    pub through_seq: u64,
    /// What the agent has read already, counted likewise.
    pub read_seq: u64,
}

/// Params of `wake/report`, runner to host.
#[skip_serializing_none]
#[derive(Clone, veil::Redact, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WakeReport {
    /// `wake_…`
    pub wake_id: String,
    pub fence: u32,
    pub lane: Option<Named<Lane>>,
    pub result: Named<ReportResult>,
    /// The reason, in one short word: `no_socket`, `person_typing`.
    pub why: Option<String>,
    /// What proves the result: a turn's id, the hook that ran.
    #[redact(fixed = 3)]
    pub evidence: Option<String>,
    /// When it is tried again, of a wake that waits for a person.
    pub deferred_until: Option<Time>,
    /// The runtime's own id of its session, by which it can be resumed.
    pub resume_id: Option<String>,
    /// The last lines on the program's screen, at most 4 KiB.
    #[redact(fixed = 3)]
    pub lines: Option<String>,
}

/// The result of `wake/report`.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WakeReported {
    pub wake_id: String,
    /// `pending`, `handed`, `deferred`, `running`, `done` or `dead`.
    pub state: String,
    /// Report again before this, or the wake is taken back.
    pub lease_until: Option<Time>,
}
