//! The context of one command: its facts, its caller, and lookups of rooms and events.
//!
//! A room, event or thread that the caller may not see is reported as unknown, like one that does
//! not exist.

use std::borrow::Cow;
use std::sync::Arc;

use crate::language::analysis::{Analysis, ReadText};
use crate::model::caller::{Authority, By};
use crate::model::conversation::Visibility;
use crate::model::error::{Code, Refusal};
use crate::model::event::Event;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, ThreadKey, Timestamp, Uid};
use crate::model::member::Member;
use crate::model::offer::Entry;
use crate::model::seed::CommandSeed;
use crate::model::thread::Thread;
use crate::state::directory::Directory;
use crate::state::effect::Effect;
use crate::state::facts::{Facts, Recalled};
use crate::state::room::Room;
use crate::state::workspace::{Failure, Tracked, Workspace};

/// What a member is told who writes where it is none.
pub(crate) const NOT_A_MEMBER: &str = "you are not a member of this channel; join it first";

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The context of one command: the workspace, the facts it may load, the caller and the time.
pub struct Context<'a> {
    pub(crate) ws: Tracked<'a>,
    pub(crate) facts: &'a mut dyn Facts,
    pub(crate) by: By,
    pub(crate) drawn: CommandSeed,
    /// The text of the command, read before.
    pub(crate) read: Option<&'a ReadText>,
    pub(crate) now: Timestamp,
    /// The message belongs to none of the caller's runs, even if one is open.
    pub(crate) unasked: bool,
}

impl<'a> Context<'a> {
    pub(crate) fn of_host(ws: &'a mut Workspace, facts: &'a mut dyn Facts, now: Timestamp) -> Self {
        let (by, drawn) = (By::host(), CommandSeed::default());
        Self { ws: Tracked::new(ws), facts, by, drawn, read: None, now, unasked: false }
    }

    /// What a text says: as it was read beforehand if it is the command's own.
    pub(crate) fn analysis(&self, text: &Arc<str>) -> Cow<'a, Analysis> {
        ReadText::analysis(self.read, text)
    }
}

impl Context<'_> {
    pub(crate) fn directory(&self) -> &Directory {
        &self.ws.directory
    }

    pub(crate) fn directory_mut(&mut self) -> &mut Directory {
        self.ws.directory_changed = true;
        Arc::make_mut(&mut self.ws.directory)
    }

    pub(crate) fn me(&self) -> Result<Arc<Member>> {
        let member = self.directory().member(self.by.member).filter(|m| !m.removed);
        Ok(member.cloned().ok_or_else(|| Refusal::not_found("member"))?)
    }

    /// Refuses callers who may not moderate the room.
    pub(crate) fn must_govern(&self) -> Result<()> {
        if self.by.authority < Authority::Orchestrator {
            return Err(Refusal::new(
                Code::InsufficientAuthority,
                "this needs an operator's or orchestrator's token",
            )
            .into());
        }
        Ok(())
    }

    /// The room of a conversation, loaded if it is not in memory. One that the caller may not see
    /// is reported as unknown.
    pub(crate) fn room_by_uid(&mut self, uid: Uid) -> Result<ConversationKey> {
        let key = match self.ws.by_uid.get(&uid) {
            Some(key) => Some(*key),
            None => self.facts.conversation_key(uid)?,
        };
        let key = key.ok_or_else(|| Refusal::not_found("conversation"))?;
        self.load(key)?;
        if !self.may_see(self.room(key)) {
            return Err(Refusal::not_found("conversation").into());
        }
        Ok(key)
    }

    pub(crate) fn load(&mut self, key: ConversationKey) -> Result<()> {
        if !self.ws.rooms.contains_key(&key) {
            let room = self.facts.room(key)?.ok_or_else(|| Refusal::not_found("conversation"))?;
            self.ws.loading().admit(room);
        }
        Ok(())
    }

    pub(crate) fn room(&self, key: ConversationKey) -> &Room {
        &self.ws.rooms[&key]
    }

    /// The room, to be changed: its head is written with the batch.
    pub(crate) fn room_mut(&mut self, key: ConversationKey) -> &mut Room {
        self.ws.touched.insert(key);
        #[allow(clippy::expect_used, reason = "a key is handed out by load, which admits its room")]
        self.ws.rooms.get_mut(&key).expect("the room was loaded")
    }

    pub(crate) fn may_see(&self, room: &Room) -> bool {
        room.conversation().settings.visibility == Visibility::Public
            || room.roster().contains_key(&self.by.member)
            || self.by.member == MemberKey::HOST
    }

    /// Refuses to append to a damaged log.
    fn must_be_whole(&self, key: ConversationKey) -> Result<()> {
        match self.room(key).damaged() {
            Some(why) => Err(Refusal::new(Code::Unavailable, &**why).into()),
            None => Ok(()),
        }
    }

    /// Requires a membership, for posting, reacting and claiming.
    pub(crate) fn must_sit(&self, key: ConversationKey) -> Result<()> {
        self.must_be_whole(key)?;
        let room = self.room(key);
        if room.conversation().settings.archived {
            let why =
                "the conversation is archived, and only read until it is set to archived: false";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        if !room.roster().contains_key(&self.by.member) {
            return Err(Refusal::new(Code::Forbidden, NOT_A_MEMBER).into());
        }
        if let Some(turn) = self.by.turn.filter(|t| t.conversation != key) {
            let _ = turn;
            return Err(Refusal::new(
                Code::Forbidden,
                "this turn's token is for another conversation",
            )
            .into());
        }
        Ok(())
    }

    /// The position of an event. Its room is loaded and visible to the caller.
    pub(crate) fn event_by_uid(&mut self, uid: Uid, what: &str) -> Result<EventRef> {
        let at = self.event_anywhere(uid, what)?;
        if !self.may_see(self.room(at.conversation)) || !self.is_shown(at)? {
            return Err(Refusal::unknown_event(what, uid).into());
        }
        Ok(at)
    }

    /// Whether the caller can see this entry. Other members' ephemeral messages are reported as
    /// unknown.
    fn is_shown(&mut self, at: EventRef) -> Result<bool> {
        let me = self.by.member;
        if me == MemberKey::HOST {
            return Ok(true);
        }
        let room = self.room(at.conversation);
        let shown = match room.tail().iter().rev().find(|e| e.seq == at.seq) {
            Some(event) => Some(event.is_shown_to(me)),
            None => room.open().get(&at.seq).map(|open| open.attention.is_shown_to(me)),
        };
        match shown {
            Some(shown) => Ok(shown),
            None => Ok(self.recall(at)?.event.is_shown_to(me)),
        }
    }

    /// The position of an event, with its room loaded, regardless of who may see it.
    pub(crate) fn event_anywhere(&mut self, uid: Uid, what: &str) -> Result<EventRef> {
        let at = match self.find_recent(uid) {
            Some(at) => Some(at),
            None => self.facts.event_ref(uid)?,
        };
        let at = at.ok_or_else(|| Refusal::unknown_event(what, uid))?;
        self.load(at.conversation)?;
        Ok(at)
    }

    /// An event that this batch may have logged and that is not in the log yet.
    pub(crate) fn find_recent(&self, uid: Uid) -> Option<EventRef> {
        if let Some(at) = self.ws.open_by_uid.get(&uid) {
            return Some(*at);
        }
        let turn = self.by.turn.map(|t| t.conversation);
        let rooms = turn.into_iter().chain(self.ws.touched.iter().copied());
        rooms.filter_map(|key| self.ws.rooms.get(&key)).find_map(|room| {
            let event = room.tail().iter().rev().find(|e| e.uid == uid)?;
            Some(EventRef { conversation: room.key(), seq: event.seq })
        })
    }

    pub(crate) fn thread_by_uid(&mut self, uid: Uid) -> Result<(ConversationKey, ThreadKey)> {
        let found = self.maybe_thread(uid)?;
        Ok(found.ok_or_else(|| Refusal::not_found("thread"))?)
    }

    /// As [`Context::thread_by_uid`], but none where there is no such thread. A thread that may not
    /// be seen is refused as unknown.
    pub(crate) fn maybe_thread(
        &mut self,
        uid: Uid,
    ) -> Result<Option<(ConversationKey, ThreadKey)>> {
        let recent =
            self.ws.touched.iter().filter_map(|key| self.ws.rooms.get(key)).find_map(|r| {
                let thread = r.threads().values().find(|t| t.uid == uid)?;
                Some((r.key(), thread.key))
            });
        let at = match recent {
            Some(at) => Some(at),
            None => self.facts.thread_ref(uid)?,
        };
        let Some((key, thread)) = at else { return Ok(None) };
        self.load(key)?;
        if !self.may_see(self.room(key)) {
            return Err(Refusal::not_found("thread").into());
        }
        Ok(Some((key, thread)))
    }

    /// An event with its current state: from memory when it is recent, otherwise from the log.
    pub(crate) fn recall(&mut self, at: EventRef) -> Result<Recalled> {
        let room = self.room(at.conversation);
        let known = room.tail().iter().rev().find(|e| e.seq == at.seq).cloned();
        let state = room.messages().get(&at.seq).cloned();
        let receipt = room.closed().iter().rev().find(|o| o.seq == at.seq).cloned();
        if let (Some(event), Some(message)) = (&known, &state) {
            let (event, message) = (event.clone(), message.clone());
            if receipt.is_some() || room.open().contains_key(&at.seq) {
                return Ok(Recalled { event, message, receipt });
            }
        }
        let written = self.facts.event(at)?;
        let written_message = written.as_ref().map(|w| w.message.clone());
        let written_receipt = written.as_ref().and_then(|w| w.receipt.clone());
        let event = known.or_else(|| written.map(|w| w.event));
        let event = event.ok_or_else(|| Refusal::not_found("event"))?;
        let message = state.or(written_message).unwrap_or_default();
        // Kept, so that a later change of the message starts from all earlier ones.
        if let Some(room) = self.ws.loading().rooms.get_mut(&at.conversation) {
            room.learn(at.seq, &message);
        }
        Ok(Recalled { event, message, receipt: receipt.or(written_receipt) })
    }

    /// As [`Context::recall`], for an event that another refers to: none when it was dropped.
    pub(crate) fn recall_kept(&mut self, at: EventRef) -> Result<Option<Recalled>> {
        self.load(at.conversation)?;
        let dropped = at.seq <= self.room(at.conversation).head().base;
        (!dropped).then(|| self.recall(at)).transpose()
    }

    /// An event in the form that is shown outside.
    pub(crate) fn entry(&mut self, event: Arc<Event>) -> Result<Entry> {
        let key = event.conversation;
        let about = event.change.about();
        let reply_to = self.uid_of(key, event.reply_to)?;
        let about = self.uid_of(key, about)?;
        let room = self.room(key);
        let thread = event.thread.and_then(|t| room.thread(t)).cloned();
        Ok(Entry { conversation: room.conversation().clone(), thread, event, reply_to, about })
    }

    pub(crate) fn uid_of(
        &mut self,
        conversation: ConversationKey,
        seq: Option<Seq>,
    ) -> Result<Option<Uid>> {
        let Some(seq) = seq else { return Ok(None) };
        let tail = self.room(conversation).tail();
        if let Some(event) = tail.iter().rev().find(|e| e.seq == seq) {
            return Ok(Some(event.uid));
        }
        Ok(self.facts.event(EventRef { conversation, seq })?.map(|r| r.event.uid))
    }

    pub(crate) fn thread(
        &self,
        key: ConversationKey,
        thread: Option<ThreadKey>,
    ) -> Option<&Arc<Thread>> {
        thread.and_then(|t| self.room(key).thread(t))
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        self.ws.changes.effects.push(effect);
    }

    /// Shows a logged event to followers; it is the outcome of the command.
    pub(crate) fn publish(&mut self, event: Arc<Event>) -> Result<Entry> {
        let entry = self.entry(event)?;
        self.effect(Effect::Logged(entry.clone()));
        Ok(entry)
    }
}
