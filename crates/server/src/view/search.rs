//! What a search found.

use chorus_core::model::ids::Prefix;
use chorus_core::state::directory::Directory;
use chorus_wire::rest::search::{Hit, Piece};

use super::messages::{self, message_id};
use crate::services::search;

pub(crate) fn hit(directory: &Directory, hit: &search::Hit) -> Hit {
    let event = &hit.shown.event;
    let piece = |piece: &chorus_core::language::search::Piece| Piece {
        text: piece.text.clone(),
        found: piece.found,
    };
    Hit {
        event_id: event.uid.show(Prefix::Event),
        message_id: message_id(event.uid),
        conversation: hit.conversation.uid.show(Prefix::Conversation),
        conversation_kind: hit.conversation.kind,
        title: hit.conversation.settings.title.to_string(),
        thread_id: hit.shown.thread.map(|t| t.show(Prefix::Thread)),
        seq: event.seq.0,
        author: messages::speaker(directory, &hit.conversation, event).into(),
        created_at: event.at,
        edited_at: hit.shown.state.edited_at,
        snippet: hit.snippet.iter().map(piece).collect(),
    }
}
