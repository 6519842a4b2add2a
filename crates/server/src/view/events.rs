//! Entries of a conversation's log.

use chorus_core::model::conversation::Conversation;
use chorus_core::model::event::{Change, Event, Promotion};
use chorus_core::model::ids::{Prefix, Uid};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::events;

use super::messages::{self, Shown};
use super::{id, members, thread_work};

/// One entry of the log. `about` is the message it posts or is about, as it is now.
pub(crate) fn event(
    directory: &Directory,
    conversation: &Conversation,
    event: &Event,
    thread: Option<Uid>,
    about: Option<&Shown>,
) -> events::Event {
    let is_post = matches!(event.change, Change::Posted(_));
    let mut out = events::Event {
        event_id: event.uid.show(Prefix::Event),
        conversation: conversation.uid.show(Prefix::Conversation),
        seq: event.seq.0,
        kind: event.change.name().to_owned(),
        actor: messages::speaker(directory, conversation, event).into(),
        created_at: event.at.into(),
        thread_id: thread.map(|t| t.show(Prefix::Thread)),
        message: about.map(|shown| messages::message(directory, shown)),
        about: about.filter(|_| !is_post).map(|shown| shown.event.uid.show(Prefix::Event)),
        signal: None,
        glyph: None,
        detail: None,
        member: None,
        participation: None,
        status: None,
        reason: None,
        title: None,
        work: None,
        told: Vec::new(),
    };
    if let Some(attention) = &event.attention {
        out.told = members::told(directory, &attention.told);
    }
    change(directory, &event.change, &mut out);
    out
}

fn change(directory: &Directory, change: &Change, out: &mut events::Event) {
    match change {
        Change::Created { settings, .. } | Change::SettingsChanged(settings) => {
            out.title = Some(settings.title.to_string());
        }
        Change::Joined { member, participation } => {
            out.member = Some(id(directory, *member));
            out.participation = Some((*participation).into());
        }
        Change::Withdrew { member } | Change::Left { member } => {
            out.member = Some(id(directory, *member))
        }
        Change::Reacted { signal, detail, .. } => {
            out.signal = Some((*signal).into());
            out.glyph = Some(signal.default_glyph().to_owned());
            out.detail = detail.as_deref().map(str::to_owned);
        }
        Change::Unreacted { signal, .. } => out.signal = Some((*signal).into()),
        Change::ThreadOpened(opening) => {
            out.thread_id = Some(opening.uid.show(Prefix::Thread));
            out.title = Some(opening.title.to_string());
            out.member = opening.owner.map(|m| id(directory, m));
        }
        Change::ThreadStatus { status, reason } => {
            out.status = Some((*status).into());
            out.reason = (!reason.is_empty()).then(|| reason.to_string());
        }
        Change::ThreadOwner { owner } => out.member = owner.map(|m| id(directory, m)),
        Change::Erased { reason, .. } => out.reason = Some(reason.name().to_owned()),
        Change::ThreadWork(change) => out.work = Some(thread_work::change(directory, change)),
        Change::Promoted(Promotion::Result { text }) => out.detail = Some(text.to_string()),
        Change::Promoted(Promotion::Message { note, .. }) => {
            out.detail = note.as_deref().map(str::to_owned);
        }
        Change::Continued | Change::Posted(_) | Change::Edited { .. } | Change::Deleted { .. } => {}
    }
}
