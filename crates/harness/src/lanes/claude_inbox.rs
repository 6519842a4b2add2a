//! Claude Code through its inbox socket ("cross-session messaging"): a line with the token, a line with the message.
//!
//! Invariants: the socket acknowledges nothing, so that a line was written proves nothing. The proof is the hook
//! `UserPromptSubmit` with our prompt; without hooks, that the session went from idle to busy; and of a session that is
//! busy, that our message is in its queue. A session that drops the message leaves no sign: that is `unknown`.

pub mod hooks;
mod registry;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use hooks::{Event, Hooks};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout};

use super::outcome::{CLOCKS, Found, Outcome, Reason, Turn, TurnEnd, Why, same_text};
use super::owned;

const WRITE: Duration = Duration::from_secs(2);
/// The hook ran within 200 ms when it was measured; a loaded machine is slower.
const START: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(10);
/// Between two looks whether a turn has ended.
const CHECK: Duration = Duration::from_millis(250);
/// After a session went idle, its `Stop` hook has this long to run.
const STOP: Duration = Duration::from_secs(1);

/// The session of one terminal.
#[derive(Clone, Debug)]
pub struct ClaudeInbox<'a> {
    pub hooks: Hooks,
    /// `$CLAUDE_CONFIG_DIR`, or `~/.claude`.
    pub config: PathBuf,
    /// The program's process.
    pub process: Option<u32>,
    /// The session that it was started with.
    pub session: Option<&'a str>,
}

/// Where to send, and what the session did before.
struct Receiver {
    socket: PathBuf,
    token: Option<String>,
    busy: Option<bool>,
    process: Option<u32>,
    session: Option<String>,
}

impl ClaudeInbox<'_> {
    /// Brings the prompt in.
    pub async fn wake(&self, prompt: &str) -> Outcome {
        let receiver = match self.receiver() {
            Ok(receiver) => receiver,
            Err(why) => return Outcome::Failed { why },
        };
        let since = SystemTime::now();
        match timeout(WRITE, send(&receiver, prompt)).await {
            Ok(Ok(())) => {}
            Ok(Err(Sent { begun: false, why })) => return Outcome::failed(Reason::NoSocket, why),
            Ok(Err(Sent { begun: true, why })) => return Outcome::unknown(Reason::NoProof, why),
            Err(_) => return Outcome::unknown(Reason::NoAnswer, "claude does not read its inbox"),
        }
        let until = Instant::now() + START;
        while Instant::now() < until {
            if let Some((evidence, turn)) = self.sign(&receiver, prompt, since) {
                return Outcome::Confirmed { evidence, turn };
            }
            sleep(LOOK).await;
        }
        Outcome::unknown(Reason::NoProof, "claude took the message and shows no sign of it")
    }

    /// Looks for a message that may have been sent since then.
    pub fn look_up(&self, prompt: &str, since: Option<SystemTime>) -> Found {
        if let Some(event) = self.submitted(prompt, since) {
            return Found::There {
                evidence: "UserPromptSubmit".to_owned(),
                turn: turn(&event, since),
            };
        }
        let Some(session) = self.session() else {
            return Found::CannotTell(Why::new(Reason::NoThread, "no session is known"));
        };
        let transcript = registry::transcript(&self.config, &session);
        match transcript {
            Some(file) if registry::has_message(&file, prompt, since) => Found::There {
                evidence: "the transcript has the message".to_owned(),
                turn: Turn { id: None, session: Some(session), since },
            },
            Some(_) => Found::Absent,
            // It is written with the first message.
            None if self.hooks.run() => Found::Absent,
            None => Found::CannotTell(Why::new(Reason::NoProof, "there is no transcript")),
        }
    }

    /// Waits until a turn has begun that has this prompt, whoever sent it. Does not end by itself.
    pub async fn sees(&self, prompt: &str, since: SystemTime) -> (String, Turn) {
        loop {
            if let Some(event) = self.submitted(prompt, Some(since)) {
                return ("UserPromptSubmit".to_owned(), turn(&event, Some(since)));
            }
            sleep(LOOK).await;
        }
    }

    /// Waits for the end of the turn that took the prompt.
    pub async fn watch_end(&self, turn: &Turn, prompt: &str) -> TurnEnd {
        let mut gone = 0;
        loop {
            let submitted = self.submitted(prompt, turn.since);
            let id = submitted
                .as_ref()
                .and_then(|event| event.prompt_id.clone())
                .or_else(|| turn.id.clone());
            // A message in the queue has not begun before its own hook has run.
            let begun = submitted
                .as_ref()
                .map(|event| event.at)
                .or_else(|| turn.since.filter(|_| turn.id.is_some() || !self.hooks.run()));
            if let Some(end) = begun.and_then(|begun| self.ended(id.as_deref(), begun)) {
                return end;
            }
            match registry::find(&self.config, self.process, self.session) {
                None => {
                    gone += 1;
                    if gone > 4 {
                        return TurnEnd::broken("claude has ended");
                    }
                }
                Some(entry)
                    if entry.busy == Some(false) && begun.is_some_and(|b| entry.since > b) =>
                {
                    // Interrupted by a person, it runs no `Stop` hook.
                    sleep(STOP).await;
                    let begun = begun.unwrap_or(entry.since);
                    let idle = || match self.hooks.run() {
                        true => {
                            TurnEnd::broken("claude is idle again without having stopped by itself")
                        }
                        false => TurnEnd::completed("status idle", ""),
                    };
                    return self.ended(id.as_deref(), begun).unwrap_or_else(idle);
                }
                Some(_) => gone = 0,
            }
            sleep(CHECK).await;
        }
    }

    /// Whether its socket is there, without speaking to it: for the chooser.
    pub fn socket(&self) -> Result<PathBuf, Why> {
        self.receiver().map(|receiver| receiver.socket)
    }

    /// The newest session in the terminal: a person may have begun another since. What `resume` needs.
    pub fn session(&self) -> Option<String> {
        let told = self.hooks.inbox().and_then(|inbox| inbox.session);
        let registered = || registry::find(&self.config, self.process, None)?.session;
        told.or_else(registered).or_else(|| self.session.map(str::to_owned))
    }

    fn receiver(&self) -> Result<Receiver, Why> {
        let told = self.hooks.inbox();
        let process = told.as_ref().and_then(|inbox| inbox.process).or(self.process);
        let session = self.session();
        let entry = registry::find(&self.config, process, session.as_deref());
        let socket = told.as_ref().map(|inbox| inbox.socket.clone());
        let socket = socket.or_else(|| entry.as_ref().and_then(|entry| entry.socket.clone()));
        let none = || Why::new(Reason::NoSocket, "this claude takes no messages of other sessions");
        let socket = owned::socket(&socket.ok_or_else(none)?)?;
        let process = entry.as_ref().map(|entry| entry.process).or(process);
        let token = told.map(|inbox| inbox.token).filter(|token| !token.is_empty());
        let token = token.or_else(|| registry::token(&self.config, process?));
        Ok(Receiver { socket, token, busy: entry.and_then(|entry| entry.busy), process, session })
    }

    /// A sign that the session has the message.
    fn sign(&self, receiver: &Receiver, prompt: &str, since: SystemTime) -> Option<(String, Turn)> {
        if let Some(event) = self.submitted(prompt, Some(since)) {
            return Some(("UserPromptSubmit".to_owned(), turn(&event, Some(since))));
        }
        let turn = Turn { id: None, session: receiver.session.clone(), since: Some(since) };
        if receiver.busy == Some(true) {
            let file = registry::transcript(&self.config, receiver.session.as_deref()?)?;
            let queued = registry::has_message(&file, prompt, Some(since));
            return queued.then(|| ("queued for the running turn".to_owned(), turn));
        }
        // Where hooks run, they say more: a person may have begun a turn at the same moment.
        if self.hooks.run() || receiver.busy.is_none() {
            return None;
        }
        let entry = registry::find(&self.config, receiver.process, receiver.session.as_deref())?;
        let went = entry.busy == Some(true) && entry.since + CLOCKS > since;
        went.then(|| ("status busy".to_owned(), turn))
    }

    fn submitted(&self, prompt: &str, since: Option<SystemTime>) -> Option<Event> {
        let ours = |event: &Event| {
            event.kind == "UserPromptSubmit"
                && same_text(&event.prompt, prompt)
                && since.is_none_or(|since| event.at + CLOCKS >= since)
        };
        self.hooks.events().into_iter().rev().find(ours)
    }

    /// How the turn ended that began then, if it has.
    fn ended(&self, id: Option<&str>, begun: SystemTime) -> Option<TurnEnd> {
        let events = self.hooks.events();
        let mut later = events.iter().filter(|event| event.at >= begun);
        later.find_map(|event| match event.kind.as_str() {
            "Stop" if id.is_none() || event.prompt_id.as_deref() == id => {
                Some(TurnEnd::completed("Stop", &event.last))
            }
            "SessionEnd" => Some(TurnEnd::broken("the session has ended")),
            _ => None,
        })
    }
}

fn turn(event: &Event, since: Option<SystemTime>) -> Turn {
    Turn { id: event.prompt_id.clone(), session: event.session.clone(), since }
}

/// A message that did not go out whole.
struct Sent {
    /// Whether some of it may have.
    begun: bool,
    why: std::io::Error,
}

async fn send(receiver: &Receiver, prompt: &str) -> Result<(), Sent> {
    let at = |begun| move |why| Sent { begun, why };
    let mut stream = UnixStream::connect(&receiver.socket).await.map_err(at(false))?;
    let mut lines = String::new();
    if let Some(token) = &receiver.token {
        lines = format!("{}\n", json!({"type": "auth", "token": token}));
    }
    let message = json!({"type": "user", "message": {"role": "user", "content": prompt}});
    lines.push_str(&format!("{message}\n"));
    stream.write_all(lines.as_bytes()).await.map_err(at(true))?;
    stream.shutdown().await.map_err(at(true))
}

#[cfg(test)]
mod tests;
