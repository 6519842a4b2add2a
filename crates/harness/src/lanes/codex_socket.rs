//! Codex through its app-server's socket: `turn/start`, and `turn/steer` into a turn that runs.
//!
//! Invariants: the proof of a turn is that the server says `turn/started` or lists our message in the turn; that it took
//! the request is not enough. `clientUserMessageId` does not deduplicate, so a message is looked up by it before it is
//! sent again. A protocol that has changed is the refusal `schema_changed`, never a wait without end.

mod rpc;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rpc::{Error, Rpc};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};

use super::outcome::{CLOCKS, Found, MessageId, Outcome, Reason, Turn, TurnEnd, Why, same_text};

/// A turn was reported within 50 ms when it was measured; a loaded machine is slower.
const START: Duration = Duration::from_secs(5);
/// Between two looks for what a notification should have told.
const LOOK: Duration = Duration::from_millis(25);
/// While a turn runs, it is looked at this often, in case a notification was missed.
const CHECK: Duration = Duration::from_secs(10);
/// A message that was steered is listed once the turn reads it, which is after its command or its model's answer. So
/// long it is waited for, before that the running turn has taken it is proof enough.
const STEERED: Duration = Duration::from_millis(250);
/// As long a look for an earlier message waits for a running turn to read what it may have.
const PENDING: Duration = Duration::from_secs(10);
/// Items of a thread that are searched for a message.
const ITEMS: u32 = 200;

/// The thread of one terminal, through the server that has it.
#[derive(Clone, Debug)]
pub struct CodexSocket<'a> {
    pub socket: PathBuf,
    /// The working folder of the session.
    pub folder: &'a Path,
    /// The thread that we know as ours.
    pub thread: Option<&'a str>,
}

/// A thread that is loaded, and ours.
struct Thread {
    id: String,
    busy: bool,
}

impl CodexSocket<'_> {
    /// Brings the prompt in.
    pub async fn wake(&self, prompt: &str, message: &MessageId) -> Outcome {
        let since = SystemTime::now();
        let (mut rpc, thread) = match self.at_thread().await {
            Ok(both) => both,
            Err(why) => return Outcome::Failed { why },
        };
        // A thread without a turn has no file yet, and cannot be subscribed to before it has one.
        let subscribed = subscribe(&mut rpc, &thread.id).await;
        let sent = match thread.busy {
            true => steer(&mut rpc, &thread.id, prompt, message).await,
            false => start(&mut rpc, &thread.id, prompt, message).await,
        };
        let turn = match sent {
            Ok(turn) => Turn { id: Some(turn), session: Some(thread.id), since: Some(since) },
            Err(error) if error.leaves_open() => return Outcome::Unknown { why: error.into() },
            Err(error) => return Outcome::Failed { why: error.into() },
        };
        match proof(&mut rpc, &turn, message, subscribed, thread.busy).await {
            Ok(evidence) => Outcome::Confirmed { evidence, turn },
            Err(why) => Outcome::Unknown { why },
        }
    }

    /// Looks for a message that may have been sent before.
    pub async fn look_up(&self, message: &MessageId, prompt: &str, since: SystemTime) -> Found {
        let (mut rpc, mut thread) = match self.at_thread().await {
            Ok(both) => both,
            Err(why) => return Found::CannotTell(why),
        };
        let until = Instant::now() + PENDING;
        loop {
            let meant = |item: &Value| is_ours(item, message, prompt, since);
            match find(&mut rpc, &thread.id, meant).await {
                Ok(Some(turn)) => {
                    return Found::There {
                        evidence: format!("codex has the message in turn {turn}"),
                        turn: Turn { id: Some(turn), session: Some(thread.id), since: Some(since) },
                    };
                }
                // A running turn may have it and not list it yet.
                Ok(None) if thread.busy && Instant::now() < until => {
                    sleep(LOOK * 10).await;
                    thread.busy = running(&mut rpc, &thread.id).await.is_some();
                }
                Ok(None) => return Found::Absent,
                Err(error) => return Found::CannotTell(error.into()),
            }
        }
    }

    /// The thread that is ours now; the resume id is learned by this.
    pub async fn thread(&self) -> Result<String, Why> {
        Ok(self.at_thread().await?.1.id)
    }

    /// Waits until a turn has begun that has this prompt, whoever sent it: what `resume` and the keyboard are proved by.
    /// Does not end by itself.
    pub async fn sees(&self, prompt: &str, since: SystemTime) -> (String, Turn) {
        loop {
            if let Ok((mut rpc, thread)) = self.at_thread().await {
                let found = find(&mut rpc, &thread.id, |item| has_text(item, prompt, since)).await;
                if let Ok(Some(turn)) = found {
                    let evidence = format!("codex has the prompt in turn {turn}");
                    let turn = Turn { id: Some(turn), session: Some(thread.id), since: None };
                    return (evidence, turn);
                }
            }
            sleep(LOOK * 4).await;
        }
    }

    /// Waits for the end of a turn.
    pub async fn watch_end(&self, turn: &Turn) -> TurnEnd {
        let (Some(id), Some(thread)) = (&turn.id, &turn.session) else {
            return TurnEnd::broken("codex named no turn");
        };
        let mut lost = 0;
        // The server outlives a connection; a restarted one has the thread only if somebody resumed it.
        loop {
            let why = match self.watch(id, thread).await {
                Ok(end) => return end,
                Err(why) => why,
            };
            lost += 1;
            if lost > 3 {
                return TurnEnd::broken(why);
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    async fn watch(&self, id: &str, thread: &str) -> Result<TurnEnd, Why> {
        let mut rpc = Rpc::open(&self.socket).await?;
        subscribe(&mut rpc, thread).await;
        loop {
            if let Some(end) = turn_by_id(&mut rpc, thread, id).await?.and_then(|t| ended(&t)) {
                return Ok(end);
            }
            let until = Instant::now() + CHECK;
            while let Some(note) = rpc.note(until).await? {
                let turn = &note["params"]["turn"];
                if note["method"] == "turn/completed" && turn["id"] == id {
                    return Ok(
                        ended(turn).unwrap_or_else(|| TurnEnd::completed("turn/completed", ""))
                    );
                }
                if note["method"] == "thread/closed" && note["params"]["threadId"] == thread {
                    return Ok(TurnEnd::broken("codex closed the thread"));
                }
            }
        }
    }

    /// A connection, and the newest thread of ours that is loaded: a person may have begun another since.
    async fn at_thread(&self) -> Result<(Rpc, Thread), Why> {
        let mut rpc = Rpc::open(&self.socket).await?;
        let loaded = rpc.call("thread/loaded/list", json!({})).await?;
        let ids = loaded["data"].as_array().ok_or_else(|| strange("thread/loaded/list"))?;
        let mut newest: Option<(i64, bool, Thread)> = None;
        for id in ids.iter().filter_map(Value::as_str) {
            let read = match rpc.call("thread/read", json!({"threadId": id})).await {
                Ok(read) => read,
                // Closed in the meantime.
                Err(error) if error.says("not loaded") => continue,
                Err(error) => return Err(error.into()),
            };
            let thread = &read["thread"];
            let (Some(folder), Some(status), Some(updated)) = (
                thread["cwd"].as_str(),
                thread["status"]["type"].as_str(),
                thread["updatedAt"].as_i64(),
            ) else {
                return Err(strange("thread/read"));
            };
            if !self.is_ours(folder) || !thread["parentThreadId"].is_null() {
                continue;
            }
            let rank = (updated, self.thread == Some(id));
            if newest.as_ref().is_none_or(|(at, known, _)| rank > (*at, *known)) {
                let thread = Thread { id: id.to_owned(), busy: status == "active" };
                newest = Some((rank.0, rank.1, thread));
            }
        }
        let none = || Why::new(Reason::NoThread, "codex has no session open in this folder");
        newest.map(|(.., thread)| (rpc, thread)).ok_or_else(none)
    }

    fn is_ours(&self, folder: &str) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        real(Path::new(folder)) == real(self.folder)
    }
}

fn strange(method: &str) -> Why {
    Why::new(Reason::SchemaChanged, format_args!("{method} is answered in another form"))
}

fn input(prompt: &str) -> Value {
    json!([{"type": "text", "text": prompt}])
}

async fn start(
    rpc: &mut Rpc,
    thread: &str,
    prompt: &str,
    message: &MessageId,
) -> Result<String, Error> {
    let params = json!({
        "threadId": thread, "clientUserMessageId": message.as_str(), "input": input(prompt),
    });
    let started = rpc.call("turn/start", params).await?;
    let turn = started["turn"]["id"].as_str().map(str::to_owned);
    turn.ok_or_else(|| Error::Strange("turn/start is answered without a turn".to_owned()))
}

/// Into the turn that runs. If that has ended in the meantime, a new one is started.
async fn steer(
    rpc: &mut Rpc,
    thread: &str,
    prompt: &str,
    message: &MessageId,
) -> Result<String, Error> {
    let Some(turn) = running(rpc, thread).await else {
        return start(rpc, thread, prompt, message).await;
    };
    let params = json!({
        "threadId": thread, "expectedTurnId": turn,
        "clientUserMessageId": message.as_str(), "input": input(prompt),
    });
    match rpc.call("turn/steer", params).await {
        Ok(steered) => {
            let turn = steered["turnId"].as_str().map(str::to_owned);
            turn.ok_or_else(|| Error::Strange("turn/steer is answered without a turn".to_owned()))
        }
        Err(error) if error.says("no active turn") || error.says("expected active turn") => {
            start(rpc, thread, prompt, message).await
        }
        Err(error) => Err(error),
    }
}

/// The turn that runs, if one does.
async fn running(rpc: &mut Rpc, thread: &str) -> Option<String> {
    let params = json!({"threadId": thread, "limit": 1});
    let listed = rpc.call("thread/turns/list", params).await.ok()?;
    let newest = &listed["data"][0];
    newest["id"].as_str().filter(|_| newest["status"] == "inProgress").map(str::to_owned)
}

/// Asks for the thread's notifications. Another client that has it notices nothing.
async fn subscribe(rpc: &mut Rpc, thread: &str) -> bool {
    let params = json!({"threadId": thread, "excludeTurns": true});
    rpc.call("thread/resume", params).await.is_ok()
}

/// Waits for the sign that the turn runs with our message in it.
async fn proof(
    rpc: &mut Rpc,
    turn: &Turn,
    message: &MessageId,
    mut subscribed: bool,
    steered: bool,
) -> Result<String, Why> {
    let (id, thread) =
        (turn.id.as_deref().unwrap_or_default(), turn.session.as_deref().unwrap_or_default());
    let (begun, until) = (Instant::now(), Instant::now() + START);
    while Instant::now() < until {
        let next = (Instant::now() + LOOK).min(until);
        while let Some(note) = rpc.note(next).await? {
            let (params, item) = (&note["params"], &note["params"]["item"]);
            if note["method"] == "turn/started" && params["turn"]["id"] == id {
                return Ok(format!("turn/started {id}"));
            }
            if note["method"] == "item/started" && item["clientId"] == message.as_str() {
                return Ok(format!("codex took the message into turn {id}"));
            }
        }
        sleep_until(next).await;
        if !subscribed {
            subscribed = subscribe(rpc, thread).await;
        }
        // Until its first message is stored, a thread cannot list anything; the code is that of an unknown method.
        let found = find(rpc, thread, |item| item["clientId"] == message.as_str()).await;
        match found {
            Ok(Some(turn)) => return Ok(format!("codex took the message into turn {turn}")),
            Err(error) if error.leaves_open() => return Err(error.into()),
            Ok(None) | Err(_) => {}
        }
        if steered && begun.elapsed() >= STEERED {
            let turn = turn_by_id(rpc, thread, id).await?;
            if turn.is_some_and(|turn| turn["status"] == "inProgress") {
                return Ok(format!("turn/steer into turn {id}, which runs"));
            }
        }
    }
    Err(Why::new(Reason::NoProof, "codex took the turn and did not start it"))
}

/// The turn of the newest message of a user that is meant.
async fn find(
    rpc: &mut Rpc,
    thread: &str,
    meant: impl Fn(&Value) -> bool,
) -> Result<Option<String>, Error> {
    let params = json!({"threadId": thread, "limit": ITEMS, "sortDirection": "desc"});
    let listed = match rpc.call("thread/items/list", params).await {
        Ok(listed) => listed,
        // There is no message in it yet.
        Err(error) if error.says("not supported yet") || error.says("not materialized") => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let items = listed["data"].as_array();
    let items = items.ok_or_else(|| Error::Strange("thread/items/list has no data".to_owned()))?;
    let found =
        items.iter().find(|entry| entry["item"]["type"] == "userMessage" && meant(&entry["item"]));
    Ok(found.and_then(|entry| entry["turnId"].as_str()).map(str::to_owned))
}

/// By its id, or by its text where it was not sent over this socket.
fn is_ours(item: &Value, message: &MessageId, prompt: &str, since: SystemTime) -> bool {
    match item["clientId"].as_str() {
        Some(id) if id.starts_with(MessageId::PREFIX) => id == message.as_str(),
        _ => has_text(item, prompt, since),
    }
}

/// Sent by the keyboard or as an argument, a message has an id of Codex's own. The same text may have been sent for an
/// earlier fence, so it has to be later than that.
fn has_text(item: &Value, prompt: &str, since: SystemTime) -> bool {
    let at = item["startedAtMs"].as_u64().unwrap_or_default();
    let later = UNIX_EPOCH + Duration::from_millis(at) + CLOCKS >= since;
    let parts = item["content"].as_array().into_iter().flatten();
    let mut texts = parts.filter_map(|part| part["text"].as_str());
    later && texts.any(|text| same_text(text, prompt))
}

async fn turn_by_id(rpc: &mut Rpc, thread: &str, id: &str) -> Result<Option<Value>, Why> {
    let params = json!({"threadId": thread, "limit": 20});
    let mut listed = match rpc.call("thread/turns/list", params).await {
        Ok(listed) => listed,
        Err(error) if error.says("not materialized") => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let turns = listed["data"].as_array_mut().ok_or_else(|| strange("thread/turns/list"))?;
    Ok(turns.iter_mut().find(|turn| turn["id"] == id).map(Value::take))
}

/// How a turn ended, if it has.
fn ended(turn: &Value) -> Option<TurnEnd> {
    let mut items = turn["items"].as_array().into_iter().flatten();
    let said = items.rfind(|item| item["type"] == "agentMessage");
    let said = said.and_then(|item| item["text"].as_str()).unwrap_or_default();
    match turn["status"].as_str() {
        Some("inProgress") | None => None,
        Some("completed") => Some(TurnEnd::completed("turn/completed", said)),
        Some(status) => {
            let why = turn["error"]["message"].as_str().unwrap_or_default();
            Some(TurnEnd {
                last: said.to_owned(),
                ..TurnEnd::broken(format_args!("the turn is {status} {why}"))
            })
        }
    }
}

#[cfg(test)]
mod tests;
