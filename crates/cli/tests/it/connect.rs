//! `chorus connect`, and the hooks that it writes, run as a program runs them. The programs themselves are tried in
//! `lab/clients`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::cli::{Ran, chorus, run, words};
use crate::host::Host;

/// Hooks of somebody else.
const MINE: &str = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine secret\"}]}\n    ]\n  }\n}\n";

/// Somebody's home on the machine of a host.
struct Home {
    host: Host,
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { host: Host::with_room(&[]), folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn put(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn command(&self) -> Command {
        let mut command = chorus();
        command.current_dir(self.folder.path()).env("HOME", self.folder.path());
        for name in ["CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        command
    }

    fn connect(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command();
        command.arg("connect").args(words(arguments)).arg("--data").arg(self.host.data());
        run(&mut command)
    }

    /// Runs the command of a hook as a program does: by a shell, with an event on standard input.
    fn hook(&self, program: &str, event: &str, session: &str, more: Value) -> Option<Value> {
        let mut said = json!({"hook_event_name": event, "session_id": session, "cwd": "/tmp"});
        said.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.hook_of(self.command(), program, &said.to_string())
    }

    fn hook_of(&self, mut command: Command, program: &str, said: &str) -> Option<Value> {
        command.args(["hook", "--for", program]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(said.as_bytes()).unwrap();
        let ended = child.wait_with_output().unwrap();
        let (out, err) = [ended.stdout, ended.stderr].map(|b| String::from_utf8(b).unwrap()).into();
        assert!(ended.status.success() && err.is_empty(), "{} {err}", ended.status);
        (!out.is_empty()).then(|| serde_json::from_str(&out).unwrap())
    }

    fn asks(&self, member: &str) -> String {
        let posted = self.host.json(&["post", "ops", &format!("@{member} please look")]);
        posted["event_id"].as_str().unwrap().to_owned()
    }

    fn sessions(&self) -> Vec<Value> {
        self.host.json(&["sessions"])["sessions"].as_array().unwrap().clone()
    }
}

// covers: OPS-630
#[test]
fn hooks_are_shown_written_and_taken_out() {
    let home = Home::new();
    for (program, entry, hooks) in [
        ("codex", ".codex/config.toml", ".codex/hooks.json"),
        ("claude", ".claude.json", ".claude/settings.json"),
        ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ] {
        home.put(hooks, MINE);
        let arguments = [program, "--channel", "ops", "--yes"];
        let shown = home.connect(&arguments).ok().out;
        for words in [" hook --for ", entry, hooks, "#ops", "connect", "--undo"] {
            assert!(shown.contains(words), "{words:?} is not in:\n{shown}");
        }
        assert!(!shown.contains("secret") && !shown.contains("eyJ"), "{shown}");
        let once = home.text(hooks);
        assert!(once.starts_with(MINE.split("]}").next().unwrap()), "{once}");
        // Once more changes no hook.
        let again = home.connect(&arguments).ok();
        let ours = format!("hook --for {program}");
        assert_eq!(
            home.text(hooks).matches(&ours).count(),
            once.matches(&ours).count(),
            "{}",
            again.out
        );

        let undone = home.connect(&[program, "--undo", "--yes"]).ok().out;
        assert!(undone.contains("revoked its token") && undone.contains(hooks), "{undone}");
        let (left, mine): (Value, Value) =
            (serde_json::from_str(&home.text(hooks)).unwrap(), serde_json::from_str(MINE).unwrap());
        assert_eq!(left["hooks"], mine["hooks"]);
        let nothing = home.connect(&[program, "--undo", "--yes"]).ok().out;
        assert!(nothing.contains("nothing to undo"), "{nothing}");
    }
}

// covers: OPS-631, OPS-632
#[test]
fn a_session_says_that_it_is_there_and_is_told_of_its_mail_once() {
    let home = Home::new();
    home.connect(&["codex", "--channel", "ops", "--yes"]).ok();
    assert_eq!(home.hook("codex", "SessionStart", "s-1", json!({})), None);
    let session = &home.sessions()[0];
    assert_eq!((&session["member"], &session["proof"]), (&json!("codex"), &json!("heartbeat")));

    let listed = home.host.run(&["sessions"]).ok().out;
    assert!(listed.contains("idle") && listed.contains("heartbeat"), "{listed}");

    let event = home.asks("codex");
    let beside = home.hook("codex", "UserPromptSubmit", "s-1", json!({"prompt": "x"})).unwrap();
    let context = beside["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains(&event) && context.contains("@codex"), "{context}");
    assert_eq!(beside["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
    assert_eq!(home.hook("codex", "UserPromptSubmit", "s-1", json!({})), None, "once");

    // A turn goes on once for a message, never twice in a row, and no other session answers it meanwhile.
    let second = home.asks("codex");
    let active = json!({"stop_hook_active": true});
    assert_eq!(home.hook("codex", "Stop", "s-1", active), None);
    let stop = home.hook("codex", "Stop", "s-1", json!({})).unwrap();
    let reason = stop["reason"].as_str().unwrap();
    assert_eq!(stop["decision"], "block");
    assert!(reason.contains(&event) && reason.contains(&second), "{reason}");
    assert_eq!(home.hook("codex", "Stop", "s-1", json!({})), None);
    assert_eq!(home.hook("codex", "Stop", "s-2", json!({})), None);
}

// covers: OPS-633
#[test]
fn a_hook_never_keeps_a_program_from_its_work() {
    let mut home = Home::new();
    let begins = json!({"hook_event_name": "SessionStart", "session_id": "s-1"}).to_string();
    let hook = |home: &Home, command, said: &str| home.hook_of(command, "codex", said);
    assert_eq!(hook(&home, home.command(), &begins), None, "without settings");
    home.connect(&["codex", "--channel", "ops", "--yes"]).ok();
    home.asks("codex");
    for said in
        ["", "{", "[]", "{\"hook_event_name\": \"Stop\"}", &begins.replace("SessionStart", "New")]
    {
        assert_eq!(hook(&home, home.command(), said), None, "{said}");
    }
    for variable in ["CHORUS_RUNNER", "CHORUS_TURN_TOKEN"] {
        let mut of_runner = home.command();
        of_runner.env(variable, "1");
        assert_eq!(hook(&home, of_runner, &begins), None, "{variable}");
    }
    assert!(home.sessions().is_empty());
    home.put("chorus.toml", "no settings");
    home.host.stop();
    assert_eq!(hook(&home, home.command(), &begins), None, "without a host");
    home.put(".codex/config.toml", "no TOML");
    assert_eq!(hook(&home, home.command(), &begins), None, "with broken settings");
}

// covers: OPS-634
#[test]
fn a_file_that_cannot_be_changed_is_left_as_it_is_and_nothing_is_made() {
    let home = Home::new();
    for text in ["// mine\n{}", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}"] {
        home.put(".claude/settings.json", text);
        let refused = home.connect(&["claude", "--yes"]);
        assert_ne!(refused.code, 0, "{}", refused.out);
        assert!(refused.err.contains("settings.json is left as it is"), "{}", refused.err);
        assert!(refused.err.contains("chorus mcp setup --for claude"), "{}", refused.err);
        assert_eq!(home.text(".claude/settings.json"), text);
    }
    let refused = home.connect(&["cursor", "--yes"]);
    assert!(refused.err.contains("codex, claude, gemini"), "{}", refused.err);
    assert!(!home.path(".claude.json").exists());
    assert!(!home.host.json(&["member", "list"]).to_string().contains("claude"));
}
