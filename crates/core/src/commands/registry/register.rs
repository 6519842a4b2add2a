//! Registering an agent, and removing it from the registry (registry spec section 3.1).
//!
//! Invariant: an agent keeps its owner and its reputation for ever, whatever is registered again.

use std::sync::Arc;

use crate::commands::command::{Command, Done};
use crate::commands::context::{Context, Result};
use crate::commands::gate::shown::{Readers, Shown, plain};
use crate::commands::ledger::posting::check_owner;
use crate::commands::redact::Redact;
use crate::language::names::confusables::unseen;
use crate::model::audit::{Action, Audit};
use crate::model::caller::Authority;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{Prefix, Uid};
use crate::model::registry::{EndpointCheck, Listing, Registration, Reputation, checked, owner_of};

/// Registers an agent, or changes what is registered of it.
#[derive(Clone)]
pub struct Register {
    pub asked: Registration,
    /// The owner that the request states: it must be the caller's.
    pub owner: Option<Arc<str>>,
}

/// A registered agent, and whether it is new.
pub struct Registered {
    pub listing: Arc<Listing>,
    pub is_new: bool,
}

impl Command for Register {
    type Output = Registered;

    fn audit(&self, done: Done<'_, Self>) -> Audit {
        let agent = done.ok().map(|done| done.listing.agent).or(self.asked.agent);
        Audit::firm(Action::RegisterAgent).subject(agent)
    }

    fn redact(&mut self, redact: &dyn Redact) -> u32 {
        let mut count = redact.text(&mut self.asked.name);
        for skill in &mut self.asked.skills {
            count += redact.text(&mut skill.description);
        }
        count
    }

    fn shown(&self, _: &mut Context<'_>) -> Result<Option<Shown>> {
        let skills = self.asked.skills.iter();
        let skills = skills.map(|s| format!("{}: {}", s.name, s.description));
        let fields = vec![
            ("agent_name", self.asked.name.to_string()),
            ("skills", skills.collect::<Vec<_>>().join("\n")),
        ];
        Ok(Some(plain("register", Readers::everybody(), fields)))
    }

    fn execute(self, run: &mut Context<'_>) -> Result<Registered> {
        let me = run.me()?;
        let owner = owner_of(&me);
        if self.owner.is_some_and(|stated| stated != owner) {
            let why = format!("owner_id is {owner} for your token; leave it out, or say that");
            return Err(Refusal::new(Code::ClaimMismatch, why).into());
        }
        check_owner(&owner)?;
        let asked = checked(self.asked)?;
        if let Some(c) = unseen(&asked.name) {
            let code = u32::from(c);
            let why = format!("agent_name has the invisible character U+{code:04X}; leave it out");
            return Err(Refusal::invalid(why).into());
        }
        let mine = match me.is_agent() {
            true => run.listing_of(me.key)?,
            false => None,
        };
        if let (Some(mine), Some(agent)) = (&mine, asked.agent)
            && mine.agent != agent
        {
            let id = mine.agent.show(Prefix::Uuid);
            let why = format!("this member is registered as {id} already; use that agent_id");
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let agent = asked.agent.or(mine.as_ref().map(|listing| listing.agent));
        let agent = match agent {
            Some(agent) => agent,
            None if me.is_agent() => run.drawn.uid,
            None => {
                let why = "agent_id is a UUID of your choice, which names the agent from now on";
                return Err(Refusal::invalid(why).into());
            }
        };
        let before = run.maybe_listing(agent)?;
        // An agent of this host is the same agent, whoever owns it now.
        let is_itself = |before: &Listing| me.is_agent() && before.member == Some(me.key);
        if before.as_ref().is_some_and(|before| before.owner != owner && !is_itself(before)) {
            let why = "this agent_id belongs to another owner; use one of your own";
            return Err(Refusal::new(Code::Conflict, why).into());
        }
        let member = match me.is_agent() {
            true => Some(me.key),
            false => before.as_ref().and_then(|before| before.member),
        };
        if asked.pulls && asked.endpoint.is_some() {
            let why = "pull is for an agent without an api_endpoint";
            return Err(Refusal::invalid(why).into());
        }
        if asked.endpoint.is_none() && member.is_none() {
            let why = "api_endpoint is the URL to which jobs are posted; only an agent of this host \
                       can do without, and registers with its own token";
            return Err(Refusal::invalid(why).into());
        }
        run.put_listing(agent, owner, member, asked, before)
    }
}

impl Context<'_> {
    fn put_listing(
        &mut self,
        agent: Uid,
        owner: Arc<str>,
        member: Option<crate::model::ids::MemberKey>,
        asked: Registration,
        before: Option<Arc<Listing>>,
    ) -> Result<Registered> {
        let now = self.now;
        let is_new = before.as_ref().is_none_or(|before| before.is_removed());
        let old = before.as_deref();
        let same_endpoint = old.is_some_and(|old| old.endpoint == asked.endpoint) && !is_new;
        let check = match (old, &asked.endpoint) {
            (Some(old), _) if same_endpoint => old.check,
            (_, Some(_)) => EndpointCheck::new(now),
            (_, None) => EndpointCheck::default(),
        };
        let listing = Arc::new(Listing {
            agent,
            name: asked.name,
            owner: owner.clone(),
            by: self.by.member,
            member,
            endpoint: asked.endpoint,
            pulls: asked.pulls,
            by_operator: self.by.authority == Authority::Operator,
            skills: asked.skills,
            registered_at: old.map_or(now, |old| old.registered_at),
            changed_at: now,
            removed_at: None,
            reputation: old.map_or(Reputation::NEW, |old| old.reputation),
            changes: old.map_or(0, |old| old.changes),
            successes: old.map_or(0, |old| old.successes),
            failures: old.map_or(0, |old| old.failures),
            last_success: old.and_then(|old| old.last_success),
            check,
        });
        self.open_account(&owner)?;
        self.ws.changes.listings.insert(agent, listing.clone());
        self.ws.changes.relisted.insert(agent);
        self.ws.changes.heartbeats.insert(agent, now);
        Ok(Registered { listing, is_new })
    }
}

/// Removes an agent from the registry. Its jobs go on, and its reputation is kept.
#[derive(Clone)]
pub struct Unregister {
    pub agent: Uid,
}

impl Command for Unregister {
    type Output = ();

    crate::commands::command::no_text!();

    fn audit(&self, _: Done<'_, Self>) -> Audit {
        Audit::firm(Action::RemoveAgent).subject(self.agent)
    }

    fn execute(self, run: &mut Context<'_>) -> Result<()> {
        let before = run.listing(self.agent)?;
        run.must_control(&before)?;
        let check = EndpointCheck::default();
        let listing = Listing { removed_at: Some(run.now), check, ..(*before).clone() };
        run.ws.changes.listings.insert(self.agent, Arc::new(listing));
        run.ws.changes.relisted.insert(self.agent);
        Ok(())
    }
}
