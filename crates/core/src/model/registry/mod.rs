//! The registry: agents that can be hired, with their skills and their reputation (registry spec
//! sections 3.1, 3.2 and 4).

mod reputation;

use std::sync::Arc;

pub use reputation::{Reputation, ReputationChange, Why};

use crate::model::error::Refusal;
use crate::model::ids::{MemberKey, Timestamp, Uid};
use crate::model::ledger::Credits;
use crate::model::limits;

/// The only version of the protocol.
pub const VERSION: &str = "0.1";

/// An agent that can be hired. A removed one keeps its reputation, in case it comes back.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Listing {
    /// The agent's UUID.
    pub agent: Uid,
    #[redact(fixed = 3)]
    pub name: Arc<str>,
    /// Who is paid for its work.
    pub owner: Arc<str>,
    /// Who registered it last.
    pub by: MemberKey,
    /// The agent here that it is, if it is one: then it is hired by its handle too.
    pub member: Option<MemberKey>,
    /// Where jobs are posted; none for an agent that takes jobs as a member of this host.
    #[redact(fixed = 3)]
    pub endpoint: Option<Arc<str>>,
    /// It fetches its jobs itself, instead of being asked for them as a member.
    pub pulls: bool,
    /// An operator has typed the endpoint, so that it may be on this machine.
    pub by_operator: bool,
    /// In the order of their names.
    pub skills: Vec<Skill>,
    pub registered_at: Timestamp,
    pub changed_at: Timestamp,
    pub removed_at: Option<Timestamp>,
    pub reputation: Reputation,
    /// How often its reputation has changed.
    pub changes: u64,
    pub successes: u64,
    pub failures: u64,
    pub last_success: Option<Timestamp>,
    pub check: EndpointCheck,
}

/// Something that an agent can do, at a price.
#[derive(Clone, veil::Redact, PartialEq, Eq)]
pub struct Skill {
    pub name: Arc<str>,
    #[redact(fixed = 3)]
    pub description: Arc<str>,
    pub cost: Credits,
    /// Canonical JSON; opaque here.
    #[redact(fixed = 3)]
    pub input: Arc<str>,
    #[redact(fixed = 3)]
    pub output: Arc<str>,
}

/// Whether an endpoint has proved that it answers: it is posted a challenge, and answers to where
/// the challenge says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointCheck {
    /// When it last answered; none if it has not since it was registered, or since it missed one.
    pub verified_at: Option<Timestamp>,
    /// When the challenge was posted that it has not answered yet.
    pub asked_at: Option<Timestamp>,
    /// When it is challenged next.
    pub next_at: Option<Timestamp>,
    /// Challenges in a row that it did not answer.
    pub missed: u32,
}

impl EndpointCheck {
    /// An endpoint that has just been registered.
    pub fn new(now: Timestamp) -> Self {
        Self { next_at: Some(now), ..Self::default() }
    }

    /// Another challenge is posted. One that was not answered is missed.
    #[must_use]
    pub fn asked(self, now: Timestamp) -> Self {
        let missed = self.missed.saturating_add(self.asked_at.is_some().into());
        let wait = limits::ENDPOINT_RECHECK_MS << missed.min(12);
        Self {
            verified_at: self.verified_at.filter(|_| self.asked_at.is_none()),
            asked_at: Some(now),
            next_at: Some(now.plus(wait.min(limits::ENDPOINT_CHECK_MS))),
            missed,
        }
    }

    #[must_use]
    pub fn answered(self, now: Timestamp) -> Self {
        let next_at = Some(now.plus(limits::ENDPOINT_CHECK_MS));
        Self { verified_at: Some(now), asked_at: None, next_at, missed: 0 }
    }
}

impl Listing {
    pub fn skill(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| &*skill.name == name)
    }

    pub fn is_removed(&self) -> bool {
        self.removed_at.is_some()
    }

    /// Whether it is asked for jobs in messages.
    pub fn is_asked(&self) -> bool {
        self.endpoint.is_none() && !self.pulls
    }

    /// Whether it can be hired, as a heartbeat at `seen` proves.
    pub fn is_online(seen: Option<Timestamp>, now: Timestamp) -> bool {
        seen.is_some_and(|seen| now.since(seen) <= limits::AGENT_OFFLINE_MS)
    }
}

/// What is asked for in a registration.
#[derive(Clone, veil::Redact)]
pub struct Registration {
    /// None for an agent of this host that gets one, or has one already.
    pub agent: Option<Uid>,
    #[redact(fixed = 3)]
    pub name: Arc<str>,
    #[redact(fixed = 3)]
    pub endpoint: Option<Arc<str>>,
    pub pulls: bool,
    pub skills: Vec<Skill>,
}

/// Checks the texts of a registration, and puts its skills in order.
pub fn checked(mut asked: Registration) -> Result<Registration, Refusal> {
    check_name("an agent's name", &asked.name)?;
    if let Some(endpoint) = asked.endpoint.as_ref().filter(|e| e.len() > limits::JOB_URL_BYTES) {
        let _ = endpoint;
        let most = limits::JOB_URL_BYTES;
        return Err(Refusal::invalid(format!("api_endpoint has at most {most} bytes")));
    }
    if asked.skills.is_empty() || asked.skills.len() > limits::SKILLS {
        let most = limits::SKILLS;
        return Err(Refusal::invalid(format!("an agent has between 1 and {most} skills")));
    }
    asked.skills.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = asked.skills.windows(2).find(|pair| pair[0].name == pair[1].name) {
        let name = &pair[0].name;
        return Err(Refusal::invalid(format!("the skill {name} is listed twice")));
    }
    for skill in &asked.skills {
        check_skill_name(&skill.name)?;
        if skill.description.len() > limits::SKILL_TEXT_BYTES {
            let most = limits::SKILL_TEXT_BYTES;
            let name = &skill.name;
            let why = format!("the description of {name} is longer than {most} bytes");
            return Err(Refusal::invalid(why));
        }
    }
    Ok(asked)
}

/// The host's own skills begin with it.
const RESERVED: &str = "chorus.";

/// A skill's name: letters, digits and `_ - . : /`, so that it fits into a URL and a command line.
pub fn check_skill_name(name: &str) -> Result<(), Refusal> {
    if name.starts_with(RESERVED) {
        let why = format!("names of skills that begin with {RESERVED} are the host's own");
        return Err(Refusal::invalid(why));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.:/".contains(c);
    if name.is_empty() || name.len() > limits::SKILL_NAME_BYTES || !name.chars().all(is_plain) {
        let most = limits::SKILL_NAME_BYTES;
        return Err(Refusal::invalid(format!(
            "a skill's name has 1 to {most} letters, digits or _ - . : /"
        )));
    }
    Ok(())
}

fn check_name(what: &str, name: &str) -> Result<(), Refusal> {
    let most = limits::TITLE_BYTES;
    if name.trim().is_empty() || name.len() > most || name.chars().any(char::is_control) {
        return Err(Refusal::invalid(format!("{what} is one line of 1 to {most} bytes")));
    }
    Ok(())
}

/// Who owns what a member does: its owner, or the member itself.
pub fn owner_of(member: &crate::model::member::Member) -> Arc<str> {
    member.owner.clone().unwrap_or_else(|| member.id.clone())
}
