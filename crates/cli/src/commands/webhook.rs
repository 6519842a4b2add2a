//! `chorus webhook`: agents that are reached by a connection string.

use chorus_wire::rest::endpoints::{
    Added, Endpoint, EndpointPatch, NewEndpoint, RotateEndpoint, Tested,
};
use clap::Subcommand;
use serde_json::json;

use super::Context;
use crate::failure::{Failure, Result};
use crate::lookup;
use crate::print::{date, line, table};

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// The agents behind connection strings, and how their endpoints do
    #[command(visible_alias = "ls")]
    List,
    /// Reach an agent by the connection string that its owner gave you
    Add {
        /// The agent's id; it is made where there is none
        agent: String,
        /// The connection string
        #[arg(value_name = "URL")]
        string: String,
        /// Where it gets a seat; may be given again
        #[arg(long, value_name = "CHANNEL")]
        channel: Vec<String>,
        #[arg(long)]
        display_name: Option<String>,
        #[command(flatten)]
        signing: Signing,
    },
    /// Give an agent another connection string; what was given out with the old one is void at once
    Rotate {
        agent: String,
        /// The connection string
        #[arg(value_name = "URL")]
        string: String,
        #[command(flatten)]
        signing: Signing,
    },
    /// Post once, to see whether the agent is there
    Test { agent: String },
    /// Post nothing to an agent for a while; what comes waits
    Pause { agent: String },
    /// Post to it again
    Resume { agent: String },
    /// Reach an agent by its connection string no more
    #[command(visible_alias = "rm")]
    Remove { agent: String },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Signing {
    /// Sign what is posted by the Standard Webhooks scheme, with a new secret
    #[arg(long)]
    sign: bool,
    /// Sign with this secret, whsec_…
    #[arg(long, value_name = "SECRET", conflicts_with = "sign")]
    signing_secret: Option<String>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let member = |name: &str| lookup::member(name).to_owned();
    let paused = |on| EndpointPatch { paused: Some(on) };
    match args {
        Args::List => {
            let all = client.endpoints().await?;
            context.print.show(&all, |all| list(&all.endpoints))
        }
        Args::Add { agent, string, channel, display_name, signing } => {
            must_be_address(&string)?;
            let mut channels = Vec::new();
            for channel in &channel {
                channels.push(lookup::conversation(&client, channel).await?);
            }
            let new = NewEndpoint {
                member: member(&agent),
                url: string,
                display_name,
                channels,
                sign: signing.sign,
                signing_secret: signing.signing_secret,
            };
            context.print.show(&client.add_endpoint(&new).await?, added)
        }
        Args::Rotate { agent, string, signing } => {
            must_be_address(&string)?;
            let Signing { sign, signing_secret } = signing;
            let new = RotateEndpoint { url: string, sign, signing_secret };
            context.print.show(&client.rotate_endpoint(&member(&agent), &new).await?, added)
        }
        Args::Test { agent } => {
            let answer = client.test_endpoint(&member(&agent)).await?;
            context.print.show(&answer, tested)?;
            if answer.taken {
                return Ok(());
            }
            context.print.note(
                "an agent takes a test by answering 2xx; see docs/webhook-agents.md, or give it \
                 another address: chorus webhook rotate AGENT URL",
            );
            Err(Failure::told())
        }
        Args::Pause { agent } => {
            let changed = client.change_endpoint(&member(&agent), &paused(true)).await?;
            context.print.show(&changed, one)
        }
        Args::Resume { agent } => {
            let changed = client.change_endpoint(&member(&agent), &paused(false)).await?;
            context.print.show(&changed, one)
        }
        Args::Remove { agent } => {
            client.remove_endpoint(&member(&agent)).await?;
            let removed = json!({ "removed": member(&agent) });
            context.print.show(&removed, |_| format!("removed {}", line(&agent)))
        }
    }
}

fn must_be_address(string: &str) -> Result {
    if ["http://", "https://"].iter().any(|scheme| string.starts_with(scheme)) {
        return Ok(());
    }
    // It may be a secret, and is not repeated.
    let usage = Failure::usage("an address begins with http:// or https://");
    Err(usage.next("give the connection string whole, as the agent's owner has it"))
}

fn one(endpoint: &Endpoint) -> String {
    format!("{} at {}: {}", line(&endpoint.member), line(&endpoint.host), how(endpoint))
}

fn added(added: &Added) -> String {
    let endpoint = one(&added.endpoint);
    match &added.signing_secret {
        Some(secret) => format!("{endpoint}\nsigned with {secret}, which is shown this once"),
        None => endpoint,
    }
}

fn tested(tested: &Tested) -> String {
    let took = tested.took_ms;
    match &tested.why {
        None => format!("taken in {took} ms"),
        Some(why) => format!("not taken: {} ({took} ms)", line(why)),
    }
}

/// How it does, in a word.
fn how(endpoint: &Endpoint) -> String {
    match (endpoint.state.as_str(), endpoint.open_until) {
        ("active", Some(until)) => format!("down, tried again at {}", date(until.0)),
        ("active", None) if endpoint.breaker == "half_open" => "down, being tried".to_owned(),
        (state, _) => state.to_owned(),
    }
}

fn list(endpoints: &[Endpoint]) -> String {
    if endpoints.is_empty() {
        return "no agents behind connection strings; add one with: chorus webhook add ID URL"
            .to_owned();
    }
    let row = |e: &Endpoint| {
        let error = e.last_error.as_ref().map(|e| format!("{} {}", date(e.at.0), line(&e.why)));
        vec![
            line(&e.member),
            line(&e.host),
            how(e),
            e.waiting.to_string(),
            e.last_taken_at.map(|at| date(at.0)).unwrap_or_default(),
            error.unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = endpoints.iter().map(row).collect();
    table("", &["AGENT", "AT", "STATE", "WAITING", "LAST TAKEN", "LAST ERROR"], &rows)
}
