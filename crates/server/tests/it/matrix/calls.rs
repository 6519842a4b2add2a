//! Tools, by C2A and by MCP, and the methods of C2A.

use std::collections::BTreeSet;

use chorus_wire::attention::method;
use chorus_wire::{code, tool_list};
use reqwest::Method;
use serde_json::{Value, json};

use super::table::{self, Caller, Cell, Findings, Row};
use super::world::{INITIALIZE, World};

/// The status that stands for what JSON-RPC answered: of its own error, or of a tool's.
fn status(body: &Value) -> u16 {
    let refused = match body["result"]["isError"].as_bool() {
        Some(true) => &body["result"]["structuredContent"]["error"]["code"],
        _ => &body["error"]["data"]["code"],
    };
    if let Some(name) = refused.as_str() {
        return code::from_name(name).map_or(500, code::status);
    }
    if body["error"].is_null() { 200 } else { 400 }
}

/// One message by POST; the headers are for MCP.
async fn post(
    world: &World,
    path: &str,
    bearer: Option<&str>,
    session: Option<&str>,
    message: &Value,
) -> (u16, Option<String>, Value) {
    let mut request = world.host.request(Method::POST, path).json(message);
    request = request.header("accept", "application/json, text/event-stream");
    if let Some(bearer) = bearer {
        request = request.bearer_auth(bearer);
    }
    if let Some(session) = session {
        let version = "2025-11-25";
        request = request.header("mcp-session-id", session).header("mcp-protocol-version", version);
    }
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let began = answer.headers().get("mcp-session-id");
    let began = began.map(|id| id.to_str().unwrap().to_owned());
    let text = answer.text().await.unwrap();
    // MCP answers a call as the only event of a stream.
    let json = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
    let body = serde_json::from_str(json).unwrap_or_default();
    (status, began, body)
}

/// What comes of a call: the transport's refusal, or the call's.
fn outcome(http: u16, body: &Value) -> (u16, String) {
    let status = if http == 200 { status(body) } else { http };
    (status, body.to_string())
}

async fn by_c2a(world: &World, bearer: Option<&str>, method: &str, params: Value) -> (u16, String) {
    let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
    if !method.starts_with("notifications/") {
        message["id"] = json!(1);
    }
    let (http, _, body) = post(world, "/v1/c2a", bearer, None, &message).await;
    outcome(http, &body)
}

/// In a session for this call alone.
async fn by_mcp(world: &World, bearer: Option<&str>, method: &str, params: Value) -> (u16, String) {
    let hello: Value = serde_json::from_str(INITIALIZE).unwrap();
    let (http, session, body) = post(world, "/v1/mcp", bearer, None, &hello).await;
    let Some(session) = session else { return outcome(http, &body) };
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    post(world, "/v1/mcp", bearer, Some(&session), &ready).await;
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params});
    let (http, _, body) = post(world, "/v1/mcp", bearer, Some(&session), &call).await;
    outcome(http, &body)
}

/// The names of the tools in an answer to `tools/list`.
fn listed((status, body): (u16, String)) -> BTreeSet<String> {
    assert_eq!(status, 200, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let tools = body["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn names(rows: &[Row]) -> BTreeSet<String> {
    rows.iter().map(|row| row.name.clone()).collect()
}

// covers: OPS-460
#[tokio::test]
async fn every_tool_answers_each_caller_alike_on_both_transports() {
    let mut world = World::open().await;
    let (rows, mut findings) = (table::read(include_str!("tools.txt")), Findings::default());
    let bot = Some(world.token(Caller::Agent));
    for all in [
        listed(by_c2a(&world, bot, "tools/list", json!({})).await),
        listed(by_mcp(&world, bot, "tools/list", json!({})).await),
    ] {
        assert_eq!(names(&rows), all, "each tool has a row in tools.txt");
    }
    for row in &rows {
        // What a turn is refused is not offered to it either.
        let offered = tool_list::find(&row.name).is_some_and(|tool| tool.for_turns);
        assert_eq!(row.cell(Caller::Turn) != Cell::Status(403), offered, "{}", row.name);
        for mcp in [false, true] {
            let got = world
                .callers(row, async |world: &mut World, bearer: Option<String>, fresh: bool| {
                    let args: Value =
                        serde_json::from_str(&world.fill(&row.asked, fresh).await).unwrap();
                    let params = json!({"name": row.name, "arguments": args});
                    match mcp {
                        true => by_mcp(world, bearer.as_deref(), "tools/call", params).await,
                        false => by_c2a(world, bearer.as_deref(), "tools/call", params).await,
                    }
                })
                .await;
            findings.compare(row, &got);
        }
    }
    findings.none();
}

// covers: OPS-460
#[tokio::test]
async fn every_method_of_c2a_answers_each_caller_as_its_row_says() {
    let mut world = World::open().await;
    let (rows, mut findings) = (table::read(include_str!("c2a.txt")), Findings::default());
    let known: BTreeSet<String> = method::OF_HARNESS.map(str::to_owned).into();
    assert_eq!(names(&rows), known, "each method of a harness has a row in c2a.txt");
    for row in &rows {
        let got = world
            .callers(row, async |world: &mut World, bearer: Option<String>, fresh: bool| {
                let params = serde_json::from_str(&world.fill(&row.asked, fresh).await).unwrap();
                by_c2a(world, bearer.as_deref(), &row.name, params).await
            })
            .await;
        findings.compare(row, &got);
    }
    findings.none();
}
