//! An offer as the harness reads it: `chat/deliver`, with a grant to speak and, where the content is withheld,
//! a knock (C2A "Event envelope" and "Injection mode `notify`").

use chorus_core::attention::knock;
use chorus_core::model::attention::{Attention, Decision, Intent, Rule};
use chorus_core::model::conversation::ConversationKind;
use chorus_core::model::event::{Change, Message};
use chorus_core::model::ids::{Prefix, Timestamp, Uid};
use chorus_core::model::offer::{Entry, Offer};
use chorus_core::state::directory::Directory;
use chorus_wire::attention::channel::ChannelDelivery;
use chorus_wire::attention::content::{ConversationRef, Source, Timing, TurnGrant};
use chorus_wire::attention::deliver::Knock;
use chorus_wire::attention::method;
use chorus_wire::attention::shared::{Body, DeliverFor, DeliverShared, Shared};
use chorus_wire::attention::told::Told;

use crate::auth::{Auth, Caller, Stem, Turn};
use crate::services::inboxes::CameWith;
use crate::view::{id_of, messages};

/// Encodes what all receivers of the event share.
pub(crate) fn shared(entry: &Entry, directory: &Directory, workspace_id: &str) -> Shared {
    let event = &entry.event;
    let text = reaction(&event.change).unwrap_or_default().into();
    let other = Message { text, ..Message::default() };
    let message = event.change.message().unwrap_or(&other);
    let from = messages::source(message);
    let attention = event.attention.as_deref();
    let told = attention.map_or(&[][..], |a| &a.told);
    let named = told.iter().filter(|t| t.decision.rule == Rule::Mention);
    let mentions: Vec<_> = named.map(|t| id_of(directory, t.member)).collect();
    let stream = entry.conversation.settings.stream.and_then(|key| directory.stream(key));
    let title: &str = &entry.conversation.settings.title;
    DeliverShared {
        event: event.uid,
        source: Source {
            platform: from.as_ref().map_or("chorus", |s| &s.platform).into(),
            workspace_id: from
                .as_ref()
                .and_then(|s| s.workspace_id.as_deref())
                .unwrap_or(workspace_id)
                .into(),
        },
        conversation: ConversationRef {
            id: entry.conversation.uid.show(Prefix::Conversation).into(),
            kind: entry.conversation.kind.into(),
            title: (!title.is_empty()).then(|| title.into()),
            stream_id: stream.map(|s| s.uid.show(Prefix::Stream).into()),
            thread_id: entry.thread.as_ref().map(|t| t.uid.show(Prefix::Thread).into()),
        },
        author: messages::author(directory, &entry.conversation, event.actor, from.clone()),
        timing: Timing {
            created_at: event.at.into(),
            sequence: event.seq.0,
            thread_sequence: (event.thread_seq > 0).then_some(event.thread_seq),
        },
        mentions: &mentions,
        content: match &message.parts {
            Some(parts) => Body::Parts(parts),
            None => Body::Text(&message.text),
        },
        intent: attention.map_or(Intent::Statement, |a| a.intent),
        replaces: entry.about.filter(|_| matches!(event.change, Change::Edited { .. })),
        in_reply_to: answers(entry),
        metadata: message.metadata.as_deref(),
        recipient: named_recipient(attention, directory),
        told: those_told(attention, directory),
    }
    .encode()
}

/// A reaction in words, with what its member says to it.
pub(super) fn reaction(change: &Change) -> Option<String> {
    match change {
        Change::Reacted { signal, detail: Some(detail), .. } => {
            Some(format!("(reacted: {}) {detail}", signal.name()))
        }
        Change::Reacted { signal, .. } => Some(format!("(reacted: {})", signal.name())),
        Change::Unreacted { signal, .. } => Some(format!("(took back: {})", signal.name())),
        _ => None,
    }
}

/// What the event answers: a reaction the message it is of.
pub(super) fn answers(entry: &Entry) -> Option<Uid> {
    match entry.event.change {
        Change::Reacted { .. } | Change::Unreacted { .. } => entry.about,
        _ => entry.reply_to,
    }
}

/// The whole frame of one offer.
pub(crate) fn frame(
    shared: &Shared,
    offer: &Offer,
    channel: Option<&ChannelDelivery>,
    directory: &Directory,
    granted: Granted<'_>,
) -> String {
    with_receiver(offer, channel, directory, granted, |to| shared.frame(to))
}

/// The same for a harness that acknowledges nothing: a notification.
pub(crate) fn unanswered(
    shared: &Shared,
    offer: &Offer,
    channel: Option<&ChannelDelivery>,
    directory: &Directory,
    granted: Granted<'_>,
) -> String {
    let params = params(shared, offer, channel, directory, granted);
    format!(r#"{{"jsonrpc":"2.0","method":"{}","params":{params}}}"#, method::DELIVER)
}

/// The params of the frame alone, as `chat.claim` gives them.
pub(crate) fn params(
    shared: &Shared,
    offer: &Offer,
    channel: Option<&ChannelDelivery>,
    directory: &Directory,
    granted: Granted<'_>,
) -> String {
    with_receiver(offer, channel, directory, granted, |to| shared.params(to))
}

/// What the right to speak stems from that is given along with an offer, and when that ends.
#[derive(Clone, Copy)]
pub(crate) struct Granted<'a> {
    pub auth: &'a Auth,
    pub now: Timestamp,
    pub stem: Stem,
    pub ends: Timestamp,
}

impl<'a> Granted<'a> {
    /// To who is connected, or calls, with a token.
    pub(crate) fn to(caller: &Caller, auth: &'a Auth, now: Timestamp) -> Self {
        Self { auth, now, stem: caller.stem, ends: caller.expires }
    }
}

/// The grant to speak for the offered event.
pub(crate) fn grant(offer: &Offer, granted: Granted<'_>) -> TurnGrant<'static> {
    let turn = turn(offer, granted.stem, Turn::expiry(granted.now, granted.ends));
    let token = granted.auth.grant(&turn).into();
    TurnGrant { token, fence: offer.fence, hop: offer.entry.event.hop }
}

/// The turn of an offered event.
pub(crate) fn turn(offer: &Offer, stem: Stem, expires: Timestamp) -> Turn {
    let event = &offer.entry.event;
    Turn {
        conversation: offer.entry.conversation.uid,
        event: event.uid,
        member: offer.member,
        session: offer.session,
        key: event.conversation,
        seq: event.seq,
        fence: offer.fence,
        expires,
        stem,
    }
}

fn with_receiver<T>(
    offer: &Offer,
    channel: Option<&ChannelDelivery>,
    directory: &Directory,
    granted: Granted<'_>,
    write: impl FnOnce(&DeliverFor<'_>) -> T,
) -> T {
    let decision = &offer.decision;
    let came =
        offer.came_with.as_ref().and_then(|sealed| CameWith::open(granted.auth.vault(), sealed));
    let context = &*offer.entry.conversation.settings.description;
    write(&DeliverFor {
        receiver: offer.member,
        member: id_of(directory, offer.member),
        is_recipient: is_recipient(decision.rule),
        directedness: decision.directedness,
        policy: decision.policy,
        reason: decision.rule.name(),
        priority: decision.priority,
        deadline_ms: decision.deadline_ms,
        mode: decision.mode,
        attempt: offer.attempt,
        turn: Some(grant(offer, granted)),
        channel,
        mcp: came.as_ref().map_or(&[], |came| &came.mcp),
        channel_context: Some(context).filter(|text| came.is_some() && !text.is_empty()),
        knock: (!decision.mode.shows_content()).then(|| knock(&offer.entry, decision, directory)),
    })
}

/// Who is told, and not only shown that there is something.
pub(super) fn those_told(attention: Option<&Attention>, directory: &Directory) -> Told {
    let told = attention.map_or(&[][..], |a| &a.told);
    let told = told.iter().filter(|t| t.decision.mode.tells());
    Told::new(told.map(|t| (t.member, id_of(directory, t.member))))
}

/// Whether it is for the one to whom it goes, as the sender or the direct conversation says.
fn is_recipient(rule: Rule) -> bool {
    matches!(rule, Rule::DirectMessage | Rule::Recipient | Rule::Delivered)
}

/// The one member whom the sender names as its recipient.
fn named_recipient<'a>(attention: Option<&Attention>, directory: &'a Directory) -> Option<&'a str> {
    let told = attention.map_or(&[][..], |a| &a.told);
    told.iter().find(|t| t.decision.rule == Rule::Recipient).map(|t| id_of(directory, t.member))
}

pub(super) fn knock(entry: &Entry, decision: &Decision, directory: &Directory) -> Knock<'static> {
    let author = id_of(directory, entry.event.actor);
    let kind = if directory.is_agent(entry.event.actor) { "agent" } else { "human" };
    Knock {
        from: format!("{kind}:{author}").into(),
        place: place(entry).into(),
        directedness: decision.directedness.into(),
        policy: decision.policy.into(),
        priority: decision.priority.into(),
        topic: topic(entry, decision, kind).into(),
        pull_with: "chat.read_thread".into(),
    }
}

fn place(entry: &Entry) -> String {
    let id = |uid: Uid| uid.show(Prefix::Conversation);
    if let Some(thread) = &entry.thread {
        return format!("thread:{}", thread.uid.show(Prefix::Thread));
    }
    let conversation = &entry.conversation;
    match conversation.kind {
        ConversationKind::Dm => format!("dm:{}", id(conversation.uid)),
        ConversationKind::Thread => format!("thread:{}", id(conversation.uid)),
        _ if conversation.settings.title.is_empty() => format!("channel:{}", id(conversation.uid)),
        _ => format!("channel:{}", conversation.settings.title),
    }
}

/// A template over what the host itself knows; no word of any user stands in it.
fn topic(entry: &Entry, decision: &Decision, kind: &str) -> String {
    let intent = entry.event.attention.as_ref().map_or(Intent::Statement, |a| a.intent);
    let what = match &entry.event.change {
        Change::Reacted { signal, .. } => knock::Kind::Reacted(*signal),
        Change::Edited { .. } => knock::Kind::Edited,
        _ => knock::Kind::Posted,
    };
    knock::topic(intent, decision.rule, what, kind == "agent")
}
