//! Claude Code: `--mcp-config`, `--settings` with our hooks, and a session id of our choice.

use serde_json::json;

use super::{Begin, CommandLine, Launch, Private, PrivateFile, has, with_values};
use crate::lanes::claude_inbox::hooks;

pub(super) fn line(launch: &Launch<'_>) -> CommandLine {
    let file = |name: &str, text: String| PrivateFile { path: launch.private.join(name), text };
    // The program puts the variable's value in itself.
    let servers = json!({"mcpServers": {"chorus": {
        "type": "http", "url": launch.url,
        "headers": {"Authorization": format!("Bearer ${{{}}}", launch.token_variable)},
    }}});
    let servers = file("claude-mcp.json", format!("{servers:#}\n"));
    let bypasses = has(launch.arguments, &["--dangerously-skip-permissions"])
        || with_values(launch.arguments, &["--permission-mode"])
            .iter()
            .any(|value| value.ends_with("bypassPermissions"));
    let settings = hooks::settings(&Private(launch.private).hooks(), bypasses);
    let settings = file("claude-settings.json", format!("{settings:#}\n"));

    let mut line = CommandLine { program: launch.program.to_owned(), ..CommandLine::default() };
    let path = |file: &PrivateFile| file.path.display().to_string();
    // These take several values each, so an option has to follow them.
    line.arguments = vec!["--mcp-config".to_owned(), path(&servers)];
    line.arguments.extend(["--allowedTools", "mcp__chorus"].map(str::to_owned));
    if has(launch.arguments, &["--settings"]) {
        line.notice = Some(
            "claude has settings of its own (--settings): wakes are confirmed by its status only"
                .to_owned(),
        );
        line.files = vec![servers];
    } else {
        line.arguments.extend(["--settings".to_owned(), path(&settings)]);
        line.files = vec![servers, settings];
    }
    match launch.begin {
        Begin::AsUser { id } => {
            let own = ["--session-id", "--resume", "-r", "--continue", "-c", "--from-pr"];
            if !has(launch.arguments, &own) {
                line.arguments.extend(["--session-id".to_owned(), id.to_owned()]);
                line.session = Some(id.to_owned());
            } else if line.notice.is_some() {
                // An option that takes one value, so that what follows is not taken for a tool.
                line.arguments.extend(["--add-dir", "."].map(str::to_owned));
            }
            line.arguments.extend(launch.arguments.iter().cloned());
        }
        Begin::Resume { session, prompt } => {
            line.arguments.extend(options(launch.arguments));
            let resume = ["--resume", session, "--", prompt];
            line.environment = plain_prompt();
            line.arguments.extend(resume.map(str::to_owned));
            line.session = Some(session.to_owned());
        }
        Begin::New { id, prompt } => {
            line.arguments.extend(options(launch.arguments));
            line.arguments.extend(["--session-id", id, "--", prompt].map(str::to_owned));
            line.environment = plain_prompt();
            line.session = Some(id.to_owned());
        }
    }
    line
}

/// Without this, `@/a/file` in anybody's message puts that file into the prompt. Only where the prompt is an argument: a
/// person at the keyboard may want it.
fn plain_prompt() -> Vec<(String, String)> {
    vec![("CLAUDE_CODE_DISABLE_ATTACHMENTS".to_owned(), "1".to_owned())]
}

/// The user's options that hold for another session too.
fn options(arguments: &[String]) -> Vec<String> {
    const VALUED: [&str; 5] =
        ["--model", "--permission-mode", "--effort", "--agent", "--append-system-prompt"];
    let mut options = with_values(arguments, &VALUED);
    let plain = "--dangerously-skip-permissions";
    if has(arguments, &[plain]) {
        options.push(plain.to_owned());
    }
    options
}
