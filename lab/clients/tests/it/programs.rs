//! The programs people run their agents in, each driven by a scripted model: they work in one thread together.

use std::process::Output;

use chorus_clients::kit::{Door, Kit, User};
use chorus_clients::model::{CLOSING, Model};
use serde_json::{Value, json};

use crate::house::House;
use crate::libraries::made;

fn ended(program: &str, output: &Output, model: &Model) {
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let asked = model.asked();
    assert!(
        output.status.success() && said.contains(CLOSING),
        "{program}: {}\n{said}\n{complained}\nasked: {:?}",
        output.status,
        asked.last()
    );
}

// covers: THR-1, THR-29
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codex_claude_code_and_gemini_work_in_one_thread() {
    let kit = Kit::installed().expect("cargo xtask test installs the clients");
    let (house, model) = (House::open(), Model::start().await.unwrap());
    let agents = ["codex", "claude", "gemini"];
    let [codex, claude, gemini] = agents.map(|agent| User {
        home: house.folder(agent),
        token: house.token(agent, "worker"),
        settings: house.chorus(&["mcp", "config", "--for", agent]),
    });
    let door = house.door(&codex.token);

    // One opens the thread.
    let script = json!([
        ["create_thread", {"title": "Cache misses", "type": "workflow", "participants": agents}],
        ["post_message", {
            "thread_id": "$0.thread_id", "schema_version": 1, "kind": "chat",
            "body": "codex is here", "idempotency_key": "codex-1",
        }],
        ["read_messages", {"thread_id": "$0.thread_id", "since_seq": 0}],
    ]);
    let prompt = format!("SCRIPT {script}");
    ended("codex", &kit.codex(&codex, &model.url, &prompt).await.unwrap(), &model);
    let threads = house.json(&["thread", "list", "--token", &codex.token]);
    let thread = threads["threads"][0]["id"].as_str().unwrap_or_else(|| panic!("{threads}"));

    // The others read, answer, and claim what was said, both at once.
    let opened = read(&kit, &door, thread).await;
    let event = opened[0]["message_id"].as_str().unwrap().replace("msg_", "evt_");
    let prompt = |agent: &str| {
        let script = json!([
            ["read_messages", {"thread_id": thread, "since_seq": 0}],
            ["post_message", {
                "thread_id": thread, "schema_version": 1, "kind": "chat", "body": format!("{agent} is here"),
                "idempotency_key": format!("{agent}-1"),
            }],
            ["chat.claim", {"eventId": event}],
        ]);
        format!("SCRIPT {script}")
    };
    let prompts = [prompt("claude"), prompt("gemini")];
    let (second, third) = tokio::join!(
        kit.claude(&claude, &model.url, &prompts[0]),
        kit.gemini(&gemini, &model.url, &prompts[1]),
    );
    ended("claude", &second.unwrap(), &model);
    ended("gemini", &third.unwrap(), &model);

    let said = read(&kit, &door, thread).await;
    let mut said: Vec<[&str; 2]> = said
        .iter()
        .map(|m| [&m["sender_agent_id"], &m["body"]].map(|v| v.as_str().unwrap()))
        .collect();
    said[1..].sort_unstable();
    let expected = agents.map(|agent| [agent.to_owned(), format!("{agent} is here")]);
    assert_eq!(said, expected);
    // The right to decide went to one of the two, whoever came first, and the other was told so.
    let claims = house.json(&["claims", "--token", &claude.token]);
    let holder = claims["claims"][0]["holder"].as_str().unwrap_or_else(|| panic!("{claims}"));
    let other = if holder == "claude" { "gemini" } else { "claude" };
    let told = model.asked().iter().any(|asked| {
        asked.contains("CLAIMED_BY_OTHER") && asked.contains(&format!("{other} is here"))
    });
    assert!(told, "{other} was not told that it is claimed");
}

async fn read(kit: &Kit, door: &Door, thread: &str) -> Vec<Value> {
    let calls = json!([["read_messages", {"thread_id": thread, "since_seq": 0}]]);
    let said = made(kit.script("session.mjs"), door, &calls).await;
    said["results"][0]["gave"]["messages"].as_array().unwrap_or_else(|| panic!("{said}")).clone()
}
