//! `chorus connect` with the real programs: a session that its user started is known to the host, is told of its mail, and
//! answers it before it ends its turn. The model is scripted.

use std::process::{Command, Output};

use chorus_clients::kit;
use serde_json::Value;

use crate::desk::{Desk, answers};

/// Words of what a hook says at a turn's end, and beside a prompt.
const AT_THE_END: &str = "Before you end your turn";
const BESIDE: &str = "Besides: a message waits";

/// What a person asks, which has nothing to do with Chorus.
const PROMPT: &str = "What is two and two?";

impl Desk {
    /// Runs a program to its end, as a person does who started it without Chorus.
    fn asks_program(&self, program: &str) -> Output {
        let arguments: Vec<&str> = match program {
            // A person is asked once whether the hooks are to be trusted.
            "codex" => {
                [&["--dangerously-bypass-hook-trust"][..], &kit::codex_says(PROMPT)].concat()
            }
            "claude" => kit::claude_says(PROMPT).to_vec(),
            _ => kit::gemini_says(PROMPT).to_vec(),
        };
        let mut command = Command::new(program);
        for variable in kit::STRANGE {
            command.env_remove(variable);
        }
        command.args(arguments).envs(self.environment.iter().cloned()).env_remove("CHORUS_DATA");
        command.current_dir(&self.project).output().unwrap()
    }

    fn sessions_of(&self, member: &str) -> Vec<Value> {
        let sessions = self.house.json(&["sessions"]);
        let all = sessions["sessions"].as_array().unwrap().iter();
        all.filter(|one| one["member"] == member).cloned().collect()
    }
}

async fn is_told_of_its_mail(program: &str, runtime: &str, settings: &str) {
    let desk = Desk::new(vec![answers(AT_THE_END, 0, "four, and CI is green")]).await;
    let file = desk.home.join(settings);
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    let shown = desk.prints(&["connect", program, "--channel", "general", "--yes"]);
    assert!(shown.contains("hook --for") && !shown.contains("eyJ"), "{shown}");
    let asked = desk.house.json(&["post", "general", &format!("@{program} how is CI?")]);
    let event = asked["event_id"].as_str().unwrap();

    let ran = desk.asks_program(program);
    let why = desk.house.json(&["why", event]);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(why["told"][0]["receipt"]["disposition"], "responded", "{why:#} {errors}");
    assert_eq!(desk.said("four, and CI is green"), 1);
    let asked = desk.model.asked();
    let first = asked.iter().find(|asked| asked.contains(PROMPT)).unwrap();
    assert!(first.contains(BESIDE) && !first.contains(AT_THE_END), "{first}");
    // It reads, it answers, and it ends: it is not told twice.
    assert_eq!(asked.iter().filter(|asked| asked.contains(AT_THE_END)).count(), 3, "{asked:?}");

    // The session that has ended is known, by what its program said.
    let sessions = desk.sessions_of(program);
    let [session] = &sessions[..] else { panic!("one session: {sessions:?}") };
    assert_eq!(session["runtime"], runtime, "{session}");
    assert_eq!(session["connected"], false, "{session}");
    assert_eq!(session["proof"], "heartbeat", "{session}");

    // Another session is told nothing of what is answered, and all of it can be taken back.
    desk.asks_program(program);
    let asked = desk.model.asked();
    let again = asked.iter().rfind(|asked| asked.contains(PROMPT)).unwrap();
    assert!(!again.contains(BESIDE) && !again.contains(AT_THE_END), "{again}");
    desk.prints(&["connect", program, "--undo", "--yes"]);
    let after = std::fs::read_to_string(&file).unwrap();
    assert!(!after.contains("chorus"), "{after}");
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let mut left = parsed(&after);
    for emptied in ["hooks", "mcpServers"] {
        let section = left.as_object_mut().and_then(|left| left.remove(emptied));
        assert!(section.is_none_or(|section| section == serde_json::json!({})), "{after}");
    }
    if !before.is_empty() {
        assert_eq!(left, parsed(&before));
    }
}

// covers: OPS-630, OPS-631, OPS-632
#[tokio::test(flavor = "multi_thread")]
async fn codex_that_a_person_started_is_told_of_its_mail() {
    is_told_of_its_mail("codex", "codex_cli", ".codex/hooks.json").await;
}

// covers: OPS-630, OPS-631, OPS-632
#[tokio::test(flavor = "multi_thread")]
async fn claude_code_that_a_person_started_is_told_of_its_mail() {
    is_told_of_its_mail("claude", "claude_code", ".claude/settings.json").await;
}

// covers: OPS-630, OPS-631, OPS-632
#[tokio::test(flavor = "multi_thread")]
async fn gemini_cli_that_a_person_started_is_told_of_its_mail() {
    is_told_of_its_mail("gemini", "gemini_cli", ".gemini/settings.json").await;
}
