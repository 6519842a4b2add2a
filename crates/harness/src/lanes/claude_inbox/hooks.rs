//! What Claude Code tells through its hooks: the settings that have it write, and the reader.
//!
//! A hook writes one file for each event into the runner's private folder, first under another name, so that no half of
//! one is read. Invariants: a hook prints nothing, because Claude Code would show that to its model, and never fails.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};

/// Events of the hooks that say what a session does.
const EVENTS: [&str; 4] = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"];
/// Files that are kept: more than a turn has events.
const KEPT: usize = 64;
/// A longer event is not read; a prompt of ours has 8 KiB, and an answer seldom more.
const EVENT_BYTES: u64 = 1024 * 1024;
const INBOX: &str = "inbox";

/// The settings that install the hooks. `accept` lets a session without permission checks take our mail, which it would
/// otherwise hold and drop; where there are checks, the person's own setting stays.
pub fn settings(folder: &Path, accept: bool) -> Value {
    let mut hooks = serde_json::Map::new();
    for event in EVENTS {
        let command = command(folder, event);
        hooks.insert(
            event.to_owned(),
            json!([{"hooks": [{"type": "command", "command": command, "timeout": 10}]}]),
        );
    }
    let mut settings = json!({"hooks": hooks});
    if accept {
        settings["crossSessionInbound"] = "accept".into();
    }
    settings
}

fn command(folder: &Path, event: &str) -> String {
    let folder = folder.display().to_string().replace('\'', r"'\''");
    let keep = format!(r#"cat >"$d/.$$" && mv "$d/.$$" "$d/{event}.$$""#);
    // Only here the program says where its inbox is.
    let inbox = match event {
        "SessionStart" => format!(
            r#"printf '%s\n' "$CLAUDE_CODE_MESSAGING_SOCKET" "$CLAUDE_CODE_MESSAGING_TOKEN" "$CLAUDE_PID" "$CLAUDE_CODE_SESSION_ID" >"$d/.i$$" && mv "$d/.i$$" "$d/{INBOX}"; "#
        ),
        _ => String::new(),
    };
    format!(
        "{{ umask 077; d='{folder}'; mkdir -p \"$d\"; {inbox}{keep}; }} >/dev/null 2>&1; exit 0"
    )
}

/// What the hooks of one runner's sessions have written.
#[derive(Clone, Debug)]
pub struct Hooks {
    folder: PathBuf,
}

/// Where a session takes messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox {
    pub socket: PathBuf,
    pub token: String,
    pub process: Option<u32>,
    /// The newest session in that process: what `resume` needs.
    pub session: Option<String>,
}

/// One thing that a session did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub at: SystemTime,
    pub kind: String,
    pub session: Option<String>,
    /// The id that the events of one turn have in common.
    pub prompt_id: Option<String>,
    pub prompt: String,
    /// What the agent said at the end of the turn.
    pub last: String,
    /// The session's transcript.
    pub transcript: Option<PathBuf>,
}

impl Hooks {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The inbox, if the session has one and its hooks have run.
    pub fn inbox(&self) -> Option<Inbox> {
        let text = fs::read_to_string(self.folder.join(INBOX)).ok()?;
        let mut lines = text.lines();
        let mut next = || lines.next().unwrap_or_default().to_owned();
        let (socket, token, process, session) = (next(), next(), next(), next());
        (!socket.is_empty()).then(|| Inbox {
            socket: socket.into(),
            token,
            process: process.parse().ok(),
            session: Some(session).filter(|session| !session.is_empty()),
        })
    }

    /// Whether hooks run at all: a user can have them switched off.
    pub fn run(&self) -> bool {
        self.folder.join(INBOX).exists()
    }

    /// What has happened, the oldest first. Files beyond the newest few are removed.
    pub fn events(&self) -> Vec<Event> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<(SystemTime, PathBuf)> = files
            .filter(|file| {
                let name = file.file_name();
                let name = name.to_string_lossy();
                EVENTS
                    .iter()
                    .any(|event| name.strip_prefix(event).is_some_and(|n| n.starts_with('.')))
            })
            .filter_map(|file| {
                let data = file.metadata().ok().filter(|data| data.len() <= EVENT_BYTES)?;
                Some((data.modified().ok()?, file.path()))
            })
            .collect();
        files.sort_by_key(|(at, _)| Reverse(*at));
        for (_, old) in files.drain(files.len().min(KEPT)..) {
            let _ = fs::remove_file(old);
        }
        files.into_iter().rev().filter_map(|(at, path)| event(at, &path)).collect()
    }

    /// Forgets everything, before the program is started anew.
    pub fn clear(&self) {
        for file in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let _ = fs::remove_file(file.path());
        }
    }
}

fn event(at: SystemTime, path: &Path) -> Option<Event> {
    let event: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let text = |name: &str| event[name].as_str().map(str::to_owned);
    Some(Event {
        at,
        kind: text("hook_event_name")?,
        session: text("session_id"),
        prompt_id: text("prompt_id"),
        prompt: text("prompt").unwrap_or_default(),
        last: text("last_assistant_message").unwrap_or_default(),
        transcript: text("transcript_path").map(PathBuf::from),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};

    use super::*;

    /// Runs the hook as Claude Code does, and gives what it printed.
    fn fire(settings: &Value, event: &str, input: &Value) -> String {
        let command = settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
        let mut hook = Command::new("sh");
        hook.args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        hook.env("CLAUDE_CODE_MESSAGING_SOCKET", "/s").env("CLAUDE_CODE_MESSAGING_TOKEN", "tok");
        hook.env("CLAUDE_PID", "12").env("CLAUDE_CODE_SESSION_ID", "s-1");
        let mut hook = hook.spawn().unwrap();
        hook.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        let output = hook.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    #[test]
    fn a_hook_writes_its_event_and_prints_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("it's here");
        let (settings, hooks) = (settings(&folder, false), Hooks::new(folder.clone()));
        assert!(!hooks.run() && hooks.inbox().is_none() && hooks.events().is_empty());
        let start = json!({"hook_event_name": "SessionStart", "session_id": "s-1"});
        assert_eq!(fire(&settings, "SessionStart", &start), "");
        let inbox = Inbox {
            socket: "/s".into(),
            token: "tok".into(),
            process: Some(12),
            session: Some("s-1".into()),
        };
        assert_eq!(hooks.inbox(), Some(inbox));
        let prompt = "line 1\nline \"2\" \u{1b}[0m ä";
        let submit = json!({
            "hook_event_name": "UserPromptSubmit", "session_id": "s-1", "prompt_id": "p-1",
            "prompt": prompt, "transcript_path": "/t.jsonl",
        });
        assert_eq!(fire(&settings, "UserPromptSubmit", &submit), "");
        let events = hooks.events();
        assert_eq!((events.len(), events[1].prompt.as_str()), (2, prompt));
        assert_eq!(events[1].prompt_id.as_deref(), Some("p-1"));
        for file in fs::read_dir(&folder).unwrap().flatten() {
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0);
        }
        hooks.clear();
        assert!(!hooks.run() && hooks.events().is_empty());
    }

    #[test]
    fn old_events_go_and_half_ones_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = Hooks::new(folder.path().to_owned());
        for n in 0..KEPT + 10 {
            let event = json!({"hook_event_name": "Stop", "prompt_id": n.to_string()});
            fs::write(folder.path().join(format!("Stop.{n}")), event.to_string()).unwrap();
        }
        fs::write(folder.path().join("Stop.half"), "{\"hook").unwrap();
        fs::write(folder.path().join(".Stop"), "{}").unwrap();
        assert_eq!(hooks.events().len(), KEPT - 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), KEPT + 1);
    }

    #[test]
    fn mail_is_accepted_only_where_there_are_no_permission_checks() {
        let folder = Path::new("/f");
        assert_eq!(settings(folder, false).get("crossSessionInbound"), None);
        assert_eq!(settings(folder, true)["crossSessionInbound"], "accept");
    }
}
