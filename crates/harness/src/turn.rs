//! One turn, performed: read the conversation, frame the prompt, run the runtime, give proof of life.

use std::path::PathBuf;
use std::time::Duration;

use chorus_client::Error;
use chorus_client::c2a::Connection;
use chorus_core::model::disposition::Disposition;
use chorus_core::model::reaction::Signal;
use chorus_wire::attention::deliver::Deliver;
use chorus_wire::attention::entry::Entry;
use chorus_wire::attention::files::{Assets, ReadAsset};
use chorus_wire::attention::notifications::Progress;
use chorus_wire::attention::tools::{ReadThread, ThreadWindow};
use chorus_wire::error::sentence;
use chorus_wire::jsonrpc::Id;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, interval_at};

use crate::outbound::{self, Silence, token};
use crate::prompt::{self, Files};
use crate::runtime::{Bounds, End, Runtime, Told, Work};
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
    /// Where the runtime works.
    pub folder: PathBuf,
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

/// Why a run is to end early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Now,
    /// More came for it. What others have seen of it stands: then it goes on.
    UnlessSeen,
}

/// What a turn tells the loop before it ends.
pub(crate) enum Early {
    /// It has said something that others see.
    Seen,
    /// The next turn of the place goes on in this session of the program.
    Session(String),
}

/// Runs a turn to its end, in the program's own `session` where it has one. `stops` stops it at any point.
pub(crate) async fn perform(
    setting: &Setting,
    turn: &Turn,
    session: Option<String>,
    mut stops: mpsc::UnboundedReceiver<Stop>,
    early: impl Fn(Early),
) -> Outcome {
    let prepared = tokio::select! {
        prepared = prepare(setting, turn, session) => prepared,
        // Nothing of it can have been seen yet.
        _ = stops.recv() => return Outcome::Ended { end: End::Cancelled, acted: false },
    };
    let work = match prepared {
        Ok(work) => work,
        Err(outcome) => return outcome,
    };
    let conversation = &turn.place.conversation;
    let _ = setting.connection.typing(conversation, true).await;
    let end = run(setting, turn, work, stops, early).await;
    let _ = setting.connection.typing(conversation, false).await;

    let acted = match end {
        End::Said(_) => false,
        // What cannot be seen now is looked for before the next run.
        _ => has_acted(setting, turn).await.unwrap_or(false),
    };
    if acted || end != End::Silent || !turn.owes_an_answer() {
        return Outcome::Ended { end, acted };
    }
    match outbound::silence(&setting.connection, turn).await {
        Silence::Nothing => Outcome::Ended { end, acted: false },
        Silence::Posted => Outcome::Ended { end, acted: true },
        Silence::Disposed => Outcome::Ended { end: End::Disposed, acted: false },
    }
}

/// Looks whether there is anything left to do, and frames what is.
async fn prepare(setting: &Setting, turn: &Turn, session: Option<String>) -> Result<Work, Outcome> {
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
    let context = context(setting, turn).await;
    let nonce = match draw_nonce() {
        Ok(nonce) => nonce,
        Err(note) => return Err(Outcome::Ended { end: End::Failed { note }, acted: false }),
    };
    let mut files = Files::new();
    if prompt::has_files(turn, &context) {
        match list_files(setting, turn).await {
            Ok(found) => files = found,
            // Their ids are in the texts all the same.
            Err(error) => tracing::warn!(%error, "the files of the turn could not be listed"),
        }
    }
    let prompt = prompt::frame(turn, &context, &files, setting.runtime.output_rules(), &nonce);
    Ok(Work {
        prompt,
        environment: environment(setting, turn),
        folder: setting.folder.clone(),
        session,
        noted_in: Some(setting.state.clone()),
    })
}

/// What the runtime is shown of what was said before: in a public turn the thread of its subject, as it came with the
/// turn, else the newest of the conversation.
async fn context(setting: &Setting, turn: &Turn) -> Vec<Entry> {
    if setting.context == 0 || !shows_context(turn) {
        return Vec::new();
    }
    let thread = recent(turn, setting.context as usize);
    let bodies_came = turn.batch.iter().all(|delivery| delivery.content.is_some());
    if !thread.is_empty() && bodies_came {
        return thread;
    }
    let window = ReadThread { limit: Some(setting.context), ..ReadThread::default() };
    let read = match read(setting, turn, window).await {
        Ok(messages) => messages,
        Err(error) => {
            tracing::warn!(%error, "the conversation could not be read; the turn goes without");
            return thread;
        }
    };
    if thread.is_empty() {
        return read;
    }
    // Of the conversation only what the turn itself is about.
    let about = |entry: &Entry| turn.batch.iter().any(|d| d.event_id == entry.event_id);
    thread.into_iter().chain(read.into_iter().filter(about)).collect()
}

/// The newest messages of the subject that a public turn is about, oldest first; none where it is no public turn.
fn recent(turn: &Turn, most: usize) -> Vec<Entry> {
    let channel = turn.anchor().and_then(|delivery| delivery.channel.as_deref());
    let recent = channel.map_or(&[][..], |channel| &channel.recent);
    recent[recent.len().saturating_sub(most)..].to_vec()
}

/// How a turn ends that could not be looked at before it ran. A host that went away, or has no database for the
/// moment, says nothing about the runtime: the turn is looked at again, and no attempt of it is used up.
fn unseen(error: &Error) -> End {
    if outbound::is_passing(error) {
        return End::Cancelled;
    }
    let why = sentence(&error.to_string());
    End::Failed { note: format!("the conversation could not be read: {why}") }
}

async fn run(
    setting: &Setting,
    turn: &Turn,
    work: Work,
    mut stops: mpsc::UnboundedReceiver<Stop>,
    early: impl Fn(Early),
) -> End {
    let (cancel, cancelled) = oneshot::channel();
    let mut cancel = Some(cancel);
    let (tell, mut told) = mpsc::unbounded_channel();
    let running = setting.runtime.run(work, setting.bounds, cancelled, tell);
    tokio::pin!(running);
    let mut alive = interval_at(Instant::now() + setting.keepalive, setting.keepalive);
    let mut steps = 0;
    loop {
        let message = tokio::select! {
            end = &mut running => {
                // What it told in its last moment.
                while let Ok(told) = told.try_recv() {
                    match told {
                        Told::Session(session) => early(Early::Session(session)),
                        Told::Progress(message) => {
                            steps += 1;
                            progress(setting, turn, steps, Some(message)).await;
                        }
                    }
                }
                return end;
            }
            Some(told) = told.recv() => match told {
                Told::Session(session) => {
                    early(Early::Session(session));
                    continue;
                }
                Told::Progress(message) => {
                    early(Early::Seen);
                    Some(message)
                }
            },
            stop = stops.recv(), if cancel.is_some() => {
                let joins = stop == Some(Stop::UnlessSeen);
                // What cannot be looked up now is looked up before the next run.
                if joins && has_acted(setting, turn).await.unwrap_or(false) {
                    early(Early::Seen);
                } else if let Some(cancel) = cancel.take() {
                    let _ = cancel.send(());
                }
                continue;
            }
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
        tracing::info!(%event, bytes = message.len(), "progress");
    }
    let told = |event: Option<String>, message| Progress {
        progress_token: Id::String(format!(
            "turn:{}.{}",
            event.as_deref().unwrap_or(""),
            turn.attempt
        )),
        progress: step.into(),
        total: None,
        message,
        event_id: event,
    };
    // The run handles all of the batch: each of its events has a clock of its own.
    for delivery in turn.batch.iter().filter(|delivery| Some(&delivery.event_id) != anchor.as_ref())
    {
        let _ = setting.connection.progress(&told(Some(delivery.event_id.clone()), None)).await;
    }
    let _ = setting.connection.progress(&told(anchor, message)).await;
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

/// What the host says of the files of the turn's conversation.
async fn list_files(setting: &Setting, turn: &Turn) -> Result<Files, Error> {
    let conversation = Some(turn.place.conversation.clone());
    let asked = ReadAsset { conversation, ..ReadAsset::default() };
    let answer = setting.connection.call_tool("chat.read_asset", &asked).await?;
    let listed: Assets = serde_json::from_value(answer)
        .map_err(|e| Error::Protocol(format!("chat.read_asset: {e}")))?;
    Ok(listed.assets.into_iter().map(|file| (file.asset_id.clone(), file)).collect())
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
    // What was put off comes back, and is run again then.
    let ends = |signal: Signal| signal.disposition().is_some_and(Disposition::settles);
    messages.iter().any(|entry| {
        let answers = entry.author.id == me && entry.in_reply_to.as_deref().is_some_and(ours);
        let reacted = ours(&entry.event_id)
            && entry
                .reactions
                .iter()
                .any(|r| ends(r.signal.0) && r.members.iter().any(|m| m == me));
        answers || reacted
    })
}

/// A knock alone shows no text: its body is for the agent to pull, where it decides to.
fn shows_context(turn: &Turn) -> bool {
    use chorus_core::model::attention::Policy;
    let owed = |d: &Deliver| d.attention.policy == Policy::MustRespond;
    turn.batch.iter().any(|delivery| !is_knock(delivery) || owed(delivery))
}

/// CommandSeed for one turn, so that nobody can have written it before.
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
        ("CHORUS_ASSETS_URL", format!("{}/v1/assets", setting.url.trim_end_matches('/'))),
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
    use chorus_core::model::error::Code;
    use chorus_wire::error::ErrorBody;

    use super::*;

    #[test]
    fn a_host_that_went_away_uses_up_no_attempt() {
        let of = |code| Error::from_body(ErrorBody::new(code, "not now", ""));
        let away = Error::Unreachable { url: String::new(), cause: "the connection ended".into() };
        for passing in
            [away, of(Code::Unavailable), of(Code::OutcomeUnknown), of(Code::RateLimited)]
        {
            assert_eq!(unseen(&passing), End::Cancelled, "{passing:?}");
        }
        let refused = of(Code::NotFound);
        assert!(matches!(unseen(&refused), End::Failed { .. }));
    }
}
