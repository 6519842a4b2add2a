//! The host under judgement, and what anybody can ask of it over HTTP.
//!
//! A house is a process on a folder of its own. It can be killed and started again while others ask: an answer that does not
//! come is [`Said::Lost`], and whoever may ask again does.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::crash::chance::Chance;
use crate::crash::host::Host;
use crate::crash::room;

/// How long a host that is up may take for an answer.
const ANSWER: Duration = Duration::from_secs(30);
/// How long it may be away, its start included.
const AWAY: Duration = Duration::from_secs(60);
/// Between two tries while it is away.
const AGAIN: Duration = Duration::from_millis(40);

#[derive(Clone)]
pub(super) struct House {
    pub(super) url: String,
    pub(super) chorus: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) operator: String,
    /// The data folder of the workspace.
    data: PathBuf,
    host: Arc<Mutex<Host>>,
    http: reqwest::Client,
    numbers: Arc<AtomicU64>,
    /// Rises with each kill and each start: even while it runs.
    life: Arc<AtomicU64>,
}

/// Somebody with a token.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) id: String,
    pub(super) token: String,
}

/// What came of a request.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Given(Value),
    /// The status and the code of the error's envelope.
    Refused(u16, String, Value),
    /// No answer came.
    Lost,
}

impl Said {
    /// The code with which it was refused; none when it was not.
    pub(super) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(_, code, _) => Some(code),
            _ => None,
        }
    }

    pub(super) fn given(self) -> Result<Value, String> {
        match self {
            Self::Given(value) => Ok(value),
            Self::Refused(status, code, body) => Err(format!("HTTP {status} {code}: {body}")),
            Self::Lost => Err("no answer".to_owned()),
        }
    }
}

impl House {
    /// Starts a host on a new folder and waits until it takes work.
    pub(super) fn open(
        folder: &Path,
        chorus: &Path,
        settings: &[(&'static str, &str)],
        chance: &mut Chance,
    ) -> Result<Self, String> {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut host = Host::on(folder, chorus, chance)?;
        host.settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        host.start()?;
        host.ready()?;
        let operator = room::operator(&host.data())?;
        Ok(Self {
            url: format!("http://{}", host.addr),
            chorus: chorus.to_owned(),
            folder: folder.to_owned(),
            operator,
            data: host.data(),
            host: Arc::new(Mutex::new(host)),
            http: client()?,
            numbers: Arc::default(),
            life: Arc::default(),
        })
    }

    /// The same host, with connections of its own: those of a client end with the runtime that made them.
    pub(super) fn again(&self) -> Result<Self, String> {
        Ok(Self { http: client()?, ..self.clone() })
    }

    /// Another workspace of this host. Numbers begin there anew, so that its members have the same names.
    pub(super) async fn beside(&self, name: &str) -> Result<Self, String> {
        self.op("POST", "/v1/workspaces", json!({ "name": name })).await?;
        let (folder, data) = (self.folder.join(name), self.data.join("workspaces").join(name));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Self {
            url: format!("{}/w/{name}", self.url),
            operator: room::operator(&data)?,
            folder,
            data,
            numbers: Arc::default(),
            ..self.again()?
        })
    }

    fn host(&self) -> MutexGuard<'_, Host> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// SIGKILL. An error is that it had ended by itself.
    pub(super) fn kill(&self) -> Result<(), String> {
        self.life.fetch_add(1, Ordering::SeqCst);
        self.host().kill()
    }

    /// Starts it again and waits until it takes work.
    pub(super) fn start(&self) -> Result<(), String> {
        let mut host = self.host();
        host.start()?;
        host.ready()?;
        self.life.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    /// What `chorus doctor` says of the workspace's folder.
    pub(super) fn doctor(&self) -> Result<(), String> {
        self.host().doctor_on(&self.data)
    }

    pub(super) fn stop(&self) -> Result<(), String> {
        self.host().stop()
    }

    /// A number that tells this life of the host from every other.
    pub(super) fn life(&self) -> u64 {
        self.life.load(Ordering::SeqCst)
    }

    /// A number that nobody else has.
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) async fn ask(&self, token: &str, method: &str, path: &str, body: &Value) -> Said {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap_or_default();
        let mut request =
            self.http.request(method, format!("{}{path}", self.url)).bearer_auth(token);
        if !body.is_null() {
            request = request.json(body);
        }
        let Ok(answer) = request.send().await else { return Said::Lost };
        let status = answer.status().as_u16();
        let Ok(bytes) = answer.bytes().await else { return Said::Lost };
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        match status {
            200..300 => Said::Given(body),
            _ => {
                let code = body["error"]["code"].as_str().unwrap_or_default().to_owned();
                Said::Refused(status, code, body)
            }
        }
    }

    /// Asks until there is an answer: for what only reads, and for what has a key. A host that is being started says
    /// that it cannot yet.
    pub(super) async fn ask_until(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Said {
        let began = Instant::now();
        loop {
            match self.ask(token, method, path, body).await {
                Said::Lost | Said::Refused(503, ..) if began.elapsed() < AWAY => {
                    tokio::time::sleep(AGAIN).await;
                }
                said => return said,
            }
        }
    }

    /// What the operator asks, and must be given.
    pub(super) async fn op(&self, method: &str, path: &str, body: Value) -> Result<Value, String> {
        let said = self.ask_until(&self.operator, method, path, &body).await;
        said.given().map_err(|e| format!("{method} {path} {body}: {e}"))
    }

    pub(super) async fn get(&self, token: &str, path: &str) -> Result<Value, String> {
        let said = self.ask_until(token, "GET", path, &Value::Null).await;
        said.given().map_err(|e| format!("GET {path}: {e}"))
    }

    /// A new member, with a worker's token. Its id is its handle.
    pub(super) async fn member(&self, name: &str, kind: &str) -> Result<Member, String> {
        let id = format!("{name}{}", self.number());
        let new = json!({ "id": id, "kind": kind, "token_role": "worker" });
        let made = self.op("POST", "/v1/members", new).await?;
        Ok(Member { token: text(&made, "token")?, id })
    }

    /// A channel with these members, the operator and what else is said of it.
    pub(super) async fn room(&self, members: &[&Member], patch: Value) -> Result<String, String> {
        let ids: Vec<_> = members.iter().map(|member| &member.id).collect();
        let new = json!({ "title": format!("room {}", self.number()), "members": ids });
        let room = text(&self.op("POST", "/v1/channels", new).await?, "id")?;
        if patch.as_object().is_some_and(|patch| !patch.is_empty()) {
            self.op("PATCH", &format!("/v1/channels/{room}"), patch).await?;
        }
        Ok(room)
    }

    /// Every entry of a conversation's log, oldest first.
    pub(super) async fn log(&self, room: &str) -> Result<Vec<Value>, String> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let after = all.last().and_then(|event| event["seq"].as_u64()).unwrap_or_default();
            let path = format!("/v1/events?conversation={room}&after={after}&limit=200");
            let page = self.get(&self.operator, &path).await?;
            let events = page["events"].as_array().cloned().unwrap_or_default();
            let more = page["has_more"] == true && !events.is_empty();
            all.extend(events);
            if !more {
                return Ok(all);
            }
        }
    }

    /// Who was told of an event and what came of it, and its hop and cause.
    pub(super) async fn attention(&self, event: &str) -> Result<Value, String> {
        self.get(&self.operator, &format!("/v1/events/{event}/attention")).await
    }

    /// What a member was told of an event; null when nothing.
    pub(super) async fn told(&self, event: &str, member: &str) -> Result<Value, String> {
        let why = self.attention(event).await?;
        let mut told = why["told"].as_array().into_iter().flatten();
        Ok(told.rfind(|told| told["member"] == member).cloned().unwrap_or_default())
    }

    /// The subjects of a room's turns.
    pub(super) async fn turns(&self, room: &str) -> Result<Vec<Value>, String> {
        let shown = self.get(&self.operator, &format!("/v1/channels/{room}/turns")).await?;
        Ok(shown["subjects"].as_array().cloned().unwrap_or_default())
    }
}

/// Runs what somebody does on the thread of the caller.
pub(super) fn on_this_thread<T>(
    play: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| format!("a runtime: {e}"))?.block_on(play)
}

fn client() -> Result<reqwest::Client, String> {
    let client = reqwest::Client::builder().timeout(ANSWER).build();
    client.map_err(|e| format!("a client of HTTP: {e}"))
}

/// What a JSON-RPC response says.
pub(super) fn outcome(answer: &Value) -> Said {
    let refused = |error: &Value, status: u16| {
        let code = error["code"].as_str().unwrap_or_default().to_owned();
        Said::Refused(status, code, error.clone())
    };
    if let Some(error) = answer.get("error") {
        let inner = error.get("data").filter(|data| data["code"].is_string());
        return refused(inner.unwrap_or(error), 200);
    }
    let result = &answer["result"];
    match (result.get("structuredContent"), result["isError"].as_bool()) {
        (Some(given), Some(true)) => refused(&given["error"], 200),
        (Some(given), _) => Said::Given(given.clone()),
        (None, _) => Said::Given(result.clone()),
    }
}

pub(super) fn text(of: &Value, name: &str) -> Result<String, String> {
    of[name].as_str().map(str::to_owned).ok_or_else(|| format!("no {name} in {of}"))
}
