//! Leaving without giving up the membership: an agent that a person asks to leave a thread or
//! channel is not notified there until it is named again.
//!
//! This is in the log, so that readers see who asked whom, and in the room, so that decisions know
//! it ([`crate::state::room::Room::has_left`]).

use crate::commands::context::{Context, Result};
use crate::commands::conversations::conversation::derived;
use crate::model::attention::Rule;
use crate::model::conversation::ConversationKind;
use crate::model::error::{Code, Refusal};
use crate::model::event::{Change, Event};
use crate::model::ids::{ConversationKey, EventRef, MemberKey, ThreadKey, Uid};

impl Context<'_> {
    /// By command: an agent leaves by itself, or a person who is a member sends it out.
    pub(super) fn leave(
        &mut self,
        conversation: Uid,
        thread: Option<Uid>,
        member: MemberKey,
    ) -> Result<()> {
        let key = self.room_by_uid(conversation)?;
        self.must_sit(key)?;
        let thread = match thread {
            Some(uid) => match self.thread_by_uid(uid)? {
                (of, thread) if of == key => Some(thread),
                _ => return Err(Refusal::invalid("the thread is in another conversation").into()),
            },
            None => None,
        };
        if member != self.by.member && self.me()?.is_agent() {
            let why = "an agent can leave only for itself; a person may ask others to leave";
            return Err(Refusal::new(Code::Forbidden, why).into());
        }
        self.must_be_member(member)?;
        if !self.directory().is_agent(member) {
            let why = "only agents can be asked to leave";
            return Err(Refusal::invalid(why).into());
        }
        let room = self.room(key);
        if room.conversation.kind == ConversationKind::Dm {
            return Err(Refusal::invalid("a direct conversation cannot be left").into());
        }
        if !room.roster.contains_key(&member) {
            return Err(Refusal::not_found("member in this conversation").into());
        }
        self.withdraw(key, thread, member, self.drawn.uid)?;
        Ok(())
    }

    /// By message: the agents that a person asks to leave do leave that timeline. They are notified
    /// of this message only, to acknowledge it.
    pub(crate) fn show_out(&mut self, event: &Event) -> Result<()> {
        let told = event.attention.iter().flat_map(|a| &a.told);
        let asked = told.filter(|t| t.decision.rule == Rule::AskedToLeave).map(|t| t.member);
        for (n, member) in asked.collect::<Vec<_>>().into_iter().enumerate() {
            let uid = derived(self.drawn.uid, n);
            self.withdraw(event.conversation, event.thread, member, uid)?;
        }
        Ok(())
    }

    fn withdraw(
        &mut self,
        key: ConversationKey,
        thread: Option<ThreadKey>,
        member: MemberKey,
        uid: Uid,
    ) -> Result<()> {
        if self.room(key).has_left(member, thread) {
            return Ok(());
        }
        let mut draft = self.draft(uid, Change::Withdrew { member });
        draft.thread = thread;
        let logged = self.room_mut(key).log(draft);
        self.publish(logged)?;
        let owed = self.ws.owed.get(&member).into_iter().flatten();
        let here: Vec<EventRef> = owed.copied().filter(|at| at.conversation == key).collect();
        for at in here {
            let open = self.room(key).open.get(&at.seq);
            if open.is_some_and(|o| thread.is_none() || o.thread == thread) {
                self.take_from(at, member, "asked to leave")?;
            }
        }
        Ok(())
    }
}
