//! What followers of a conversation are sent, encoded once for all of them.

use std::sync::Arc;

use chorus_core::model::conversation::Conversation;
use chorus_core::model::delivery::Open;
use chorus_core::model::event::Change;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::model::message_state::MessageState;
use chorus_core::model::offer::Entry;
use chorus_core::state::directory::Directory;
use serde_json::json;

use super::feed::Live;
use crate::view;
use crate::view::messages::Shown;

/// A logged event. A post is complete in itself; anything else shows a message as it is now, which the log
/// knows.
pub(crate) fn logged(entry: &Entry, directory: &Directory) -> Live {
    let event = &entry.event;
    if !matches!(event.change, Change::Posted(_)) {
        return Live::Look;
    }
    let thread = entry.thread.as_ref().map(|t| t.uid);
    let shown = Shown {
        conversation: entry.conversation.clone(),
        event: event.clone(),
        thread,
        reply_to: entry.reply_to,
        replaces: None,
        state: MessageState::default(),
        edited: None,
    };
    let shown = view::events::event(directory, &entry.conversation, event, thread, Some(&shown));
    match serde_json::to_string(&shown) {
        Ok(json) => {
            let (seq, name) = (event.seq, event.change.name());
            Live::Event { seq, name, json: json.into(), only: event.only().cloned() }
        }
        Err(_) => Live::Look,
    }
}

/// How an event's deliveries stand, for its author.
pub(crate) fn receipt(
    conversation: &Conversation,
    event: Uid,
    open: &Open,
    directory: &Directory,
) -> Arc<str> {
    let members = open.deliveries.iter().map(|d| {
        json!({"member": view::id_of(directory, d.member), "receipt": view::deliveries::receipt(d)})
    });
    let members: Vec<_> = members.collect();
    json!({
        "conversation": conversation.uid.show(Prefix::Conversation),
        "event_id": event.show(Prefix::Event),
        "deliveries": members,
    })
    .to_string()
    .into()
}
