//! The libraries people write clients with: each makes the same calls, on its own wire, and sees the same.

use chorus_clients::kit::{Door, Kit, run};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::house::House;

/// A review from beginning to end, with two calls that are refused.
fn calls() -> Value {
    json!([
        ["create_thread", {"title": "Profile mapper review loop", "type": "workflow", "participants": ["reviewer_agent"]}],
        ["post_message", {
            "thread_id": "$0.thread_id", "schema_version": 1, "kind": "event",
            "body": "Blocking issue found in null fallback", "idempotency_key": "rv-find-219-1",
            "metadata": {"event_type": "finding_reported", "severity": "high", "task_id": "TASK-219"},
        }],
        ["read_messages", {"thread_id": "$0.thread_id", "since_seq": 0, "limit": 50}],
        ["ack_read", {"thread_id": "$0.thread_id", "last_read_seq": "$1.seq"}],
        ["get_thread", {"thread_id": "$0.thread_id"}],
        ["summarize_thread", {"thread_id": "$0.thread_id", "max_messages": 200}],
        ["update_thread_status", {"thread_id": "$0.thread_id", "status": "blocked", "reason": "a finding is open"}],
        ["get_thread", {"thread_id": "th_01890000000070008000000000000000"}],
        ["ack_read", {"thread_id": "$0.thread_id", "last_read_seq": 99}],
    ])
}

/// Has a client make calls, and gives what it saw.
pub(crate) async fn made(mut client: Command, door: &Door, calls: &Value) -> Value {
    client.env("CHORUS_URL", &door.url).env("CHORUS_TOKEN", &door.token);
    client.env("CALLS", calls.to_string());
    let output = run(client).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}\n{complained}"))
}

async fn sees(client: Command, door: &Door, version: &str) {
    let said = made(client, door, &calls()).await;
    assert!(said["version"].is_null() || said["version"] == version, "{said}");
    let tools: Vec<&str> =
        said["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for tool in
        ["create_thread", "post_message", "read_messages", "chat.claim", "chat.send_message"]
    {
        assert!(tools.contains(&tool), "{tool} is not among {tools:?}");
    }
    assert!(!said["prompts"].as_array().unwrap().is_empty(), "{said}");
    let results = said["results"].as_array().unwrap();
    let failed: Vec<bool> = results.iter().map(|r| r["failed"] == true).collect();
    assert_eq!(failed, [false, false, false, false, false, false, false, true, true], "{said:#}");
    let gave = |call: usize| &results[call]["gave"];
    assert_eq!(gave(0)["status"], "active");
    assert_eq!(gave(1)["seq"], 1);
    let read = &gave(2)["messages"][0];
    assert_eq!(read["body"], "Blocking issue found in null fallback");
    assert_eq!(read["metadata"]["event_type"], "finding_reported");
    assert_eq!((&gave(2)["next_seq"], &gave(2)["has_more"]), (&json!(1), &json!(false)));
    assert_eq!(gave(3)["ok"], true);
    assert_eq!(gave(4)["title"], "Profile mapper review loop");
    assert_eq!(gave(5)["open_items"].as_array().unwrap().len(), 1, "{}", gave(5));
    assert_eq!(gave(6)["status"], "blocked");
    assert_eq!(gave(7)["error"]["code"], "NOT_FOUND");
    assert_eq!(gave(8)["error"]["code"], "VALIDATION_ERROR");
}

fn ground() -> (Kit, House, Door) {
    let kit = Kit::installed().expect("cargo xtask test installs the clients");
    let house = House::open();
    house.token("reviewer_agent", "worker");
    let door = house.door(&house.token("coordinator_agent", "orchestrator"));
    (kit, house, door)
}

// covers: THR-1, THR-6, THR-7
#[tokio::test]
async fn typescript_of_the_first_generation() {
    let (kit, _house, door) = ground();
    sees(kit.script("session.mjs"), &door, "2025-11-25").await;
}

// covers: THR-1
#[tokio::test]
async fn typescript_of_the_second_generation() {
    let (kit, _house, door) = ground();
    sees(kit.script("stateless.mjs"), &door, "2026-07-28").await;
}

// covers: THR-1
#[tokio::test]
async fn python_on_both_wires() {
    let (kit, _house, door) = ground();
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let mut client = kit.python("official.py");
        client.env("MODE", mode);
        sees(client, &door, version).await;
    }
}

#[tokio::test]
async fn fastmcp() {
    let (kit, _house, door) = ground();
    sees(kit.python("fast.py"), &door, "2026-07-28").await;
}

#[tokio::test]
async fn inspector() {
    let (kit, house, door) = ground();
    let mut inspect = kit.node("inspector");
    inspect.args(["--cli", &door.url, "--transport", "http", "--header"]);
    inspect.arg(format!("Authorization: Bearer {}", door.token));
    inspect.args(["--method", "tools/call", "--tool-name", "create_thread"]);
    inspect.args(["--tool-arg", "title=From the inspector", "--tool-arg", "type=conversation"]);
    inspect.args(["--tool-arg", r#"participants=["reviewer_agent"]"#]);
    inspect.env("HOME", house.folder("inspector"));
    let output = run(inspect).await.unwrap();
    let said: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(said["structuredContent"]["status"], "active", "{said}");
}
