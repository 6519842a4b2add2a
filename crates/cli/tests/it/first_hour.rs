//! The first hour of a new user: the four lines, and every mistake with what it says.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::cli::{Going, Ran, chorus, run, terminal, words};
use crate::host::Host;

/// `chorus`, in a folder, for a user whose configuration is in `home`.
fn at(folder: &Path, home: &Path, arguments: &[&str]) -> Command {
    let mut command = chorus();
    command.args(words(arguments)).current_dir(folder).env("XDG_CONFIG_HOME", home);
    command
}

/// Refused with exactly one line that has all of these.
fn refused(ran: &Ran, code: i32, has: &[&str]) {
    assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    for text in has {
        assert!(ran.err.contains(text), "{text:?} in {:?}", ran.err);
    }
    assert!(!ran.err.contains("INTERNAL"), "{}", ran.err);
}

// covers: OPS-480, OPS-481, OPS-482
#[test]
fn four_lines_make_a_workspace_with_a_colleague_and_an_agent_that_answers() {
    let (folder, home, theirs) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let here = |arguments: &[&str]| run(&mut at(folder.path(), home.path(), arguments));
    let listen = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().to_string()
    };
    let made = here(&["init", "--yes", "--workspace", "acme", "--listen", &listen]).ok();
    assert!(made.out.ends_with("Next: chorus serve\n"), "{}", made.out);
    refused(&here(&["init", "--yes"]), 1, &["chorus.toml is here already", "chorus serve"]);

    let serving = Going::start(&mut at(folder.path(), home.path(), &["serve"]));
    let link = serving.wait(|line| {
        let (_, link) = line.split_once("sign in once, within ten minutes: ")?;
        Some(link.to_owned())
    });
    assert!(link.starts_with(&format!("http://{listen}/signin/")), "{link}");
    let invited = here(&["invite", "alice"]).ok();
    assert!(invited.err.contains("works once"), "{}", invited.err);
    let invitation = invited.out.trim().to_owned();

    // A colleague on another machine, who has nothing but the link.
    let there = |arguments: &[&str]| run(&mut at(theirs.path(), theirs.path(), arguments));
    refused(&there(&["status"]), 1, &["no host runs on"]);
    there(&["login", &invitation, "--display-name", "Alice A."]).ok();
    let me = there(&["whoami"]).ok();
    assert_eq!(me.out, format!("alice (Alice A.), worker at http://{listen}\n"));
    refused(&there(&["login", &invitation]), 1, &["was accepted", "ask for a new one"]);
    let kept = fs::metadata(theirs.path().join("chorus/profiles.toml")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);

    let joins = ["join", "--agent", "builder", "--runtime", "cmd:echo it is built"];
    let joined = Going::start(&mut at(folder.path(), home.path(), &joins));
    joined.wait(|line| line.starts_with("builder joins").then_some(()));
    there(&["post", "general", "@builder is it built?"]).ok();
    let mut tail = at(theirs.path(), theirs.path(), &["tail", "general", "--since", "0"]);
    let tail = Going::start(&mut tail);
    tail.wait(|line| line.contains("it is built").then_some(()));
    let status = there(&["status"]).ok();
    assert!(status.out.contains("(online: builder)"), "{}", status.out);
    drop((serving, joined, tail));
}

// covers: OPS-489
#[test]
fn an_id_is_short_on_a_terminal_and_is_taken_as_it_is_shown() {
    let host = Host::with_room(&[]);
    let posted = host.post("is the deploy done?");
    let id = posted["event_id"].as_str().unwrap().to_owned();
    let short = format!("evt_…{}", &id[id.len() - 7..]);
    let mut search = chorus();
    search.args(["search", "deploy", "--data"]).arg(host.data());
    let (search, _) = Going::at_a_terminal(&mut search);
    let line = search.wait(|line| line.contains("alice").then(|| line.to_owned()));
    assert!(line.contains(&short) && !line.contains(&id), "{line}");
    let mut verbose = chorus();
    verbose.args(["search", "deploy", "--verbose", "--data"]).arg(host.data());
    let (verbose, _) = Going::at_a_terminal(&mut verbose);
    verbose.wait(|line| line.contains(&id).then_some(()));
    assert!(host.run(&["search", "deploy"]).ok().out.contains(&id), "programs are given whole ids");

    let whole = host.run(&["why", &id]).ok().out;
    let dots = short.replace('…', "...");
    for written in [&short, &dots, &short.replace('…', ""), &id[..30].to_owned()] {
        assert_eq!(host.run(&["why", written]).ok().out, whole, "{written}");
    }
    host.run(&["edit", &short, "is it done?"]).ok();
    assert!(host.run(&["search", "done"]).ok().out.contains("is it"), "it was edited");

    // Two that begin alike: ids begin with the time.
    let other = host.post("and the other one?");
    let other = other["event_id"].as_str().unwrap();
    let same = id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let ambiguous = &id[..same];
    refused(&host.run(&["why", ambiguous]), 1, &["stands for", &id, other]);
    refused(&host.run(&["why", "evt_…00000000"]), 1, &["no such event"]);

    // Nobody learns of what is said where they may not read.
    host.run(&["member", "create", "eve", "--kind", "human"]).ok();
    host.run(&["channel", "create", "board", "--private"]).ok();
    let secret = host.json(&["post", "board", "the numbers"]);
    let secret = secret["event_id"].as_str().unwrap();
    let token = host.run(&["token", "issue", "--agent", "eve", "--role", "worker"]).ok().out;
    let short = format!("evt_…{}", &secret[secret.len() - 9..]);
    host.run(&["why", &short]).ok();
    let refusal = host.run(&["why", &short, "--token", token.trim()]);
    assert!(refusal.code == 1 && !refusal.err.contains(secret), "{}", refusal.err);
}

// covers: OPS-490
#[test]
fn what_takes_its_time_shows_how_far_it_is_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("export");
    nix::unistd::mkfifo(&export, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut import = chorus();
    import.arg("import").arg(&export).arg("--data").arg(folder.path().join("data"));
    let (mut child, mut terminal) = terminal(&mut import);
    // Opened, and nothing comes yet.
    let mut writer = fs::File::options().write(true).open(&export).unwrap();
    let mut shown = String::new();
    while !shown.contains("importing") {
        let mut bytes = [0; 256];
        let read = std::io::Read::read(&mut terminal, &mut bytes).unwrap();
        shown.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    std::io::Write::write_all(&mut writer, b"no export\n").unwrap();
    drop(writer);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

// covers: OPS-483
#[test]
fn a_taken_port_names_who_has_it_and_another() {
    let host = Host::start();
    let port = host.url().rsplit(':').next().unwrap().to_owned();
    let other = host.folder.path().join("other");
    let listen = format!("127.0.0.1:{port}");
    let ran = run(chorus().args(["serve", "--listen", &listen, "--data"]).arg(&other));
    let data = host.data().canonicalize().unwrap();
    let by = format!("port {port} is taken by a Chorus with its data in {}", data.display());
    refused(&ran, 1, &[&by, "try --listen 127.0.0.1:"]);
    assert!(!other.exists(), "nothing was made");
}

// covers: OPS-483
#[test]
fn a_name_that_a_proxy_passes_on_is_refused_with_the_setting_and_the_page() {
    let host = Host::start();
    let address = host.url().trim_start_matches("http://").to_owned();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let asked = "GET /v1/whoami HTTP/1.1\r\nHost: chorus.example\r\nConnection: close\r\n\r\n";
    std::io::Write::write_all(&mut stream, asked.as_bytes()).unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    for named in ["--public-url", "docs/run-a-host.md", "Caddy", "Tailscale"] {
        assert!(answer.contains(named), "{answer}");
    }
}

// covers: OPS-483
#[test]
fn an_address_that_is_none_says_what_is_missing() {
    let host = Host::start();
    let url = |url: &str| run(chorus().args(["agents", "--token", "x", "--url", url]));
    let bare = host.url().trim_start_matches("http://").to_owned();
    refused(&url(&bare), 2, &["needs http:// or https:// in front"]);
    refused(&url(&format!("https://{bare}")), 2, &["that port speaks http"]);
}

// covers: OPS-483
#[test]
fn a_folder_of_another_user_is_called_that() {
    if nix::unistd::Uid::effective().is_root() {
        // Root may read everything: the folder is tried as somebody else.
        let host = Host::start();
        let mode = fs::Permissions::from_mode(0o700);
        fs::set_permissions(host.folder.path(), mode).unwrap();
        let mut command = Command::new("setpriv");
        let program = env!("CARGO_BIN_EXE_chorus");
        // The program has to be reachable for that user.
        let copy = tempfile::tempdir().unwrap();
        fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let binary = copy.path().join("chorus");
        fs::copy(program, &binary).unwrap();
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(&binary).args(["agents", "--data"]).arg(host.data());
        refused(&run(&mut command), 1, &["permission denied", "--url and --token"]);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("host.json"), "{}").unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o000)).unwrap();
    let ran = run(chorus().args(["agents", "--data"]).arg(&data));
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    refused(&ran, 1, &["permission denied", "--url and --token"]);
}

// covers: OPS-483
#[test]
fn a_host_that_listens_to_all_without_a_certificate_warns() {
    let folder = tempfile::tempdir().unwrap();
    let serve = |more: &[&str]| {
        let mut command = chorus();
        command.args(["serve", "--listen", "0.0.0.0:0", "--data"]).arg(folder.path().join("d"));
        command.args(words(more)).stderr(std::process::Stdio::piped());
        let mut serving = Going::start(&mut command);
        serving.wait(|line| line.contains("sign in once").then_some(()));
        nix::sys::signal::kill(serving.pid(), nix::sys::signal::Signal::SIGTERM).unwrap();
        serving.child.wait().unwrap();
        let mut said = String::new();
        let mut err = serving.child.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut err, &mut said).unwrap();
        said
    };
    let said = serve(&[]);
    assert!(said.contains("warning: others on the network") && said.contains("[tls]"), "{said}");
    let said = serve(&["--public-url", "https://chorus.example"]);
    assert!(!said.contains("warning"), "{said}");
}

// covers: OPS-483
#[test]
fn a_test_that_the_agent_did_not_take_fails_with_a_hint() {
    let host = Host::start();
    host.json(&["webhook", "add", "bot", "http://127.0.0.1:9/hook"]);
    let ran = host.run(&["webhook", "test", "bot"]);
    assert!(ran.out.contains("not taken"), "{}", ran.out);
    refused(&ran, 1, &["docs/webhook-agents.md"]);
}

// covers: OPS-483
#[test]
fn doctor_checks_what_serve_does() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(chorus().args(["doctor", "--data"]).arg(folder.path()));
    refused(&ran, 1, &["there is no workspace in", "--data", "--database"]);
    let mut host = Host::start();
    host.stop();
    fs::rename(host.data().join("keys"), host.data().join("lost")).unwrap();
    let ran = run(chorus().args(["doctor", "--data"]).arg(host.data()));
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("its keys are not in") && ran.out.contains("put them back"),
        "{}",
        ran.out
    );
}

// covers: OPS-483
#[test]
fn config_check_names_what_cannot_be_used_here() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        fs::write(folder.path().join("chorus.toml"), text).unwrap();
        let ran = run(&mut at(folder.path(), folder.path(), &["config", "check"]));
        assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
        ran.out
    };
    let level = check("[telemetry]\nlog = \"loud\"\n");
    assert!(level.contains("chorus.toml:2") && level.contains("\"loud\""), "{level}");
    let tls = check("[tls]\ncert = \"/nowhere/cert.pem\"\nkey = \"/nowhere/key.pem\"\n");
    assert!(tls.contains("tls.cert") && tls.contains("/nowhere/cert.pem"), "{tls}");
    if !cfg!(feature = "otlp") {
        let otlp = check("[otlp]\nendpoint = \"http://127.0.0.1:4318\"\n");
        assert!(otlp.contains("otlp.endpoint"), "{otlp}");
    }
}

// covers: OPS-483
#[test]
fn a_bad_setting_of_a_host_stops_no_client() {
    let host = Host::with_room(&[]);
    let folder = tempfile::tempdir().unwrap();
    let data = host.data().display().to_string();
    let text = format!("data = {data:?}\nlisten = \"nonsense\"\n[limits]\nnonsense = 1\n");
    fs::write(folder.path().join("chorus.toml"), text).unwrap();
    run(&mut at(folder.path(), folder.path(), &["post", "ops", "hello"])).ok();
}

// covers: OPS-483
#[test]
fn a_host_that_goes_away_and_comes_back_is_one_line_each() {
    let mut host = Host::with_room(&["scout"]);
    let data = host.data().display().to_string();
    let line = format!("exec {} tail '#ops' --data {data} 2>&1", env!("CARGO_BIN_EXE_chorus"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env_remove("CHORUS_TOKEN");
    let tail = Going::start(&mut shell);
    let seen = |wanted: &str| tail.wait(|line| line.contains(wanted).then(|| line.to_owned()));
    host.post("before");
    seen("before");
    host.kill();
    assert_eq!(seen("the host is"), "the host is away; waiting for it");
    host.serve();
    assert_eq!(seen("the host is"), "the host is back");
    host.post("after");
    seen("after");
}

// covers: OPS-483
#[test]
fn empty_lists_say_a_sentence() {
    let host = Host::start();
    for list in [
        &["claims"][..],
        &["sessions"],
        &["dead-letters"],
        &["role", "list"],
        &["project", "list"],
        &["channel", "list"],
        &["agents"],
        &["webhook", "list"],
        &["inbox", "list"],
        &["owed"],
        &["approve"],
        &["mail"],
    ] {
        let ran = host.run(list).ok();
        assert!(ran.out.trim().len() > 10, "{list:?}: {:?}", ran.out);
    }
}

// covers: OPS-483
#[test]
fn what_cannot_be_undone_is_asked_first() {
    let host = Host::with_room(&[]);
    let posted = host.post("my password");
    let event = posted["event_id"].as_str().unwrap();
    let ran = host.run(&["erase", event]);
    refused(&ran, 2, &["my password", "give --yes"]);
    assert!(host.run(&["tail", "ops", "--follow", "false"]).out.contains("my password"));
    host.run(&["erase", event, "--yes", "--reason", "secret"]).ok();
    assert!(!host.run(&["tail", "ops", "--follow", "false"]).out.contains("my password"));
}

// covers: OPS-483
#[test]
fn a_token_for_a_new_name_says_so_and_warns_of_a_slip() {
    let host = Host::with_room(&[]);
    let issue = ["token", "issue", "--role", "worker", "--agent"];
    let slip = host.run(&[&issue[..], &["alcie"]].concat()).ok();
    assert!(
        slip.err.contains("alcie is new") && slip.err.contains("did you mean alice?"),
        "{}",
        slip.err
    );
    assert!(slip.err.contains("chorus channel add CHANNEL alcie"), "{}", slip.err);
    assert_eq!(slip.out.lines().count(), 1);
    let known = host.run(&[&issue[..], &["alice"]].concat()).ok();
    assert_eq!(known.err, "");
    refused(
        &host.run(&["token", "revoke", "nonsense"]),
        1,
        &["no token \"nonsense\"", "--foreign"],
    );
}

// covers: OPS-483
#[test]
fn long_lists_are_cut_aloud() {
    let host = Host::with_room(&[]);
    let whole = host.run(&["audit"]).ok();
    assert_eq!(whole.err, "");
    let ran = host.run(&["audit", "--limit", "2"]).ok();
    assert_eq!(ran.out.lines().count(), 3, "{}", ran.out);
    assert!(ran.err.contains("the first 2 entries") && ran.err.contains("--limit"), "{}", ran.err);
    // As the reader's clock has it.
    assert!(!ran.out.contains('Z'), "{}", ran.out);
    let json = host.json(&["audit", "--limit", "2"]);
    assert!(json["entries"].as_array().unwrap().len() > 2, "programs get all of it");
}

// covers: OPS-484
#[test]
fn the_help_of_every_command_fits_a_terminal() {
    let help = |arguments: &[&str]| {
        let ran = run(chorus().args(words(arguments)).arg("--help").env("COLUMNS", "80")).ok();
        for line in ran.out.lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
        ran.out
    };
    let top = help(&[]);
    assert!(top.contains("The first day:\n  init"), "{top}");
    let list = top.lines().take_while(|line| !line.starts_with("Help on"));
    let names = list.filter(|line| line.starts_with("  "));
    let names: Vec<_> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        let text = help(&[name]);
        let commands = text.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
        for line in commands.take_while(|line| !line.is_empty()) {
            if let Some(sub) = line.strip_prefix("  ").filter(|line| !line.starts_with(' ')) {
                let sub = sub.split_whitespace().next().unwrap();
                if sub != "help" {
                    help(&[name, sub]);
                }
            }
        }
    }
}

// covers: OPS-486
#[test]
fn chat_posts_what_is_typed_and_shows_what_is_said() {
    let host = Host::with_room(&[]);
    let mut chat = chorus();
    chat.args(["chat", "ops", "--data"]).arg(host.data());
    let (mut chat, mut typed) = Going::at_a_terminal(&mut chat);
    chat.wait(|line| line.contains("Ctrl-D ends").then_some(()));
    host.post("hello from elsewhere");
    chat.wait(|line| line.contains("hello from elsewhere").then_some(()));
    std::io::Write::write_all(&mut typed, b"typed here\r").unwrap();
    chat.wait(|line| (line.contains("operator") && line.contains(": typed here")).then_some(()));
    std::io::Write::write_all(&mut typed, b"\x04").unwrap();
    assert!(chat.child.wait().unwrap().success());
    let piped = host.run(&["chat", "ops"]);
    refused(&piped, 2, &["chorus post and chorus tail"]);
}
