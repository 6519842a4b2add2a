//! The words of each command, and who would read them. Messages are not here: they are held whole.

use std::sync::Arc;

use crate::command::{Command, Home};
use crate::commands::run::{Result, Run};
use crate::conversation::{ConversationKind, Visibility};
use crate::event::{EventRef, Message};
use crate::ids::{ConversationKey, MemberKey, Prefix, Uid};
use crate::inbox;
use crate::member::MemberFields;
use crate::schedule::Act;
use crate::work::status_metadata;

/// What a command would show.
pub(crate) struct Shown {
    /// What a person reads that it is asked for.
    pub(crate) tool: &'static str,
    pub(crate) readers: Readers,
    /// The event that is answered with it, whose run it is of.
    pub(crate) about: Option<EventRef>,
    /// What it is judged by, whatever else was told: the event that a disposition is about, or the newest of a
    /// conversation that is opened to all.
    pub(crate) judged_by: Option<EventRef>,
    /// The agent says it to all who read there, like a message.
    pub(crate) says: bool,
    pub(crate) fields: Vec<(&'static str, String)>,
    /// Files that it refers to.
    pub(crate) files: Vec<Uid>,
}

/// Who would read it: all of these.
#[derive(Default)]
pub(crate) struct Readers {
    pub(crate) rooms: Vec<ConversationKey>,
    /// Of the room these alone.
    pub(crate) only: Option<Arc<[MemberKey]>>,
    pub(crate) members: Vec<MemberKey>,
    pub(crate) everybody: bool,
}

impl Readers {
    pub(crate) fn of_room(key: ConversationKey, only: Option<Arc<[MemberKey]>>) -> Self {
        Self { rooms: vec![key], only, ..Self::default() }
    }

    fn everybody() -> Self {
        Self { everybody: true, ..Self::default() }
    }
}

impl Run<'_> {
    /// The words of a command with their readers; none where it has no words, or keeps them whole by itself.
    pub(crate) fn words_of(&mut self, command: &Command) -> Result<Option<Shown>> {
        let shown = match command {
            Command::Edit { message, content } => {
                let at = self.event_by_uid(*message, "message")?;
                let fields = vec![("message", event(*message)), ("text", content.text.to_string())];
                let mut shown = self.beside(at, "edit_message", fields)?;
                shown.fields.extend(more(content));
                Some(Shown { about: None, says: true, files: content.assets(), ..shown })
            }
            Command::React { message, signal, detail: Some(detail), on: true } => {
                let at = self.event_by_uid(*message, "message")?;
                let fields = vec![
                    ("detail", detail.to_string()),
                    ("event", event(*message)),
                    ("signal", signal.name().to_owned()),
                ];
                Some(self.beside(at, "chat.react", fields)?)
            }
            Command::Promote { message, note: Some(note) } => {
                let at = self.event_by_uid(*message, "message")?;
                let fields = vec![("message", event(*message)), ("note", note.to_string())];
                let mut shown = self.beside(at, "promote", fields)?;
                shown.about = None;
                Some(shown)
            }
            Command::Defer { event: uid, reason: Some(note), .. } => {
                Some(self.remark_on(*uid, "chat.defer", note)?)
            }
            Command::Resolve { event: uid, note: Some(note) } => {
                Some(self.remark_on(*uid, "chat.resolve", note)?)
            }
            Command::Dispose { event: uid, note: Some(note), .. } => {
                Some(self.remark_on(*uid, "events.dispose", note)?)
            }
            Command::CreateConversation { kind, settings, members } => {
                let mut readers = Readers { members: members.clone(), ..Readers::default() };
                readers.members.push(self.by.member);
                readers.everybody = settings.visibility == Visibility::Public;
                let mut fields = vec![
                    ("kind", kind.name().to_owned()),
                    ("members", self.called(members)),
                    ("title", settings.title.to_string()),
                ];
                fields.extend(filled("description", &settings.description));
                fields.extend(filled("purpose", &settings.purpose));
                // What nobody named is called by its kind.
                let silent = &*settings.title == kind.name() && fields.len() == 3;
                (!silent).then(|| plain("create_channel", readers, fields))
            }
            Command::ChangeConversation { conversation, settings } => {
                let key = self.room_by_uid(*conversation)?;
                let room = self.room(key);
                let opens = settings.visibility == Some(Visibility::Public)
                    && room.conversation.settings.visibility != Visibility::Public;
                let newest = EventRef { conversation: key, seq: room.head.seq };
                let texts = [
                    ("description", &settings.description),
                    ("purpose", &settings.purpose),
                    ("title", &settings.title),
                ];
                let mut fields: Vec<_> =
                    texts.iter().filter_map(|(n, t)| Some((*n, (*t).clone()?))).collect();
                if opens {
                    fields.push(("visibility", "public".to_owned()));
                }
                let pinned = &room.conversation.settings.pins;
                let pins = settings.pins.iter().flatten().copied();
                let files: Vec<Uid> = pins.filter(|pin| !pinned.contains(pin)).collect();
                if !files.is_empty() {
                    let ids: Vec<_> = files.iter().map(|pin| pin.show(Prefix::Asset)).collect();
                    fields.push(("pinned_assets", ids.join(", ")));
                }
                if fields.is_empty() {
                    return Ok(None);
                }
                fields.push(("channel", conversation.show(Prefix::Conversation)));
                let readers = match opens {
                    true => Readers::everybody(),
                    false => Readers::of_room(key, None),
                };
                let judged_by = opens.then_some(newest);
                Some(Shown { judged_by, files, ..plain("change_channel", readers, fields) })
            }
            Command::SetSeat { conversation, member, terms, .. } => match &terms.name {
                Some(Some(name)) => {
                    let fields = vec![
                        ("display_name", name.to_string()),
                        ("member", self.called(&[*member])),
                    ];
                    Some(self.said_in(*conversation, "set_seat", fields)?)
                }
                _ => None,
            },
            Command::OpenThread(opening) => {
                let mut fields = vec![("title", opening.title.clone())];
                match opening.home {
                    Home::In(conversation) => {
                        // What is called as its place is shows nothing more; so does what was made before.
                        let key = self.room_by_uid(conversation)?;
                        if *self.room(key).conversation.settings.title == *opening.title {
                            return Ok(None);
                        }
                        Some(self.said_in(conversation, "create_thread", fields)?)
                    }
                    Home::Own => {
                        let members: Vec<_> =
                            opening.participants.iter().copied().chain(opening.owner).collect();
                        fields.insert(0, ("members", self.called(&members)));
                        let members = members.into_iter().chain([self.by.member]).collect();
                        let readers = Readers { members, ..Readers::default() };
                        // What nobody named is called by its kind.
                        let silent = opening.title == ConversationKind::Thread.name();
                        (!silent).then(|| plain("create_thread", readers, fields))
                    }
                }
            }
            Command::ChangeThread { thread, status, reason, summary, note, .. } => {
                let mut fields = filled("reason", reason);
                fields.extend(summary.iter().map(|text| ("summary", text.to_string())));
                // What the host alone wrote into it is nobody's words.
                let hosts = status.map(status_metadata).unwrap_or_default();
                let metadata = note.as_ref().and_then(|note| note.metadata.as_deref());
                let metadata = metadata.filter(|metadata| **metadata != *hosts);
                fields.extend(metadata.map(|text| ("metadata", text.to_owned())));
                let shown = self.said_of(*thread, "update_thread_status", fields)?;
                shown.map(|shown| Shown { says: true, ..shown })
            }
            Command::ChangeWork { thread, change } => {
                let texts = [&change.initiative_key, &change.topic_kind].into_iter().flatten();
                let mut fields: Vec<_> =
                    texts.flatten().map(|text| ("about", text.to_string())).collect();
                fields.extend(change.progress.iter().map(|p| ("progress", p.text.to_string())));
                fields.extend(change.bind.iter().map(|bound| ("bind", bound.id.to_string())));
                self.said_of(*thread, "change_thread_work", fields)?
            }
            Command::Stimulate(new) => {
                let mut fields = vec![("text", new.text.to_string())];
                fields.extend(new.title.iter().map(|title| ("title", title.to_string())));
                fields.push(("targets", self.called(&new.targets)));
                let mut shown =
                    self.said_in(new.conversation, "create_channel_stimulus", fields)?;
                if new.private {
                    let targets = new.targets.iter().copied().chain(new.source);
                    shown.readers.only = Some(targets.chain([self.by.member]).collect());
                }
                Some(Shown { says: true, ..shown })
            }
            Command::ChangeSchedules { conversation, act } => match &**act {
                Act::Add(new) => {
                    let mut fields = vec![("text", new.text.to_string())];
                    fields.extend(new.title.iter().map(|title| ("title", title.to_string())));
                    fields.push(("targets", self.called(&new.targets)));
                    let shown = self.said_in(*conversation, "create_schedule", fields)?;
                    Some(Shown { says: true, ..shown })
                }
                Act::Change(schedule, patch) => {
                    let texts = [("text", &patch.text), ("title", &patch.title)];
                    let mut fields: Vec<_> = texts
                        .iter()
                        .filter_map(|(n, t)| Some((*n, t.as_ref()?.to_string())))
                        .collect();
                    if fields.is_empty() {
                        return Ok(None);
                    }
                    fields.push(("schedule", schedule.show(Prefix::Schedule)));
                    let shown = self.said_in(*conversation, "change_schedule", fields)?;
                    Some(Shown { says: true, ..shown })
                }
                Act::Remove(_) => None,
            },
            Command::Project(asked) => self.words_of_project(asked)?,
            Command::AddMember { id, fields, .. } => {
                let mut words = about_member(fields);
                words.push(("id", id.clone()));
                Some(plain("add_member", Readers::everybody(), words))
            }
            Command::ChangeMember { member, fields } => {
                let mut words = about_member(fields);
                if words.is_empty() {
                    return Ok(None);
                }
                words.push(("id", self.called(&[*member])));
                Some(plain("change_member", Readers::everybody(), words))
            }
            Command::AddRole { name } => {
                Some(plain("add_role", Readers::everybody(), vec![("name", name.clone())]))
            }
            Command::AddStream { name, .. } => {
                Some(plain("add_stream", Readers::everybody(), vec![("name", name.clone())]))
            }
            Command::Inbox(act) => {
                let name = match &**act {
                    inbox::Act::Add { name, .. } => name.as_ref(),
                    inbox::Act::Change { inbox, patch } => {
                        // To whom it is not, it is unknown, and nothing waits.
                        self.inbox_to_keep(*inbox)?;
                        patch.name.as_ref()
                    }
                    _ => None,
                };
                let fields = name.map(|name| vec![("name", name.to_string())]);
                fields.map(|fields| plain("inbox", Readers::everybody(), fields))
            }
            _ => None,
        };
        Ok(shown)
    }

    /// Something about an event, which whoever is shown that reads.
    fn beside(
        &mut self,
        at: EventRef,
        tool: &'static str,
        fields: Vec<(&'static str, String)>,
    ) -> Result<Shown> {
        let only = self.recall(at)?.event.only().cloned();
        let readers = Readers::of_room(at.conversation, only);
        Ok(Shown { about: Some(at), ..plain(tool, readers, fields) })
    }

    /// What the caller says of what it owes. Without a turn's token that names its run, also one that has ended: harnesses
    /// say by themselves how runs ended.
    fn remark_on(&mut self, uid: Uid, tool: &'static str, note: &Arc<str>) -> Result<Shown> {
        let at = self.event_by_uid(uid, "event")?;
        let at = self.newest_of(at, self.by.member)?;
        let fields = vec![("event", event(uid)), ("note", note.to_string())];
        let shown = self.beside(at, tool, fields)?;
        Ok(Shown { judged_by: self.by.turn.is_none().then_some(at), ..shown })
    }

    fn said_in(
        &mut self,
        conversation: Uid,
        tool: &'static str,
        mut fields: Vec<(&'static str, String)>,
    ) -> Result<Shown> {
        let key = self.room_by_uid(conversation)?;
        fields.push(("channel", conversation.show(Prefix::Conversation)));
        Ok(plain(tool, Readers::of_room(key, None), fields))
    }

    fn said_of(
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

    fn called(&self, members: &[MemberKey]) -> String {
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

fn about_member(fields: &MemberFields) -> Vec<(&'static str, String)> {
    let texts = [
        ("display_name", &fields.display_name),
        ("handle", &fields.handle),
        ("identities", &fields.identities),
        ("owner", &fields.owner),
    ];
    texts.iter().filter_map(|(name, text)| Some((*name, (*text).clone()?))).collect()
}

fn event(uid: Uid) -> String {
    uid.show(Prefix::Event)
}

fn filled(name: &'static str, text: &str) -> Vec<(&'static str, String)> {
    if text.is_empty() { Vec::new() } else { vec![(name, text.to_owned())] }
}

/// The rest of a message that is edited.
fn more(content: &Message) -> impl Iterator<Item = (&'static str, String)> {
    let parts = content.parts.iter().map(|json| ("content", json.to_string()));
    parts.chain(content.metadata.iter().map(|json| ("metadata", json.to_string())))
}
