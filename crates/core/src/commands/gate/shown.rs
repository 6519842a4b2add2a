//! The words of a command and their readers.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Prefix, Uid};

/// The words that a command would disclose.
pub struct Shown {
    /// The tool name that a person reads in the request.
    pub(crate) tool: &'static str,
    pub(crate) readers: Readers,
    /// The event that it answers; its run is the caller's.
    pub(crate) about: Option<EventRef>,
    /// The only source it is judged by: the event that a disposition is about, or the newest one of
    /// a conversation that is made public.
    pub(crate) judged_by: Option<EventRef>,
    /// The agent says it to all readers of the place, like a message.
    pub(crate) says: bool,
    pub(crate) fields: Vec<(&'static str, String)>,
    /// Files that it refers to.
    pub(crate) files: Vec<Uid>,
}

/// Who would read it: all of these together.
#[derive(Default)]
pub(crate) struct Readers {
    pub(crate) rooms: Vec<ConversationKey>,
    /// The only members of the room who would read it.
    pub(crate) only: Option<Arc<[MemberKey]>>,
    pub(crate) members: Vec<MemberKey>,
    pub(crate) everybody: bool,
}

impl Readers {
    pub(crate) fn of_room(key: ConversationKey, only: Option<Arc<[MemberKey]>>) -> Self {
        Self { rooms: vec![key], only, ..Self::default() }
    }

    pub(crate) fn everybody() -> Self {
        Self { everybody: true, ..Self::default() }
    }
}

impl Context<'_> {
    /// Something about an event, read by everybody who can see that event.
    pub(crate) fn beside(
        &mut self,
        at: EventRef,
        tool: &'static str,
        fields: Vec<(&'static str, String)>,
    ) -> Result<Shown> {
        let only = self.recall(at)?.event.only().cloned();
        let readers = Readers::of_room(at.conversation, only);
        Ok(Shown { about: Some(at), ..plain(tool, readers, fields) })
    }

    /// A note on the caller's obligation. Without a turn's token it may also concern a run that has
    /// ended, because harnesses report by themselves how runs ended.
    pub(crate) fn remark_on(
        &mut self,
        uid: Uid,
        tool: &'static str,
        note: Option<&Arc<str>>,
    ) -> Result<Option<Shown>> {
        let Some(note) = note else { return Ok(None) };
        let at = self.event_by_uid(uid, "event")?;
        let at = self.newest_of(at, self.by.member)?;
        let fields = vec![("event", event_id(uid)), ("note", note.to_string())];
        let shown = self.beside(at, tool, fields)?;
        Ok(Some(Shown { judged_by: self.by.turn.is_none().then_some(at), ..shown }))
    }

    pub(crate) fn said_in(
        &mut self,
        conversation: Uid,
        tool: &'static str,
        mut fields: Vec<(&'static str, String)>,
    ) -> Result<Shown> {
        let key = self.room_by_uid(conversation)?;
        fields.push(("channel", conversation.show(Prefix::Conversation)));
        Ok(plain(tool, Readers::of_room(key, None), fields))
    }

    pub(crate) fn said_of(
        &mut self,
        thread: Uid,
        tool: &'static str,
        mut fields: Vec<(&'static str, String)>,
    ) -> Result<Option<Shown>> {
        if fields.is_empty() {
            return Ok(None);
        }
        let (key, _) = self.thread_by_uid(thread)?;
        fields.push(("thread", thread.show(Prefix::Thread)));
        Ok(Some(plain(tool, Readers::of_room(key, None), fields)))
    }

    pub(crate) fn called(&self, members: &[MemberKey]) -> String {
        let id = |m: &MemberKey| self.directory().member(*m).map(|m| m.id.to_string());
        members.iter().filter_map(id).collect::<Vec<_>>().join(", ")
    }
}

pub(crate) fn plain(
    tool: &'static str,
    readers: Readers,
    fields: Vec<(&'static str, String)>,
) -> Shown {
    let (about, judged_by) = (None, None);
    Shown { tool, readers, about, judged_by, says: false, fields, files: Vec::new() }
}

pub(crate) fn event_id(uid: Uid) -> String {
    uid.show(Prefix::Event)
}

pub(crate) fn filled(name: &'static str, text: &str) -> Vec<(&'static str, String)> {
    if text.is_empty() { Vec::new() } else { vec![(name, text.to_owned())] }
}
