//! One host with somebody of each kind and something of everything, and how a row's request is made of it.
//!
//! `$name` in a request is the id of something that is there for all; `$new_name` is made for this request alone where it
//! is to succeed, so that what it does to it matters to no other cell. `$id` is a name that nobody has.

use std::collections::BTreeMap;
use std::path::PathBuf;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::table::{CALLERS, Caller, Cell, Got, Row};
use crate::test_host::{START, TestHost};

/// It stands in whatever the stranger must not see.
pub(super) const MARK: &str = "marmalade";

pub(super) struct World {
    pub(super) host: TestHost,
    /// Another workspace with the same keys.
    pub(super) elsewhere: TestHost,
    pub(super) tokens: BTreeMap<Caller, String>,
    known: BTreeMap<String, String>,
    count: u32,
    keys: TempDir,
}

/// Characters of an answer that are shown where it is not the one expected.
const SHOWN: usize = 200;

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

async fn host(keys: PathBuf) -> TestHost {
    TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.keys = Some(keys);
        // One address has many callers here.
        config.settings.limits.failures_per_second = 0;
        config.settings.webhook.quiet = chorus_server::config::kind::Span::seconds(0);
    })
    .await
}

impl World {
    pub(super) async fn open() -> Self {
        let keys = tempfile::tempdir().unwrap();
        let (host, elsewhere) =
            (host(keys.path().to_owned()).await, host(keys.path().to_owned()).await);
        let op = host.operator();
        for (id, kind) in [
            ("boss", "agent"),
            ("ann", "human"),
            ("bot", "agent"),
            ("crew", "agent"),
            ("eve", "human"),
            ("aud", "human"),
        ] {
            host.post(&op, "/v1/members", json!({"id": id, "kind": kind})).await.ok();
        }
        let tokens = [
            (Caller::Operator, op),
            (Caller::Orchestrator, host.token_of("boss", "orchestrator").await),
            (Caller::Person, host.token("ann").await),
            (Caller::Agent, host.token("bot").await),
            (Caller::Stranger, host.token("eve").await),
            (Caller::Auditor, host.token_of("aud", "auditor").await),
            (Caller::Other, elsewhere.operator()),
        ];
        let tokens = tokens.into_iter().collect();
        let known = BTreeMap::new();
        let mut world = Self { host, elsewhere, tokens, known, count: 0, keys };
        world.furnish().await;
        world
    }

    /// The other workspace once more, under the keys as they are now.
    pub(super) async fn open_elsewhere_anew(&mut self) {
        self.elsewhere = host(self.keys.path().to_owned()).await;
    }

    /// What rows name, in the order in which one needs another.
    async fn furnish(&mut self) {
        // Before they are told anything in private, which they could tell whoever reads what they offer.
        self.shared("bot_for_hire").await;
        self.shared("crew_for_hire").await;
        for name in ["channel", "open", "dm_question", "weather", "linked"] {
            let id = self.make(name).await;
            self.known.insert(name.to_owned(), id);
        }
        self.known.insert("project".to_owned(), self.known["linked"].clone());
        self.shared("thread").await;
    }

    pub(super) fn token(&self, caller: Caller) -> &str {
        &self.tokens[&caller]
    }

    pub(super) fn known(&self, name: &str) -> &str {
        &self.known[name]
    }

    /// A name that nobody has.
    pub(super) fn id(&mut self) -> String {
        self.count += 1;
        format!("x{}", self.count)
    }

    /// A UUID that nothing has.
    fn uuid(&mut self) -> String {
        self.count += 1;
        format!("00000000-0000-4000-8000-{:012}", self.count)
    }

    async fn shared(&mut self, name: &str) -> String {
        if let Some(id) = self.known.get(name) {
            return id.clone();
        }
        let id = Box::pin(self.make(name)).await;
        self.known.insert(name.to_owned(), id.clone());
        id
    }

    pub(super) async fn post(&self, caller: Caller, path: &str, body: Value) -> Value {
        self.host.post(self.token(caller), path, body).await.ok()
    }

    pub(super) async fn say(&mut self, said: &str, more: Value) -> String {
        let mut new = json!({"conversation": self.known["channel"], "text": said});
        new["idempotency_key"] = json!(self.id());
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        text(&self.post(Caller::Person, "/v1/messages", new).await["event_id"])
    }

    /// The token of a turn that has just begun.
    pub(super) async fn turn(&mut self) -> String {
        let event = self.make("question").await;
        let claim = self.post(Caller::Agent, "/v1/claims", json!({"event": event})).await;
        text(&claim["turn_token"])
    }

    /// Makes one more of something; its id.
    pub(super) async fn make(&mut self, name: &str) -> String {
        let id = self.id();
        let channel = self.known.get("channel").map(|id| format!("/v1/channels/{id}"));
        let channel = channel.unwrap_or_default();
        let (path, new) = match name {
            "channel" => {
                let members = ["ann", "bot", "crew"];
                // Answers stay beside what they answer, so that nobody waits for a turn to speak.
                let new = json!({"title": id, "visibility": "private", "members": members,
                    "replies": "line"});
                ("/v1/channels".to_owned(), new)
            }
            "open" => ("/v1/channels".to_owned(), json!({"title": id, "members": ["ann", "crew"]})),
            "member" => ("/v1/members".to_owned(), json!({"id": id, "kind": "human"})),
            "agent" => ("/v1/members".to_owned(), json!({"id": id, "kind": "agent"})),
            "token" => ("/v1/tokens".to_owned(), json!({"agent": "crew", "role": "worker"})),
            "role" => ("/v1/roles".to_owned(), json!({"name": id})),
            "project" => {
                let new = json!({"title": id, "members": ["ann", "bot"]});
                ("/v1/projects".to_owned(), new)
            }
            "task" => {
                (format!("/v1/projects/{}/tasks", self.known["project"]), json!({"title": id}))
            }
            "endpoint" => {
                let url = "https://agent.example.com/inbox/sk_1";
                ("/v1/endpoints".to_owned(), json!({"member": id, "url": url}))
            }
            "inbox" => ("/v1/inboxes".to_owned(), json!({"agent": "bot"})),
            "schedule" => {
                let new = json!({"cron": "0 9 * * *", "time_zone": "Europe/Oslo", "targets": ["crew"],
                    "text": format!("What of the {MARK}?")});
                (format!("{channel}/schedules"), new)
            }
            "workspace" => ("/v1/workspaces".to_owned(), json!({"name": id})),
            "uuid" => return self.uuid(),
            "account" | "for_hire" | "bot_for_hire" | "crew_for_hire" => {
                return Box::pin(self.make_for_hire(name)).await;
            }
            "job" | "submitted" | "paid" | "contested" => {
                return Box::pin(self.make_job(name)).await;
            }
            other => return Box::pin(self.make_said(other)).await,
        };
        let made = self.post(Caller::Operator, &path, new).await;
        match name {
            "token" => text(&made["jti"]),
            "role" => id,
            "workspace" => id,
            "endpoint" => id,
            "inbox" => text(&made["inbox"]["id"]),
            _ => text(&made["id"]),
        }
    }

    /// What comes of somebody's words.
    async fn make_said(&mut self, name: &str) -> String {
        let id = self.id();
        let channel = self.known["channel"].clone();
        match name {
            "message" => self.say(&format!("{MARK} {id}"), json!({})).await.replace("evt_", "msg_"),
            "event" => self.say(&format!("{MARK} {id}"), json!({})).await,
            "question" => {
                self.say(&format!("@bot can you look at the {MARK} {id}?"), json!({})).await
            }
            "reply" => {
                let thread = self.known["thread"].clone();
                self.say(MARK, json!({"thread": thread})).await.replace("evt_", "msg_")
            }
            "thread" => {
                let new = json!({"conversation": channel, "title": format!("{MARK} {id}")});
                text(&self.post(Caller::Person, "/v1/threads", new).await["id"])
            }
            "claim" => {
                let event = self.make("question").await;
                self.post(Caller::Agent, "/v1/claims", json!({"event": event})).await;
                event
            }
            "stimulus" | "cancelled" => {
                let new = json!({"kind": "agent_idea", "text": format!("the {MARK} {id}?"), "dedupe_key": id});
                let path = format!("/v1/channels/{channel}/stimuli");
                let made = text(&self.post(Caller::Agent, &path, new).await["id"]);
                if name == "cancelled" {
                    let path = format!("{path}/{made}/cancel");
                    self.post(Caller::Agent, &path, json!({})).await;
                }
                made
            }
            "finished_task" => {
                let task = self.make("task").await;
                let path = format!("/v1/projects/{}/tasks/{task}", self.known["project"]);
                let ended = Some(json!({"state": "cancelled"}));
                let op = self.token(Caller::Operator);
                self.host.send(op, Method::PATCH, &path, ended).await.ok();
                task
            }
            "linked" => {
                let project = self.make("project").await;
                let path = format!("/v1/projects/{project}/channels/{channel}");
                self.put(&path, json!({})).await;
                project
            }
            "weather" => {
                let new = json!({"member": "weather", "url": "http://127.0.0.1:9/inbox/sk_1"});
                self.post(Caller::Operator, "/v1/endpoints", new).await;
                "weather".to_owned()
            }
            "dm_question" => {
                let new = json!({"title": id, "kind": "dm", "members": ["crew"]});
                let pair = self.post(Caller::Person, "/v1/channels", new).await;
                let said = format!("{MARK}, tell the others");
                self.say(&said, json!({"conversation": pair["id"]})).await
            }
            "approval" => {
                let new = json!({"conversation": self.known["open"], "text": MARK,
                    "in_reply_to": self.known["dm_question"], "idempotency_key": id});
                let crew = self.host.token("crew").await;
                let held = self.host.post(&crew, "/v1/messages", new).await;
                let why = text(&held.body["error"]["message"]);
                let at = why.find("apr_").unwrap_or_else(|| panic!("{why}"));
                why[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
            }
            "asset" => self.file("note.txt", MARK.into()).await,
            "picture" => self.file("dot.png", DOT.to_vec()).await,
            other => panic!("nothing makes ${other}"),
        }
    }

    /// Agents for hire, and ann's account. Whoever hires has credits.
    async fn make_for_hire(&mut self, name: &str) -> String {
        if name == "account" {
            for owner in ["operator", "boss", "ann", "bot", "eve"] {
                let path = format!("/accounts/{owner}/mint");
                self.post(Caller::Operator, &path, json!({"amount": 1_000})).await;
            }
            return "ann".to_owned();
        }
        self.shared("account").await;
        let skill = json!({"skill_name": "translate", "cost_per_call": 1});
        let mut new = json!({"agent_name": self.id(), "skills": [skill]});
        let token = match name {
            "bot_for_hire" => self.host.token("bot").await,
            "crew_for_hire" => self.host.token("crew").await,
            _ => {
                new["agent_id"] = json!(self.uuid());
                new["api_endpoint"] = json!("http://127.0.0.1:9/jobs");
                self.host.operator()
            }
        };
        text(&self.host.post(&token, "/register", new).await.ok()["agent_id"])
    }

    /// A job that ann has asked of bot. She decides about the submitted one.
    async fn make_job(&mut self, name: &str) -> String {
        let agent = self.shared("bot_for_hire").await;
        let mut new = json!({"agent_id": agent, "skill_name": "translate", "budget": 1,
            "input_data": {"text": MARK}});
        if name == "submitted" {
            new["evaluator"] = json!("ann");
        }
        let job = text(&self.post(Caller::Person, "/jobs", new).await["job_id"]);
        if name != "job" {
            let result = json!({"job_id": job, "agent_id": agent, "status": "SUCCESS",
                "output_data": {"text": MARK}});
            self.post(Caller::Agent, &format!("/jobs/{job}/result"), result).await;
        }
        if name == "contested" {
            let path = format!("/jobs/{job}/dispute");
            self.post(Caller::Person, &path, json!({"reason": MARK})).await;
        }
        job
    }

    async fn put(&self, path: &str, body: Value) {
        let op = self.token(Caller::Operator);
        self.host.send(op, Method::PUT, path, Some(body)).await.ok();
    }

    /// A file that a message of the channel has.
    async fn file(&mut self, name: &str, bytes: Vec<u8>) -> String {
        let ann = self.token(Caller::Person).to_owned();
        let add = self.host.request(Method::POST, &format!("/v1/assets?name={name}"));
        let made = TestHost::answer(add.bearer_auth(&ann).body(bytes)).await.ok();
        let asset = text(&made["asset_id"]);
        let args = json!({"target": {"conversation": self.known["channel"]}, "idempotencyKey": asset,
            "directedness": "to_me", "visibility": "channel",
            "content": [{"type": "text", "text": MARK}, {"type": "asset", "asset_id": asset}]});
        self.host.tool(&ann, "chat.send_message", args).await.unwrap();
        asset
    }

    /// A request with its names filled in, each `$new_name` once. What is refused changes nothing, and needs nothing of
    /// its own.
    pub(super) async fn fill(&mut self, asked: &str, fresh: bool) -> String {
        let mut pieces = asked.split('$');
        let mut out = pieces.next().unwrap_or_default().to_owned();
        let mut made = BTreeMap::new();
        for piece in pieces {
            let end = piece.find(|c: char| !c.is_ascii_lowercase() && c != '_');
            let (name, rest) = piece.split_at(end.unwrap_or(piece.len()));
            let filled = match (name, name.strip_prefix("new_")) {
                ("id", _) => self.id(),
                ("initialize", _) => INITIALIZE.to_owned(),
                (_, Some(new)) if fresh => match made.get(new) {
                    Some(id) => String::clone(id),
                    None => {
                        let id = self.make(new).await;
                        made.insert(new.to_owned(), id.clone());
                        id
                    }
                },
                (_, Some(new)) => self.shared(new).await,
                (name, None) => self.shared(name).await,
            };
            out.push_str(&filled);
            out.push_str(rest);
        }
        out
    }

    /// The bearer of a caller.
    pub(super) async fn bearer(&mut self, caller: Caller) -> Option<String> {
        match caller {
            Caller::Nobody => None,
            Caller::Turn => Some(self.turn().await),
            other => Some(self.token(other).to_owned()),
        }
    }

    /// What each caller is answered by `ask`, which is told whether it is to succeed.
    pub(super) async fn callers(
        &mut self,
        row: &Row,
        ask: impl AsyncFn(&mut Self, Option<String>, bool) -> (u16, String),
    ) -> Vec<Got> {
        let mut callers = CALLERS.map(|(caller, _)| caller);
        // Whoever is refused comes first, and finds everything as it was.
        callers.sort_by_key(|caller| row.cell(*caller) == Cell::Ok);
        let mut got = Vec::new();
        for caller in callers {
            let bearer = self.bearer(caller).await;
            let (status, body) = ask(self, bearer, row.cell(caller) == Cell::Ok).await;
            let begin = body.chars().take(SHOWN).collect();
            let shows = body.contains(MARK);
            got.push(Got { caller, cell: Cell::of(status), shows, begin });
        }
        got.sort_by_key(|got| got.caller);
        got
    }

    /// A REST request as a row writes it: method, path, and a body when it has one.
    pub(super) fn request(&self, asked: &str, bearer: Option<&str>) -> RequestBuilder {
        let (method, rest) = asked.split_once(' ').unwrap();
        let (path, body) = rest.split_once(' ').unwrap_or((rest, ""));
        let mut request = self.host.request(method.parse().unwrap(), path);
        if let Some(bearer) = bearer {
            request = request.bearer_auth(bearer);
        }
        if path.contains("/mcp") {
            request = request.header("accept", "application/json, text/event-stream");
        }
        if body.starts_with('{') {
            request = request.header("content-type", "application/json");
        }
        request.body(body.to_owned())
    }
}

/// The status, and the body of what is no stream.
pub(super) async fn answer(request: RequestBuilder) -> (u16, String) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let kind = answer.headers().get("content-type").map(|kind| kind.as_bytes().to_vec());
    if kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        return (status, String::new());
    }
    (status, String::from_utf8_lossy(&answer.bytes().await.unwrap()).into_owned())
}

pub(super) const INITIALIZE: &str = r#"{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"matrix","version":"0"},"protocolVersion":"2025-11-25"}}"#;

/// A picture of one red dot.
const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90\x77\x53\xde\
    \x00\x00\x00\x0cIDAT\x78\x9c\x63\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xae\x42\x60\x82";
