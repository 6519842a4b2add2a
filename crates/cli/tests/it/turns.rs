//! Three real harnesses are asked in one message, and the host is killed between their turns.

use std::path::PathBuf;

use chorus_testing::eventually_blocking;
use serde_json::Value;

use crate::cli::{Going, chorus};
use crate::host::Host;

/// Reacts with its turn's token, as README shows it.
const NODS: &str = r#"cat >/dev/null
curl -sf "$CHORUS_C2A_URL" -H "Authorization: Bearer $CHORUS_TURN_TOKEN" \
  -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"tools/call",
  "params":{"name":"chat.react","arguments":{"inReplyTo":"'"$CHORUS_EVENT_ID"'","signal":"agree"}}}' >nodded
"#;

/// An agent whose turns are run by a script, in a folder of its own.
struct Agent {
    name: &'static str,
    folder: PathBuf,
    _joined: Going,
}

impl Agent {
    fn join(host: &Host, name: &'static str, script: &str) -> Self {
        let folder = host.folder.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("script.sh"), script).unwrap();
        let issue = ["token", "issue", "--agent", name, "--role", "worker"];
        let token = host.run(&issue).ok().out.trim().to_owned();
        let runtime = format!("cmd:cd {} && exec sh script.sh", folder.display());
        let mut command = chorus();
        command
            .args(["join", "--agent", name, "--runtime", &runtime, "--quiet-ms", "50"])
            .args(["--url", &host.url()])
            .env("CHORUS_TOKEN", token)
            .arg("--state-dir")
            .arg(folder.join("state"));
        Self { name, folder, _joined: Going::start(&mut command) }
    }

    /// Waits until its delivery of the event has ended, and says how.
    fn end(&self, host: &Host, event: &str) -> Value {
        eventually_blocking(&format!("{} ends a delivery", self.name), || {
            let why = host.json(&["why", event]);
            let told = why["told"].as_array().unwrap();
            let mine = told.iter().find(|one| one["member"] == self.name)?;
            mine["receipt"].get("disposition").cloned()
        })
    }
}

// covers: CHN-320, CHN-321, CHN-325, CHN-26
#[test]
fn turn_passes_to_the_third_agent_though_the_host_is_killed() {
    let mut host = Host::with_room(&["nodder", "mute", "speaker"]);
    let agents = [
        Agent::join(&host, "nodder", NODS),
        Agent::join(&host, "mute", "cat >/dev/null"),
        Agent::join(&host, "speaker", "cat >prompt; echo the deploy is green"),
    ];
    let asked = host.post("@nodder @mute @speaker can you look at the deploy?");
    let event = asked["event_id"].as_str().unwrap();
    for (agent, how) in agents.iter().zip(["acknowledged", "failed", "responded"]) {
        assert_eq!(agent.end(&host, event), how, "{}", agent.name);
        host.kill();
        host.serve();
    }
    let prompt = std::fs::read_to_string(agents[2].folder.join("prompt")).unwrap();
    assert!(prompt.contains("C2A PUBLIC TURN\n"), "{prompt}");
    assert_eq!(host.json(&["turns", "#ops"])["subjects"], serde_json::json!([]));
    drop(agents);
    host.run(&["doctor"]).ok();
}
