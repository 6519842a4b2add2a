//! Codex: `codex exec --json`, and `codex exec resume`.

use serde_json::Value;

use super::heard::Heard;
use super::{Allow, Cli};

#[derive(Debug)]
pub(super) struct Codex;

impl Cli for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn install(&self) -> &'static str {
        "npm install -g @openai/codex"
    }

    fn may(&self, allow: Allow) -> &'static str {
        match allow {
            Allow::Read => {
                "may read your files and run commands that change nothing; --allow edit lets it \
                 change files there"
            }
            Allow::Edit => {
                "may read your files, and run commands that change only files there and temporary \
                 ones; --allow full lifts that"
            }
            Allow::Full => "may do everything that you may, without asking",
        }
    }

    fn arguments(&self, allow: Allow, session: Option<&str>) -> Vec<String> {
        // Settings, since `resume` does not take the flag for the sandbox.
        let sandbox = match allow {
            Allow::Read => "sandbox_mode=\"read-only\"",
            Allow::Edit => "sandbox_mode=\"workspace-write\"",
            Allow::Full => "sandbox_mode=\"danger-full-access\"",
        };
        let mut arguments = vec!["exec", "--json", "--skip-git-repo-check"];
        arguments.extend(["-c", sandbox, "-c", "approval_policy=\"never\""]);
        if let Some(session) = session {
            arguments.extend(["resume", session]);
        }
        // The prompt comes on standard input.
        arguments.push("-");
        arguments.into_iter().map(str::to_owned).collect()
    }

    /// Its errors come with a backtrace, which would push out what they say.
    fn environment(&self) -> &'static [(&'static str, &'static str)] {
        &[("RUST_LIB_BACKTRACE", "0")]
    }

    fn hear(&self, line: &Value, heard: &mut Heard) {
        let item = &line["item"];
        match line["type"].as_str() {
            Some("thread.started") => heard.session(line["thread_id"].as_str()),
            Some("item.started") => heard.acts(match item["type"].as_str() {
                Some("command_execution") => "runs a command".to_owned(),
                Some("file_change") => "changes files".to_owned(),
                Some("mcp_tool_call") => {
                    format!("uses {}", item["tool"].as_str().unwrap_or("a tool"))
                }
                Some("web_search") => "searches the web".to_owned(),
                _ => return,
            }),
            Some("item.completed") if item["type"] == "agent_message" => {
                heard.says_whole(item["text"].as_str().unwrap_or_default());
            }
            Some("error") => {
                heard.has_trouble(line["message"].as_str().unwrap_or_default().to_owned());
            }
            Some("turn.completed") => heard.end = Some(Ok(())),
            Some("turn.failed") => {
                let why = line["error"]["message"].as_str().unwrap_or("no reason given");
                heard.end = Some(Err(why.to_owned()));
            }
            _ => {}
        }
    }

    fn session_is_lost(&self, words: &str) -> bool {
        words.contains("no rollout found")
    }
}
