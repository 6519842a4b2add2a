//! Tools, prompts, templates, frames and the API document as commit f53d0a2 had them: today's differ in words that
//! describe, and in nothing else (`tests/data/f53d0a2/README.md`).

use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::test_host::TestHost;
use crate::written_before::unzipped;

/// What may be said in other words.
const WORDS: [&str; 3] = ["description", "title", "summary"];

/// Without words that describe. A field of that name is no text, and stays.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let stays = |(name, value): &(&String, &Value)| {
                !(WORDS.contains(&name.as_str()) && value.is_string())
            };
            let fields = fields.iter().filter(stays).map(|(k, v)| (k.clone(), shape(v)));
            Value::Object(fields.collect())
        }
        Value::Array(all) => Value::Array(all.iter().map(shape).collect()),
        other => other.clone(),
    }
}

/// What is there, and of which type each is.
fn kinds(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(k, v)| (k.clone(), kinds(v))).collect())
        }
        Value::Array(all) => Value::Array(all.iter().take(1).map(kinds).collect()),
        Value::Null => json!("none"),
        Value::Bool(_) => json!("flag"),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("text"),
    }
}

/// What may get another entry: a new route, type or optional field breaks nobody, nor does a set of refusals that a new
/// route shares with others.
const GROWS: [&str; 5] = [".paths", ".components.responses", ".schemas", ".$defs", ".properties"];

/// What a route may get: another method is another operation.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Where two values differ, by their paths. What is added to a list of named things is no difference.
fn differ(path: &str, was: &Value, is: &Value, found: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(old), Value::Object(new)) => {
            for (name, value) in old {
                match new.get(name) {
                    Some(is) => differ(&format!("{path}.{name}"), value, is, found),
                    None => found.push(format!("{path}.{name} is gone")),
                }
            }
            let added = new.keys().filter(|name| !old.contains_key(*name));
            let added = added.filter(|name| {
                let is_method = METHODS.contains(&name.as_str()) && path.contains(".paths./");
                // The front page leads a browser that is signed in to the page.
                let leads_on = path == "openapi.paths./.get.responses" && *name == "303";
                // Any request may be lost where it was passed on to, and says so since there is a code for it.
                let is_lost = path.ends_with(".responses") && *name == "502";
                !is_method
                    && !leads_on
                    && !is_lost
                    && !GROWS.iter().any(|grows| path.ends_with(grows))
            });
            found.extend(added.map(|name| format!("{path}.{name} is new")));
        }
        (Value::Array(old), Value::Array(new))
            if old.iter().all(|one| one.get("name").is_some()) =>
        {
            for was in old {
                let name = &was["name"];
                match new.iter().find(|is| is["name"] == *name) {
                    Some(is) => differ(&format!("{path}[{name}]"), was, is, found),
                    None => found.push(format!("{path}[{name}] is gone")),
                }
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (n, (was, is)) in old.iter().zip(new).enumerate() {
                differ(&format!("{path}[{n}]"), was, is, found);
            }
        }
        // A tool that does the same may have to wait for a person, and so may the operation.
        (Value::String(old), Value::String(new))
            if new
                == &old
                    .replace("/responses/FORBIDDEN", "/responses/APPROVAL_REQUIRED.FORBIDDEN") => {}
        _ if was != is => found.push(format!("{path} was {was} and is {is}")),
        _ => {}
    }
}

/// A conversation with an MCP server, in plain HTTP.
struct Mcp<'a> {
    host: &'a TestHost,
    token: &'a str,
    path: &'a str,
    session: Option<String>,
}

impl Mcp<'_> {
    async fn send(&mut self, message: Value) -> Value {
        let mut post = self.host.request(Method::POST, self.path).bearer_auth(self.token);
        post = post.header("accept", "application/json, text/event-stream");
        post = post.header("mcp-protocol-version", "2025-11-25");
        if let Some(session) = &self.session {
            post = post.header("mcp-session-id", session);
        }
        let answer = post.json(&message).send().await.unwrap();
        if let Some(session) = answer.headers().get("mcp-session-id") {
            self.session = Some(session.to_str().unwrap().to_owned());
        }
        let text = answer.text().await.unwrap();
        let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let read = |text: &str| serde_json::from_str::<Value>(text.trim()).ok();
        let of_event = events.filter_map(read).find(|v| v.get("id").is_some());
        of_event.or_else(|| read(&text)).unwrap_or_default()["result"].take()
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.send(call).await
    }

    async fn shapes(mut self) -> Value {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "oracle", "version": "0"}});
        let hello = self.call("initialize", params).await;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        let mut keys: Vec<&String> = hello.as_object().unwrap().keys().collect();
        keys.sort();
        let mut all = json!({"keys": keys, "capabilities": hello["capabilities"],
            "protocolVersion": hello["protocolVersion"]});
        for method in ["tools/list", "prompts/list", "resources/templates/list"] {
            all[method] = self.call(method, json!({})).await;
        }
        all
    }
}

/// A host with somebody of each role, the token of each, and the room of the person and the agent.
async fn open() -> (TestHost, Vec<(&'static str, String)>, String) {
    let host = TestHost::open().await;
    let op = host.operator();
    for (id, kind) in [("ann", "human"), ("bot", "agent"), ("boss", "agent"), ("aud", "human")] {
        host.post(&op, "/v1/members", json!({"id": id, "kind": kind})).await.ok();
    }
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    let new = json!({"title": "room", "members": ["ann", "bot"]});
    let room = host.post(&op, "/v1/channels", new).await.ok()["id"].as_str().unwrap().to_owned();
    let asked = host.say(&ann, &room, "@bot can you look at it?").await;
    let claim = host.post(&bot, "/v1/claims", json!({"event": asked["event_id"]})).await.ok();
    let callers = vec![
        ("operator", op),
        ("orchestrator", host.token_of("boss", "orchestrator").await),
        ("person", ann),
        ("agent", bot),
        ("auditor", host.token_of("aud", "auditor").await),
        ("turn", claim["turn_token"].as_str().unwrap().to_owned()),
    ];
    (host, callers, room)
}

/// What the host says of itself, under the names that the old document has.
async fn shapes_of_today() -> Map<String, Value> {
    let (host, callers, room) = open().await;
    let (op, ann, bot) = (&callers[0].1, &callers[2].1, &callers[3].1);
    let mut all = Map::new();
    all.insert("openapi".to_owned(), host.get(op, "/v1/openapi.json").await.ok());
    for (name, token) in &callers {
        let mcp = |path| Mcp { host: &host, token, path, session: None };
        all.insert(format!("mcp {name}"), mcp("/v1/mcp").shapes().await);
        if !["orchestrator", "auditor"].contains(name) {
            let path = format!("/mcp/{room}");
            all.insert(format!("mcp channel {name}"), mcp(&path).shapes().await);
        }
        for more in ["", "?names=underscore"] {
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
            let mut listed = host.post(token, &format!("/v1/c2a{more}"), call).await.ok();
            all.insert(format!("c2a{more} {name}"), listed["result"].take());
        }
    }
    let mut harness = host.connect(bot).await;
    let mut hello = kinds(&harness.hello);
    for name in ["protocolVersion", "capabilities", "glyphs", "limits"] {
        hello[name] = harness.hello[name].clone();
    }
    all.insert("c2a initialize".to_owned(), hello);
    host.say(ann, &room, "@bot and now?").await;
    let told = loop {
        let told = harness.take().await;
        if told["content"][0]["text"] == "@bot and now?" {
            break told;
        }
    };
    all.insert("c2a deliver".to_owned(), kinds(&told));
    let text = Value::Object(all).to_string();
    let masked = text.replace(&room, "ROOM").replace(&host.running.url, "HOST");
    serde_json::from_str(&masked).unwrap()
}

#[tokio::test]
async fn tools_frames_and_api_document_differ_in_descriptions_only() {
    let old: Map<String, Value> = serde_json::from_slice(&unzipped("shapes.json.gz")).unwrap();
    let new = shapes_of_today().await;
    assert_eq!(old.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>());
    let mut found = Vec::new();
    for (name, was) in &old {
        // What says the same as another is written once.
        let was = was["as"].as_str().map_or(was, |same| &old[same]);
        differ(name, &shape(was), &shape(&new[name]), &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
