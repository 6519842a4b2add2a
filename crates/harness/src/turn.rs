//! One turn, performed: read the conversation, frame the prompt, run the runtime, give proof of life.

use std::path::PathBuf;
use std::time::Duration;

use chorus_client::Error;
use chorus_client::c2a::Connection;
use chorus_core::reaction::Signal;
use chorus_wire::attention::deliver::Deliver;
use chorus_wire::attention::entry::Entry;
use chorus_wire::attention::notifications::Progress;
use chorus_wire::attention::tools::{ReadThread, ThreadWindow};
use chorus_wire::jsonrpc::Id;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, interval_at};

use crate::outbound::{self, token};
use crate::prompt;
use crate::runtime::{Bounds, End, Runtime, Work, command};
use crate::turns::{Turn, is_knock};

/// Messages since the oldest event of a turn among which an answer of ours is looked for.
const LOOKED_AT: u32 = 200;

/// Before a turn that could not be looked at is looked at again. By then the loop has heard of a connection that is
/// lost, and begins nothing more on it.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// What every turn of a connection is run with.
#[derive(Clone)]
pub(crate) struct Setting {
    pub connection: Connection,
    pub runtime: Runtime,
    pub bounds: Bounds,
    pub keepalive: Duration,
    pub context: u32,
    /// The host's base address.
    pub url: String,
    /// The state folder.
    pub state: PathBuf,
}

/// How a turn came out.
pub(crate) enum Outcome {
    /// It was not run: an earlier run of its events had acted.
    ActedBefore,
    Ended {
        end: End,
        acted: bool,
    },
}

/// Runs a turn to its end. `cancel` stops it at any point.
pub(crate) async fn perform(
    setting: &Setting,
    turn: &Turn,
    mut cancel: oneshot::Receiver<()>,
) -> Outcome {
    let prepared = tokio::select! {
        prepared = prepare(setting, turn) => prepared,
        _ = &mut cancel => return Outcome::Ended { end: End::Cancelled, acted: false },
    };
    let work = match prepared {
        Ok(work) => work,
        Err(outcome) => return outcome,
    };
    let conversation = &turn.place.conversation;
    let _ = setting.connection.typing(conversation, true).await;
    let end = run(setting, turn, work, cancel).await;
    let _ = setting.connection.typing(conversation, false).await;

    let acted = match end {
        End::Said(_) => false,
        // What cannot be seen now is looked for before the next run.
        _ => has_acted(setting, turn).await.unwrap_or(false),
    };
    Outcome::Ended { end, acted }
}

/// Looks whether there is anything left to do, and frames what is.
async fn prepare(setting: &Setting, turn: &Turn) -> Result<Work, Outcome> {
    if turn.look_first {
        match has_acted(setting, turn).await {
            Ok(true) => return Err(Outcome::ActedBefore),
            Ok(false) => {}
            // Running without having looked could do a second time what was done.
            Err(error) => {
                let end = unseen(&error);
                if end == End::Cancelled {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                return Err(Outcome::Ended { end, acted: false });
            }
        }
    }
    let mut context = Vec::new();
    if setting.context > 0 && shows_context(turn) {
        let window = ReadThread { limit: Some(setting.context), ..ReadThread::default() };
        match read(setting, turn, window).await {
            Ok(messages) => context = messages,
            Err(error) => {
                tracing::warn!(%error, "the conversation could not be read; the turn goes without");
            }
        }
    }
    let nonce = match draw_nonce() {
        Ok(nonce) => nonce,
        Err(note) => return Err(Outcome::Ended { end: End::Failed { note }, acted: false }),
    };
    let prompt = prompt::frame(turn, &context, &nonce);
    Ok(Work {
        prompt,
        environment: environment(setting, turn),
        noted_in: Some(setting.state.clone()),
    })
}

/// How a turn ends that could not be looked at before it ran. A host that went away, or has no database for the
/// moment, says nothing about the runtime: the turn is looked at again, and no attempt of it is used up.
fn unseen(error: &Error) -> End {
    if outbound::is_passing(error) {
        return End::Cancelled;
    }
    End::Failed { note: format!("the conversation could not be read: {error}") }
}

async fn run(setting: &Setting, turn: &Turn, work: Work, cancel: oneshot::Receiver<()>) -> End {
    let Runtime::Command { line } = &setting.runtime;
    let (tell, mut told) = mpsc::unbounded_channel();
    let running = command::run(line, work, setting.bounds, cancel, tell);
    tokio::pin!(running);
    let mut alive = interval_at(Instant::now() + setting.keepalive, setting.keepalive);
    let mut steps = 0;
    loop {
        let message = tokio::select! {
            end = &mut running => {
                // What it told in its last moment.
                while let Ok(message) = told.try_recv() {
                    steps += 1;
                    progress(setting, turn, steps, Some(message)).await;
                }
                return end;
            }
            Some(message) = told.recv() => Some(message),
            _ = alive.tick() => None,
        };
        steps += 1;
        progress(setting, turn, steps, message).await;
    }
}

/// Tells the host that the run lives, and how far it got. Loss is made up for by the next.
async fn progress(setting: &Setting, turn: &Turn, step: u64, message: Option<String>) {
    let anchor = turn.anchor().map(|delivery| delivery.event_id.clone());
    if let (Some(message), Some(event)) = (&message, &anchor) {
        tracing::info!(%event, %message, "progress");
    }
    let progress = Progress {
        progress_token: Id::String(format!(
            "turn:{}.{}",
            anchor.as_deref().unwrap_or(""),
            turn.attempt
        )),
        progress: step.into(),
        total: None,
        message,
        event_id: anchor,
    };
    let _ = setting.connection.progress(&progress).await;
}

/// Messages of the turn's place, oldest first.
async fn read(
    setting: &Setting,
    turn: &Turn,
    mut arguments: ReadThread,
) -> Result<Vec<Entry>, Error> {
    match &turn.place.thread {
        Some(thread) => arguments.thread_id = Some(thread.clone()),
        None => arguments.conversation = Some(turn.place.conversation.clone()),
    }
    let answer = setting.connection.call_tool("chat.read_thread", &arguments).await?;
    let window: ThreadWindow = serde_json::from_value(answer)
        .map_err(|e| Error::Protocol(format!("chat.read_thread: {e}")))?;
    Ok(window.messages)
}

/// Whether the agent has answered an event of the turn, or ended it with a reaction: the runtime can do
/// both by itself, with the token of its turn.
async fn has_acted(setting: &Setting, turn: &Turn) -> Result<bool, Error> {
    let first = turn.batch.iter().map(|delivery| delivery.timing.sequence).min().unwrap_or(1);
    let since = ReadThread {
        after_sequence: Some(first.saturating_sub(1)),
        limit: Some(LOOKED_AT),
        ..ReadThread::default()
    };
    let messages = read(setting, turn, since).await?;
    Ok(shows_action(&setting.connection.hello().member.id, turn, &messages))
}

fn shows_action(me: &str, turn: &Turn, messages: &[Entry]) -> bool {
    let ours = |event: &str| turn.batch.iter().any(|delivery| delivery.event_id == event);
    let ends = |signal: Signal| {
        signal.disposition().is_some() && !matches!(signal, Signal::Working | Signal::Claimed)
    };
    messages.iter().any(|entry| {
        let answers = entry.author.id == me && entry.in_reply_to.as_deref().is_some_and(ours);
        let reacted = ours(&entry.event_id)
            && entry.reactions.iter().any(|r| ends(r.signal) && r.members.iter().any(|m| m == me));
        answers || reacted
    })
}

/// A knock alone shows no text: its body is for the agent to pull, where it decides to.
fn shows_context(turn: &Turn) -> bool {
    use chorus_core::attention::Policy;
    let owed = |d: &Deliver| d.attention.policy == Policy::MustRespond;
    turn.batch.iter().any(|delivery| !is_knock(delivery) || owed(delivery))
}

/// Drawn for one turn, so that nobody can have written it before.
fn draw_nonce() -> Result<String, String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|e| format!("no random bytes for the fence: {e}"))?;
    Ok(format!("{:032x}", u128::from_be_bytes(random)))
}

/// The environment of the command contract. The agent's own token is not in it.
fn environment(setting: &Setting, turn: &Turn) -> Vec<(&'static str, String)> {
    let hello = setting.connection.hello();
    let Some(anchor) = turn.anchor() else { return Vec::new() };
    let mut all = vec![
        ("CHORUS_URL", setting.url.clone()),
        ("CHORUS_C2A_URL", hello.turn_url.clone()),
        ("CHORUS_TURN_TOKEN", token(anchor).unwrap_or_default()),
        ("CHORUS_EVENT_ID", anchor.event_id.clone()),
        ("CHORUS_CONVERSATION_ID", turn.place.conversation.clone()),
        ("CHORUS_THREAD_ID", turn.place.thread.clone().unwrap_or_default()),
        ("CHORUS_AGENT_ID", hello.member.id.clone()),
        ("CHORUS_SESSION_ID", hello.session.id.clone()),
        ("CHORUS_POLICY", anchor.attention.policy.name().to_owned()),
        ("CHORUS_ATTEMPT", turn.attempt.to_string()),
    ];
    // The newest that came along: services send fresh ones with each message.
    if let Some(mcp) = turn.batch.iter().rev().map(|d| &d.mcp).find(|mcp| !mcp.is_empty()) {
        all.extend(serde_json::to_string(mcp).ok().map(|json| ("CHORUS_REMOTE_MCP", json)));
    }
    // A host of an older version has none.
    all.extend(hello.mcp_url.clone().map(|url| ("CHORUS_MCP_URL", url)));
    all
}

#[cfg(test)]
mod tests {
    use chorus_core::error::Code;
    use chorus_wire::error::ErrorBody;

    use super::*;

    #[test]
    fn a_host_that_went_away_uses_up_no_attempt() {
        let of = |code| Error::from_body(ErrorBody::new(code, "not now", ""));
        let away = Error::Unreachable { url: String::new(), cause: "the connection ended".into() };
        for passing in [away, of(Code::Unavailable), of(Code::RateLimited)] {
            assert_eq!(unseen(&passing), End::Cancelled, "{passing:?}");
        }
        let refused = of(Code::NotFound);
        assert!(matches!(unseen(&refused), End::Failed { .. }));
    }
}
