//! Gemini CLI: a system settings file of ours, named by a variable, and a session id of our choice.
//!
//! Gemini skips such a file unless it and all its folders belong to root; so for others this is of no use, and they are
//! told; an entry with `$CHORUS_TOKEN` speaks as whichever agent runs. Over ACP the server is given in the protocol, for everybody ([`crate::lanes::acp`]).

use serde_json::json;

use super::{Begin, CommandLine, Launch, PrivateFile, has, with_values};

const VARIABLE: &str = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";

pub(super) fn line(launch: &Launch<'_>) -> CommandLine {
    let mut line = CommandLine { program: launch.program.to_owned(), ..CommandLine::default() };
    if launch.root {
        let settings = json!({"mcpServers": {"chorus": {
            "httpUrl": launch.url, "trust": true,
            "headers": {"Authorization": format!("Bearer ${{{}}}", launch.token_variable)},
        }}});
        let path = launch.private.join("gemini-settings.json");
        line.environment = vec![(VARIABLE.to_owned(), path.display().to_string())];
        line.files = vec![PrivateFile { path, text: format!("{settings:#}\n") }];
    } else {
        line.notice = Some(
            "gemini takes MCP servers only from its own settings; add once: chorus mcp config --for gemini"
                .to_owned(),
        );
    }
    match launch.begin {
        Begin::AsUser { id } => {
            let own = ["--session-id", "--resume", "-r", "--session-file", "--acp"];
            if !has(launch.arguments, &own) {
                line.arguments = vec!["--session-id".to_owned(), id.to_owned()];
                line.session = Some(id.to_owned());
            }
            line.arguments.extend(launch.arguments.iter().cloned());
        }
        Begin::Resume { session, prompt } => {
            line.arguments = options(launch.arguments);
            line.arguments.extend(["--resume", session].map(str::to_owned));
            line.arguments.push(first(prompt));
            line.session = Some(session.to_owned());
        }
        Begin::New { id, prompt } => {
            line.arguments = options(launch.arguments);
            line.arguments.extend(["--session-id", id].map(str::to_owned));
            line.arguments.push(first(prompt));
            line.session = Some(id.to_owned());
        }
    }
    line
}

/// The prompt as an argument. `@scout` would put every file of the folder into it that has such a name.
fn first(prompt: &str) -> String {
    format!("--prompt-interactive={}", prompt.replace('@', "\\@"))
}

/// The user's options that hold for another session too.
fn options(arguments: &[String]) -> Vec<String> {
    let mut options = with_values(arguments, &["-m", "--model", "--approval-mode"]);
    for plain in ["--yolo", "-y", "--skip-trust"] {
        if has(arguments, &[plain]) {
            options.push(plain.to_owned());
        }
    }
    options
}
