//! Tools that a person must agree to, and everything that does the same (ATT-193, ATT-422). Which operations that are the API
//! document says under `x-tools`, where each has an entry.

use std::collections::{BTreeMap, BTreeSet};

use chorus_wire::tool_list;
use reqwest::Method;
use rmcp::model::ReadResourceRequestParams;
use serde_json::{Value, json};

use super::operations;
use super::table::Findings;
use super::world::INITIALIZE;
use crate::mcp::clients::Wire;
use crate::test_host::{START, TestHost};

/// A host with an agent that may not call this tool unasked.
async fn host(tool: &str) -> TestHost {
    let tool = tool.to_owned();
    TestHost::open_with(tempfile::tempdir().unwrap(), START, |config| {
        config.settings.approvals.sensitive_tools = vec![tool];
        config.settings.limits.failures_per_second = 0;
    })
    .await
}

/// The tools that do what an operation does, by the operation's name.
async fn documented(host: &TestHost) -> BTreeMap<String, BTreeSet<String>> {
    let document = TestHost::answer(host.request(Method::GET, "/v1/openapi.json")).await.ok();
    let paths = document["paths"].as_object().unwrap().values();
    let operations = paths.flat_map(|methods| methods.as_object().unwrap().values());
    let named = operations.map(|operation| {
        let id = operation["operationId"].as_str().unwrap().to_owned();
        let tools = operation["x-tools"].as_array().unwrap_or_else(|| panic!("{id}: x-tools"));
        (id, tools.iter().map(|tool| tool.as_str().unwrap().to_owned()).collect())
    });
    named.collect()
}

/// The request of a row, about nothing that there is: who is to be asked is asked before that is looked for.
fn about_nothing(asked: &str) -> (Method, String, String) {
    let mut pieces = asked.split('$');
    let mut filled = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        let (name, rest) = piece.split_at(end.unwrap_or(piece.len()));
        filled.push_str(if name == "initialize" { INITIALIZE } else { "x" });
        filled.push_str(rest);
    }
    let mut parts = filled.splitn(3, ' ').map(str::to_owned);
    let mut next = || parts.next().unwrap_or_default();
    (next().parse().unwrap(), next(), next())
}

async fn waits(host: &TestHost, bearer: &str, asked: &str) -> bool {
    let (method, path, body) = about_nothing(asked);
    let request = host.request(method, &path).bearer_auth(bearer).body(body);
    let request = request.header("content-type", "application/json");
    let answer = request.send().await.unwrap();
    if answer.status().is_success() {
        return false;
    }
    answer.text().await.unwrap().contains("APPROVAL_REQUIRED")
}

// covers: ATT-422
#[tokio::test]
async fn each_operation_that_does_what_a_sensitive_tool_does_waits_and_no_other() {
    let (rows, mut findings) = (operations::rows(), Findings::default());
    // What is sent is kept whole, and waits once it is known to be good: tested where it is decided.
    for tool in tool_list::all().filter(|tool| !tool.sends) {
        let host = host(tool.name).await;
        host.room(&["bot"]).await;
        let (ann, bot) = (host.token("ann").await, host.token("bot").await);
        let known = documented(&host).await;
        for row in &rows {
            let expected = known[&row.name].contains(tool.name);
            if waits(&host, &bot, &row.asked).await != expected {
                let what = if expected { "does not wait" } else { "waits" };
                findings.say(format!("{} {what} where {} is sensitive", row.name, tool.name));
            }
            if expected && waits(&host, &ann, &row.asked).await {
                findings.say(format!("{} waits for a person, too", row.name));
            }
        }
    }
    findings.none();
}

// covers: ATT-193, ATT-422
#[tokio::test]
async fn a_tool_that_does_what_a_sensitive_one_does_waits_too() {
    let reads = ["chat.read_thread", "read_messages", "read_channel_thread", "chat.list_events"];
    let read_by = ["summarize_thread"].into_iter().chain(reads);
    let read_by = read_by.map(|name| (name, json!({"thread_id": "x"})));
    let resolved = |status: &str| json!({"thread_id": "x", "status": status});
    let mut pairs: Vec<(&str, &str, Value, bool)> = vec![
        ("chat.react", "set_channel_reaction", json!({"message_id": "x", "signal": "seen"}), true),
        ("set_channel_reaction", "chat.react", json!({"inReplyTo": "x", "signal": "seen"}), true),
        ("chat.resolve", "update_thread_status", resolved("resolved"), true),
        ("chat.resolve", "update_thread_status", resolved("blocked"), false),
        ("update_thread_status", "chat.resolve", json!({"threadId": "x"}), true),
        ("update_thread_status", "chat.resolve", json!({"eventId": "x"}), false),
        ("summarize_thread", "read_messages", json!({"thread_id": "x"}), false),
    ];
    for tool in reads {
        pairs.extend(read_by.clone().map(|(called, args)| (tool, called, args, true)));
    }
    for (sensitive, called, args, expected) in pairs {
        let host = host(sensitive).await;
        host.room(&["bot"]).await;
        let refused = host.tool(&host.token("bot").await, called, args).await.unwrap_err();
        assert_eq!(refused == "APPROVAL_REQUIRED", expected, "{sensitive}: {called}: {refused}");
    }
}

// covers: ATT-422
#[tokio::test]
async fn the_same_by_rest_and_by_another_tool_is_the_same_request() {
    let host = host("chat.resolve").await;
    let room = host.room(&["bot"]).await;
    let (ann, bot, op) = (host.token("ann").await, host.token("bot").await, host.operator());
    let new = json!({"conversation": room, "title": "work"});
    let thread = host.post(&ann, "/v1/threads", new).await.ok()["id"].clone();
    let path = format!("/v1/threads/{}", thread.as_str().unwrap());
    let patch = Some(json!({"status": "resolved", "reason": "done"}));
    let resolve = async || host.send(&bot, Method::PATCH, &path, patch.clone()).await;
    assert_eq!(resolve().await.refused(403), "APPROVAL_REQUIRED");
    // A query that nobody reads says nothing of it.
    let beside = format!("{path}?status=blocked&reason=other");
    let asked = host.send(&bot, Method::PATCH, &beside, patch.clone()).await;
    assert_eq!(asked.refused(403), "APPROVAL_REQUIRED");
    let update = json!({"thread_id": thread, "status": "resolved", "reason": "done"});
    for (tool, args) in [
        ("chat.resolve", json!({"threadId": thread, "note": "done"})),
        ("update_thread_status", update.clone()),
    ] {
        assert_eq!(host.tool(&bot, tool, args).await.unwrap_err(), "APPROVAL_REQUIRED");
    }
    let waits = host.get(&op, "/v1/approvals").await.ok();
    let [one] = &waits["approvals"].as_array().unwrap()[..] else { panic!("{waits}") };
    assert_eq!(one["arguments"], json!({"note": "done", "threadId": thread}));
    // Whatever else becomes of a thread is another matter.
    let other = json!({"conversation": room, "title": "other work"});
    let other = host.post(&ann, "/v1/threads", other).await.ok()["id"].clone();
    let other = format!("/v1/threads/{}", other.as_str().unwrap());
    host.send(&bot, Method::PATCH, &other, Some(json!({"status": "blocked"}))).await.ok();
    let path_of = format!("/v1/approvals/{}", one["id"].as_str().unwrap());
    host.post(&op, &path_of, json!({"approved": true})).await.ok();
    assert_eq!(resolve().await.ok()["status"], "resolved");
}

// covers: ATT-422
#[tokio::test]
async fn a_resource_is_read_as_the_tool_that_reads_it() {
    for (tool, uri_of) in [("chat.read_thread", "/transcript"), ("get_thread", "")] {
        let host = host(tool).await;
        let room = host.room(&["bot"]).await;
        let (ann, bot) = (host.token("ann").await, host.token("bot").await);
        let new = json!({"conversation": room, "title": "work"});
        let thread = host.post(&ann, "/v1/threads", new).await.ok()["id"].clone();
        let uri = format!("chorus://threads/{}{uri_of}", thread.as_str().unwrap());
        for (token, reads) in [(&bot, false), (&ann, true)] {
            let client = host.mcp(token, Wire::Sessions).await;
            let read = client.0.read_resource(ReadResourceRequestParams::new(uri.clone())).await;
            assert_eq!(read.is_ok(), reads, "{uri}: {read:?}");
        }
    }
}

// covers: ATT-422
#[tokio::test]
async fn to_search_a_channel_by_its_own_tool_is_to_read_it() {
    let host = host("read_messages").await;
    let room = host.room(&["bot"]).await;
    let path = format!("/mcp/{room}");
    for (who, finds) in [("bot", false), ("ann", true)] {
        let client = host.mcp_at(&host.token(who).await, Wire::Sessions, &path).await;
        let found = client.call("search_messages", json!({"q": "swordfish"})).await;
        assert_eq!(found.is_ok(), finds, "{who}: {found:?}");
        assert_eq!(found.err().as_deref(), (!finds).then_some("APPROVAL_REQUIRED"));
    }
}
