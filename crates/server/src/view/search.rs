//! What a search found.

use std::sync::Arc;

use chorus_core::model::conversation::Conversation;
use chorus_core::model::ids::Prefix;
use chorus_core::state::directory::Directory;
use chorus_wire::rest::search::{Hit, Piece};

use super::messages::{self, Shown, message_id};

/// A message that was found.
pub(crate) struct FoundMessage {
    pub conversation: Arc<Conversation>,
    pub shown: Shown,
    pub snippet: Vec<chorus_core::language::search::Piece>,
}

pub(crate) fn hit(directory: &Directory, hit: &FoundMessage) -> Hit {
    let event = &hit.shown.event;
    let piece = |piece: &chorus_core::language::search::Piece| Piece {
        text: piece.text.clone(),
        found: piece.found,
    };
    Hit {
        event_id: event.uid.show(Prefix::Event),
        message_id: message_id(event.uid),
        conversation: hit.conversation.uid.show(Prefix::Conversation),
        conversation_kind: hit.conversation.kind.into(),
        title: hit.conversation.settings.title.to_string(),
        thread_id: hit.shown.thread.map(|t| t.show(Prefix::Thread)),
        seq: event.seq.0,
        author: messages::speaker(directory, &hit.conversation, event).into(),
        created_at: event.at.into(),
        edited_at: hit.shown.state.edited_at.map(Into::into),
        snippet: hit.snippet.iter().map(piece).collect(),
    }
}
