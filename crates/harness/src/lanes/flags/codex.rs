//! Codex: an app-server of the runner's with our MCP server in its settings, and the terminal program on its socket.
//!
//! A `codex` with settings of its own (`-c`) does not use the user's shared app-server but one inside itself, which has
//! no socket. And the shared one would read the token from the variables of whoever started it first. So each runner has
//! its own, which has the runner's token and ends with the runner.

use super::{Begin, Beside, CommandLine, Launch, Private, with_values};

/// Options that are settings, and so are the server's too.
const SETTINGS: [&str; 6] = ["-c", "--config", "--enable", "--disable", "-p", "--profile"];
/// Commands with which `codex` opens its terminal interface.
const IN_TERMINAL: [&str; 2] = ["resume", "fork"];
/// Commands that do something else and end. They get the MCP server, and no socket.
const OTHERS: [&str; 27] = [
    "agents",
    "exec",
    "e",
    "review",
    "login",
    "logout",
    "mcp",
    "plugin",
    "app-server",
    "remote-control",
    "completion",
    "update",
    "doctor",
    "sandbox",
    "debug",
    "apply",
    "a",
    "queue",
    "archive",
    "delete",
    "migrate-rollouts",
    "migrate-nfs-db",
    "unarchive",
    "cloud",
    "exec-server",
    "features",
    "help",
];

pub(super) fn line(launch: &Launch<'_>) -> CommandLine {
    let settings = settings(launch);
    let socket = Private(launch.private).codex_socket();
    let mut line = CommandLine { program: launch.program.to_owned(), ..CommandLine::default() };
    let arguments = launch.arguments;
    let first = arguments.iter().find(|argument| !argument.starts_with('-')).map(String::as_str);
    let remote = match launch.beside {
        true => vec!["--remote".to_owned(), format!("unix://{}", socket.display())],
        false => settings.clone(),
    };
    match launch.begin {
        Begin::AsUser { .. } if first.is_some_and(|first| OTHERS.contains(&first)) => {
            line.arguments = [settings, arguments.to_vec()].concat();
            return line;
        }
        Begin::AsUser { .. }
            if arguments.iter().any(|argument| argument.starts_with("--remote")) =>
        {
            // The user has a server already; it is theirs.
            line.arguments = arguments.to_vec();
            return line;
        }
        Begin::AsUser { .. } => {
            let command =
                usize::from(arguments.first().is_some_and(|a| IN_TERMINAL.contains(&a.as_str())));
            let (before, after) = arguments.split_at(command);
            line.arguments = [before, &remote[..], after].concat();
        }
        Begin::Resume { session, prompt } => {
            line.arguments = vec!["resume".to_owned()];
            line.arguments.extend(remote);
            line.arguments.extend(options(arguments));
            line.arguments.extend(["--", session, prompt].map(str::to_owned));
            line.session = Some(session.to_owned());
        }
        Begin::New { prompt, .. } => {
            line.arguments = remote;
            line.arguments.extend(options(arguments));
            line.arguments.extend(["--", prompt].map(str::to_owned));
        }
    }
    if !launch.beside {
        return line;
    }
    let listen = ["app-server", "--listen"].map(str::to_owned);
    let mut server = listen.to_vec();
    server.push(format!("unix://{}", socket.display()));
    server.extend(settings);
    server.extend(with_values(arguments, &SETTINGS[..4]));
    line.beside = Some(Beside { arguments: server, socket });
    line
}

/// Our MCP server, whose tools run without a person being asked: a turn that was woken has nobody at the keyboard.
fn settings(launch: &Launch<'_>) -> Vec<String> {
    let of = |name: &str, value: &str| {
        ["-c".to_owned(), format!("mcp_servers.chorus.{name}={}", toml(value))]
    };
    [
        of("url", launch.url),
        of("bearer_token_env_var", launch.token_variable),
        of("default_tools_approval_mode", "approve"),
    ]
    .concat()
}

/// A string of TOML.
fn toml(text: &str) -> String {
    // JSON's escapes are all TOML's too.
    serde_json::Value::from(text).to_string()
}

/// The user's options, without the session and the prompt of the first start.
fn options(arguments: &[String]) -> Vec<String> {
    const VALUED: [&str; 12] = [
        "-c",
        "--config",
        "--enable",
        "--disable",
        "-p",
        "--profile",
        "-m",
        "--model",
        "-s",
        "--sandbox",
        "-a",
        "--ask-for-approval",
    ];
    const PLAIN: [&str; 4] =
        ["--search", "--oss", "--full-auto", "--dangerously-bypass-approvals-and-sandbox"];
    let mut options = with_values(arguments, &VALUED);
    let plain = arguments.iter().filter(|argument| PLAIN.contains(&argument.as_str()));
    options.extend(plain.cloned());
    options
}
