//! Pausing an agent, and letting it go on: until then it is told nothing and says nothing.

use std::sync::Arc;

use crate::commands::command::{Command, Done, no_text};
use crate::commands::context::{Context, Result};
use crate::model::audit::{Action, Audit};
use crate::model::caller::Authority;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{EventRef, MemberKey};
use crate::model::member::{Member, Pause};
use crate::model::registry::owner_of;

/// Pauses an agent, or lets it go on.
#[derive(Clone)]
pub struct PauseAgent {
    pub agent: MemberKey,
    /// Whether it is to be paused.
    pub on: bool,
}

impl Command for PauseAgent {
    type Output = Arc<Member>;

    no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        let action = if self.on { Action::PauseAgent } else { Action::ContinueAgent };
        Audit::firm(action).member(self.agent)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Arc<Member>> {
        run.pause_agent(self.agent, self.on)
    }
}

impl Context<'_> {
    fn pause_agent(&mut self, agent: MemberKey, on: bool) -> Result<Arc<Member>> {
        self.must_be_member(agent)?;
        let unknown = || Refusal::not_found("member");
        let found = self.directory().member(agent).cloned().ok_or_else(unknown)?;
        if !found.is_agent() {
            let why = "only agents are paused; a person who is to say nothing is removed";
            return Err(Refusal::invalid(why).into());
        }
        self.may_steer(&found)?;
        if found.pause.is_some() == on {
            return Ok(found);
        }
        let pause = on.then_some(Pause { by: self.by.member, since: self.now });
        let member = self.directory_mut().set_pause(agent, pause)?;
        self.ws.changes.members.push(member.clone());
        match on {
            true => self.silence(agent)?,
            false => self.offer_all(agent)?,
        }
        Ok(member)
    }

    /// An agent's owner may, the lead, and whoever runs the workspace; never the agent itself.
    pub(crate) fn may_steer(&self, agent: &Member) -> Result<()> {
        let me = self.me()?;
        let is_own = !me.is_agent() && *owner_of(agent) == *me.id;
        let governs =
            self.by.authority >= Authority::Orchestrator || self.directory().lead == Some(me.key);
        if me.key != agent.key && (is_own || governs) {
            return Ok(());
        }
        let why = "this is for the agent's owner, the lead, orchestrators and operators";
        Err(Refusal::new(Code::InsufficientAuthority, why).into())
    }

    /// Takes back what the agent was offered or works on; it waits as if the agent were away.
    fn silence(&mut self, agent: MemberKey) -> Result<()> {
        for at in self.owed_by_member(agent) {
            let open = self.room_mut(at.conversation).open_mut(at.seq);
            let delivery = open.and_then(|o| o.delivery_mut(agent));
            if let Some(delivery) = delivery.filter(|d| d.session().is_some()) {
                let before = delivery.clone();
                delivery.come_back();
                self.cancel_all(at, vec![before], "the agent was paused")?;
                let room = self.room_mut(at.conversation);
                room.must_store(at.seq);
                room.note_all_subjects();
            }
            self.let_claim_go(at, agent)?;
            self.ws.track(at);
        }
        for session in self.directory().runners(agent).to_vec() {
            self.is_no_runner(session);
        }
        Ok(())
    }

    /// Offers what has waited, to a session or through a runner.
    fn offer_all(&mut self, agent: MemberKey) -> Result<()> {
        for at in self.owed_by_member(agent) {
            self.room_mut(at.conversation).note_all_subjects();
            self.offer_held_back(at, agent)?;
            self.ws.track(at);
        }
        Ok(())
    }

    fn owed_by_member(&self, member: MemberKey) -> Vec<EventRef> {
        self.ws.owed.get(&member).into_iter().flatten().copied().collect()
    }
}
