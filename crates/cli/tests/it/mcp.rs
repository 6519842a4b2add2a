//! `chorus mcp`: lines to and from the endpoint, on either wire, and settings of programs.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::{Going, chorus};
use crate::host::Host;

// covers: THR-29
#[test]
fn a_program_speaks_mcp_over_lines() {
    let host = Host::with_room(&["scout"]);
    let token = host.run(&["token", "issue", "--agent", "scout", "--role", "worker"]).ok().out;
    let mut command = chorus();
    command.args(["mcp", "--token", token.trim(), "--data"]).arg(host.data()).stdin(Stdio::piped());
    let mut bridge = Going::start(&mut command);
    let mut input = bridge.child.stdin.take().unwrap();
    let mut ask = |message: Value| writeln!(input, "{message}").unwrap();
    let answered = |id: u64| {
        bridge.wait(|line| {
            let answer: Value = serde_json::from_str(line).ok()?;
            (answer["id"] == id).then_some(answer)
        })
    };
    ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }}));
    assert_eq!(answered(1)["result"]["serverInfo"]["name"], "chorus");
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let create = json!({"name": "create_thread", "arguments": {"title": "over lines"}});
    ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": create}));
    let made = answered(2);
    let thread = made["result"]["structuredContent"]["thread_id"].as_str().unwrap().to_owned();

    let stateless = json!({
        "name": "get_thread",
        "arguments": {"thread_id": thread},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    ask(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": stateless}));
    let found = answered(3);
    assert_eq!(found["result"]["structuredContent"]["title"], "over lines", "{found}");
    ask(json!({"jsonrpc": "2.0", "id": 4, "method": "no/such"}));
    assert!(answered(4)["error"]["code"].is_i64());
    drop(input);
    assert!(bridge.child.wait().unwrap().success());
}

// covers: THR-29
#[test]
fn a_program_that_speaks_http_is_told_what_to_write() {
    let host = Host::with_room(&["scout"]);
    let url = format!("{}/v1/mcp?names=underscore", host.url());
    for (program, needs) in [
        ("codex", "bearer_token_env_var = \"CHORUS_TOKEN\""),
        ("claude", "\"Authorization\": \"Bearer ${CHORUS_TOKEN}\""),
        ("gemini", "\"httpUrl\""),
        ("cursor", "${env:CHORUS_TOKEN}"),
        ("vscode", "\"servers\""),
    ] {
        let text = host.run(&["mcp", "config", "--for", program]).ok().out;
        assert!(text.contains(&url) && text.contains(needs), "{text}");
    }
    let text = host.run(&["mcp", "config", "--for", "stdio", "--channel", "ch_1"]).ok().out;
    let read: Value = serde_json::from_str(&text).unwrap();
    let arguments = &read["mcpServers"]["chorus"]["args"];
    assert_eq!(arguments, &json!(["mcp", "--url", host.url(), "--channel", "ch_1"]));
    assert_ne!(host.run(&["mcp", "config", "--for", "telnet"]).code, 0);
}
