//! `chorus sessions`: the live runs of agents, what they are doing, how that is known, and how they were woken.

use chorus_wire::rest::sessions::{Session, Sessions};
use chorus_wire::rest::wakes::{ListWakes, Wake, Wakes};
use serde::Serialize;

use super::Context;
use crate::failure::Result;
use crate::lines;
use crate::print::{line, span, table};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    sessions: Sessions,
    #[serde(flatten)]
    wakes: Wakes,
}

pub(crate) async fn run(_: Args, context: &Context) -> Result {
    let client = context.target.client()?;
    let sessions = client.sessions().await?;
    let wakes = client.wakes(&ListWakes::default()).await?;
    let shown = Shown { sessions, wakes };
    context.print.show(&shown, |all| {
        let mut text = list(&all.sessions.sessions).trim_end().to_owned();
        // A path is as long as it is: in a column of its own no row would fit a line.
        for (session, folder) in folders(&all.sessions.sessions) {
            text.push_str(&format!("\n{} works in {}", session.id, line(folder)));
        }
        for wake in newest(&all.sessions.sessions, &all.wakes.wakes) {
            text.push_str(&format!("\n{}", lines::wake(wake)));
        }
        text
    })
}

fn folders(sessions: &[Session]) -> impl Iterator<Item = (&Session, &str)> {
    sessions.iter().filter_map(|session| Some((session, session.folder.as_deref()?)))
}

/// The newest wake of each session; the host gives the newest first.
fn newest<'a>(sessions: &'a [Session], wakes: &'a [Wake]) -> impl Iterator<Item = &'a Wake> {
    sessions.iter().filter_map(|session| wakes.iter().find(|wake| wake.session == session.id))
}

/// How it is, in a word; of one that is connected nobody asks whether it could be resumed.
fn state(session: &Session) -> &'static str {
    let status = session.status.map(|status| status.name()).filter(|name| *name != "offline");
    match (status, session.connected, session.resumable) {
        (Some(status), _, _) => status,
        (None, true, _) => "connected",
        (None, false, true) => "resumable",
        (None, false, false) => "gone",
    }
}

fn list(sessions: &[Session]) -> String {
    let now = jiff::Timestamp::now().as_millisecond();
    let rows: Vec<_> = sessions
        .iter()
        .map(|session| {
            let known = match session.connected {
                true => "connection".to_owned(),
                false => {
                    let ago = span(now.saturating_sub(session.seen_at.0.0).max(0));
                    format!("{}, {ago} ago", session.proof.as_deref().map(line).unwrap_or_default())
                }
            };
            vec![
                session.id.clone(),
                line(&session.member),
                line(&session.runtime),
                state(session).to_owned(),
                known,
            ]
        })
        .collect();
    table(
        "no sessions; an agent has one once it has joined: chorus run codex, chorus join --agent ID …",
        &["SESSION", "MEMBER", "RUNTIME", "STATE", "KNOWN BY"],
        &rows,
    )
}
