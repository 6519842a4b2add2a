//! A scripted model on loopback: speaks as much of the OpenAI Responses, Anthropic Messages and Gemini streaming
//! interfaces as the real programs need to be driven without a network.
//!
//! The script stands in the prompt, so that the model keeps nothing: a line `SCRIPT [["tool", {…}], …]`, whose n-th
//! call is made once the conversation holds n results, and then a closing text. An argument `"$N.path"` is taken
//! from what call N gave, as JSON. Where a prompt has to be what a person writes, the model knows the script of its
//! words beforehand ([`Cue`]).

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::{OriginalUri, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What the model says when its script is over.
pub const CLOSING: &str = "SCRIPT DONE";
/// Asked with these words anywhere, it never answers.
pub const SILENT: &str = "MODEL SAYS NOTHING";
const MARK: &str = "SCRIPT ";

/// A running model.
#[derive(Debug)]
pub struct Model {
    pub url: String,
    seen: Seen,
    held: watch::Sender<bool>,
}

/// Requests, for a look at what a program sent when a test fails.
type Seen = Arc<Mutex<Vec<String>>>;

/// What the model does when it is asked with certain words.
#[derive(Clone, Debug)]
pub struct Cue {
    /// Words of the prompt.
    pub words: Cow<'static, str>,
    /// Calls of tools, as in a script.
    pub calls: Value,
    /// What it says then.
    pub says: &'static str,
}

/// Calls of tools and a closing text.
#[derive(Debug)]
struct Script {
    calls: Value,
    closing: &'static str,
}

impl Model {
    /// Listens on a free port of the loopback interface until the runtime ends.
    pub async fn start() -> std::io::Result<Self> {
        Self::on(TcpListener::bind("127.0.0.1:0").await?, Vec::new())
    }

    /// Listens there, and knows these cues.
    pub fn on(listener: TcpListener, cues: Vec<Cue>) -> std::io::Result<Self> {
        let (seen, held) = (Seen::default(), watch::Sender::new(false));
        let url = format!("http://{}", listener.local_addr()?);
        let state = (seen.clone(), Arc::new(cues), held.clone());
        let app = Router::new().fallback(routing::get(nothing).post(answer)).with_state(state);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(Self { url, seen, held })
    }

    /// Whether it keeps whoever asks it waiting.
    pub fn hold(&self, on: bool) {
        self.held.send_replace(on);
    }

    /// What it was asked, a line each.
    pub fn asked(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Lists of models and the like.
async fn nothing() -> Json<Value> {
    Json(json!({"data": [], "models": []}))
}

async fn answer(
    State((seen, cues, held)): State<(Seen, Arc<Vec<Cue>>, watch::Sender<bool>)>,
    OriginalUri(uri): OriginalUri,
    body: Bytes,
) -> Response {
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let path = uri.path();
    let line = format!("{path} {}", String::from_utf8_lossy(&body));
    let silent = line.contains(SILENT);
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    if silent {
        std::future::pending::<()>().await;
    }
    // It cannot end: this holds a sender.
    let _ = held.subscribe().wait_for(|held| !held).await;
    let script = script(&asked, &cues);
    let stream = if path.ends_with("/responses") {
        openai(&asked, &script)
    } else if path.ends_with("/messages") {
        anthropic(&asked, &script)
    } else if path.contains(":streamGenerateContent") {
        gemini(&asked, &script)
    } else if path.contains(":generateContent") {
        return Json(candidate(&json!({"text": CLOSING}))).into_response();
    } else {
        return Json(json!({"input_tokens": 1, "totalTokens": 1})).into_response();
    };
    ([(header::CONTENT_TYPE, "text/event-stream")], stream).into_response()
}

/// The script of a request; without one there is only the closing text.
fn script(asked: &Value, cues: &[Cue]) -> Script {
    let mut texts = Vec::new();
    collect(asked, &mut texts);
    let cue = cues.iter().find(|cue| texts.iter().any(|text| text.contains(&*cue.words)));
    if let Some(cue) = cue {
        return Script { calls: cue.calls.clone(), closing: cue.says };
    }
    let calls = texts.iter().find_map(|text| script_in(text));
    Script { calls: calls.unwrap_or_default(), closing: CLOSING }
}

/// What comes next: a call of a tool by its name here, or nothing more.
fn next(script: &Script, results: &[Value], tools: &[String]) -> Option<(String, Value)> {
    let call = script.calls.as_array()?.get(results.len())?;
    let (wanted, mut arguments) = (call[0].as_str()?, call[1].clone());
    fill(&mut arguments, results);
    let plain = |name: &str| name.replace(['.', '-'], "_");
    let wanted = plain(wanted);
    let here = tools.iter().find(|name| plain(name).ends_with(&wanted))?;
    Some((here.clone(), arguments))
}

/// The script of a prompt; programs put words of their own before and after it.
fn script_in(text: &str) -> Option<Value> {
    let from = text.find(MARK)? + MARK.len();
    serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>().next()?.ok()
}

/// Every text anywhere in a request.
fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

/// Puts in the place of `"$0.thread.thread_id"` what the first call gave there.
fn fill(value: &mut Value, results: &[Value]) {
    match value {
        Value::String(text) => {
            let Some(path) = text.strip_prefix('$') else { return };
            let (call, path) = path.split_once('.').unwrap_or((path, ""));
            let result = call.parse::<usize>().ok().and_then(|call| results.get(call));
            let found = result.and_then(|result| {
                let pointer = path.split('.').map(|part| format!("/{part}")).collect::<String>();
                result.pointer(if path.is_empty() { "" } else { &pointer })
            });
            *value = found.cloned().unwrap_or_default();
        }
        Value::Array(values) => values.iter_mut().for_each(|value| fill(value, results)),
        Value::Object(fields) => fields.values_mut().for_each(|value| fill(value, results)),
        _ => {}
    }
}

/// A tool's result as its program shows it to the model: the first JSON object in what is said there.
fn result(said: &Value) -> Value {
    let mut texts = Vec::new();
    collect(said, &mut texts);
    texts
        .iter()
        .find_map(|text| {
            let from = text.find('{')?;
            let mut values = serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>();
            values.next()?.ok()
        })
        .unwrap_or_default()
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn each(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn openai(asked: &Value, script: &Script) -> String {
    let of_kind =
        |kind: &'static str| each(&asked["input"]).filter(move |item| item["type"] == kind);
    let results: Vec<Value> =
        of_kind("function_call_output").map(|item| result(&item["output"])).collect();
    let mut spaces = Vec::new();
    let mut tools = Vec::new();
    for tool in each(&asked["tools"]) {
        let name = tool["name"].as_str().unwrap_or_default();
        let inner: Vec<&str> = each(&tool["tools"]).filter_map(|t| t["name"].as_str()).collect();
        let (space, names) =
            if inner.is_empty() { (None, vec![name]) } else { (Some(name), inner) };
        for name in names {
            tools.push(name.to_owned());
            spaces.push(space.map(str::to_owned));
        }
    }
    let id = format!("{}", results.len());
    let item = match next(script, &results, &tools) {
        Some((name, arguments)) => {
            let space = tools.iter().position(|t| *t == name).and_then(|at| spaces[at].clone());
            let mut item = json!({
                "type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"),
                "name": name, "arguments": arguments.to_string(),
            });
            if let Some(space) = space {
                item["namespace"] = space.into();
            }
            item
        }
        None => json!({
            "type": "message", "id": "m1", "role": "assistant",
            "content": [{"type": "output_text", "text": script.closing}],
        }),
    };
    let response = format!("resp_{id}");
    let usage = json!({
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    });
    let done = json!({"id": response, "output": [item], "usage": usage});
    [
        ("response.created", json!({"type": "response.created", "response": {"id": response}})),
        (
            "response.output_item.done",
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        ),
        ("response.completed", json!({"type": "response.completed", "response": done})),
    ]
    .iter()
    .map(|(name, data)| event(name, data))
    .collect()
}

fn anthropic(asked: &Value, script: &Script) -> String {
    let blocks = || each(&asked["messages"]).flat_map(|message| each(&message["content"]));
    let results: Vec<Value> = blocks()
        .filter(|block| block["type"] == "tool_result")
        .map(|block| result(&block["content"]))
        .collect();
    let tools: Vec<String> =
        each(&asked["tools"]).filter_map(|t| t["name"].as_str().map(str::to_owned)).collect();
    let (block, delta, why) = match next(script, &results, &tools) {
        Some((name, arguments)) => (
            json!({"type": "tool_use", "id": format!("toolu_{}", results.len()), "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
            "tool_use",
        ),
        None => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": script.closing}),
            "end_turn",
        ),
    };
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": asked["model"], "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    [
        ("message_start", json!({"message": message})),
        ("content_block_start", json!({"index": 0, "content_block": block})),
        ("content_block_delta", json!({"index": 0, "delta": delta})),
        ("content_block_stop", json!({"index": 0})),
        (
            "message_delta",
            json!({"delta": {"stop_reason": why, "stop_sequence": null}, "usage": {"output_tokens": 1}}),
        ),
        ("message_stop", json!({})),
    ]
    .into_iter()
    .map(|(name, mut data)| {
        data["type"] = name.into();
        event(name, &data)
    })
    .collect()
}

fn candidate(part: &Value) -> Value {
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0,
        }],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    })
}

fn gemini(asked: &Value, script: &Script) -> String {
    let parts = || each(&asked["contents"]).flat_map(|content| each(&content["parts"]));
    let results: Vec<Value> = parts()
        .filter_map(|part| part.get("functionResponse"))
        .map(|response| result(&response["response"]))
        .collect();
    let tools: Vec<String> = each(&asked["tools"])
        .flat_map(|tool| each(&tool["functionDeclarations"]))
        .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
        .collect();
    let part = match next(script, &results, &tools) {
        Some((name, arguments)) => json!({"functionCall": {"name": name, "args": arguments}}),
        None => json!({"text": script.closing}),
    };
    format!("data: {}\n\n", candidate(&part))
}
