//! `chorus claims`: who holds the right to decide about an event.

use chorus_wire::rest::claims::Claim;

use super::Context;
use crate::failure::Result;
use crate::print::{clock, line, table};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let claims = context.target.client()?.claims().await?;
    context.print.show(&claims, |all| list(&all.claims))
}

fn list(claims: &[Claim]) -> String {
    let rows: Vec<_> = claims
        .iter()
        .map(|claim| {
            vec![
                claim.event_id.clone(),
                line(&claim.holder),
                if claim.accepted { "accepted" } else { "not yet accepted" }.to_owned(),
                claim.fence.to_string(),
                clock(claim.expires_at.0),
            ]
        })
        .collect();
    table("nobody holds a claim", &["EVENT", "HOLDER", "STATE", "FENCE", "EXPIRES"], &rows)
}
