//! Conversations: creating, changing, joining and leaving them, and read cursors.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::language::names::rules::check_title;
use crate::model::conversation::{
    Conversation, ConversationKind, Participation, Settings, Visibility,
};
use crate::model::error::{Code, Refusal};
use crate::model::event::{Change, Event};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, ThreadKey, Uid};
use crate::model::requests::SettingsPatch;
use crate::model::turn::RulesPatch;
use crate::model::{limits, stimulus};
use crate::state::room::Room;
use crate::state::room::apply::Draft;

impl Context<'_> {
    pub(crate) fn create_conversation(
        &mut self,
        kind: ConversationKind,
        settings: Settings,
        members: &[MemberKey],
    ) -> Result<Arc<Conversation>> {
        let me = self.me()?;
        if kind == ConversationKind::Channel {
            self.must_govern()?;
        }
        check_visibility(kind, settings.visibility)?;
        check_settings(&settings)?;
        let key = self.establish(me.key, kind, settings, members)?;
        Ok(self.room(key).conversation().clone())
    }

    /// Creates a conversation. The creator and these members become its members.
    pub(crate) fn establish(
        &mut self,
        me: MemberKey,
        kind: ConversationKind,
        settings: Settings,
        members: &[MemberKey],
    ) -> Result<ConversationKey> {
        for member in members {
            self.must_be_member(*member)?;
        }
        self.ws.last_conversation += 1;
        let key = ConversationKey(self.ws.last_conversation);
        let conversation = Conversation {
            key,
            uid: self.drawn.uid,
            kind,
            settings: settings.clone(),
            created_at: self.now,
        };
        self.ws.admit(Room::new(conversation));
        // One uid was generated. The first event shares the conversation's, with another prefix.
        let created = self.drawn.uid;
        self.log_plain(key, created, Change::Created { kind, settings })?;
        let mut seats: Vec<_> = std::iter::once(me).chain(members.iter().copied()).collect();
        seats.sort_unstable();
        seats.dedup();
        for (n, member) in seats.into_iter().enumerate() {
            let uid = derived(self.drawn.uid, n);
            let participation = Participation::default();
            self.log_plain(key, uid, Change::Joined { member, participation })?;
        }
        Ok(key)
    }

    pub(super) fn change_conversation(
        &mut self,
        uid: Uid,
        patch: SettingsPatch,
    ) -> Result<Arc<Conversation>> {
        let key = self.room_by_uid(uid)?;
        self.must_govern()?;
        let mut settings = self.room(key).conversation().settings.clone();
        let text = |new: Option<String>, old: &mut Arc<str>| {
            if let Some(new) = new {
                *old = new.into();
            }
        };
        text(patch.title, &mut settings.title);
        text(patch.description, &mut settings.description);
        text(patch.purpose, &mut settings.purpose);
        if let Some(visibility) = patch.visibility {
            check_visibility(self.room(key).conversation().kind, visibility)?;
            settings.visibility = visibility;
        }
        settings.archived = patch.archived.unwrap_or(settings.archived);
        if let Some(lead) = patch.lead {
            self.check_lead(key, lead)?;
            settings.lead = lead;
        }
        settings.agent_budget = patch.agent_budget.unwrap_or(settings.agent_budget);
        settings.keep = patch.keep.unwrap_or(settings.keep);
        if patch.turns != RulesPatch::default() {
            settings.turns = Some(settings.turns.unwrap_or_default().changed(patch.turns)?);
        }
        if patch.stimuli != stimulus::RulesPatch::default() {
            settings.stimuli = Some(settings.stimuli.unwrap_or_default().changed(patch.stimuli)?);
        }
        settings.replies = patch.replies.unwrap_or(settings.replies);
        settings.proactive = patch.proactive.unwrap_or(settings.proactive);
        settings.idle_followup = patch.idle_followup.unwrap_or(settings.idle_followup);
        if let Some(pins) = patch.pins {
            settings.pins = self.checked_pins(key, pins)?;
        }
        check_settings(&settings)?;
        if settings.archived {
            self.must_not_be_default(key)?;
        }
        if settings != self.room(key).conversation().settings {
            let is_closing = settings.archived && !self.room(key).conversation().settings.archived;
            self.log_plain(key, self.drawn.uid, Change::SettingsChanged(settings))?;
            if is_closing {
                self.stop_runs(key)?;
                self.cancel_stimuli(key, "the channel was archived", |_| true);
            }
            // Nobody can answer in an archived conversation, and agents cannot after they have used
            // up their budget.
            self.review_pauses(key)?;
            self.arrange_stimuli(key);
        }
        Ok(self.room(key).conversation().clone())
    }

    /// Stops all runs, because nothing can be posted any more. They wait to be offered again if
    /// that changes.
    fn stop_runs(&mut self, key: ConversationKey) -> Result<()> {
        let open: Vec<Seq> = self.room(key).open().keys().copied().collect();
        for seq in open {
            let at = EventRef { conversation: key, seq };
            let Some(open) = self.room_mut(key).open_mut(seq) else { continue };
            let mut stopped = Vec::new();
            for delivery in open.deliveries.iter_mut().filter(|d| d.session().is_some()) {
                stopped.push(delivery.clone());
                delivery.come_back();
            }
            if !stopped.is_empty() {
                self.room_mut(key).must_store(seq);
                self.cancel_all(at, stopped, "the channel was archived")?;
                self.ws.track(at);
            }
        }
        Ok(())
    }

    /// Requires the lead to be a member, so that the lead can see and answer the room's
    /// obligations.
    fn check_lead(&self, key: ConversationKey, lead: Option<MemberKey>) -> Result<()> {
        let Some(member) = lead else { return Ok(()) };
        self.must_be_member(member)?;
        if !self.room(key).roster().contains_key(&member) {
            return Err(Refusal::invalid("a channel's lead is on its roster; add it first").into());
        }
        Ok(())
    }

    pub(super) fn set_cursor(&mut self, uid: Uid, read: Seq) -> Result<()> {
        let key = self.room_by_uid(uid)?;
        let head = self.room(key).head().seq;
        self.move_cursor(key, None, read, head)
    }

    pub(super) fn ack_thread(&mut self, uid: Uid, read: Seq) -> Result<()> {
        let (key, thread) = self.thread_by_uid(uid)?;
        let last = self.thread(key, Some(thread)).map_or(Seq(0), |t| Seq(t.last_seq));
        self.move_cursor(key, Some(thread), read, last)
    }

    /// A cursor moves neither back nor past the end (threads spec section 3.4).
    fn move_cursor(
        &mut self,
        key: ConversationKey,
        thread: Option<ThreadKey>,
        read: Seq,
        last: Seq,
    ) -> Result<()> {
        let me = self.me()?.key;
        let old = match self.room(key).cursors().get(&(me, thread)) {
            Some(cursor) => *cursor,
            None => self.facts.cursor(key, me, thread)?,
        };
        if read > last {
            return Err(Refusal::invalid(format!("the newest seq is {last}")).into());
        }
        if read < old.read {
            let read = old.read;
            return Err(
                Refusal::invalid(format!("the cursor is at {read} and does not go back")).into()
            );
        }
        self.room_mut(key).set_cursor(me, thread, crate::model::cursor::ReadCursor { read });
        Ok(())
    }

    /// Logs an event that notifies nobody and answers nothing.
    pub(crate) fn log_plain(
        &mut self,
        key: ConversationKey,
        uid: Uid,
        change: Change,
    ) -> Result<Arc<Event>> {
        let draft = self.draft(uid, change);
        let event = self.room_mut(key).log(draft);
        self.publish(event.clone())?;
        Ok(event)
    }

    pub(crate) fn draft(&self, uid: Uid, change: Change) -> Draft {
        Draft {
            uid,
            at: self.now,
            actor: self.by.member,
            session: self.by.session,
            thread: None,
            reply_to: None,
            cause: None,
            hop: 0,
            idempotency: None,
            attention: None,
            change,
            salt: self.drawn.salt,
            heard: None,
        }
    }
}

/// Ids of the events that a command logs after its first: the generated id plus a count in its low
/// bits, so that running the command again gives the same ids.
pub(crate) fn derived(uid: Uid, n: usize) -> Uid {
    Uid(uid.0.wrapping_add(1 + n as u128))
}

/// Messages to a few in a direct conversation never become visible to everybody.
fn check_visibility(kind: ConversationKind, visibility: Visibility) -> Result<(), Refusal> {
    if kind == ConversationKind::Dm && visibility == Visibility::Public {
        return Err(Refusal::invalid("a direct conversation is private"));
    }
    Ok(())
}

pub(crate) fn check_settings(settings: &Settings) -> Result<(), Refusal> {
    check_title("title", Some(&settings.title))?;
    let most = limits::NO_HUMAN_MOST;
    if settings.agent_budget.is_some_and(|n| n == 0 || n > most) {
        return Err(Refusal::invalid(format!("agent_budget is 1 to {most}, or null")));
    }
    if settings.keep.is_some_and(|keep| !keep.is_within()) {
        let most = limits::KEEP_DAYS;
        return Err(Refusal::invalid(format!("keep is all, or 1d to {most}d")));
    }
    let (least, most) = limits::IDLE_FOLLOWUP_MS;
    if settings.idle_followup.is_some_and(|ms| !(least..=most).contains(&ms)) {
        let spans = limits::spans(least, most);
        let why = format!("`idle_followup_ms` is from {spans}, or null");
        return Err(Refusal::invalid(why));
    }
    for (what, text) in [("description", &settings.description), ("purpose", &settings.purpose)] {
        if text.len() > limits::DESCRIPTION_BYTES {
            let max = limits::DESCRIPTION_BYTES;
            return Err(Refusal::new(
                Code::ValidationError,
                format!("a {what} has at most {max} bytes"),
            ));
        }
        if text.contains('\0') {
            return Err(Refusal::invalid(format!("a {what} has no NUL character")));
        }
    }
    Ok(())
}
