//! `chorus sessions`: the live runs of agents.

use chorus_wire::rest::sessions::Session;

use super::Context;
use crate::failure::Result;
use crate::print::{date, line, table};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let sessions = context.target.client()?.sessions().await?;
    context.print.show(&sessions, |all| list(&all.sessions))
}

fn list(sessions: &[Session]) -> String {
    let rows: Vec<_> = sessions
        .iter()
        .map(|session| {
            vec![
                session.id.clone(),
                line(&session.member),
                line(&session.runtime),
                if session.connected { "connected" } else { "gone" }.to_owned(),
                if session.resumable { "resumable" } else { "" }.to_owned(),
                date(session.seen_at.0),
            ]
        })
        .collect();
    table(
        "no sessions; an agent has one once it is joined: chorus join --agent ID --runtime …",
        &["SESSION", "MEMBER", "RUNTIME", "STATE", "", "LAST SEEN"],
        &rows,
    )
}
