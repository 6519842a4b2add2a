//! Waking by hand, and what is shown of wakes; the runner here is one over the bridge.

use std::io::Write;
use std::process::{ChildStdin, Stdio};

use serde_json::{Value, json};

use crate::cli::{Going, chorus};
use crate::host::Host;

/// A runner of scout's.
struct Runner {
    bridge: Going,
    input: ChildStdin,
}

impl Runner {
    fn start(host: &Host) -> Self {
        let token = host.run(&["token", "issue", "--agent", "scout", "--role", "worker"]).ok().out;
        let mut command = chorus();
        let options = ["c2a", "--token", token.trim(), "--data"];
        command.args(options).arg(host.data()).stdin(Stdio::piped());
        let mut bridge = Going::start(&mut command);
        let input = bridge.child.stdin.take().unwrap();
        let mut runner = Self { bridge, input };
        let hello = json!({
            "protocolVersion": "2026-06-02",
            "clientInfo": { "name": "test", "version": "1" },
            "capabilities": {},
            "session": { "runner": true, "runtime": "codex_cli", "resumable": true, "folder": "/srv/app" },
        });
        runner.call(1, "initialize", hello);
        runner
    }

    fn call(&mut self, id: u64, method: &str, params: Value) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.input, "{call}").unwrap();
        let answer = self.bridge.wait(|line| {
            serde_json::from_str::<Value>(line).ok().filter(|frame| frame["id"] == id)
        });
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    fn wake(&self) -> Value {
        self.bridge.wait(|line| {
            let mut frame: Value = serde_json::from_str(line).ok()?;
            (frame["method"] == "session/wake").then(|| frame["params"].take())
        })
    }
}

#[test]
fn a_sleeping_agent_is_woken_by_hand_and_its_wake_is_shown() {
    let host = Host::with_room(&["scout"]);
    let nothing = host.run(&["wake", "scout"]);
    assert!(nothing.err.contains("nothing waits for scout"), "{}", nothing.err);
    let asked = host.post("@scout are you there?");
    let event = asked["event_id"].as_str().unwrap();
    let alone = host.run(&["wake", "scout", "--json"]);
    assert_eq!((alone.code, alone.json()["error"]["code"].clone()), (1, json!("WAKE_FAILED")));

    let mut runner = Runner::start(&host);
    let woken = host.json(&["wake", "scout", "--prompt", "please look"]);
    let wake = runner.wake();
    assert_eq!(woken["wake"]["id"], wake["wakeId"], "{woken}");
    let report = json!({
        "wakeId": wake["wakeId"], "fence": wake["fence"], "result": "confirmed",
        "lane": "codex_socket", "evidence": "turn 7",
    });
    runner.call(2, "wake/report", report);
    let shown = "wake of scout: running; codex_socket confirmed (turn 7)";
    for command in [&["sessions"][..], &["why", event], &["wake", "scout"]] {
        let said = host.run(command).ok().out;
        assert!(said.contains(shown), "{command:?}: {said}");
    }
    let sessions = host.run(&["sessions"]).ok().out;
    for word in ["codex_cli", "connection", " works in /srv/app"] {
        assert!(sessions.contains(word), "{word}: {sessions}");
    }
}
