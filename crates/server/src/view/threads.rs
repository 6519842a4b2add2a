//! Messages as the threads protocol has them.

use chorus_core::model::activity::{is_registered, text_field};
use chorus_core::model::event::MessageKind;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::state::directory::Directory;
use chorus_wire::threads::{Message, SCHEMA_VERSION};

use super::id;
use super::messages::{Shown, json, message_id};

/// A message of a thread, or the one that it began with.
pub(crate) fn message(directory: &Directory, thread: Uid, shown: &Shown) -> Message {
    let event = &shown.event;
    let content = shown.content();
    let kind = event.change.message().map(|m| m.kind).unwrap_or_default();
    let event_type = content
        .filter(|_| kind == MessageKind::Event)
        .and_then(|m| text_field(m.metadata.as_deref()?, "event_type"));
    Message {
        message_id: message_id(event.uid),
        thread_id: thread.show(Prefix::Thread),
        schema_version: SCHEMA_VERSION,
        seq: event.thread_seq,
        kind: kind.into(),
        body: content.map(|m| m.text.to_string()).unwrap_or_default(),
        event_registered: event_type.map(is_registered),
        metadata: content.and_then(|m| json(m.metadata.as_deref())),
        sender_agent_id: id(directory, event.actor),
        sender_session_id: event.session.and_then(|key| {
            directory.sessions.get(&key).map(|session| session.uid.show(Prefix::Session))
        }),
        in_reply_to: shown.reply_to.map(message_id),
        created_at: event.at.into(),
        edited_at: shown.state.edited_at.map(Into::into),
        deleted: shown.state.deleted_at.is_some() || event.is_erased(),
    }
}
