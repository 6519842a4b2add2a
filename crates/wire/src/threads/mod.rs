//! The threads protocol: the arguments and results of its MCP tools (`spec/threads.md`), one tool a
//! file.
//!
//! Any arguments may contain fields that state who is calling. The host only compares them with the
//! token, so no type here has them. Everything is snake_case, as in the protocol.

mod ack_read;
mod create_thread;
mod get_thread;
mod heartbeat_session;
mod post_message;
mod read_messages;
mod schema;
mod summarize_thread;
mod trigger_participant;
mod update_thread_status;

pub use ack_read::{AckRead, Acked};
pub use create_thread::{CreateThread, Created};
pub use get_thread::{Cursor, GetThread, Thread};
pub use heartbeat_session::{HeartbeatSession, Recorded};
pub use post_message::{PostMessage, Posted};
pub use read_messages::{Message, Messages, ReadMessages};
pub use schema::SCHEMA_VERSION;
pub use summarize_thread::{Author, OpenItem, SummarizeThread, Summary};
pub use trigger_participant::{Action, TriggerParticipant, TriggerResult, Triggered};
pub use update_thread_status::{StatusUpdated, UpdateThreadStatus};

use crate::tool::{Arguments, Tool};

/// The tools of the protocol, in the order of `tools/list`.
pub(crate) const TOOLS: &[&Tool] = &[
    CreateThread::TOOL,
    GetThread::TOOL,
    PostMessage::TOOL,
    ReadMessages::TOOL,
    AckRead::TOOL,
    UpdateThreadStatus::TOOL,
    SummarizeThread::TOOL,
    HeartbeatSession::TOOL,
    TriggerParticipant::TOOL,
];
