//! Agents for hire: registered, listed, found (registry spec sections 3.1 and 3.2).

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::registry::{ChallengeEndpoint, Heartbeat, Register, Unregister};
use chorus_core::language::search::words;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Prefix, Timestamp, Uid};
use chorus_core::model::job::CURRENCY;
use chorus_core::model::ledger::Credits;
use chorus_core::model::limits::{AGENT_OFFLINE_MS, CLOCK_SKEW_MS};
use chorus_core::model::registry::{self, Listing, Reputation, VERSION};
use chorus_core::state::directory::Directory;
use chorus_schema::Checker;
use chorus_store::{Discovery, Found, Position};
use chorus_wire::registry::{
    Agent, AgentQuery, AgentStatus, Agents, Discover, Discovered, FoundAgent, HeartbeatTaken,
    ListingHeartbeat, PageQuery, Register as Asked, Registered, ReputationChange,
    ReputationHistory, SkillOffer, SkillTotal, SkillTotals,
};
use chorus_wire::time::Time;

use super::schemas::{Whose, off_thread};
use crate::auth::{Auth, Caller};
use crate::dispatch::hiring::Hiring;
use crate::dispatch::webhook::state::Webhooks;
use crate::egress::check_url;
use crate::services::clock::HostClock;
use crate::services::commands::Commands;
use crate::services::ids;
use crate::services::pages;
use crate::services::reads::Reads;
use crate::view;

/// How far ahead of ours another machine's clock may be.
const SKEW_MS: i64 = 5 * 60_000;
/// Heartbeats are due this often.
const HEARTBEAT_MS: i64 = 30_000;
/// Words of a search; further ones would find nothing more.
pub(super) const WORDS: usize = 8;
/// An agent with fewer settled jobs is a newcomer.
const NEWCOMER_JOBS: u64 = 5;

/// Agents for hire.
pub(crate) struct AgentService {
    pub(in crate::services) commands: Arc<Commands>,
    pub(in crate::services) reads: Arc<Reads>,
    pub(in crate::services) auth: Arc<Auth>,
    pub(in crate::services) clock: Arc<HostClock>,
    pub(in crate::services) directory: Arc<ArcSwap<Directory>>,
    pub(in crate::services) hiring: Arc<Hiring>,
    pub(in crate::services) public_url: Arc<str>,
    pub(in crate::services) webhooks: Arc<Webhooks>,
    pub(in crate::services) workspace_name: Arc<str>,
}

impl AgentService {
    pub(crate) async fn register(
        &self,
        caller: &Caller,
        asked: Asked,
    ) -> Result<Registered, Refusal> {
        caller.must_not_be_a_turn()?;
        check_version(asked.version.as_deref())?;
        self.check_time(asked.timestamp_utc)?;
        let agent = asked.agent_id.as_deref().map(|id| ids::uuid(id, "agent_id")).transpose()?;
        let endpoint = asked.api_endpoint.as_deref().filter(|url| !self.is_ours(url, agent));
        let endpoint = endpoint.map(|url| self.checked_endpoint(caller, url)).transpose()?;
        let offered = asked.skills;
        let skills = move || {
            let mut checker = Checker::default();
            let skills = offered.into_iter().map(|offer| skill(&mut checker, offer));
            skills.collect::<Result<Vec<_>, _>>()
        };
        let skills = off_thread(Whose::Member(caller.by.member), skills).await?;
        let asked = Register {
            owner: asked.owner_id.map(Into::into),
            asked: registry::Registration {
                agent,
                name: asked.agent_name.into(),
                endpoint,
                pulls: asked.pull,
                skills,
            },
        };
        let done = self.commands.submit(caller.by, asked).await?;
        self.hiring.challenges.notify_one();
        Ok(Registered {
            status: "registered".to_owned(),
            agent_id: done.listing.agent.show(Prefix::Uuid),
            reputation_score: done.listing.reputation.score(),
        })
    }

    /// Whether an endpoint is what the host shows for an agent that has none of its own.
    fn is_ours(&self, url: &str, agent: Option<Uid>) -> bool {
        agent.is_some_and(|agent| view::registry::own_endpoint(&self.public_url, agent) == url)
    }

    fn checked_endpoint(&self, caller: &Caller, url: &str) -> Result<Arc<str>, Refusal> {
        let allowed = match caller.authority() >= Authority::Operator {
            true => &self.webhooks.allowed,
            false => &self.webhooks.strangers,
        };
        let url = check_url(url, allowed).map_err(|refusal| Refusal {
            message: format!("api_endpoint: {}", refusal.message),
            ..refusal
        })?;
        Ok(url.as_str().into())
    }

    pub(super) fn check_time(&self, stated: Option<Time>) -> Result<(), Refusal> {
        let now = self.clock.now();
        if stated.is_some_and(|stated| stated.since(now) > SKEW_MS + CLOCK_SKEW_MS) {
            let now = chorus_wire::time::format(now);
            let why = format!("timestamp_utc is in the future; it is {now} here, set your clock");
            return Err(Refusal::invalid(why));
        }
        Ok(())
    }

    pub(crate) async fn unregister(&self, caller: &Caller, id: &str) -> Result<(), Refusal> {
        caller.must_not_be_a_turn()?;
        let agent = self.agent_named(id).await?;
        self.commands.submit(caller.by, Unregister { agent }).await
    }

    pub(crate) async fn heartbeat(
        &self,
        caller: &Caller,
        beat: ListingHeartbeat,
    ) -> Result<HeartbeatTaken, Refusal> {
        self.check_time(beat.timestamp_utc)?;
        let agent = beat.agent_id.as_deref().map(|id| ids::uuid(id, "agent_id")).transpose()?;
        let agent = self.commands.submit(caller.by, Heartbeat { agent }).await?;
        Ok(HeartbeatTaken {
            agent_id: agent.show(Prefix::Uuid),
            status: AgentStatus::Online,
            next_within_ms: HEARTBEAT_MS,
        })
    }

    /// An agent by its UUID, by its `@handle`, or by its member's id.
    pub(crate) async fn agent_named(&self, name: &str) -> Result<Uid, Refusal> {
        if let Some(agent) = Uid::read(Prefix::Uuid, name) {
            return Ok(agent);
        }
        let member = {
            let directory = self.directory.load();
            let found = view::registry::member_named(&directory, name).map(|m| m.key);
            found.ok_or_else(|| {
                let shown: String = name.chars().take(64).collect();
                let why = format!("no agent {shown:?}: give a UUID, or a member as @handle");
                Refusal::new(Code::NotFound, why)
            })?
        };
        let agent = self.reads.read(move |readers| readers.agent_of(member)).await?;
        agent.ok_or_else(|| {
            let shown: String = name.chars().take(64).collect();
            let why = format!("{shown} is not for hire; it offers no skill in the registry");
            Refusal::new(Code::NotFound, why)
        })
    }

    pub(crate) async fn listing(
        &self,
        agent: Uid,
    ) -> Result<(Arc<Listing>, Option<Timestamp>), Refusal> {
        let found = self.reads.read(move |readers| readers.listing(agent)).await?;
        found.ok_or_else(|| Refusal::not_found("agent"))
    }

    pub(crate) async fn agent(&self, id: &str) -> Result<Agent, Refusal> {
        let agent = self.agent_named(id).await?;
        let (listing, seen) = self.listing(agent).await?;
        self.show(&self.directory.load(), &listing, seen)
    }

    pub(crate) async fn agents(&self, query: AgentQuery) -> Result<Agents, Refusal> {
        let limit = pages::limit(query.limit)?;
        let after = query.after.as_deref().map(|id| ids::uuid(id, "after")).transpose()?;
        let (owner, after) = (query.owner, after.unwrap_or_default());
        let page = move |readers: &chorus_store::Readers| {
            readers.listings(owner.as_deref(), after, limit + 1)
        };
        let mut found = self.reads.read(page).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(last, _)| last.agent.show(Prefix::Uuid));
        let directory = self.directory.load();
        let present = found.iter().filter(|(listing, _)| !listing.is_removed());
        let agents = present.map(|(listing, seen)| self.show(&directory, listing, *seen));
        Ok(Agents { agents: agents.collect::<Result<_, _>>()?, next })
    }

    pub(super) fn show(
        &self,
        directory: &Directory,
        listing: &Listing,
        seen: Option<Timestamp>,
    ) -> Result<Agent, Refusal> {
        view::registry::agent(directory, listing, seen, self.clock.now(), &self.public_url)
    }

    pub(crate) async fn discover(&self, asked: Discover) -> Result<Discovered, Refusal> {
        let limit = pages::limit(asked.limit)?;
        let now = self.clock.now();
        let alive = now.plus(-AGENT_OFFLINE_MS);
        let min_reputation = asked.min_reputation.map(|score| {
            let why = || Refusal::invalid("min_reputation is a number from 0 to 100");
            Reputation::of(score).ok_or_else(why)
        });
        let text = asked.q.unwrap_or_default();
        let sought = words(&text);
        if sought.is_empty() && !text.is_empty() {
            return Err(Refusal::invalid("q has no word to search for; leave it out to list all"));
        }
        let discovery = Discovery {
            skill: asked.skill,
            words: sought.into_iter().map(|word| word.folded).take(WORDS).collect(),
            min_reputation: min_reputation.transpose()?,
            max_cost: asked.max_cost.map(|amount| must_not_be_negative(amount.0)).transpose()?,
            seen_after: (asked.status == Some(AgentStatus::Online)).then_some(alive),
            not_seen_after: (asked.status == Some(AgentStatus::Offline)).then_some(alive),
            verified: asked.verified.unwrap_or(false),
            newcomers: None,
            after: asked.after.as_deref().map(position).transpose()?,
            limit: limit + 1,
        };
        let every = self.hiring.newcomer_every;
        let newcomers = Discovery {
            newcomers: Some(NEWCOMER_JOBS),
            limit: limit.checked_div(every).unwrap_or(0),
            ..discovery.clone()
        };
        let (mut found, newcomers) = self
            .reads
            .read(move |readers| {
                let found = readers.discover(&discovery)?;
                let fresh = match newcomers.limit > 0 && discovery.after.is_none() {
                    true => readers.discover(&newcomers)?,
                    false => Vec::new(),
                };
                Ok((found, fresh))
            })
            .await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| place(&last.position));
        let found = with_newcomers(found, newcomers, every);
        let directory = self.directory.load();
        let agents = found.iter();
        let agents = agents
            .map(|one| view::registry::found(&directory, one, now, &self.public_url))
            .collect::<Vec<FoundAgent>>();
        Ok(Discovered { agents, next })
    }

    pub(crate) async fn skills(&self, query: PageQuery) -> Result<SkillTotals, Refusal> {
        let limit = pages::limit(query.limit)?;
        let after = query.after.unwrap_or_default();
        let mut found = self.reads.read(move |readers| readers.skills(&after, limit + 1)).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|last| last.name.clone());
        let skills = found.into_iter().map(|skill| SkillTotal {
            skill_name: skill.name,
            agents: skill.agents,
            cheapest: skill.cheapest.into(),
        });
        Ok(SkillTotals { skills: skills.collect(), next })
    }

    pub(crate) async fn reputation(
        &self,
        id: &str,
        query: PageQuery,
    ) -> Result<ReputationHistory, Refusal> {
        let limit = pages::limit(query.limit)?;
        let after = query.after.as_deref().unwrap_or("0").parse::<u64>();
        let after = after.map_err(|_| Refusal::invalid("after is the next of the page before"))?;
        let agent = self.agent_named(id).await?;
        let (listing, _) = self.listing(agent).await?;
        let read = move |readers: &chorus_store::Readers| {
            readers.reputation_changes(agent, after, limit + 1)
        };
        let mut found = self.reads.read(read).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let changes = found.iter().map(|change| ReputationChange {
            number: change.number,
            at: change.at.into(),
            job_id: change.job.show(Prefix::Uuid),
            why: change.why.name().to_owned(),
            before: change.before.score(),
            after: change.after.score(),
        });
        Ok(ReputationHistory {
            agent_id: agent.show(Prefix::Uuid),
            reputation_score: listing.reputation.score(),
            changes: changes.collect(),
            next: found.last().filter(|_| more).map(|last| last.number.to_string()),
        })
    }

    /// Agents whose endpoints are to be challenged.
    pub(crate) async fn to_challenge(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Listing>, Refusal> {
        self.reads.read(move |readers| readers.listings_to_check(now, limit)).await
    }

    /// An agent answers the challenge of its endpoint, with the token that was posted there.
    pub(crate) async fn answer_challenge(&self, id: &str, token: &str) -> Result<(), Refusal> {
        let agent = ids::named_uuid(id, "agent")?;
        let found = self.reads.read(move |readers| readers.listing(agent)).await?;
        let endpoint = found.and_then(|(listing, _)| listing.endpoint.clone());
        let now = self.clock.now();
        let answered =
            endpoint.filter(|endpoint| self.auth.is_challenge(token, agent, endpoint, now));
        if answered.is_none() {
            let why = "this is no challenge of this host, or it is over; another one follows";
            return Err(Refusal::new(Code::Unauthorized, why));
        }
        let answered = ChallengeEndpoint { agent, answered };
        self.commands.submit(By::host(), answered).await.map(drop)
    }
}

pub(super) fn check_version(version: Option<&str>) -> Result<(), Refusal> {
    match version.is_none_or(|version| version == VERSION) {
        true => Ok(()),
        false => Err(Refusal::invalid(format!("version is {VERSION} here"))),
    }
}

pub(super) fn check_currency(currency: Option<&str>) -> Result<(), Refusal> {
    match currency.is_none_or(|currency| currency == CURRENCY) {
        true => Ok(()),
        false => Err(Refusal::invalid(format!("currency is {CURRENCY} here"))),
    }
}

/// Amounts that are asked for; only answers have negative ones.
pub(super) fn must_not_be_negative(amount: Credits) -> Result<Credits, Refusal> {
    match amount.0 < 0 {
        true => Err(Refusal::invalid("an amount of credits is not negative")),
        false => Ok(amount),
    }
}

fn skill(checker: &mut Checker, offer: SkillOffer) -> Result<registry::Skill, Refusal> {
    let name = offer.skill_name;
    let shown: String = name.chars().take(64).collect();
    let mut checked = |schema: Option<&serde_json::value::RawValue>, what: &str| {
        let schema = schema.map_or("{}", |schema| schema.get());
        checker.checked(schema, &format!("{what} of {shown}"))
    };
    Ok(registry::Skill {
        input: checked(offer.input_schema.as_deref(), "input_schema")?.into(),
        output: checked(offer.output_schema.as_deref(), "output_schema")?.into(),
        cost: must_not_be_negative(offer.cost_per_call.0)?,
        description: offer.description.into(),
        name: name.into(),
    })
}

/// A place in the order of discovery, as a page's `next`.
fn place(at: &Position) -> String {
    let agent = at.agent.show(Prefix::Uuid);
    format!("{}.{}.{}.{agent}.{}", -at.rank, at.cost, -at.recency, at.skill)
}

fn position(text: &str) -> Result<Position, Refusal> {
    let read = || {
        let mut parts = text.splitn(5, '.');
        let mut number = || parts.next()?.parse::<i64>().ok();
        let (rank, cost, recency) = (number()?, number()?, number()?);
        let agent = Uid::read(Prefix::Uuid, parts.next()?)?;
        let skill = parts.next()?.to_owned();
        Some(Position {
            rank: rank.checked_neg()?,
            cost,
            recency: recency.checked_neg()?,
            agent,
            skill,
        })
    };
    read().ok_or_else(|| Refusal::invalid("after is the next of the page before"))
}

/// Puts a newcomer after each `every` - 1 of the others, if it is not among them already.
fn with_newcomers(found: Vec<Found>, newcomers: Vec<Found>, every: usize) -> Vec<Found> {
    if every < 2 || newcomers.is_empty() {
        return found;
    }
    let limit = found.len();
    let fresh = newcomers.into_iter();
    let mut fresh: Vec<_> = fresh
        .filter(|new| found.iter().take(every - 1).all(|f| f.position != new.position))
        .collect();
    fresh.reverse();
    let mut mixed: Vec<Found> = Vec::with_capacity(limit);
    for one in found {
        if mixed.len() % every == every - 1
            && let Some(new) = fresh.pop()
            && mixed.iter().all(|m| m.position != new.position)
        {
            mixed.push(new);
        }
        if mixed.iter().all(|m| m.position != one.position) {
            mixed.push(one);
        }
    }
    mixed
}
