//! As which agent a skill is offered.

use chorus_client::{Client, Error};
use chorus_core::model::error::Code;
use chorus_core::model::ids::{Prefix, Uid};
use chorus_wire::registry::Agent;
use chorus_wire::rest::members::Member;

use super::super::{Context, join};
use crate::data::new_uuid;
use crate::failure::{Failure, Result};
use crate::lookup;
use crate::print::line;

/// An agent, and a client that may act for it.
pub(super) struct Seat {
    pub(super) client: Client,
    /// The member that it is; none for an agent elsewhere.
    pub(super) member: Option<Member>,
    /// Who issued the client's token, where that was done here, and can do it again.
    issuer: Option<Client>,
    /// The UUID that was named.
    named: Option<String>,
}

impl Seat {
    /// The agent that was named, else the caller. An operator may name any member that is an agent,
    /// and one that is new is made where that is allowed.
    pub(super) async fn of(
        context: &Context,
        agent: Option<&str>,
        may_be_new: bool,
    ) -> Result<Self> {
        let client = context.target.client()?;
        let me = client.whoami().await?.member;
        let Some(name) = agent else {
            return Ok(Self { client, member: Some(me), issuer: None, named: None });
        };
        if Uid::read(Prefix::Uuid, name).is_some() {
            let named = Some(name.to_owned());
            return Ok(Self { client, member: None, issuer: None, named });
        }
        let name = lookup::member(name);
        if me.id == name {
            let member = Some(lookup::must_be_agent(me)?);
            return Ok(Self { client, member, issuer: None, named: None });
        }
        let operators = |failure: Failure| join::asks_operator(failure, name);
        if lookup::agent(&client, name).await?.is_none() {
            if !may_be_new {
                let why = format!("no member is called {:?}", line(name));
                return Err(Failure::new(Code::NotFound, why).next("see: chorus member list"));
            }
            lookup::make_agent(&client, name).await.map_err(operators)?;
        }
        let token = join::issue(name, &client).await.map_err(operators)?;
        let theirs = client.with_token(token);
        let member = Some(theirs.whoami().await?.member);
        Ok(Self { client: theirs, member, issuer: Some(client), named: None })
    }

    /// What is registered of it; none where it cannot be hired yet.
    pub(super) async fn listed(&self) -> Result<Option<Agent>> {
        match (&self.named, &self.member) {
            (Some(uuid), _) => listed(&self.client, uuid).await,
            (None, Some(member)) => listed(&self.client, &member.id).await,
            (None, None) => Ok(None),
        }
    }

    /// The UUID under which it registers first. The host draws those of its own agents.
    pub(super) fn uuid(&self) -> Result<Option<String>> {
        match (&self.named, &self.member) {
            (Some(uuid), _) => Ok(Some(uuid.clone())),
            (None, Some(member)) if lookup::must_be_agent(member.clone()).is_ok() => Ok(None),
            _ => new_uuid().map(Some),
        }
    }

    /// Another token for the same agent, if this one was issued here.
    pub(super) async fn renewed(&self) -> Result<Option<Client>> {
        let (Some(issuer), Some(member)) = (&self.issuer, &self.member) else { return Ok(None) };
        let token = join::issue(&member.id, issuer).await?;
        Ok(Some(self.client.with_token(token)))
    }
}

/// Whether the host says that there is no such agent.
fn is_missing(error: &Error) -> bool {
    error.code() == Some(Code::NotFound)
}

/// What the registry knows of an agent that can be hired.
async fn listed(client: &Client, agent: &str) -> Result<Option<Agent>> {
    match client.agent_for_hire(agent).await {
        Ok(agent) => Ok(Some(agent).filter(|agent| agent.removed_at.is_none())),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
