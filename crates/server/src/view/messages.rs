//! Messages as REST and as the chat tools show them.

use std::sync::Arc;

use chorus_core::model::attention::Decision;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::event::{Change, Event, Message};
use chorus_core::model::ids::{MemberKey, Prefix, Uid};
use chorus_core::model::message_state::MessageState;
use chorus_core::model::reaction::Signal;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::content::Author;
use chorus_wire::attention::entry::{Entry, EntryAttention, Reaction};
use chorus_wire::attention::initialize::Glyphs;
use chorus_wire::part::Part;
use chorus_wire::rest::messages::{self, MessageSource};
use serde_json::Value;

use super::{id, members};

/// A message as it is now, with what its ids stand for.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub conversation: Arc<Conversation>,
    /// The event that posted it.
    pub event: Arc<Event>,
    pub thread: Option<Uid>,
    pub reply_to: Option<Uid>,
    /// The message that `event` is an edit of, where it is shown under the edit's own id.
    pub replaces: Option<Uid>,
    pub state: MessageState,
    /// The present content, when it was edited.
    pub edited: Option<Message>,
}

impl Shown {
    /// What it says now; nothing when it was deleted.
    pub(crate) fn content(&self) -> Option<&Message> {
        if self.state.deleted_at.is_some() {
            return None;
        }
        self.edited.as_ref().or_else(|| self.event.change.message())
    }

    /// The same under a later event that is about it, and that something is owed for: an edit of it, or a reaction to it,
    /// which has no words of its own.
    pub(crate) fn under(self, event: Arc<Event>) -> Self {
        let message = self.event.uid;
        match event.change {
            Change::Edited { .. } => Self { event, replaces: Some(message), ..self },
            _ => Self { event, reply_to: Some(message), edited: None, ..self },
        }
    }
}

pub(crate) fn message(directory: &Directory, shown: &Shown) -> messages::Message {
    let event = &shown.event;
    let content = shown.content();
    messages::Message {
        event_id: event.uid.show(Prefix::Event),
        message_id: message_id(event.uid),
        conversation: shown.conversation.uid.show(Prefix::Conversation),
        thread_id: shown.thread.map(|t| t.show(Prefix::Thread)),
        seq: event.seq.0,
        thread_seq: (event.thread_seq > 0).then_some(event.thread_seq),
        author: author(directory, &shown.conversation, event.actor, content.and_then(source))
            .into(),
        kind: event.change.message().map(|m| m.kind).unwrap_or_default().into(),
        text: content.map(|m| m.text.to_string()),
        content: content.and_then(parts),
        in_reply_to: shown.reply_to.map(|uid| uid.show(Prefix::Event)),
        created_at: event.at.into(),
        edited_at: shown.state.edited_at.map(Into::into),
        deleted_at: shown.state.deleted_at.map(Into::into),
        erased: event.is_erased(),
        reactions: reactions(directory, &shown.state, None),
        metadata: content.and_then(|m| json(m.metadata.as_deref())),
        source: content.and_then(source),
        hop: event.hop,
        only: only(directory, event),
    }
}

/// The same for an agent, with what was decided for it.
pub(crate) fn entry(
    directory: &Directory,
    shown: &Shown,
    viewer: MemberKey,
    glyphs: Option<&Glyphs>,
) -> Entry {
    let event = &shown.event;
    let content = shown.content();
    let told = event.attention.as_ref().and_then(|a| a.told.iter().find(|t| t.member == viewer));
    Entry {
        event_id: event.uid.show(Prefix::Event),
        conversation: shown.conversation.uid.show(Prefix::Conversation),
        thread_id: shown.thread.map(|t| t.show(Prefix::Thread)),
        sequence: event.seq.0,
        thread_sequence: (event.thread_seq > 0).then_some(event.thread_seq),
        author: owned(author(
            directory,
            &shown.conversation,
            event.actor,
            content.and_then(source),
        )),
        created_at: event.at.into(),
        content: content.and_then(parts),
        text: content.map(|m| m.text.to_string()),
        in_reply_to: shown.reply_to.map(|uid| uid.show(Prefix::Event)),
        replaces: shown.replaces.map(|uid| uid.show(Prefix::Event)),
        edited_at: shown.state.edited_at.map(Into::into),
        deleted: shown.state.deleted_at.is_some(),
        reactions: reactions(directory, &shown.state, glyphs),
        attention: told.map(|t| attention(&t.decision)),
        only: only(directory, event),
    }
}

/// What was decided for whom it is shown to.
pub(crate) fn attention(decision: &Decision) -> EntryAttention {
    EntryAttention {
        directedness: decision.directedness.into(),
        policy: decision.policy.into(),
        reason: decision.rule.name().to_owned(),
        mode: decision.mode.into(),
    }
}

fn only(directory: &Directory, event: &Event) -> Vec<String> {
    event.only().map_or_else(Vec::new, |only| only.iter().map(|m| id(directory, *m)).collect())
}

/// A message's id: its event's, under another prefix.
pub(crate) fn message_id(uid: Uid) -> String {
    format!("msg_{:032x}", uid.0)
}

/// Where a message came from, when from another platform.
pub(crate) fn source(message: &Message) -> Option<MessageSource> {
    serde_json::from_str(message.source.as_deref()?).ok()
}

/// Who said it. Who stands in for people elsewhere goes by the name of the one who did.
pub(crate) fn author<'a>(
    directory: &'a Directory,
    conversation: &'a Conversation,
    actor: MemberKey,
    from: Option<MessageSource>,
) -> Author<'a> {
    let author = members::author_in(directory, conversation, actor);
    let name = from.filter(|_| directory.is_stand_in(actor)).and_then(|from| from.author);
    let display_name = name.map_or(author.display_name, Into::into);
    Author { display_name, ..author }
}

/// The same of an event.
pub(crate) fn speaker<'a>(
    directory: &'a Directory,
    conversation: &'a Conversation,
    event: &'a Event,
) -> Author<'a> {
    let from = event.change.message().and_then(source);
    author(directory, conversation, event.actor, from)
}

/// The glyph of a signal: the connection's own, or the default.
pub(crate) fn glyph(signal: Signal, glyphs: Option<&Glyphs>) -> String {
    let own = glyphs.and_then(|g| g.get(signal.name()));
    own.map_or_else(|| signal.default_glyph().to_owned(), Clone::clone)
}

fn reactions(
    directory: &Directory,
    state: &MessageState,
    glyphs: Option<&Glyphs>,
) -> Vec<Reaction> {
    let by_signal = |signal: Signal| {
        let set = state.reactions.iter().filter(move |(_, s)| *s == signal);
        let members: Vec<_> = set.map(|(m, _)| id(directory, *m)).collect();
        (!members.is_empty()).then(|| Reaction {
            signal: signal.into(),
            glyph: glyph(signal, glyphs),
            members,
        })
    };
    Signal::ALL.into_iter().filter_map(by_signal).collect()
}

fn parts(message: &Message) -> Option<Vec<Part>> {
    serde_json::from_str(message.parts.as_deref()?).ok()
}

pub(super) fn json(text: Option<&str>) -> Option<Value> {
    serde_json::from_str(text?).ok()
}

pub(crate) fn owned(author: Author<'_>) -> Author<'static> {
    Author {
        id: author.id.into_owned().into(),
        kind: author.kind,
        display_name: author.display_name.into_owned().into(),
    }
}
