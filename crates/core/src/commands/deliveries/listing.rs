//! The state of open events, from memory: what waits for whom now, whether or not it has a row yet.
//!
//! Read-only, except that it records when a knock's content is fetched. Readers of the store see a
//! delivery only once it has its row, a second after the post, so an inbox that was read from the
//! store would look empty.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::model::caller::Authority;
use crate::model::conversation::Conversation;
use crate::model::delivery::Open;
use crate::model::error::Refusal;
use crate::model::ids::{ConversationKey, MemberKey, Uid};
use crate::state::room::Room;

impl Context<'_> {
    /// One event's deliveries and claim, when they are open or closed recently.
    pub(crate) fn standing(&mut self, uid: Uid) -> Result<Option<Box<Open>>> {
        let Some(at) = self.find_recent(uid) else { return Ok(None) };
        let Some(room) = self.ws.rooms.get(&at.conversation).filter(|r| self.may_look(r)) else {
            return Err(Refusal::unknown_event("event", uid).into());
        };
        let open = room.open().get(&at.seq);
        let open = open.or_else(|| room.closed().iter().rev().find(|o| o.seq == at.seq));
        if open.is_some_and(|open| !self.may_look_at(open)) {
            return Err(Refusal::unknown_event("event", uid).into());
        }
        Ok(open.cloned().map(Box::new))
    }

    /// All open events, for one member or for all, oldest first in each conversation.
    pub(crate) fn waiting(
        &mut self,
        member: Option<MemberKey>,
        limit: usize,
    ) -> Result<Vec<(Arc<Conversation>, Open)>> {
        if member != Some(self.by.member) && self.by.authority != Authority::Auditor {
            self.must_govern()?;
        }
        let mut found: Vec<(Arc<Conversation>, Open)> = Vec::new();
        let mut put = |room: &Room, open: &Open| {
            if found.len() < limit && self.may_look(room) && self.may_look_at(open) {
                found.push((room.conversation().clone(), open.clone()));
            }
        };
        match member {
            Some(member) => {
                for at in self.ws.owed.get(&member).into_iter().flatten() {
                    let room = self.ws.rooms.get(&at.conversation);
                    if let Some((room, open)) = room.and_then(|r| Some((r, r.open().get(&at.seq)?)))
                    {
                        put(room, open);
                    }
                }
            }
            None => {
                let mut keys: Vec<ConversationKey> = self.ws.rooms.keys().copied().collect();
                keys.sort_unstable();
                for room in keys.iter().filter_map(|key| self.ws.rooms.get(key)) {
                    room.open().values().for_each(|open| put(room, open));
                }
            }
        }
        Ok(found)
    }

    /// Records once, in its receipt, when the content of a knock was fetched.
    pub(super) fn retrieve(&mut self, uid: Uid) -> Result<()> {
        let Some(at) = self.find_recent(uid) else { return Ok(()) };
        let (me, now) = (self.by.member, self.now);
        let open = self.ws.rooms.get(&at.conversation).and_then(|r| r.open().get(&at.seq));
        let delivery = open.and_then(|o| o.delivery(me));
        if delivery.is_none_or(|d| d.retrieved_at.is_some()) {
            return Ok(());
        }
        let room = self.room_mut(at.conversation);
        if let Some(delivery) = room.delivery_mut(at.seq, me) {
            delivery.retrieved_at = Some(now);
        }
        Ok(())
    }

    /// Only an auditor may see other members' ephemeral messages.
    pub(super) fn may_look_at(&self, open: &Open) -> bool {
        let me = self.by.member;
        self.by.authority == Authority::Auditor
            || me == MemberKey::HOST
            || open.attention.is_shown_to(me)
    }

    /// An auditor may see everything.
    fn may_look(&self, room: &Room) -> bool {
        self.by.authority == Authority::Auditor || self.may_see(room)
    }
}
