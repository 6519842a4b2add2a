//! `chorus skill`: what an agent offers for hire. `skill offer --runtime` also does the jobs, by a
//! command.

mod seat;
mod worker;

use std::path::{Path, PathBuf};

use chorus_core::model::error::Code;
use chorus_core::model::member::MemberKind;
use chorus_wire::registry::{Agent, AgentQuery, Agents, Amount, Register, Skill, SkillOffer};
use clap::Subcommand;
use seat::Seat;
use serde_json::json;
use serde_json::value::RawValue;

use super::registry::hired_by;
use super::{Context, serve};
use crate::data::json_file;
use crate::failure::{Failure, Result};
use crate::pages::{Page, with_next};
use crate::print::{line, table};
use crate::values::{credits, shell_line};

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Offer a skill, beside those that the agent has, or change it
    Offer(Box<Offer>),
    /// The skills that agents of your owner offer
    #[command(visible_alias = "ls")]
    List {
        /// Only those of this agent: a member's id, or the UUID of another
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Offer a skill no more; without any an agent leaves the registry
    #[command(visible_alias = "rm")]
    Remove {
        /// The skill
        #[arg(value_name = "NAME")]
        skill: String,
        /// The agent, if it is not you: a member's id, or the UUID of another
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    },
}

#[derive(clap::Args, Debug)]
pub(crate) struct Offer {
    /// The skill: letters, digits or _ - . : /
    #[arg(value_name = "NAME")]
    skill: String,
    /// What a job costs
    #[arg(long, value_name = "CREDITS", value_parser = credits)]
    cost: Amount,
    /// What it does, for those who look for it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// What the input must fit: a file with a JSON Schema, or with names of types by field
    #[arg(long, value_name = "FILE")]
    input_schema: Option<PathBuf>,
    /// What the output must fit
    #[arg(long, value_name = "FILE")]
    output_schema: Option<PathBuf>,
    /// Where jobs are posted, if the agent is a server
    #[arg(long, value_name = "URL", conflicts_with = "runtime")]
    endpoint: Option<String>,
    /// Stay and do the jobs, by cmd:'COMMAND': input on standard input, the output printed
    #[arg(long, value_name = "COMMAND", value_parser = shell_line)]
    runtime: Option<String>,
    /// How the agent is shown [default: as it is, else as the member]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// The agent, if it is not you: a member's id, made when it is new, or the UUID of another
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    match args {
        Args::Offer(offer) => offered(*offer, context).await,
        Args::List { agent, page } => {
            let client = context.target.client()?;
            let all = match agent {
                Some(agent) => {
                    let one = client.agent_for_hire(&agent).await?;
                    Agents { agents: vec![one], next: None }
                }
                None => {
                    let me = client.whoami().await?.member;
                    let owner = Some(me.owner_id.unwrap_or(me.id));
                    let query = AgentQuery { owner, after: page.after, limit: page.limit };
                    client.agents_for_hire(&query).await?
                }
            };
            context.print.show(&all, list)
        }
        Args::Remove { skill, agent } => remove(&skill, agent.as_deref(), context).await,
    }
}

async fn offered(offer: Offer, context: &Context) -> Result {
    let _log = offer.runtime.is_some().then(serve::log_to_stderr);
    let may_be_new = true;
    let seat = Seat::of(context, offer.agent.as_deref(), may_be_new).await?;
    let known = seat.listed().await?;
    if offer.runtime.is_some() && seat.member.is_none() {
        let why = "only an agent of this host gets its jobs through it";
        return Err(Failure::usage(why).next("name one with --agent, or give its --endpoint"));
    }
    if seat.member.as_ref().is_some_and(|me| me.kind != MemberKind::Agent)
        && offer.endpoint.is_none()
    {
        let id = seat.member.as_ref().map(|me| line(&me.id)).unwrap_or_default();
        let why = format!("{id} is a person, and agents offer skills");
        return Err(Failure::usage(why)
            .next("name one with --agent, which is made when it is new, or give an --endpoint"));
    }
    let asked = registration(&offer, &seat, known)?;
    let registered = seat.client.register_agent(&asked).await?;
    let shown = json!({
        "agent_id": registered.agent_id,
        "member": seat.member.as_ref().filter(|m| m.kind == MemberKind::Agent).map(|m| &m.id),
        "skill_name": offer.skill,
        "cost_per_call": offer.cost,
        "reputation_score": registered.reputation_score,
    });
    let stays = offer.runtime.is_some();
    context.print.show(&shown, |_| {
        let member = seat.member.as_ref().filter(|m| m.kind == MemberKind::Agent).map(|m| &m.id);
        let by = hired_by(&registered.agent_id, member);
        let (skill, cost) = (line(&offer.skill), offer.cost.0);
        let until = if stays { ", until Ctrl-C" } else { "" };
        format!(
            "{by} offers {skill} for {cost}{until}; hire it with: chorus hire {by} --job {skill}"
        )
    })?;
    match offer.runtime {
        None => Ok(()),
        Some(command) => {
            worker::run(seat, registered.agent_id, offer.skill, command, context.print).await
        }
    }
}

/// What is registered: all that is known of the agent, with the skill that is offered.
fn registration(offer: &Offer, seat: &Seat, known: Option<Agent>) -> Result<Register> {
    let schema = |option: &str, file: &Option<PathBuf>| {
        file.as_deref().map(|file: &Path| json_file(option, file)).transpose()
    };
    let input = schema("--input-schema", &offer.input_schema)?;
    let output = schema("--output-schema", &offer.output_schema)?;
    let pulls = known.as_ref().is_some_and(|known| known.pull);
    let (agent_id, name, endpoint, mut skills) = match known {
        Some(known) => (
            Some(known.agent_id),
            Some(known.agent_name),
            // A command takes the place of what did the jobs until now.
            known.api_endpoint.filter(|_| offer.runtime.is_none()),
            known.skills.into_iter().map(as_offered).collect(),
        ),
        None => (seat.uuid()?, None, None, Vec::new()),
    };
    let place = skills.iter().position(|skill| skill.skill_name == offer.skill);
    let before = place.map(|place| skills.remove(place));
    skills.push(changed(offer, before, input, output));
    let called = || match &seat.member {
        Some(member) if member.kind == MemberKind::Agent => member.display_name.clone(),
        _ => offer.skill.clone(),
    };
    Ok(Register {
        agent_id,
        agent_name: offer.name.clone().or(name).unwrap_or_else(called),
        owner_id: None,
        pull: offer.runtime.is_some() || (pulls && offer.endpoint.is_none()),
        api_endpoint: offer.endpoint.clone().or(endpoint),
        skills,
        version: None,
        timestamp_utc: None,
    })
}

/// The skill as it is to be; what is not given stays.
fn changed(
    offer: &Offer,
    before: Option<SkillOffer>,
    input: Option<Box<RawValue>>,
    output: Option<Box<RawValue>>,
) -> SkillOffer {
    let (description, old_input, old_output) = match before {
        Some(before) => (before.description, before.input_schema, before.output_schema),
        None => (String::new(), None, None),
    };
    SkillOffer {
        skill_name: offer.skill.clone(),
        description: offer.description.clone().unwrap_or(description),
        cost_per_call: offer.cost,
        input_schema: input.or(old_input),
        output_schema: output.or(old_output),
    }
}

fn as_offered(skill: Skill) -> SkillOffer {
    SkillOffer {
        skill_name: skill.skill_name,
        description: skill.description,
        cost_per_call: skill.cost_per_call,
        input_schema: Some(skill.input_schema),
        output_schema: Some(skill.output_schema),
    }
}

async fn remove(name: &str, agent: Option<&str>, context: &Context) -> Result {
    let seat = Seat::of(context, agent, false).await?;
    let known = seat.listed().await?;
    let (offers, known) = match known {
        Some(known) if known.skills.iter().any(|skill| skill.skill_name == name) => (true, known),
        Some(known) => (false, known),
        None => {
            let why = "the agent is not in the registry, and offers nothing";
            return Err(Failure::new(Code::NotFound, why).next("see: chorus registry list"));
        }
    };
    if !offers {
        let all: Vec<_> = known.skills.iter().map(|skill| line(&skill.skill_name)).collect();
        let why = format!("the agent offers no {}; it offers {}", line(name), all.join(", "));
        return Err(Failure::new(Code::NotFound, why));
    }
    let id = known.agent_id.clone();
    let mut skills: Vec<_> = known.skills.into_iter().map(as_offered).collect();
    skills.retain(|skill| skill.skill_name != name);
    let left = skills.len();
    if skills.is_empty() {
        seat.client.unregister_agent(&id).await?;
    } else {
        let asked = Register {
            agent_id: Some(id.clone()),
            agent_name: known.agent_name,
            owner_id: None,
            pull: known.pull,
            api_endpoint: known.api_endpoint,
            skills,
            version: None,
            timestamp_utc: None,
        };
        seat.client.register_agent(&asked).await?;
    }
    let removed = json!({ "agent_id": id, "removed": name, "skills_left": left });
    context.print.show(&removed, |_| {
        let gone =
            if left == 0 { "; it was the last, and the agent left the registry" } else { "" };
        format!("removed {}{gone}", line(name))
    })
}

fn list(all: &Agents) -> String {
    let row = |agent: &Agent, skill: &Skill| {
        let by = hired_by(&agent.agent_id, agent.member.as_ref());
        let (name, cost) = (line(&skill.skill_name), skill.cost_per_call.0.to_string());
        vec![by, cost, name, line(&skill.description)]
    };
    let rows: Vec<_> = all
        .agents
        .iter()
        .flat_map(|agent| agent.skills.iter().map(|skill| row(agent, skill)))
        .collect();
    let none = "no skills yet; offer one with: chorus skill offer NAME --cost CREDITS";
    with_next(table(none, &["AGENT", "COST", "SKILL", "DESCRIPTION"], &rows), all.next.as_ref())
}
