//! `chorus sessions`: the live runs of agents.

use chorus_wire::rest::sessions::Session;

use super::Context;
use crate::failure::Result;
use crate::print::{line, span, table};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let sessions = context.target.client()?.sessions().await?;
    context.print.show(&sessions, |all| list(&all.sessions))
}

/// How it is, in a word; of one that is connected nobody asks whether it could be resumed.
fn state(session: &Session) -> &'static str {
    match (session.connected, session.resumable) {
        (true, _) => "connected",
        (false, true) => "resumable",
        (false, false) => "gone",
    }
}

fn list(sessions: &[Session]) -> String {
    let now = jiff::Timestamp::now().as_millisecond();
    let rows: Vec<_> = sessions
        .iter()
        .map(|session| {
            vec![
                session.id.clone(),
                line(&session.member),
                line(&session.runtime),
                state(session).to_owned(),
                format!("{} ago", span(now.saturating_sub(session.seen_at.0.0).max(0))),
            ]
        })
        .collect();
    table(
        "no sessions; an agent has one once it has joined: chorus join --agent ID …",
        &["SESSION", "MEMBER", "RUNTIME", "STATE", "LAST SEEN"],
        &rows,
    )
}
