//! Gemini CLI: `gemini --output-format stream-json`, headless because its standard input is no terminal.

use serde_json::Value;

use super::heard::Heard;
use super::{Allow, Cli};

#[derive(Debug)]
pub(super) struct Gemini;

impl Cli for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn install(&self) -> &'static str {
        "npm install -g @google/gemini-cli"
    }

    fn arguments(&self, allow: Allow, session: Option<&str>) -> Vec<String> {
        let mut arguments = vec!["--output-format", "stream-json", "--skip-trust"];
        // Headless, it has no tools of which it would have to ask.
        arguments.extend(match allow {
            Allow::Read => &["--approval-mode", "default", NO_SERVERS, "none"][..],
            Allow::Edit => &["--approval-mode", "auto_edit", NO_SERVERS, "none"],
            Allow::Full => &["--approval-mode", "yolo"],
        });
        if let Some(session) = session {
            arguments.extend(["--resume", session]);
        }
        arguments.into_iter().map(str::to_owned).collect()
    }

    /// `@scout` would put every file of the folder into the prompt that has such a name.
    fn plain(&self, prompt: &str) -> String {
        prompt.replace('@', "\\@")
    }

    fn answer(&self, answer: &str) -> String {
        answer.replace("\\@", "@")
    }

    fn hear(&self, line: &Value, heard: &mut Heard) {
        match line["type"].as_str() {
            Some("init") => heard.session(line["session_id"].as_str()),
            Some("message") if line["role"] == "assistant" => {
                let text = line["content"].as_str().unwrap_or_default();
                if line["delta"] == true { heard.says(text) } else { heard.says_whole(text) }
            }
            Some("tool_use") => {
                heard.acts(format!("uses {}", line["tool_name"].as_str().unwrap_or("a tool")));
            }
            Some("error") => {
                heard.has_trouble(line["message"].as_str().unwrap_or_default().to_owned());
            }
            Some("result") if line["status"] == "success" => heard.end = Some(Ok(())),
            Some("result") => {
                let why = line["error"]["message"].as_str().unwrap_or("no reason given");
                heard.end = Some(Err(why.to_owned()));
            }
            _ => {}
        }
    }

    fn session_is_lost(&self, words: &str) -> bool {
        ["Invalid session identifier", "No previous sessions found"]
            .iter()
            .any(|lost| words.contains(lost))
    }
}

/// Servers of tools that its user has set up are not started: one that is trusted would be used without a question.
const NO_SERVERS: &str = "--allowed-mcp-server-names";
