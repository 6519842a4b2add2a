//! `chorus mcp setup`: an agent, its token and the entry in a program's settings, in one go and back.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::cli::{Ran, chorus, run, words};
use crate::host::Host;

/// Somebody's home on the machine of a host.
struct Home {
    host: Host,
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { host: Host::with_room(&[]), folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        // Temporary folders may be links.
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs `chorus mcp setup` in the home.
    fn setup(&self, arguments: &[&str]) -> Ran {
        run(&mut self.command(arguments))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = chorus();
        command.args(["mcp", "setup"]).args(words(arguments)).arg("--data").arg(self.host.data());
        command.current_dir(self.folder.path()).env("HOME", self.folder.path());
        command.env_remove("CODEX_HOME").env_remove("CLAUDE_CONFIG_DIR");
        command
    }

    /// The channels that a token shows, or the code of the refusal.
    fn channels(&self, token: &str) -> Result<String, i32> {
        let ran =
            run(chorus().args(["channel", "list", "--url", &self.host.url(), "--token", token]));
        if ran.code == 0 { Ok(ran.out) } else { Err(ran.code) }
    }
}

fn token(text: &str) -> String {
    let from = text.find("Bearer ").unwrap_or_else(|| panic!("{text}")) + "Bearer ".len();
    text[from..].split('"').next().unwrap().to_owned()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

const PROGRAMS: [(&str, &str, &str); 5] = [
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel   = 'x' # why\n\n[mcp_servers.o]\ncommand = \"o\"\n",
    ),
    (
        "claude",
        ".claude.json",
        "{\n  \"numStartups\": 1.0,\n  \"mcpServers\": {\n    \"o\": {}\n  }\n}\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n\t\"mcpServers\": {\n\t\t\"o\": {}\n\t},\n\t\"é\": [1,2]\n}",
    ),
    ("cursor", ".cursor/mcp.json", "{\"mcpServers\":{\"o\":{\"a\":1e2}}}"),
    (
        "vscode",
        ".vscode/mcp.json",
        "{\r\n    \"servers\": {\r\n        \"o\": {}\r\n    }\r\n}\r\n",
    ),
];

// covers: OPS-540, OPS-541, OPS-542, OPS-543
#[test]
fn a_program_is_set_up_in_one_go_and_back() {
    let home = Home::new();
    for (program, file, mine) in PROGRAMS {
        home.put(file, mine);
        let arguments = ["--for", program, "--channel", "ops", "--yes"];
        let said = home.setup(&arguments).ok().out;
        let text = home.text(file);
        let first = token(&text);
        assert_eq!(mode(&home.path(file)), 0o600);
        assert!(text.contains(&format!("{}/v1/mcp?names=underscore", home.host.url())), "{text}");
        assert!(home.channels(&first).unwrap().contains("#ops"));
        // What is done was shown, and the token was not.
        for shown in ["+ ", "Bearer …", &format!("@{program}"), "#ops", "365 days", "next: ", file]
        {
            assert!(said.contains(shown), "{shown:?} is not in:\n{said}");
        }
        assert!(!said.contains(&first), "{said}");
        let members = home.host.json(&["channel", "show", "ops"]).to_string();
        assert!(members.contains(&format!("\"{program}\"")), "{members}");

        // Once more there is still one entry, and the token before has ended.
        let said = home.setup(&arguments).ok().out;
        let text = home.text(file);
        let second = token(&text);
        assert_eq!(text.matches("/v1/mcp").count(), 1, "{text}");
        assert!(said.contains("revoked") && home.channels(&first).is_err(), "{said}");
        assert!(home.channels(&second).is_ok());

        let said = home.setup(&["--for", program, "--undo", "--yes"]).ok().out;
        assert_eq!(home.text(file), mine);
        assert!(said.contains("revoked its token") && home.channels(&second).is_err(), "{said}");
        assert!(!said.contains(&second), "{said}");
        let said = home.setup(&["--for", program, "--undo", "--yes"]).ok().out;
        assert!(said.contains("nothing to undo"), "{said}");
    }
}

// covers: OPS-540, OPS-542
#[test]
fn a_new_file_is_private_and_programs_are_told_in_json() {
    let home = Home::new();
    let arguments = ["--for", "claude", "--agent", "@helper", "--ttl", "7d", "--yes", "--json"];
    let said = home.setup(&arguments).ok().json();
    assert_eq!((&said["agent"], &said["new_agent"]), (&json!("helper"), &json!(true)));
    assert_eq!(said["file"], json!(home.path(".claude.json")));
    assert_eq!(mode(&home.path(".claude.json")), 0o600);
    let settings: Value = serde_json::from_str(&home.text(".claude.json")).unwrap();
    let entry = &settings["mcpServers"]["chorus"];
    assert_eq!(entry["type"], "http");
    let token = token(&home.text(".claude.json"));
    assert!(!said.to_string().contains(&token));
    let whose =
        run(chorus().args(["post", "x", "y", "--url", &home.host.url(), "--token", &token]));
    assert!(!whose.err.contains("UNAUTHORIZED"), "{}", whose.err);
    let undone = home.setup(&["--for", "claude", "--undo", "--yes", "--json"]).ok().json();
    assert_eq!(undone["removed"], true);
    assert!(undone["token"]["revoked"]["jti"].is_string(), "{undone}");
}

// covers: OPS-541
#[test]
fn a_link_stays_a_link_and_a_checkout_is_told_of() {
    let home = Home::new();
    home.put("dotfiles/codex.toml", "model = 'x'\n");
    fs::create_dir_all(home.path("dotfiles/.git")).unwrap();
    fs::create_dir_all(home.path(".codex")).unwrap();
    let link = home.path(".codex/config.toml");
    std::os::unix::fs::symlink(home.path("dotfiles/codex.toml"), &link).unwrap();
    let said = home.setup(&["--for", "codex", "--yes"]).ok().out;
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(home.text("dotfiles/codex.toml").contains("[mcp_servers.chorus]"));
    assert!(said.contains("do not commit"), "{said}");
}

// covers: OPS-540, OPS-544
#[test]
fn nothing_is_made_where_nobody_agrees_or_something_is_wrong() {
    let home = Home::new();
    home.put(".gemini/settings.json", "{\n  // mine\n  \"a\": 1\n}\n");
    let cases: [(&[&str], &[&str]); 5] = [
        (&["--for", "codex"], &["--yes"]),
        (&["--for", "gemini", "--yes"], &["settings.json is left as it is", "by hand"]),
        (&["--for", "codex", "--yes", "--channel", "opps"], &["opps"]),
        (&["--for", "codex", "--yes", "--agent", "alice"], &["alice is a person"]),
        (&["--for", "stdio", "--yes"], &["chorus mcp config --for stdio"]),
    ];
    for (arguments, says) in cases {
        let ran = home.setup(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}: {}", ran.out);
        for words in says {
            assert!(ran.err.contains(words), "{arguments:?}: {words:?} is not in {}", ran.err);
        }
    }
    // What to add is printed where it cannot be put.
    let said = home.setup(&["--for", "gemini", "--yes"]).out;
    assert!(said.contains("httpUrl") && said.contains("chorus token issue"), "{said}");
    assert_eq!(home.text(".gemini/settings.json"), "{\n  // mine\n  \"a\": 1\n}\n");
    assert!(!home.path(".codex/config.toml").exists());
    let members = home.host.json(&["member", "list"]).to_string();
    for program in ["codex", "gemini"] {
        assert!(!members.contains(program), "{members}");
    }
    assert!(!home.host.json(&["token", "list"]).to_string().contains("codex"));
}

// covers: OPS-543
#[test]
fn an_entry_is_taken_out_while_the_host_is_away() {
    let mut home = Home::new();
    home.setup(&["--for", "cursor", "--yes"]).ok();
    home.host.stop();
    let said = home.setup(&["--for", "cursor", "--undo", "--yes"]).ok().out;
    assert!(said.contains("may still be valid") && said.contains("chorus token list"), "{said}");
    assert!(!home.text(".cursor/mcp.json").contains("Bearer"));
}

// covers: OPS-544
#[test]
fn an_entry_that_is_not_ours_is_left_as_it_is() {
    let home = Home::new();
    let files = [
        ("claude", ".claude.json", "{\"mcpServers\": {\"chorus\": {\"command\": \"other\"}}}\n"),
        ("codex", ".codex/config.toml", "[mcp_servers.chorus]\nurl = \"http://music.example\"\n"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {\"chorus\": 1}}\n"),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"mcpServers\": {}, \"mcpServers\": {\"chorus\": 1}}\n",
        ),
        (
            "vscode",
            ".vscode/mcp.json",
            "{\"servers\": {\"chorus\": {\"url\": \"http://h/v1/mcp\"}, \"chorus\": {\"url\": \"http://h/v1/mcp\"}}}\n",
        ),
    ];
    for (program, file, text) in files {
        home.put(file, text);
        for more in [&[][..], &["--undo"]] {
            let ran = home.setup(&[&["--for", program, "--yes"], more].concat());
            assert_ne!(ran.code, 0, "{program}: {}", ran.out);
            assert!(
                ran.err.contains("left as it is") && ran.err.contains("by hand"),
                "{}",
                ran.err
            );
            assert_eq!(home.text(file), text);
        }
    }
    let twice = home.setup(&["--for", "vscode", "--yes"]).err;
    assert!(twice.contains("without losing something") && twice.contains("twice"), "{twice}");
    assert!(!home.host.json(&["member", "list"]).to_string().contains("claude"));
}

// covers: OPS-541, OPS-544
#[test]
fn a_link_that_leads_nowhere_is_followed_and_what_is_no_file_is_refused() {
    let home = Home::new();
    std::os::unix::fs::symlink("dotfiles/claude.json", home.path(".claude.json")).unwrap();
    home.setup(&["--for", "claude", "--yes"]).ok();
    assert!(fs::symlink_metadata(home.path(".claude.json")).unwrap().is_symlink());
    assert!(home.text("dotfiles/claude.json").contains("Bearer "));
    assert_eq!(mode(&home.path("dotfiles/claude.json")), 0o600);

    let fifo = home.path("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("loop", home.path("loop")).unwrap();
    let folder = home.path("dotfiles");
    for file in [&fifo, &folder, &home.path("loop"), &PathBuf::from("/dev/null")] {
        let ran = home.setup(&["--for", "cursor", "--yes", "--file", file.to_str().unwrap()]);
        assert!(ran.code == 1 && ran.err.contains("--file"), "{}: {}", file.display(), ran.err);
    }
    assert!(!home.host.json(&["member", "list"]).to_string().contains("cursor"));
}

// covers: OPS-540
#[test]
fn the_secrets_of_others_are_not_shown() {
    let home = Home::new();
    home.put(".cursor/mcp.json", "{\"mcpServers\":{\"o\":{\"env\":{\"KEY\":\"sk-1\"}}}}");
    home.put(
        ".gemini/settings.json",
        "{\n  \"mcpServers\": {\n    \"o\": {\n      \"env\": {\n        \"KEY\": \"sk-2\"\n      }\n    }\n  }\n}\n",
    );
    home.put(".codex/config.toml", "# sk-3\n[mcp_servers.o.env]\nKEY = \"sk-4\"\n");
    for program in ["cursor", "gemini", "codex"] {
        let said = home.setup(&["--for", program, "--yes"]).ok().out;
        assert!(!said.contains("sk-") && said.contains("Bearer …"), "{said}");
        assert!(said.contains(&home.host.url()), "what is written is shown: {said}");
        let undone = home.setup(&["--for", program, "--undo", "--yes"]).ok().out;
        assert!(!undone.contains("sk-"), "{undone}");
    }
}

// covers: OPS-542
#[test]
fn of_setups_at_once_each_token_is_in_the_file_or_ended() {
    let home = Home::new();
    home.setup(&["--for", "claude", "--yes"]).ok();
    let setups = (0..6).map(|_| {
        let mut setup = home.command(&["--for", "claude", "--yes"]);
        setup.stdout(std::process::Stdio::null()).spawn().unwrap()
    });
    for mut setup in setups.collect::<Vec<_>>() {
        assert!(setup.wait().unwrap().success());
    }
    let tokens = home.host.json(&["token", "list", "--member", "claude"]);
    let live = tokens["tokens"].as_array().unwrap().iter().filter(|one| one["revoked"] == false);
    assert_eq!(live.count(), 1, "{tokens}");
    assert!(home.channels(&token(&home.text(".claude.json"))).is_ok());
}
