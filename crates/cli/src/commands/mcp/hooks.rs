//! Hooks in a program's settings, which run `chorus hook`: with them it says that its sessions are there, and is told of its
//! agent's mail.
//!
//! Claude Code, Codex and Gemini CLI write them alike: `hooks.<event>` is a list of groups, and a group has commands.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::settings::{Settings, Unreadable, folder};
use super::{Program, json_list};
use crate::failure::{Failure, Result};

const SECTION: &str = "hooks";
/// A hook of ours ends within a few seconds, also when the host does not answer.
const SECONDS: u64 = 10;
/// When hooks run: a session begins, a prompt is sent, a turn ends, a session ends.
const EVENTS: &[&str] = &["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"];
const GEMINI_EVENTS: &[&str] = &["SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"];
/// Codex tells of no session's end.
const CODEX_EVENTS: &[&str] = &["SessionStart", "UserPromptSubmit", "Stop"];

type Changed<T> = std::result::Result<T, Unreadable>;

/// The file that has the program's hooks, as it is now.
pub(super) fn open(program: Program) -> Result<Settings> {
    Settings::open(program, Some(&path(program)?))
}

fn path(program: Program) -> Result<PathBuf> {
    Ok(match program {
        Program::Codex => folder("CODEX_HOME", ".codex")?.join("hooks.json"),
        Program::Claude => folder("CLAUDE_CONFIG_DIR", ".claude")?.join("settings.json"),
        _ => folder("", ".gemini")?.join("settings.json"),
    })
}

fn events(program: Program) -> &'static [&'static str] {
    match program {
        Program::Codex => CODEX_EVENTS,
        Program::Gemini => GEMINI_EVENTS,
        _ => EVENTS,
    }
}

/// What a hook runs: this very program, which need not be on the path of the program's terminal.
pub(super) fn command(program: Program) -> Result<String> {
    let own = std::env::current_exe().map_err(|e| Failure::here("cannot find chorus itself", e))?;
    let own = own.display().to_string().replace('\'', r"'\''");
    Ok(format!("'{own}'{}", ending(program)))
}

fn ending(program: Program) -> String {
    format!(" hook --for {}", program.agent())
}

/// The text with our hooks, and without those of an earlier time.
pub(super) fn with(program: Program, text: &str, command: &str) -> Changed<String> {
    let mut text = without(program, text)?.unwrap_or_else(|| text.to_owned());
    let hook = match program {
        Program::Gemini => json!({
            "name": "chorus", "type": "command", "command": command, "timeout": SECONDS * 1_000,
        }),
        _ => json!({"type": "command", "command": command, "timeout": SECONDS}),
    };
    let group = json!({ "hooks": [hook] });
    for event in events(program) {
        text = json_list::append(&text, SECTION, event, &group).map_err(Unreadable)?;
    }
    Ok(text)
}

/// The text without our hooks; none if it has none.
pub(super) fn without(program: Program, text: &str) -> Changed<Option<String>> {
    let ending = ending(program);
    let is_ours = |group: &Value| {
        let hooks = group["hooks"].as_array().map(Vec::as_slice).unwrap_or_default();
        let runs_ours =
            |hook: &Value| hook["command"].as_str().is_some_and(|c| c.ends_with(&ending));
        !hooks.is_empty() && hooks.iter().all(runs_ours)
    };
    let mut left = None;
    for event in events(program) {
        let now = left.as_deref().unwrap_or(text);
        left = json_list::remove(now, SECTION, event, is_ours).map_err(Unreadable)?.or(left);
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: OPS-541
    #[test]
    fn hooks_are_put_beside_those_of_others_and_taken_out_again() {
        let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#;
        for program in [Program::Codex, Program::Claude, Program::Gemini] {
            let put = with(program, text, &format!("'/old'{}", ending(program))).unwrap();
            let again = with(program, &put, &format!("'/new'{}", ending(program))).unwrap();
            assert!(!again.contains("/old") && again.contains("mine"), "{again}");
            assert_eq!(again.matches("/new").count(), events(program).len(), "{again}");
            let gone = without(program, &again).unwrap().unwrap();
            let (gone, text): (Value, Value) =
                (serde_json::from_str(&gone).unwrap(), serde_json::from_str(text).unwrap());
            assert_eq!(gone, text);
            assert!(without(program, &gone.to_string()).unwrap().is_none());
        }
    }
}
