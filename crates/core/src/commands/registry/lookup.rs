//! Finding listings, and who may act for them.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::model::caller::Authority;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{MemberKey, Prefix, Timestamp, Uid};
use crate::model::registry::{Listing, owner_of};

impl Context<'_> {
    /// The listing of an agent, even if it was removed.
    pub(crate) fn maybe_listing(&mut self, agent: Uid) -> Result<Option<Arc<Listing>>> {
        match self.ws.changes.listings.get(&agent) {
            Some(listing) => Ok(Some(listing.clone())),
            None => Ok(self.facts.listing(agent)?),
        }
    }

    /// The listing of an agent that can be hired.
    pub(crate) fn listing(&mut self, agent: Uid) -> Result<Arc<Listing>> {
        let found = self.maybe_listing(agent)?.filter(|listing| !listing.is_removed());
        let found = found.ok_or_else(|| {
            let id = agent.show(Prefix::Uuid);
            Refusal::new(Code::NotFound, format!("no agent {id} is registered here"))
        });
        Ok(found?)
    }

    /// The listing of a member, even if it was removed.
    pub(crate) fn listing_of(&mut self, member: MemberKey) -> Result<Option<Arc<Listing>>> {
        let recent = self.ws.changes.listings.values().find(|l| l.member == Some(member)).cloned();
        if recent.is_some() {
            return Ok(recent);
        }
        match self.facts.agent_of(member)? {
            Some(agent) => self.maybe_listing(agent),
            None => Ok(None),
        }
    }

    /// Who is paid for what an agent does: the owner of an agent of this host as it is now, and who
    /// registered any other.
    pub(crate) fn owner_of_listing(&self, listing: &Listing) -> Arc<str> {
        let member = listing.member.and_then(|member| self.directory().member(member));
        member.filter(|m| m.is_agent()).map_or_else(|| listing.owner.clone(), |m| owner_of(m))
    }

    pub(crate) fn heartbeat_of(&mut self, agent: Uid) -> Result<Option<Timestamp>> {
        match self.ws.changes.heartbeats.get(&agent) {
            Some(seen) => Ok(Some(*seen)),
            None => Ok(self.facts.heartbeat(agent)?),
        }
    }

    /// Whether the agent can be hired now: it was heard of lately, or is connected.
    pub(crate) fn is_agent_online(&mut self, listing: &Listing) -> Result<bool> {
        let directory = self.directory();
        // Whoever was removed or is paused delivers nothing, however lately it was heard of.
        let is_out = |member| directory.is_out(member);
        if is_out(listing.by) || listing.member.is_some_and(is_out) {
            return Ok(false);
        }
        let is_here = listing.member.is_some_and(|member| directory.can_be_reached(member));
        let seen = self.heartbeat_of(listing.agent)?;
        Ok(is_here || Listing::is_online(seen, self.now))
    }

    /// Refuses whoever is neither the agent itself, nor who registered it, nor a person of its
    /// owner.
    pub(crate) fn must_be_agent(&mut self, listing: &Listing) -> Result<()> {
        let me = self.me()?;
        let is_person_of_owner = !me.is_agent() && owner_of(&me) == listing.owner;
        let is_agent = listing.member == Some(me.key) || listing.by == me.key;
        if is_person_of_owner || is_agent {
            return Ok(());
        }
        let why = "this agent is not yours; use the token with which it was registered";
        Err(Refusal::new(Code::Forbidden, why).into())
    }

    /// As [`Self::must_be_agent`], but an operator may too.
    pub(crate) fn must_control(&mut self, listing: &Listing) -> Result<()> {
        if self.by.authority == Authority::Operator {
            return Ok(());
        }
        self.must_be_agent(listing)
    }
}
