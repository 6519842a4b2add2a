//! Claude Code: `claude --print --output-format stream-json`.

use serde_json::Value;

use super::heard::Heard;
use super::{Allow, Cli};

#[derive(Debug)]
pub(super) struct Claude;

impl Cli for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn install(&self) -> &'static str {
        "npm install -g @anthropic-ai/claude-code"
    }

    fn arguments(&self, allow: Allow, session: Option<&str>) -> Vec<String> {
        let mut arguments = vec!["--print", "--output-format", "stream-json", "--verbose"];
        // What is not allowed is refused, since nobody is there to be asked; tools that run commands or speak to
        // the network are not there at all.
        arguments.extend(match allow {
            Allow::Read => {
                &["--permission-mode", "dontAsk", "--tools", READ, "--strict-mcp-config"][..]
            }
            Allow::Edit => {
                &["--permission-mode", "acceptEdits", "--tools", EDIT, "--strict-mcp-config"]
            }
            Allow::Full => &["--permission-mode", "bypassPermissions"],
        });
        if let Some(session) = session {
            arguments.extend(["--resume", session]);
        }
        arguments.into_iter().map(str::to_owned).collect()
    }

    /// Without this, `@/a/file` in anybody's message puts that file into the prompt, from everywhere on the machine and
    /// whatever is allowed.
    fn environment(&self) -> &'static [(&'static str, &'static str)] {
        &[("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1")]
    }

    fn hear(&self, line: &Value, heard: &mut Heard) {
        match line["type"].as_str() {
            Some("system") if line["subtype"] == "init" => {
                heard.session(line["session_id"].as_str());
            }
            Some("system") if line["subtype"] == "api_retry" => {
                let why = line["error"].as_str().unwrap_or("no answer");
                let status = &line["error_status"];
                heard.has_trouble(format!("the model could not be asked: {why} ({status})"));
            }
            Some("assistant") => {
                let blocks = line["message"]["content"].as_array().into_iter().flatten();
                for block in blocks.filter(|block| block["type"] == "tool_use") {
                    heard.acts(format!("uses {}", block["name"].as_str().unwrap_or("a tool")));
                }
            }
            Some("result") => {
                let text = line["result"].as_str().unwrap_or_default();
                let failed = line["is_error"] == true || line["subtype"] != "success";
                heard.says_whole(text);
                heard.end = Some(if failed { Err(failure(line, text)) } else { Ok(()) });
            }
            _ => {}
        }
    }

    fn session_is_lost(&self, words: &str) -> bool {
        words.contains("No conversation found with session ID")
    }
}

const READ: &str = "Read,Grep,Glob";
const EDIT: &str = "Read,Grep,Glob,Edit,Write,NotebookEdit";

fn failure(result: &Value, text: &str) -> String {
    let errors = result["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let errors = errors.collect::<Vec<_>>().join("; ");
    let subtype = result["subtype"].as_str().unwrap_or("no reason given");
    [text, &errors, subtype].into_iter().find(|why| !why.is_empty()).unwrap_or_default().to_owned()
}
