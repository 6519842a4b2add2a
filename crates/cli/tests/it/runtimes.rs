//! `chorus join` with a program made for agents, by a stand-in for Claude Code; the real ones are tried in
//! `lab/clients`.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::cli::{Going, Ran, chorus, run};
use crate::host::Host;

/// Says which session it is in, and what it was allowed; the first turn of each begins one.
const CLAUDE: &str = r#"#!/bin/sh
cat >/dev/null
session=new-$$
for last; do :; done
case "$*" in *--resume*) session=$last;; esac
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$session\"}"
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"$PWD $*\"}"
"#;

/// A host with the agent scout, and a folder with programs.
struct Desk {
    host: Host,
    programs: PathBuf,
}

impl Desk {
    fn new(claude: &str) -> Self {
        let host = Host::with_room(&["scout"]);
        let programs = host.folder.path().join("programs");
        std::fs::create_dir(&programs).unwrap();
        let file = programs.join("claude");
        std::fs::write(&file, claude).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { host, programs }
    }

    fn command(&self, options: &[&str]) -> std::process::Command {
        let mut command = chorus();
        command.args(["join", "--agent", "scout", "--quiet-ms", "50"]).args(options);
        command.arg("--data").arg(self.host.data());
        command.env("PATH", format!("{}:/usr/bin:/bin", self.programs.display()));
        command
    }

    fn join(&self, options: &[&str]) -> Going {
        Going::start(&mut self.command(options))
    }

    fn refused(&self, options: &[&str]) -> Ran {
        run(&mut self.command(options))
    }
}

// covers: OPS-523
#[test]
fn who_joins_from_a_terminal_is_asked_once_what_the_program_may_do() {
    let desk = Desk::new(CLAUDE);
    let joins = ["--runtime", "claude"];
    let (mut harness, mut typed) = Going::at_a_terminal(&mut desk.command(&joins));
    typed.write_all(b"change\r").unwrap();
    harness.wait(|line| line.contains("it is read, edit or full").then_some(()));
    assert_eq!(harness.child.wait().unwrap().code(), Some(2));
    let (harness, mut typed) = Going::at_a_terminal(&mut desk.command(&joins));
    typed.write_all(b"edit\r").unwrap();
    harness.wait(|line| line.contains("may read and change files there").then_some(()));
    drop(harness);
    // Neither asked again, nor forgotten.
    let harness = desk.join(&joins);
    harness.wait(|line| line.contains("may read and change files there").then_some(()));
    drop(harness);
    let harness = desk.join(&[&joins[..], &["--allow", "read"]].concat());
    harness.wait(|line| line.contains("may read files there").then_some(()));
}

fn answer(tail: &Going) -> String {
    tail.wait(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        let by_scout = event["type"] == "message_posted" && event["actor"]["id"] == "scout";
        by_scout.then(|| event["message"]["text"].as_str().unwrap().to_owned())
    })
}

// covers: OPS-520, OPS-521, OPS-523
#[test]
fn a_program_answers_in_its_folder_and_goes_on_in_its_session_after_a_restart() {
    let desk = Desk::new(CLAUDE);
    let folder = desk.host.folder.path().join("work");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    let at = folder.to_str().unwrap();
    let tail = desk.host.tail();
    let harness = desk.join(&["--runtime", "claude", "--folder", at]);
    harness.wait(|line| (line == format!("scout joins {}", desk.host.url())).then_some(()));
    let says =
        format!("claude works in {at} and may read files there; --allow edit lets it change them");
    harness.wait(|line| (line == says).then_some(()));
    desk.host.post("@scout what is the status?");
    let first = answer(&tail);
    assert!(first.starts_with(&format!("{at} --print ")), "{first}");
    assert!(first.contains("--permission-mode dontAsk --tools Read,Grep,Glob"), "{first}");
    assert!(!first.contains("--resume"), "{first}");
    desk.host.post("@scout and now?");
    let second = answer(&tail);
    let (_, session) = second.split_once("--resume ").expect(&second);
    harness.kill();
    let harness = desk.join(&["--runtime", "claude", "--folder", at, "--allow", "edit"]);
    let says = format!(
        "claude works in {at} and may read and change files there; --allow full lets it run commands"
    );
    harness.wait(|line| (line == says).then_some(()));
    desk.host.post("@scout are you back?");
    let third = answer(&tail);
    assert!(third.contains("--permission-mode acceptEdits"), "{third}");
    assert!(third.ends_with(&format!("--resume {session}")), "{third} is not in {session}");
    // Another conversation is another session.
    desk.host.json(&["channel", "create", "dev", "alice", "scout"]);
    let asked = desk.host.json(&["post", "#dev", "@scout and here?", "--as", "alice"]);
    crate::harness::disposition(&desk.host, asked["event_id"].as_str().unwrap());
    let dev = desk.host.run(&["tail", "dev", "--since", "0", "--follow", "false", "--json"]).ok();
    let said = dev.out.lines().find(|line| line.contains("acceptEdits")).expect(&dev.out);
    assert!(!said.contains("--resume"), "{said}");
}

// covers: OPS-525
#[test]
fn a_program_that_prints_no_json_fails_the_turn_with_its_last_line() {
    let host = crate::harness::alone_with_scout();
    let programs = host.folder.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    let file = programs.join("claude");
    std::fs::write(&file, "#!/bin/sh\necho 'Please run /login'\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let desk = Desk { host, programs };
    let tail = desk.host.tail();
    let _harness = desk.join(&["--runtime", "claude"]);
    desk.host.json(&["post", "#ops", "@scout what is the status?"]);
    let report = answer(&tail);
    assert!(report.contains("claude ended without an answer: Please run /login"), "{report}");
}

// covers: OPS-526
#[test]
fn what_cannot_be_run_is_said_before_anything_joins() {
    let desk = Desk::new(CLAUDE);
    let check = |options: &[&str], code: i32, words: &str| {
        let ran = desk.refused(options);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{options:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{options:?}: {}", ran.err);
    };
    let codex = "codex is not installed, or not in a folder of PATH; \
        install it with: npm install -g @openai/codex";
    check(&["--runtime", "codex"], 1, codex);
    check(&["--runtime", "gemini"], 1, "npm install -g @google/gemini-cli");
    check(
        &["--runtime", "claude", "--folder", "/nowhere"],
        2,
        "make it, or name another with --folder",
    );
    check(
        &["--runtime", "cmd:true", "--allow", "edit"],
        2,
        "--allow is for claude, codex and gemini",
    );
    check(&["--runtime", "claude", "--allow", "all"], 2, "it is read, edit or full");
    check(&["--runtime", "llm"], 2, "a runtime is claude, codex, gemini, or cmd:'COMMAND'");
    assert_eq!(desk.host.json(&["sessions"])["sessions"].as_array().map(Vec::len), Some(0));
}
