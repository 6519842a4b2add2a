//! `chorus token`: what lets an agent or a person speak to the host.

use std::time::Duration;

use chorus_core::command::Authority;
use chorus_wire::rest::tokens::NewToken;
use clap::Subcommand;
use serde_json::json;

use super::Context;
use crate::args::{span, word};
use crate::failure::Result;
use crate::lookup;

#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Print a new token and nothing else; makes the agent if it is new
    Issue {
        /// Member id; its handle is the same
        #[arg(long, value_name = "ID")]
        agent: String,
        /// worker, orchestrator, auditor or operator
        #[arg(long, value_parser = word::<Authority>)]
        role: Authority,
        /// Bind it to one session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// How long it is valid
        #[arg(long, default_value = "24h", value_parser = span)]
        ttl: Duration,
    },
    /// End a token now
    Revoke {
        /// The token's `jti`
        jti: String,
    },
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    match args {
        Args::Issue { agent, role, session, ttl } => {
            let agent = lookup::member(&agent).to_owned();
            let new = NewToken { agent, role, session, ttl_s: Some(ttl.as_secs()) };
            let token = client.issue_token(&new).await?;
            context.print.show(&token, |token| token.token.clone())
        }
        Args::Revoke { jti } => {
            client.revoke_token(&jti).await?;
            context.print.show(&json!({ "revoked": jti }), |_| format!("revoked {jti}"))
        }
    }
}
