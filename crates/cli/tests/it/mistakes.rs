//! What newcomers typed, and what they are told; the first hour's own table is in `first_hour`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::cli::{Going, Ran, chorus, run};
use crate::host::Host;

fn refused(ran: &Ran, code: i32, has: &[&str]) {
    assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    for text in has {
        assert!(ran.err.contains(text), "{text:?} in {:?}", ran.err);
    }
    assert!(!ran.err.contains("INTERNAL"), "{}", ran.err);
}

fn is_there(host: &Host, agent: &str) {
    chorus_testing::eventually_blocking("it is there", || {
        let agents = host.json(&["agents"])["agents"].as_array().unwrap().clone();
        agents.iter().any(|one| one["id"] == agent && one["online"] == true)
    });
}

fn worker(host: &Host, member: &str) -> String {
    let issue = ["token", "issue", "--role", "worker", "--agent", member];
    host.run(&issue).ok().out.trim().to_owned()
}

// covers: OPS-483
#[test]
fn a_mistake_names_what_is_right() {
    let host = Host::with_room(&["scout"]);
    let cases: [(&[&str], i32, &[&str]); 20] = [
        (&["post", "OPS", "hello"], 1, &["did you mean #ops?"]),
        (&["role", "create", "fixers", "alcie"], 1, &["did you mean alice?", "chorus member list"]),
        (&["role", "create", "fixers", "zzzzzz"], 1, &["see: chorus member list"]),
        (&["channel", "create", "new", "alcie"], 1, &["did you mean alice?"]),
        (&["channel", "add", "ops", "alcie"], 1, &["did you mean alice?"]),
        (&["member", "set", "alcie", "--lead", "true"], 1, &["did you mean alice?"]),
        (&["member", "remove", "alcie"], 1, &["did you mean alice?"]),
        (&["token", "revoke", "--member", "alcie"], 1, &["did you mean alice?"]),
        (&["post", "ops", "x", "--as", "alcie"], 1, &["did you mean alice?"]),
        (&["why", "general"], 1, &["evt_…", "chorus tail", "chorus search"]),
        (&["why", "2"], 1, &["evt_…", "chorus search"]),
        (&["channel", "set", "ops", "--quiet", "soon"], 2, &["seconds, or", "15m"]),
        (&["schedule", "add", "ops", "stand-up"], 2, &["--cron", "--every"]),
        (&["token", "revoke"], 2, &["JTI", "--member"]),
        (&["webhook", "add", "foo", "notaurl"], 2, &["begins with http:// or https://"]),
        (&["webhook", "rotate", "foo", "notaurl"], 2, &["begins with http:// or https://"]),
        (&["mcp", "setup", "--for", "other"], 2, &["codex, claude, gemini, cursor, vscode"]),
        (&["mcp", "setup", "--for", "stdio"], 2, &["chorus mcp config --for stdio"]),
        (
            &["join", "--agent", "pal", "--runtime", "cmd:cat", "--channel", "nope"],
            1,
            &["\"nope\""],
        ),
        (&["chat", "ops"], 2, &["chorus post and chorus tail"]),
    ];
    for (arguments, code, says) in cases {
        let ran = host.run(arguments);
        refused(&ran, code, says);
    }
    let roles = host.json(&["role", "list"]);
    assert_eq!(roles["roles"], json!([]), "nothing was half made");
    let members = host.json(&["member", "list"]).to_string();
    assert!(!members.contains("pal") && !members.contains("foo"), "{members}");
    let quiet = host.json(&["channel", "set", "ops", "--quiet", "5m"]);
    assert_eq!(quiet["stimuli"]["quiet_ms"], 300_000, "{quiet}");
}

// covers: OPS-483
#[test]
fn programs_get_the_whole_sentence_of_a_usage_error() {
    let ran = run(chorus().args(["post", "--json"]));
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(ran.code, 2);
    assert!(message.contains("<CHANNEL>, <TEXT>"), "{message}");
}

// covers: OPS-483
#[test]
fn a_direct_conversation_is_not_suggested_by_the_name_it_was_given() {
    let host = Host::with_room(&[]);
    host.json(&["channel", "create", "numbers", "alice", "--kind", "dm"]);
    let ran = host.run(&["post", "numbers", "hello"]);
    refused(&ran, 1, &["direct conversation", "by its id", "chorus channel list --mail"]);
    assert!(!ran.err.contains("did you mean"), "{}", ran.err);
    let ran = host.run(&["post", "numbrs", "hello"]);
    assert!(!ran.err.contains("numbers"), "{}", ran.err);
    host.json(&["member", "create", "eve", "--kind", "human"]);
    let token = worker(&host, "eve");
    let ran = host.run(&["post", "ops", "hello", "--token", &token]);
    refused(&ran, 1, &["chorus channel add CHANNEL YOU"]);
}

// covers: OPS-506
#[test]
fn who_posts_to_an_agent_that_is_not_there_is_told() {
    let host = Host::with_room(&["pal"]);
    let said = host.run(&["post", "ops", "@pal are you there?"]).ok().out;
    assert!(
        said.contains("pal is offline; it is told when it is back: chorus run --agent pal"),
        "{said}"
    );
    let json = host.run(&["post", "ops", "@pal still?", "--json"]).ok().out;
    assert!(!json.contains("offline"), "{json}");
    assert!(!host.run(&["post", "ops", "@alice hello"]).ok().out.contains("offline"));
    host.json(&["webhook", "add", "bot", "http://127.0.0.1:9/hook", "--channel", "ops"]);
    assert!(!host.run(&["post", "ops", "@bot hello"]).ok().out.contains("offline"));
    let mut join = chorus();
    join.args(["join", "--agent", "pal", "--runtime", "cmd:cat >/dev/null", "--data"]);
    let joined = Going::start(join.arg(host.data()));
    is_there(&host, "pal");
    let said = host.run(&["post", "ops", "@pal and now?"]).ok().out;
    assert!(said.contains("told pal") && !said.contains("offline"), "{said}");
    drop(joined);
}

// covers: OPS-483
#[test]
fn who_joins_while_no_host_serves_the_workspace_waits_for_one() {
    let mut host = Host::with_room(&["pal"]);
    let token = |agent: &str, role: &str| {
        let issued = host.json(&["token", "issue", "--agent", agent, "--role", role]);
        issued["token"].as_str().unwrap().to_owned()
    };
    let tokens = [token("pal", "worker"), token("alice", "operator")];
    for token in tokens {
        host.kill();
        // As another host of the deployment answers until one has taken the workspace over.
        let address = host.url().trim_start_matches("http://").to_owned();
        let other = std::net::TcpListener::bind(address).unwrap();
        let state = tempfile::tempdir().unwrap();
        let mut join = Command::new("sh");
        join.args(["-c", "exec \"$0\" \"$@\" 2>&1", env!("CARGO_BIN_EXE_chorus"), "join"]);
        join.args(["--agent", "pal", "--runtime", "cmd:cat >/dev/null", "--token", &token]);
        join.args(["--url", &host.url(), "--state-dir"]).arg(state.path());
        let joined = Going::start(join.env_remove("CHORUS_TOKEN"));
        // It asks whose token it has, where the agent is, and for a connection.
        for _ in 0..4 {
            unavailable(other.accept().unwrap().0);
        }
        drop(other);
        host.serve();
        joined.wait(|line| line.contains("the host is back").then_some(()));
        is_there(&host, "pal");
    }
}

/// Answers what is asked on a connection as a host does that knows of no owner.
fn unavailable(mut connection: std::net::TcpStream) {
    let mut head = BufReader::new(connection.try_clone().unwrap()).lines();
    while !head.next().unwrap().unwrap().is_empty() {}
    let body = r#"{"error":{"code":"UNAVAILABLE","message":"no host serves the workspace now","retryable":true,"request_id":"req_1"}}"#;
    let length = body.len();
    let head =
        "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-type: application/json";
    write!(connection, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
}

// covers: OPS-506
#[test]
fn an_agent_that_nobody_can_ask_is_told_so_when_it_joins() {
    let host = Host::with_room(&[]);
    worker(&host, "pal");
    let join = |more: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 2>&1", env!("CARGO_BIN_EXE_chorus")]);
        command.args(["join", "--agent", "pal", "--runtime", "cmd:cat"]).args(more);
        command.env_remove("CHORUS_TOKEN").stdin(std::process::Stdio::null());
        command
    };
    let data = host.data().display().to_string();
    let joined = Going::start(&mut join(&["--data", &data]));
    joined.wait(|line| line.contains("chorus channel add CHANNEL pal").then_some(()));
    drop(joined);
    // From elsewhere, only an operator can help.
    let state = tempfile::tempdir().unwrap();
    let state = state.path().display().to_string();
    let token = worker(&host, "alice");
    let elsewhere = ["--url", &host.url(), "--token", &token, "--state-dir", &state];
    for more in [&[][..], &["--channel", "ops"]] {
        let ran = run(&mut join(&[&elsewhere[..], more].concat()));
        let said = format!("{}{}", ran.out, ran.err);
        assert!(ran.code == 1 && said.contains("ask an operator"), "{said}");
        assert!(
            said.contains("chorus token issue --agent pal") && !said.contains("--data"),
            "{said}"
        );
    }
}

// covers: OPS-483
#[test]
fn status_counts_all_that_waits_and_proposes_what_may_be_done() {
    let host = Host::with_room(&[]);
    let token = worker(&host, "alice");
    let status = || host.run(&["status", "--token", &token]).ok().out;
    assert!(!status().contains("chorus join"), "{}", status());
    assert!(host.run(&["status"]).ok().out.contains("chorus join"));
    assert!(status().contains("nothing for you"), "{}", status());
    host.run(&["post", "ops", "@alice look"]).ok();
    assert!(status().contains("chorus mail"), "{}", status());

    worker(&host, "scout");
    host.run(&["channel", "add", "ops", "scout"]).ok();
    let pair = host.json(&["channel", "create", "pair", "scout", "--kind", "dm"]);
    let asked = host.json(&["post", pair["id"].as_str().unwrap(), "tell them"]);
    let event = asked["event_id"].as_str().unwrap();
    let say = ["post", "#ops", "it is off", "--as", "scout", "--reply-to", event, "--key", "k1"];
    assert_ne!(host.run(&say).code, 0);
    let mine = host.run(&["status"]).ok().out;
    assert!(mine.contains("1 to approve: chorus approve"), "{mine}");
    let json = host.json(&["status"]);
    assert_eq!(json["approvals"], 1, "{json}");
    let waiting = host.run(&["approve"]).ok().out;
    assert!(waiting.contains("says in #ops:") && !waiting.contains("ch_"), "{waiting}");
    let goes_on = host.run(&["continue", "ops"]).ok().out;
    assert!(goes_on.contains("in #ops"), "{goes_on}");
    let thread = host.run(&["thread", "create", "outage", "--channel", "ops"]).ok().out;
    assert!(thread.contains("in #ops:"), "{thread}");
}

// covers: OPS-483
#[test]
fn a_host_of_another_user_is_called_that_by_serve_and_doctor() {
    if !nix::unistd::Uid::effective().is_root() {
        return;
    }
    let mut host = Host::start();
    host.stop();
    // The folder can be found, and not be looked into.
    fs::set_permissions(host.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = tempfile::tempdir().unwrap();
    fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = copy.path().join("chorus");
    fs::copy(env!("CARGO_BIN_EXE_chorus"), &binary).unwrap();
    for command in [&["doctor"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let mut other = Command::new("setpriv");
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&binary);
        let ran = run(other.args(command).arg("--data").arg(host.data()).current_dir("/"));
        refused(&ran, 1, &["permission denied"]);
    }
}

// covers: OPS-486
#[test]
fn a_line_with_a_slash_is_for_chat_and_is_not_said() {
    let mut host = Host::with_room(&[]);
    let mut chat = chorus();
    chat.args(["chat", "ops", "--data"]).arg(host.data()).env("TERM", "xterm");
    let (mut chat, mut typed) = Going::at_a_terminal(&mut chat);
    let seen = |words: &str| chat.wait(|line| line.contains(words).then_some(()));
    seen("Ctrl-D ends");
    typed.write_all(b"/hepl\r").unwrap();
    seen("there is no /hepl");
    typed.write_all(b"/help\r").unwrap();
    seen("/quit ends");
    typed.write_all(b"//etc is full\r").unwrap();
    seen(": /etc is full");
    host.kill();
    seen("the host is away");
    // It is tried more than once meanwhile.
    let address = host.url().trim_start_matches("http://").to_owned();
    let nobody = std::net::TcpListener::bind(address).unwrap();
    for _ in 0..2 {
        drop(nobody.accept().unwrap());
    }
    drop(nobody);
    host.serve();
    let between = std::cell::RefCell::new(Vec::new());
    chat.wait(|line| {
        between.borrow_mut().push(line.to_owned());
        line.contains("the host is back").then_some(())
    });
    let again = between.borrow().iter().filter(|line| line.contains("is away")).count();
    assert_eq!(again, 0, "{between:?}");
    typed.write_all(b"/quit\r").unwrap();
    assert!(chat.child.wait().unwrap().success());
    let said = host.run(&["tail", "ops", "--follow", "false"]).ok().out;
    assert!(said.contains("/etc is full"), "{said}");
    assert!(
        !said.contains("/hepl") && !said.contains("/quit") && !said.contains("//etc"),
        "{said}"
    );
}

// covers: OPS-486
#[test]
fn chat_says_which_terminals_it_cannot_use() {
    let host = Host::with_room(&[]);
    let mut chat = chorus();
    chat.args(["chat", "ops", "--data"]).arg(host.data()).env("TERM", "dumb");
    let (mut chat, _typed) = Going::at_a_terminal(&mut chat);
    chat.wait(|line| line.contains("TERM").then_some(()));
    assert_eq!(chat.child.wait().unwrap().code(), Some(2));
}

// covers: OPS-489
#[test]
fn tables_fit_a_terminal_of_80_columns() {
    let host = Host::with_room(&["scout"]);
    let words = "a long story about what happened in the night ".repeat(4);
    host.json(&["post", "ops", &format!("@operator {words}"), "--as", "alice"]);
    let pair = host.json(&["channel", "create", "pair", "scout", "--kind", "dm"]);
    let asked = host.json(&["post", pair["id"].as_str().unwrap(), "tell them"]);
    let event = asked["event_id"].as_str().unwrap();
    assert_ne!(host.run(&["post", "#ops", &words, "--as", "scout", "--reply-to", event]).code, 0);
    let mut join = chorus();
    join.args(["join", "--agent", "scout", "--runtime", "cmd:sleep 9", "--data"]);
    let _joined = Going::start(join.arg(host.data()));
    is_there(&host, "scout");
    let lists: [&[&str]; 3] = [&["audit"], &["sessions"], &["approve"]];
    for list in lists {
        let mut command = chorus();
        command.args(list).arg("--data").arg(host.data());
        let (mut shown, _) = Going::at_a_terminal(&mut command);
        // Its end of the terminal is held by the command too.
        drop(command);
        assert!(shown.child.wait().unwrap().success(), "{list:?}");
        let lines = shown.rest();
        assert!(!lines.is_empty(), "{list:?}");
        for line in lines {
            assert!(line.trim_end().width() <= 80, "{list:?}: {} columns: {line}", line.width());
        }
    }
}
