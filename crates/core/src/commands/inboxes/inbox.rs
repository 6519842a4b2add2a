//! Inboxes: creating and changing them by the agent's keeper, receiving deliveries of other
//! services, and sending answers back ([`crate::model::inbox`]).

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::{check_settings, derived};
use crate::commands::messages::Logged;
use crate::commands::messages::checks::check_message;
use crate::language::names::rules::check_title;
use crate::model::caller::{Authority, By};
use crate::model::conversation::{ConversationKind, Settings, Visibility};
use crate::model::endpoint::Secret;
use crate::model::error::{Code, Refusal};
use crate::model::event::{Change, Event, Hash};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, Uid};
use crate::model::inbox::{Callback, Channel, Checks, Inbox, Patch, Received, Remote, Trouble};
use crate::model::limits;
use crate::model::member::{MemberFields, MemberKind};
use crate::model::requests::{Audience, Post};
use crate::state::effect::{Effect, RemoteNews};

/// What a message from another service carries besides its content.
#[derive(Default)]
pub(crate) struct Elsewhere {
    /// A lower bound on the number of agents' messages before it.
    pub(crate) hop: u8,
    pub(crate) callback: Option<Callback>,
}

impl Context<'_> {
    pub(super) fn change_inbox(&mut self, inbox: Uid, patch: Patch) -> Result<Arc<Inbox>> {
        let mut inbox = self.inbox_to_keep(inbox)?;
        if let Some(name) = patch.name.clone() {
            check_title("name of an inbox", Some(&name))?;
            inbox.name = name;
        }
        inbox.checks = inbox.checks.patched(patch);
        inbox.checks.check()?;
        Ok(self.put_inbox(inbox))
    }

    pub(super) fn rotate_inbox(&mut self, inbox: Uid, secret: Hash) -> Result<Arc<Inbox>> {
        let inbox = self.inbox_to_keep(inbox)?;
        self.must_be_new(&secret)?;
        let rotated_at = Some(self.now);
        Ok(self.put_inbox(Inbox { secret, rotated_at, ..inbox }))
    }

    pub(super) fn remove_inbox(&mut self, inbox: Uid) -> Result<()> {
        let inbox = self.inbox_to_keep(inbox)?;
        self.close_inbox(&inbox)
    }

    /// Records that something could not be sent back to the inbox's service.
    pub(super) fn note_trouble(&mut self, inbox: Uid, what: Arc<str>) -> Result<()> {
        self.must_be_the_host()?;
        let found = self.directory().inboxes.get(&inbox).cloned();
        // It may have been removed meanwhile.
        if let Some(inbox) = found {
            let trouble = Some(Trouble { at: self.now, what });
            self.put_inbox(Inbox { trouble, ..Inbox::clone(&inbox) });
        }
        Ok(())
    }

    pub(super) fn add_inbox(
        &mut self,
        agent: MemberKey,
        name: Option<Arc<str>>,
        secret: Hash,
        checks: Checks,
    ) -> Result<Arc<Inbox>> {
        self.must_be_member(agent)?;
        self.must_keep(agent)?;
        let found = self.directory().member(agent).cloned();
        let of = found.filter(|m| m.is_agent() && !self.directory().is_stand_in(agent));
        let of = of.ok_or_else(|| Refusal::invalid("an inbox is for an agent of this host"))?;
        if self.directory().inboxes.size() >= limits::INBOXES {
            let why = format!("a workspace has at most {} inboxes", limits::INBOXES);
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let name = name.unwrap_or_else(|| of.display_name.clone());
        check_title("name of an inbox", Some(&name))?;
        checks.check()?;
        self.must_be_new(&secret)?;
        let uid = self.drawn.uid;
        let inbox = Inbox {
            uid,
            agent,
            people: self.add_stand_in(uid, &name, MemberKind::Human)?,
            agents: self.add_stand_in(uid, &name, MemberKind::Agent)?,
            name,
            secret,
            checks,
            created_by: self.by.member,
            created_at: self.now,
            rotated_at: None,
            channels: 0,
            trouble: None,
        };
        Ok(self.put_inbox(inbox))
    }

    /// Its id contains the inbox's id, so that it is unique.
    fn add_stand_in(&mut self, uid: Uid, name: &str, kind: MemberKind) -> Result<MemberKey> {
        let id = Inbox::stand_in_id(uid, kind);
        let fields = MemberFields { display_name: Some(name.to_owned()), ..Default::default() };
        let member = self.directory_mut().add_member(&id, kind, &fields)?;
        self.ws.changes.members.push(member.clone());
        Ok(member.key)
    }

    fn put_inbox(&mut self, inbox: Inbox) -> Arc<Inbox> {
        let inbox = Arc::new(inbox);
        self.directory_mut().set_inbox(inbox.uid, Some(inbox.clone()));
        self.ws.changes.inboxes.push((inbox.uid, Some(inbox.clone())));
        inbox
    }

    fn close_inbox(&mut self, inbox: &Inbox) -> Result<()> {
        self.directory_mut().set_inbox(inbox.uid, None);
        self.ws.changes.inboxes.push((inbox.uid, None));
        for member in inbox.stand_ins() {
            let gone = self.directory_mut().remove_member(member)?;
            self.ws.changes.members.push(gone);
        }
        Ok(())
    }

    /// A member leaves: its inboxes no longer work. A stand-in is removed only with its inbox.
    pub(crate) fn leave_inboxes(&mut self, member: MemberKey) -> Result<()> {
        if self.directory().is_stand_in(member) {
            let why = "this member speaks for others in an inbox; remove the inbox";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let of = self.directory().inboxes.values().filter(|inbox| inbox.agent == member);
        for inbox in of.cloned().collect::<Vec<_>>() {
            self.close_inbox(&inbox)?;
        }
        Ok(())
    }

    /// Moderators and the agent's owner may manage its inboxes. For anybody else they do not exist.
    pub(super) fn inbox_to_keep(&self, uid: Uid) -> Result<Inbox> {
        let found = self.directory().inboxes.get(&uid);
        let kept = found.filter(|inbox| self.must_keep(inbox.agent).is_ok());
        Ok(kept.map(|inbox| Inbox::clone(inbox)).ok_or_else(|| Refusal::not_found("inbox"))?)
    }

    fn must_keep(&self, agent: MemberKey) -> Result<()> {
        if self.by.turn.is_some() {
            let why = "a turn's token is for its turn only; use the member's own token for inboxes";
            return Err(Refusal::new(Code::Forbidden, why).into());
        }
        let me = self.directory().member(self.by.member).filter(|m| !m.removed);
        let owner = self.directory().member(agent).and_then(|m| m.owner.clone());
        let owns = me.is_some_and(|me| owner.is_some_and(|owner| owner == me.id));
        if owns && self.by.authority > Authority::Auditor { Ok(()) } else { self.must_govern() }
    }

    fn must_be_new(&self, secret: &Hash) -> Result<()> {
        match self.directory().inbox_of(secret) {
            None => Ok(()),
            Some(_) => Err(Refusal::new(Code::Conflict, "this secret is another inbox's").into()),
        }
    }

    pub(crate) fn must_be_the_host(&self) -> Result<()> {
        if self.by.member != MemberKey::HOST {
            return Err(Refusal::new(Code::Forbidden, "this is for the host itself").into());
        }
        Ok(())
    }

    /// A service delivers a message. A new channel gets a conversation.
    pub(super) fn receive(&mut self, received: Received) -> Result<Logged> {
        self.must_be_the_host()?;
        let inbox = self.directory().inbox_of(&received.secret).cloned();
        let inbox = inbox.ok_or_else(|| Refusal::new(Code::Unauthorized, UNKNOWN))?;
        let (member, authority) = (inbox.stand_in(received.kind), Authority::Worker);
        self.by = By { member, authority, session: None, turn: None };
        // Checked first, so that a refusal has created nothing.
        check_message(&received.message)?;
        self.check_assets(&received.message)?;
        let key = match self.remote_room(&inbox, &received.channel.hash)? {
            Some(key) => key,
            None => self.meet_channel(&inbox, &received.channel)?,
        };
        self.drawn.uid = self.drawn.second;
        let post = Post {
            conversation: self.room(key).conversation().uid,
            thread: None,
            message: received.message,
            in_reply_to: None,
            idempotency: Some(received.idempotency),
            recipient: Some(inbox.agent),
            mentions: Vec::new(),
            directedness: received.directedness,
            audience: Audience::default(),
            left_out: Vec::new(),
        };
        let callback = Callback { at: self.now, sealed: received.callback };
        let elsewhere = Elsewhere { hop: received.hop, callback: Some(callback.clone()) };
        let outcome = self.send_from(post, None, elsewhere)?;
        if let Logged { entry, duplicate: true } = &outcome {
            // Services send a fresh callback with each attempt.
            self.room_mut(key).keep_callback(entry.event.seq, callback);
        }
        self.rename(key, &received.channel)?;
        Ok(outcome)
    }

    /// The conversation that mirrors a channel of an inbox, if there is one.
    fn remote_room(&mut self, inbox: &Inbox, channel: &Hash) -> Result<Option<ConversationKey>> {
        let is_it = |r: &&Remote| r.inbox == inbox.uid && r.channel == *channel;
        let mut touched = self.ws.touched.iter().filter_map(|key| self.ws.rooms.get(key));
        let recent = touched.find(|room| room.remote().filter(is_it).is_some());
        let key = match recent.map(|room| room.key()) {
            Some(key) => Some(key),
            None => self.facts.remote(inbox.uid, channel)?,
        };
        if let Some(key) = key {
            self.load(key)?;
        }
        Ok(key)
    }

    /// A thread conversation: in a channel, the hourly cap on subjects opened by agents would
    /// apply.
    fn meet_channel(&mut self, inbox: &Inbox, channel: &Channel) -> Result<ConversationKey> {
        if inbox.channels as usize >= limits::INBOX_CHANNELS {
            let why = format!("an inbox is for at most {} channels", limits::INBOX_CHANNELS);
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let settings = Settings {
            title: channel.title.clone(),
            description: channel.context.clone(),
            visibility: Visibility::Private,
            ..Settings::default()
        };
        let [people, agents] = inbox.stand_ins();
        let members = [people, agents, inbox.agent];
        self.create_conversation(ConversationKind::Thread, settings, &members)?;
        let key = ConversationKey(self.ws.last_conversation);
        self.room_mut(key).set_remote(Remote::new(inbox.uid, channel.hash));
        self.put_inbox(Inbox { channels: inbox.channels + 1, ..inbox.clone() });
        Ok(key)
    }

    /// A channel's name and context may change over time.
    fn rename(&mut self, key: ConversationKey, channel: &Channel) -> Result<()> {
        let before = &self.room(key).conversation().settings;
        let (title, description) = (channel.title.clone(), channel.context.clone());
        if (&before.title, &before.description) == (&title, &description) {
            return Ok(());
        }
        let settings = Settings { title, description, ..before.clone() };
        // The message is kept. An invalid name is no reason to refuse it.
        if check_settings(&settings).is_ok() {
            let uid = derived(self.drawn.uid, RENAMED);
            self.log_plain(key, uid, Change::SettingsChanged(settings))?;
        }
        Ok(())
    }

    /// Messages of the agent in a mirrored channel are sent to its service.
    pub(crate) fn note_output(&mut self, event: &Event) {
        let key = event.conversation;
        let Some(inbox) = self.inbox_of_room(key).filter(|i| i.agent == event.actor) else {
            return;
        };
        if inbox.stand_ins().into_iter().any(|m| event.is_shown_to(m)) {
            self.room_mut(key).note_said(event.seq);
            self.effect(Effect::Remote { conversation: key, news: RemoteNews::Said });
        }
    }

    /// Tells the service that the agent has begun or finished a delivery.
    pub(crate) fn tell_remote(&mut self, at: EventRef, member: MemberKey, news: RemoteNews) {
        if self.inbox_of_room(at.conversation).is_some_and(|inbox| inbox.agent == member) {
            self.effect(Effect::Remote { conversation: at.conversation, news });
        }
    }

    /// Data that came with an event for the agent's runtime.
    pub(crate) fn came_with(&self, at: EventRef, member: MemberKey) -> Option<Secret> {
        let inbox = self.inbox_of_room(at.conversation)?;
        let callbacks = &self.room(at.conversation).remote()?.callbacks;
        let callback = callbacks.get(&at.seq).filter(|_| inbox.agent == member)?;
        Some(callback.sealed.clone())
    }

    fn inbox_of_room(&self, key: ConversationKey) -> Option<&Arc<Inbox>> {
        let remote = self.room(key).remote()?;
        self.directory().inboxes.get(&remote.inbox)
    }

    /// Messages up to this one were sent to the service or given up.
    pub(super) fn sent_back(&mut self, key: ConversationKey, through: Seq) -> Result<()> {
        self.must_be_the_host()?;
        self.load(key)?;
        let sent = self.room(key).remote().map(|remote| remote.sent);
        if sent.is_some_and(|sent| sent < through) {
            self.room_mut(key).note_sent(through);
        }
        Ok(())
    }

    /// Expired callbacks are dropped when the batch is written.
    pub(super) fn sweep_callbacks(&mut self) -> Result<()> {
        self.must_be_the_host()?;
        self.ws.changes.sweep_callbacks = Some(self.now.plus(-limits::CALLBACK_MS));
        Ok(())
    }
}

/// Refusal of a secret that belongs to no inbox, or no longer does.
const UNKNOWN: &str = "this connection string is unknown or no longer valid";

/// The distance between the ids of a renaming and of the message.
const RENAMED: usize = 200;
