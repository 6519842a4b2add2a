//! Members: made, changed, removed, listed; and who the caller is.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::directory;
use chorus_core::model::audit::Action;
use chorus_core::model::endpoint::{Endpoint, State};
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{MemberKey, Prefix, Timestamp};
use chorus_core::model::limits;
use chorus_core::model::member::{self, MemberFields};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::members::{
    Agent, Agents, Identity, Member, MemberPatch, Members, NewMember, TurnScope, Whoami,
};

use super::audit::AuditService;
use super::clock::HostClock;
use super::commands::Commands;
use super::deliveries::DeliveryService;
use super::ids;
use super::inboxes::keeps;
use super::tokens::TokenService;
use crate::auth::Caller;
use crate::dispatch::webhook::health::Reach;
use crate::dispatch::webhook::state::Webhooks;
use crate::view;

/// Identities of one member on other platforms.
const IDENTITIES: usize = 32;

/// People, agents and services of the workspace.
pub(crate) struct MemberService {
    pub(super) commands: Arc<Commands>,
    pub(super) audit: Arc<AuditService>,
    pub(super) deliveries: Arc<DeliveryService>,
    pub(super) tokens: Arc<TokenService>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) webhooks: Arc<Webhooks>,
    pub(super) workspace_id: Arc<str>,
}

impl MemberService {
    pub(crate) async fn add_member(
        &self,
        caller: &Caller,
        new: NewMember,
    ) -> Result<Member, Refusal> {
        self.audit.may_govern(caller, Action::AddMember, &new.id)?;
        if let Some(role) = new.token_role {
            self.tokens.may_give(caller, new.kind.0, role.0, &new.id)?;
        }
        let command = directory::AddMember {
            id: new.id,
            kind: new.kind.0,
            fields: MemberFields {
                handle: new.handle,
                display_name: new.display_name,
                owner: new.owner_id,
                identities: match &new.identities[..] {
                    [] => None,
                    some => identities(some)?,
                },
            },
        };
        let member = self.commands.change(caller.by, command).await?;
        let mut shown = view::members::member(&self.directory.load(), &member);
        if let Some(role) = new.token_role {
            let token = self.tokens.hand_out(caller.by, &member, role.0, None, None).await?;
            shown.token = Some(token.token);
        }
        Ok(shown)
    }

    pub(crate) async fn change_member(
        &self,
        caller: &Caller,
        id: &str,
        patch: MemberPatch,
    ) -> Result<Member, Refusal> {
        self.audit.may_govern(caller, Action::ChangeMember, id)?;
        let member = ids::member_for(&self.directory.load(), caller, id)?.key;
        let fields = MemberFields {
            handle: patch.handle,
            display_name: patch.display_name,
            owner: patch.owner_id,
            identities: patch.identities.as_deref().map(identities).transpose()?.flatten(),
        };
        if fields != MemberFields::default() {
            self.commands.change(caller.by, directory::ChangeMember { member, fields }).await?;
        }
        let is_lead = self.directory.load().lead == Some(member);
        if let Some(lead) = patch.lead.filter(|lead| *lead != is_lead) {
            let member = lead.then_some(member);
            self.commands.change(caller.by, directory::SetLead { member }).await?;
        }
        self.member(caller, id)
    }

    pub(crate) async fn remove_member(&self, caller: &Caller, id: &str) -> Result<(), Refusal> {
        self.audit.may_govern(caller, Action::RemoveMember, id)?;
        let member = ids::member_for(&self.directory.load(), caller, id)?.key;
        self.commands.change(caller.by, directory::RemoveMember { member }).await?;
        self.tokens.look_at_tokens();
        Ok(())
    }

    /// `POST /v1/members/{id}/pause` and `…/continue`.
    pub(crate) async fn pause_agent(
        &self,
        caller: &Caller,
        id: &str,
        on: bool,
    ) -> Result<Member, Refusal> {
        caller.must_not_be_a_turn()?;
        let agent = ids::member_for(&self.directory.load(), caller, id)?.key;
        self.commands.change(caller.by, directory::PauseAgent { agent, on }).await?;
        self.member(caller, id)
    }

    pub(crate) fn member(&self, caller: &Caller, id: &str) -> Result<Member, Refusal> {
        caller.must_not_be_a_turn()?;
        let directory = self.directory.load();
        let found = ids::member_for(&directory, caller, id)?;
        if !concerns(&directory, caller, found.key) {
            return Err(Refusal::not_found("member"));
        }
        Ok(view::members::member(&directory, found))
    }

    pub(crate) fn members(&self, caller: &Caller) -> Result<Members, Refusal> {
        caller.must_not_be_a_turn()?;
        let directory = self.directory.load();
        let present = directory.members.iter().filter(|m| !m.removed);
        let present = present.filter(|m| concerns(&directory, caller, m.key));
        Ok(Members { members: present.map(|m| view::members::member(&directory, m)).collect() })
    }

    /// The agents, with how they are reached and what waits for them. Who stands in for agents elsewhere is reached by
    /// nobody.
    pub(crate) async fn agents(&self, caller: &Caller) -> Result<Agents, Refusal> {
        caller.must_not_be_a_turn()?;
        let queues = self.deliveries.queues().await?;
        let now = self.clock.now();
        let directory = self.directory.load();
        let mut seen: HashMap<MemberKey, Timestamp> = HashMap::new();
        for session in directory.sessions.values() {
            let at = seen.entry(session.member).or_insert(session.seen_at);
            *at = session.seen_at.max(*at);
        }
        let agents = directory.members.iter().filter(|m| !m.removed && m.is_agent());
        let agents = agents.filter(|m| !directory.is_stand_in(m.key));
        let show = |member: &Arc<member::Member>| {
            // What was and is gone is in `/v1/sessions`.
            let live = directory.connected(member.key).iter();
            let live = live.filter_map(|key| directory.sessions.get(key));
            let shown = |s: &member::Session| {
                let session = view::members::session(&directory, s, now);
                chorus_wire::rest::sessions::Session { folder: None, resume_id: None, ..session }
            };
            let sessions: Vec<_> = live.map(|s| shown(s)).collect();
            let queue = queues.get(&member.key).copied().unwrap_or_default();
            let reach = directory.endpoints.get(&member.key).map(|endpoint| self.reach(endpoint));
            Agent {
                member: view::members::member(&directory, member),
                // The host's own session with an endpoint proves nothing.
                online: !sessions.is_empty() && reach.is_none_or(|reach| reach == Reach::Reachable),
                reach: reach.map(|reach| reach.name().to_owned()),
                sessions,
                seen_at: seen.get(&member.key).copied().map(Into::into),
                open_deliveries: queue.open,
                held_back: Some(queue.held_back).filter(|held_back| *held_back > 0),
                asks_since: queue.asks_since.map(Into::into),
            }
        };
        Ok(Agents { agents: agents.map(show).collect() })
    }

    /// What is known of how an agent behind a connection string is reached.
    fn reach(&self, endpoint: &Endpoint) -> Reach {
        match endpoint.state {
            State::Gone => Reach::Unreachable,
            State::Active | State::Paused => {
                self.webhooks.health(endpoint.member).reach(endpoint.epoch)
            }
        }
    }

    pub(crate) fn whoami(&self, caller: &Caller) -> Whoami {
        let directory = self.directory.load();
        Whoami {
            member: view::members::member(&directory, &caller.member),
            role: caller.authority().into(),
            workspace_id: self.workspace_id.to_string(),
            session_id: caller.session.map(|s| s.show(Prefix::Session)),
            jti: caller.jti.as_deref().map(str::to_owned),
            expires_at: Some(caller.expires.into()),
            turn: caller.turn.map(|turn| TurnScope {
                conversation: turn.conversation.show(Prefix::Conversation),
                event_id: turn.event.show(Prefix::Event),
                fence: turn.fence,
            }),
        }
    }
}

/// Whether the caller is to know of the member. Who speaks in an inbox for others elsewhere has its name, which is for
/// who keeps it and for the agent behind it.
pub(super) fn concerns(directory: &Directory, caller: &Caller, member: MemberKey) -> bool {
    directory
        .inbox_of_stand_in(member)
        .is_none_or(|inbox| inbox.agent == caller.by.member || keeps(directory, caller, inbox))
}

/// Identities as core keeps them: canonical JSON.
fn identities(list: &[Identity]) -> Result<Option<String>, Refusal> {
    if list.len() > IDENTITIES {
        return Err(Refusal::invalid(format!("a member has at most {IDENTITIES} identities")));
    }
    let texts = list.iter().flat_map(|i| [&i.platform, &i.id]);
    let max = limits::TITLE_BYTES;
    for text in texts {
        if text.is_empty() || text.len() > max || text.chars().any(char::is_control) {
            return Err(Refusal::invalid(format!(
                "platform and id of an identity are single lines of 1 to {max} bytes"
            )));
        }
    }
    let json = serde_json::to_string(list)
        .map_err(|e| Refusal::invalid(format!("identities cannot be kept: {e}")))?;
    Ok(Some(json))
}
