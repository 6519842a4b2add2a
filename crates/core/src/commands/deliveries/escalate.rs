//! Obligations that were not met in time: where they move, who can see that, and when their clock
//! stops (design section 5, "Deadlines").

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::model::attention::{Decision, Directedness, Mode, Policy, Priority, Rule, Told};
use crate::model::caller::Authority;
use crate::model::conversation::Conversation;
use crate::model::delivery::{Delivery, Open, State};
use crate::model::ids::{EventRef, MemberKey};
use crate::model::limits;

impl Context<'_> {
    /// Moves an unmet obligation on: to the thread's owner, the channel's lead, the workspace's
    /// lead, then a person; never back and never to everybody. The previous holder may still
    /// answer. A request that came through an inbox does not move: only the inbox's agent may
    /// answer the service.
    pub(super) fn move_on(&mut self, at: EventRef, from: MemberKey) -> Result<()> {
        let next = self.next_responsible(at);
        let now = self.now;
        let room = self.room_mut(at.conversation);
        let Some(open) = room.open_mut(at.seq) else { return Ok(()) };
        let Some(left) = open.delivery_mut(from).filter(|d| d.is_obligation()) else {
            return Ok(());
        };
        let fence = left.fence + 1;
        left.decision.policy = Policy::MayRespond;
        left.decision.deadline_ms = None;
        left.moved_on = next.is_some();
        let Some((member, is_agent)) = next else {
            left.state = State::Dead { at: now };
            self.settle_if_done(at);
            return Ok(());
        };
        let age = u32::try_from(now.since(open.at)).unwrap_or(u32::MAX);
        let decision = Decision {
            rule: Rule::Escalated,
            directedness: Directedness::ToMe,
            policy: Policy::MustRespond,
            mode: Mode::Buffered,
            priority: Priority::High,
            deadline_ms: is_agent.then(|| age.saturating_add(limits::DEADLINE_MS)),
        };
        let mut delivery = Delivery::new(&Told { member, decision });
        delivery.fence = fence;
        // Reminders count from the event's own time, so theirs has passed.
        delivery.reminders = limits::REDELIVER_MS.len() as u8;
        open.deliveries.push(delivery);
        room.must_store(at.seq);
        if is_agent {
            self.offer(at, member)?;
        }
        self.ws.track(at);
        Ok(())
    }

    /// The first responsible member who is in the conversation, may see the event, did not write it
    /// and was not asked before. People come in the order in which they became members.
    fn next_responsible(&self, at: EventRef) -> Option<(MemberKey, bool)> {
        let room = self.room(at.conversation);
        let open = room.open().get(&at.seq)?;
        let directory = self.directory();
        if directory.is_stand_in(open.author) {
            return None;
        }
        let owner = self.thread(at.conversation, open.thread).and_then(|t| t.owner);
        let leads = [owner, room.conversation().settings.lead, directory.lead];
        let people = directory.members.iter().map(|m| m.key).filter(|m| directory.is_person(*m));
        let fits = |member: &MemberKey| {
            *member != open.author
                && open.delivery(*member).is_none()
                && directory.member(*member).is_some_and(|m| !m.removed)
                && !directory.is_stand_in(*member)
                // A non-member could not answer.
                && room.roster().contains_key(member)
                // An ephemeral message is not shown to others just because nobody answered it.
                && open.attention.is_shown_to(*member)
                && !open.attention.left_out().any(|left_out| left_out == *member)
                && !room.has_left(*member, open.thread)
        };
        let member = leads.into_iter().flatten().chain(people).find(fits)?;
        Some((member, directory.is_agent(member)))
    }

    /// Overdue events, oldest first in each conversation, that concern a member: its present and
    /// previous holders, its author and the leads. Without a member, all.
    pub(crate) fn overdue(
        &mut self,
        member: Option<MemberKey>,
        limit: usize,
    ) -> Result<Vec<(Arc<Conversation>, Open)>> {
        if member != Some(self.by.member) && self.by.authority != Authority::Auditor {
            self.must_govern()?;
        }
        let all = self.ws.overdue.iter().filter_map(|at| {
            let room = self.ws.rooms.get(&at.conversation)?;
            Some((room, room.open().get(&at.seq)?))
        });
        let concerns = all.filter(|(room, open)| {
            let sees = self.by.authority == Authority::Auditor || self.may_see(room);
            let leads = [room.conversation().settings.lead, self.directory().lead];
            let sees = sees && self.may_look_at(open);
            sees && member.is_none_or(|m| open.concerns(m, leads))
        });
        let found = concerns
            .take(limit)
            .map(|(room, open)| (Arc::clone(room.conversation()), open.clone()));
        Ok(found.collect())
    }
}
