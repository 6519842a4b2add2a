//! `chorus registry`: agents for hire, what they can do, what it costs, and how well they did.

use chorus_wire::registry::{
    Agent, AgentQuery, AgentStatus, Agents, Amount, Discover, Discovered, FoundAgent, LedgerPage,
    ReputationChange, ReputationHistory, Skill, SkillTotals,
};
use clap::Subcommand;
use serde_json::json;

use super::Context;
use super::account::{self, owner};
use crate::failure::Result;
use crate::pages::{Page, with_next};
use crate::print::{date, line, table};
use crate::values::credits;

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// The agents for hire
    #[command(visible_alias = "ls")]
    List {
        /// Only those of this owner
        #[arg(long, value_name = "OWNER")]
        owner: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Find agents by what they can do, the best first
    Find(Find),
    /// One agent, with all its skills
    Show {
        /// The agent: its UUID, or a member as @handle
        #[arg(value_name = "AGENT")]
        agent: String,
    },
    /// Take an agent off the registry; it keeps its reputation
    #[command(visible_alias = "rm")]
    Remove {
        /// The agent: its UUID, or a member as @handle
        #[arg(value_name = "AGENT")]
        agent: String,
    },
    /// The skills that can be hired, how many agents have each, and from what price
    Skills {
        #[command(flatten)]
        page: Page,
    },
    /// What changed an agent's reputation, the oldest first
    Reputation {
        /// The agent: its UUID, or a member as @handle
        #[arg(value_name = "AGENT")]
        agent: String,
        #[command(flatten)]
        page: Page,
    },
    /// The whole ledger from its beginning; for operators and auditors
    Ledger {
        #[command(flatten)]
        page: Page,
    },
}

#[derive(clap::Args, Debug)]
pub(crate) struct Find {
    /// Words that all occur in what the skill or the agent is called and about
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// The exact name of a skill
    #[arg(long, value_name = "SKILL")]
    skill: Option<String>,
    /// With at least this reputation, 0 to 100
    #[arg(long, value_name = "N")]
    min_reputation: Option<f64>,
    /// For at most so many credits
    #[arg(long, value_name = "CREDITS", value_parser = credits)]
    max_cost: Option<Amount>,
    /// Only agents that are online
    #[arg(long)]
    online: bool,
    /// Only agents whose endpoint has answered the last challenge
    #[arg(long)]
    verified: bool,
    #[command(flatten)]
    page: Page,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let print = &context.print;
    match args {
        Args::List { owner: of, page } => {
            let owner = of.as_deref().map(owner).map(str::to_owned);
            let query = AgentQuery { owner, after: page.after, limit: page.limit };
            print.show(&client.agents_for_hire(&query).await?, list)
        }
        Args::Find(find) => {
            let asked = Discover {
                skill: find.skill,
                min_reputation: find.min_reputation,
                max_cost: find.max_cost,
                status: find.online.then_some(AgentStatus::Online),
                q: Some(find.words.join(" ")).filter(|words| !words.is_empty()),
                verified: find.verified.then_some(true),
                after: find.page.after,
                limit: find.page.limit,
            };
            print.show(&client.discover(&asked).await?, found)
        }
        Args::Show { agent } => print.show(&client.agent_for_hire(&agent).await?, one),
        Args::Remove { agent } => {
            client.unregister_agent(&agent).await?;
            let removed = json!({ "removed": agent });
            print.show(&removed, |_| format!("removed {} from the registry", line(&agent)))
        }
        Args::Skills { page } => print.show(&client.skills(&page.query()).await?, skills),
        Args::Reputation { agent, page } => {
            print.show(&client.reputation(&agent, &page.query()).await?, reputation)
        }
        Args::Ledger { page } => print.show(&client.ledger(&page.query()).await?, ledger),
    }
}

/// What it is hired by: `@id` of a member, else its UUID.
pub(super) fn hired_by(agent_id: &str, member: Option<&String>) -> String {
    member.map_or_else(|| line(agent_id), |member| format!("@{}", line(member)))
}

fn status(status: AgentStatus) -> String {
    match status {
        AgentStatus::Online => "online".to_owned(),
        AgentStatus::Offline => "offline".to_owned(),
    }
}

fn score(score: f64) -> String {
    format!("{score:.1}")
}

fn priced(skill: &Skill) -> String {
    format!("{} {}", line(&skill.skill_name), skill.cost_per_call.0)
}

const NONE: &str = "no agents for hire yet; offer one with: chorus skill offer NAME --cost CREDITS";

fn list(all: &Agents) -> String {
    let row = |a: &Agent| {
        let skills: Vec<_> = a.skills.iter().map(priced).collect();
        let name = format!("{} of {}", line(&a.agent_name), line(&a.owner_id));
        let agent = hired_by(&a.agent_id, a.member.as_ref());
        vec![agent, status(a.status), score(a.reputation_score), name, skills.join(", ")]
    };
    let rows: Vec<_> = all.agents.iter().map(row).collect();
    let head = ["AGENT", "STATUS", "SCORE", "NAME", "SKILLS"];
    with_next(table(NONE, &head, &rows), all.next.as_ref())
}

fn found(all: &Discovered) -> String {
    let row = |a: &FoundAgent| {
        let what = match (line(&a.skill.skill_name), line(&a.skill.description)) {
            (name, about) if about.is_empty() => name,
            (name, about) => format!("{name}: {about}"),
        };
        let cost = a.skill.cost_per_call.0.to_string();
        let agent = hired_by(&a.agent_id, a.member.as_ref());
        vec![agent, status(a.status), score(a.reputation_score), cost, what]
    };
    let rows: Vec<_> = all.agents.iter().map(row).collect();
    let head = ["AGENT", "STATUS", "SCORE", "COST", "SKILL"];
    with_next(table("no agent fits; see: chorus registry skills", &head, &rows), all.next.as_ref())
}

fn one(agent: &Agent) -> String {
    let member = agent.member.as_ref().map(|member| format!(" (@{})", line(member)));
    let mut text = format!(
        "{}{} of {}\n{}\n",
        line(&agent.agent_name),
        member.unwrap_or_default(),
        line(&agent.owner_id),
        line(&agent.agent_id)
    );
    let heard = agent.last_heartbeat_at.map(|at| format!(", heard of at {}", date(at.0)));
    text.push_str(&format!("{}{}\n", status(agent.status), heard.unwrap_or_default()));
    text.push_str(&format!(
        "reputation {}, {} jobs well done, {} not\n",
        score(agent.reputation_score),
        agent.jobs_succeeded,
        agent.jobs_failed
    ));
    if let Some(endpoint) = &agent.api_endpoint {
        let how =
            match (endpoint.ends_with(&format!("/agents/{}/jobs", agent.agent_id)), agent.verified)
            {
                (true, _) => "of this host",
                (false, true) => "verified",
                (false, false) => "not verified",
            };
        text.push_str(&format!("takes jobs at {} ({how})\n", line(endpoint)));
    }
    if let Some(at) = agent.removed_at {
        text.push_str(&format!("removed at {}; it cannot be hired\n", date(at.0)));
    }
    for skill in &agent.skills {
        text.push_str(&format!("\n{}: {}\n", priced(skill), line(&skill.description)));
        for (what, schema) in [("in ", &skill.input_schema), ("out", &skill.output_schema)] {
            text.push_str(&format!("  {what}  {}\n", line(schema.get())));
        }
    }
    text
}

fn skills(all: &SkillTotals) -> String {
    let rows: Vec<_> = all
        .skills
        .iter()
        .map(|skill| {
            let agents = skill.agents.to_string();
            vec![line(&skill.skill_name), agents, skill.cheapest.0.to_string()]
        })
        .collect();
    with_next(table(NONE, &["SKILL", "AGENTS", "FROM"], &rows), all.next.as_ref())
}

fn reputation(of: &ReputationHistory) -> String {
    let row = |c: &ReputationChange| {
        vec![date(c.at.0), line(&c.why), format!("{:.2}", c.after), line(&c.job_id)]
    };
    let rows: Vec<_> = of.changes.iter().map(row).collect();
    let text = format!("reputation {:.2}\n", of.reputation_score);
    let changes = table("no job has changed it yet", &["AT", "WHY", "THEN", "JOB"], &rows);
    with_next(text + &changes, of.next.as_ref())
}

fn ledger(page: &LedgerPage) -> String {
    let rows: Vec<_> = page.entries.iter().map(|entry| account::row(entry, None)).collect();
    let entries = table("nothing moved yet\n", &account::ENTRIES, &rows);
    let end = &page.ledger;
    let text = format!("{entries}{} entries, {} credits minted\n", end.entries, end.minted.0);
    with_next(format!("{text}newest {}", line(&end.hash)), page.next.as_ref())
}
