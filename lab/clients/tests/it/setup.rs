//! `chorus mcp setup` and then the real program, with nothing else done to it: it is connected, and speaks in `#ops` by
//! that name.

use std::process::Output;

use chorus_clients::kit::{
    Kit, User, claude_says, codex_model, codex_says, gemini_says, gemini_settings,
};
use chorus_clients::model::{CLOSING, Model};
use serde_json::{Value, json};

use crate::house::House;
use crate::libraries::made;

/// Has the program see which channels there are, and say something in one of them.
fn prompt(program: &str) -> String {
    let script = json!([
        ["chat.list_channels", {}],
        ["chat.list_members", {"conversation": "#ops"}],
        ["chat.send_message", {
            "target": {"conversation": "#ops"}, "idempotencyKey": format!("{program}-1"),
            "visibility": "channel", "directedness": "ambient", "mentions": ["@alice"],
            "text": format!("{program} is here"),
        }],
    ]);
    format!("SCRIPT {script}")
}

fn said(output: &Output) -> String {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{}\n{out}\n{err}", output.status)
}

struct Ground {
    kit: Kit,
    house: House,
    model: Model,
    user: User,
}

impl Ground {
    async fn new(program: &str) -> Self {
        let kit = Kit::installed().expect("cargo xtask test installs the clients");
        let (house, model) = (House::open(), Model::start().await.unwrap());
        house.chorus(&["member", "create", "alice"]);
        house.chorus(&["channel", "create", "ops", "alice"]);
        let user =
            User { home: house.folder(program), token: String::new(), settings: String::new() };
        Self { kit, house, model, user }
    }

    fn set_up(&self, program: &str) {
        let setup = ["mcp", "setup", "--for", program, "--channel", "ops", "--yes"];
        self.house.typed_in(&self.user.home, &setup);
    }

    /// What was said in #ops, as alice reads it.
    async fn spoke(&self, program: &str, ran: &Output) {
        let asked = self.model.asked();
        assert!(said(ran).contains(CLOSING), "{}\nasked: {:?}", said(ran), asked.last());
        let door = self.house.door(&self.house.token("alice", "worker"));
        let calls = json!([["chat.read_thread", {"conversation": "ops"}]]);
        let read = made(self.kit.script("session.mjs"), &door, &calls).await;
        let messages = &read["results"][0]["gave"]["messages"];
        let bodies: Vec<&Value> = messages.as_array().unwrap().iter().map(|m| &m["text"]).collect();
        assert_eq!(bodies, [&json!(format!("{program} is here"))], "{read:#}");
    }

    /// Takes it back, after which the program knows of nothing.
    fn undo(&self, program: &str) {
        self.house
            .typed_in(&self.user.home, &["mcp", "setup", "--for", program, "--undo", "--yes"]);
    }
}

// covers: OPS-549
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codex() {
    let ground = Ground::new("codex").await;
    let (kit, user) = (&ground.kit, &ground.user);
    user.write(".codex/config.toml", &codex_model(&ground.model.url)).unwrap();
    ground.set_up("codex");
    let listed = said(&kit.codex_as_it_is(user, &["mcp", "list"]).await.unwrap());
    assert!(listed.contains("chorus") && listed.contains("enabled"), "{listed}");
    let ran = kit.codex_as_it_is(user, &codex_says(&prompt("codex"))).await.unwrap();
    ground.spoke("codex", &ran).await;
    ground.undo("codex");
    let listed = said(&kit.codex_as_it_is(user, &["mcp", "list"]).await.unwrap());
    assert!(!listed.contains("chorus"), "{listed}");
}

// covers: OPS-549
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claude_code() {
    let ground = Ground::new("claude").await;
    let (kit, user, model) = (&ground.kit, &ground.user, &ground.model.url);
    ground.set_up("claude");
    let listed = said(&kit.claude_as_it_is(user, model, &["mcp", "list"]).await.unwrap());
    assert!(listed.contains("chorus") && listed.contains("Connected"), "{listed}");
    let prompt = prompt("claude");
    let ran = kit.claude_as_it_is(user, model, &claude_says(&prompt)).await.unwrap();
    ground.spoke("claude", &ran).await;
    ground.undo("claude");
    let listed = said(&kit.claude_as_it_is(user, model, &["mcp", "list"]).await.unwrap());
    assert!(!listed.contains("chorus"), "{listed}");
}

// covers: OPS-549
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gemini() {
    let ground = Ground::new("gemini").await;
    let (kit, user, model) = (&ground.kit, &ground.user, &ground.model.url);
    user.write(".gemini/settings.json", &gemini_settings()).unwrap();
    ground.set_up("gemini");
    let prompt = prompt("gemini");
    let ran = kit.gemini_as_it_is(user, model, &gemini_says(&prompt)).await.unwrap();
    ground.spoke("gemini", &ran).await;
    ground.undo("gemini");
}
