#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::os::unix::fs::PermissionsExt;

use super::*;

const ID: &str = "7b1a0000-0000-4000-8000-000000000001";

fn line(kind: Kind, program: &str, arguments: &[&str], begin: Begin<'_>) -> CommandLine {
    let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
    command_line(&Launch {
        kind,
        program,
        arguments: &arguments,
        url: "http://127.0.0.1:7717/mcp",
        token_variable: "CHORUS_TOKEN",
        private: Path::new("/p"),
        root: true,
        beside: true,
        begin,
    })
}

const AS_USER: Begin<'static> = Begin::AsUser { id: ID };
const RESUME: Begin<'static> = Begin::Resume { session: "s-1", prompt: "read th_1" };
const NEW: Begin<'static> = Begin::New { id: ID, prompt: "read th_1" };
const REMOTE: &str = "--remote unix:///p/codex.sock";
const CLAUDE: &str =
    "--mcp-config /p/claude-mcp.json --allowedTools mcp__chorus --settings /p/claude-settings.json";

#[test]
fn programs_start_with_our_arguments_and_the_users() {
    let check = |kind, program: &str, own: &[&str], begin, wanted: &str| {
        assert_eq!(
            line(kind, program, own, begin).arguments.join(" "),
            wanted,
            "{program} {own:?}"
        );
    };
    let codex = |own: &[&str], begin, wanted: &str| check(Kind::Codex, "codex", own, begin, wanted);
    codex(&[], AS_USER, REMOTE);
    codex(&["-m", "o3", "fix it"], AS_USER, &format!("{REMOTE} -m o3 fix it"));
    codex(&["resume", "--last"], AS_USER, &format!("resume {REMOTE} --last"));
    codex(&["--remote", "ws://x"], AS_USER, "--remote ws://x");
    codex(&["-m", "o3", "fix it"], RESUME, &format!("resume {REMOTE} -m o3 -- s-1 read th_1"));
    codex(
        &["-s", "read-only", "--search"],
        NEW,
        &format!("{REMOTE} -s read-only --search -- read th_1"),
    );

    let claude = |own: &[&str], begin, wanted: &str| {
        check(Kind::Claude, "claude", own, begin, &format!("{CLAUDE} {wanted}"));
    };
    claude(&["fix it"], AS_USER, &format!("--session-id {ID} fix it"));
    claude(&["--continue"], AS_USER, "--continue");
    claude(&["--model", "opus", "fix it"], RESUME, "--model opus --resume s-1 -- read th_1");
    claude(&[], NEW, &format!("--session-id {ID} -- read th_1"));

    let gemini =
        |own: &[&str], begin, wanted: &str| check(Kind::Gemini, "gemini", own, begin, wanted);
    gemini(&["-y"], AS_USER, &format!("--session-id {ID} -y"));
    gemini(&["-y", "fix it"], RESUME, "-y --resume s-1 --prompt-interactive=read th_1");
    gemini(&[], NEW, &format!("--session-id {ID} --prompt-interactive=read th_1"));

    check(Kind::Other, "aider", &["--yes"], AS_USER, "--yes");
}

#[test]
fn a_prompt_names_no_files_and_is_no_option() {
    let begin = Begin::Resume { session: "s-1", prompt: "-m @scout" };
    let last = |kind, program| line(kind, program, &[], begin).arguments.split_off(1).join(" ");
    assert!(last(Kind::Codex, "codex").ends_with("-- s-1 -m @scout"));
    assert!(last(Kind::Claude, "claude").ends_with("--resume s-1 -- -m @scout"));
    assert_eq!(last(Kind::Gemini, "gemini"), "s-1 --prompt-interactive=-m \\@scout");
    let environment = line(Kind::Claude, "claude", &[], begin).environment;
    assert_eq!(environment[0].0, "CLAUDE_CODE_DISABLE_ATTACHMENTS");
    assert_eq!(line(Kind::Claude, "claude", &[], AS_USER).environment, []);
}

#[test]
fn codex_has_a_server_of_the_runners_with_the_users_settings() {
    let server = line(Kind::Codex, "codex", &["-c", "model=\"o3\"", "--search"], AS_USER).beside;
    let server = server.unwrap();
    assert_eq!(server.socket, Path::new("/p/codex.sock"));
    assert_eq!(
        server.arguments.join(" "),
        "app-server --listen unix:///p/codex.sock \
         -c mcp_servers.chorus.url=\"http://127.0.0.1:7717/mcp\" \
         -c mcp_servers.chorus.bearer_token_env_var=\"CHORUS_TOKEN\" \
         -c mcp_servers.chorus.default_tools_approval_mode=\"approve\" -c model=\"o3\"",
    );
    // Where that does not come up, Codex has the same settings and no socket.
    let launch = Launch {
        kind: Kind::Codex,
        program: "codex",
        arguments: &[],
        url: "http://h/mcp",
        token_variable: "CHORUS_TOKEN",
        private: Path::new("/p"),
        root: false,
        beside: false,
        begin: RESUME,
    };
    let alone = command_line(&launch);
    assert_eq!((alone.beside, alone.arguments.len()), (None, 10));
    assert!(alone.arguments.join(" ").starts_with("resume -c mcp_servers.chorus.url="));
    // What does not open the terminal interface has no socket, and is given the server all the same.
    let other = line(Kind::Codex, "codex", &["exec", "hello"], AS_USER);
    assert_eq!(other.beside, None);
    assert!(other.arguments.join(" ").ends_with("=\"approve\" exec hello"), "{other:?}");
}

#[test]
fn the_token_is_named_and_never_written() {
    for (kind, program) in
        [(Kind::Codex, "codex"), (Kind::Claude, "claude"), (Kind::Gemini, "gemini")]
    {
        let line = line(kind, program, &[], AS_USER);
        let all = format!("{line:?}");
        assert!(all.contains("CHORUS_TOKEN") && all.contains("7717/mcp"), "{all}");
    }
}

#[test]
fn files_are_for_this_user_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("private/settings.json");
    let files = vec![PrivateFile { path: path.clone(), text: "{}".into() }];
    let line = CommandLine { files, ..CommandLine::default() };
    line.write_files().unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    line.write_files().unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn what_cannot_be_given_by_arguments_is_told() {
    let own = line(Kind::Claude, "claude", &["--settings", "mine.json"], AS_USER);
    assert!(own.notice.is_some() && own.files.len() == 1, "{own:?}");
    let mut launch = Launch {
        kind: Kind::Gemini,
        program: "gemini",
        arguments: &[],
        url: "http://h/mcp",
        token_variable: "CHORUS_TOKEN",
        private: Path::new("/p"),
        root: false,
        beside: true,
        begin: AS_USER,
    };
    let told = command_line(&launch);
    assert!(told.notice.unwrap().contains("chorus mcp config --for gemini"));
    assert_eq!((told.files, told.environment), (vec![], vec![]));
    launch.root = true;
    assert_eq!(command_line(&launch).notice, None);
}
