//! `chorus token`: what lets an agent or a person speak to the host.

use std::time::Duration;

use chorus_core::model::caller::Authority;
use chorus_core::model::error::Code;
use chorus_wire::rest::tokens::NewToken;
use clap::{ArgGroup, Subcommand};
use serde_json::json;

use super::Context;
use crate::failure::{Failure, Result};
use crate::print::{date, line, table};
use crate::values::{span, word};
use crate::{ask, lookup};

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
    /// Tokens that have not expired: whose, with which role, and until when; never the tokens themselves
    List {
        /// Only this member's
        #[arg(long, value_name = "ID")]
        member: Option<String>,
    },
    /// End a token now, or all that a member has
    #[command(group = ArgGroup::new("which").required(true).args(["jti", "member"]))]
    Revoke {
        /// The token's `jti`, as `token list` shows it
        jti: Option<String>,
        /// All tokens of this member, those of other issuers too
        #[arg(long, value_name = "ID")]
        member: Option<String>,
        /// A token that another issuer made, and that is not listed here
        #[arg(long, conflicts_with = "member")]
        foreign: bool,
        /// Do not ask before the token with which this is done is ended too
        #[arg(long, requires = "member")]
        yes: bool,
    },
    /// Sign tokens with a new key; listed tokens of the old one are honoured until they end
    Rotate,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    match args {
        Args::Issue { agent, role, session, ttl } => {
            let agent = lookup::member(&agent).to_owned();
            let known: Vec<_> = client.members().await?.members.into_iter().map(|m| m.id).collect();
            let new = NewToken { agent, role: role.into(), session, ttl_s: Some(ttl.as_secs()) };
            let token = client.issue_token(&new).await?;
            context.print.show(&token, |token| token.token.clone())?;
            if !context.print.json && !known.contains(&new.agent) {
                context.print.note(&made(&new.agent, &known));
            }
            Ok(())
        }
        Args::List { member } => {
            let member = member.as_deref().map(lookup::member);
            let tokens = client.tokens(member).await?;
            context.print.show(&tokens, |tokens| {
                let rows = tokens.tokens.iter().map(|token| {
                    vec![
                        line(&token.jti),
                        line(&token.member),
                        token.role.name().to_owned(),
                        if token.revoked { "revoked".to_owned() } else { date(token.expires_at.0) },
                    ]
                });
                let rows: Vec<_> = rows.collect();
                table(
                    "no tokens; issue one with: chorus token issue --agent ID --role worker",
                    &["TOKEN", "MEMBER", "ROLE", "ENDS"],
                    &rows,
                )
            })
        }
        Args::Revoke { member: Some(member), yes, .. } => {
            let member = lookup::known(&client, &member).await?;
            if client.whoami().await?.member.id == member {
                let own = format!(
                    "These are your own tokens, this one too. That of the data folder is made anew when `chorus serve` \
                     starts again. End all tokens of {}?",
                    line(&member)
                );
                ask::confirm(&own, yes)?;
            }
            let revoked = client.revoke_tokens(&member).await?;
            context.print.show(&revoked, |revoked| {
                format!("revoked {} token(s) of {}", revoked.revoked, revoked.member)
            })
        }
        Args::Revoke { jti, foreign, .. } => {
            let jti = jti.unwrap_or_default();
            // Of a token of another issuer the host knows nothing until it is shown one.
            let known = match client.tokens(None).await {
                Ok(listed) => listed.tokens.iter().any(|token| *token.jti == jti),
                Err(_) => true,
            };
            if !known && !foreign {
                let message = format!("no token {:?} was issued here", line(&jti));
                let next = "see: chorus token list; for a token of another issuer give --foreign";
                return Err(Failure::new(Code::NotFound, message).next(next));
            }
            client.revoke_token(&jti).await?;
            context
                .print
                .show(&json!({ "revoked": jti, "listed": known }), |_| format!("revoked {jti}"))
        }
        Args::Rotate => {
            let rotated = client.rotate_key().await?;
            context.print.show(&rotated, |rotated| {
                let old = rotated.retired.iter().map(|old| {
                    format!("\n{} is honoured until {}", line(&old.kid), date(old.honoured_until.0))
                });
                let old: String = old.collect();
                format!("tokens are signed with {} from here on{old}", line(&rotated.kid))
            })
        }
    }
}

/// What is said of a member that the token has made.
fn made(agent: &str, known: &[String]) -> String {
    let agent = line(agent);
    let mut text = format!("{agent} is new, and was made an agent");
    if let Some(near) = lookup::near(&agent, known.iter().cloned()).first() {
        let near = line(near);
        text.push_str(&format!("; did you mean {near}? (chorus member remove {agent})"));
    }
    text.push_str(&format!("\nput it into a channel with: chorus channel add CHANNEL {agent}"));
    text
}
