//! Signing in to a host, out again, and setting one up.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use chorus_testing::eventually_blocking;
use nix::sys::termios::{LocalFlags, tcgetattr};

use crate::cli::{Going, Ran, chorus, run, words};
use crate::host::Host;

fn at(home: &Path, arguments: &[&str]) -> Command {
    let mut command = chorus();
    command.args(words(arguments)).current_dir(home).env("XDG_CONFIG_HOME", home);
    command
}

fn refused(ran: &Ran, code: i32, has: &[&str]) {
    assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    for text in has {
        assert!(ran.err.contains(text), "{text:?} in {:?}", ran.err);
    }
    assert!(!ran.err.contains("--data DIR"), "no advice for somebody else: {}", ran.err);
}

fn profiles(home: &Path) -> String {
    fs::read_to_string(home.join("chorus/profiles.toml")).unwrap()
}

// covers: OPS-504
#[test]
fn logins_at_once_are_all_kept() {
    let (host, home) = (Host::start(), tempfile::tempdir().unwrap());
    let names: Vec<String> = (0..8).map(|n| format!("p{n}")).collect();
    let links: Vec<String> =
        names.iter().map(|name| host.run(&["invite", name]).ok().out).collect();
    let logins = names.iter().zip(&links).map(|(name, link)| {
        let mut login = at(home.path(), &["login", link.trim(), "--as", name]);
        login.stdout(std::process::Stdio::null()).spawn().unwrap()
    });
    for mut login in logins.collect::<Vec<_>>() {
        assert!(login.wait().unwrap().success());
    }
    let kept = profiles(home.path());
    for name in names {
        assert!(kept.contains(&format!("[profiles.{name}]")), "{name} is lost:\n{kept}");
    }
}

// covers: OPS-504
#[test]
fn a_link_is_not_used_up_for_a_token_that_cannot_be_kept() {
    let (host, home) = (Host::start(), tempfile::tempdir().unwrap());
    let link = host.run(&["invite", "alice"]).ok().out;
    let login = |home: &Path| run(&mut at(home, &["login", link.trim()]));
    fs::create_dir(home.path().join("chorus")).unwrap();
    fs::write(home.path().join("chorus/profiles.toml"), "no profiles").unwrap();
    refused(&login(home.path()), 2, &["profiles.toml is not as chorus login writes it"]);
    let blocked = tempfile::tempdir().unwrap();
    fs::write(blocked.path().join("chorus"), "a file").unwrap();
    let ran = login(blocked.path());
    assert!(ran.code == 1 && ran.err.contains("cannot write"), "{}", ran.err);
    fs::remove_file(home.path().join("chorus/profiles.toml")).unwrap();
    login(home.path()).ok();
    refused(&login(home.path()), 1, &["this invitation was accepted", "ask for a new one"]);
}

// covers: OPS-504
#[test]
fn a_token_is_asked_for_once_the_host_is_there_and_is_not_shown() {
    let (host, home) = (Host::start(), tempfile::tempdir().unwrap());
    let ran = run(&mut at(home.path(), &["login", "http://127.0.0.1:1"]));
    refused(&ran, 1, &["no Chorus host answers"]);
    assert!(!ran.err.contains("Token:"), "{}", ran.err);
    let bare = host.url().replace("http://", "");
    refused(&run(&mut at(home.path(), &["login", &bare])), 2, &["http:// or https://"]);

    let token = fs::read_to_string(host.data().join("operator.token")).unwrap();
    let (mut login, mut typed) =
        Going::at_a_terminal(&mut at(home.path(), &["login", &host.url()]));
    // The prompt is no line; what is typed before the echo is off would be shown.
    eventually_blocking("the terminal shows no more what is typed", || {
        !tcgetattr(&typed).unwrap().local_flags.contains(LocalFlags::ECHO)
    });
    typed.write_all(format!("{}\r", token.trim()).as_bytes()).unwrap();
    let seen = std::cell::RefCell::new(String::new());
    login.wait(|line| {
        seen.borrow_mut().push_str(line);
        line.contains("You are operator").then_some(())
    });
    assert!(login.child.wait().unwrap().success());
    let seen = seen.into_inner();
    assert!(!seen.contains(token.trim()), "{seen}");
    let again = run(&mut at(home.path(), &["whoami"])).ok().out;
    assert!(again.starts_with("operator"), "{again}");
}

// covers: OPS-504
#[test]
fn logout_forgets_a_host_and_ends_the_token_there() {
    let (mut host, home) = (Host::start(), tempfile::tempdir().unwrap());
    let here = |arguments: &[&str]| run(&mut at(home.path(), arguments));
    let login = |name: &str| {
        let link = host.run(&["signin"]).ok().out;
        here(&["login", link.trim(), "--as", name]).ok();
    };
    login("one");
    login("two");
    let token = |name: &str| {
        let text = profiles(home.path());
        let of = text.split_once(&format!("[profiles.{name}]")).unwrap().1.to_owned();
        of.split_once("token = \"").unwrap().1.split('"').next().unwrap().to_owned()
    };
    let (one, two) = (token("one"), token("two"));
    let said = here(&["logout"]).ok().out;
    assert!(said.contains("two (") && said.contains("revoked"), "{said}");
    let whoami = |token: &str| here(&["whoami", "--url", &host.url(), "--token", token]);
    refused(&whoami(&two), 1, &["ask whoever runs the host for a new invitation", "chorus signin"]);
    whoami(&one).ok();
    // Which of the others is meant is not guessed.
    assert!(here(&["whoami"]).err.contains("chorus login"));
    here(&["whoami", "--profile", "one"]).ok();
    host.stop();
    let said = here(&["logout", "one"]).ok().out;
    assert!(said.contains("may still be valid") && !profiles(home.path()).contains(&one), "{said}");
    refused(&here(&["logout"]), 2, &["signed in to no host"]);
    refused(&here(&["logout", "one"]), 2, &["no profile is called \"one\""]);
}

// covers: OPS-481
#[test]
fn init_makes_nothing_of_what_is_refused_and_finishes_what_was_cut_short() {
    let free = || {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().to_string()
    };
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(5_000);
    let init = |more: &[&str]| run(&mut at(folder.path(), &[&["init", "--yes"], more].concat()));
    let cases: [(&[&str], &str); 7] = [
        (&["--name", ""], "--name"),
        (&["--name", &long], "display name"),
        (&["--name", "a\u{200b}b"], "display name"),
        (&["--workspace", ""], "--workspace"),
        (&["--workspace", " "], "--workspace"),
        (&["--listen", "nonsense"], "--listen"),
        (&["--listen", "127.0.0.1:99999"], "--listen"),
    ];
    for (more, says) in cases {
        let ran = init(more);
        assert!(ran.code == 2 && ran.err.contains(says), "{more:?}: {}{}", ran.out, ran.err);
        assert!(!ran.err.contains("chorus.toml:"), "{}", ran.err);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{more:?} has made something");
    }
    init(&["--name", "Ann", "--listen", &free()]).ok();
    // As after a power cut before the last step.
    fs::remove_file(folder.path().join("chorus.toml")).unwrap();
    init(&["--name", "Anna", "--listen", &free()]).ok();
    let serving = Going::start(&mut at(folder.path(), &["serve"]));
    serving.wait(|line| line.contains("sign in once").then_some(()));
    let me = run(&mut at(folder.path(), &["whoami"])).ok().out;
    assert!(me.starts_with("operator (Anna)"), "{me}");
    let channels = run(&mut at(folder.path(), &["channel", "list"])).ok().out;
    assert_eq!(channels.matches("general").count(), 1, "{channels}");
    run(&mut at(folder.path(), &["post", "general", "hello"])).ok();
    run(&mut at(folder.path(), &["member", "create", "bob"])).ok();
    fs::remove_file(folder.path().join("chorus.toml")).unwrap();
    let runs = init(&["--name", "Eve"]);
    assert!(runs.code == 1 && runs.err.contains("runs on"), "{}", runs.err);
    drop(serving);
    let used = init(&["--name", "Eve"]);
    assert!(used.code == 1 && used.err.contains("has a workspace already"), "{}", used.err);
}

// covers: OPS-481
#[test]
fn init_asks_again_for_what_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut init, mut typed) = Going::at_a_terminal(&mut at(folder.path(), &["init"]));
    typed.write_all(b"acme\rAnn\rnonsense\r").unwrap();
    init.wait(|line| line.contains("error: --listen").then_some(()));
    typed.write_all(b"127.0.0.1:7999\r").unwrap();
    init.wait(|line| line.contains("Wrote chorus.toml").then_some(()));
    assert!(init.child.wait().unwrap().success());
    let text = fs::read_to_string(folder.path().join("chorus.toml")).unwrap();
    assert!(text.contains("\"acme\"") && text.contains("127.0.0.1:7999"), "{text}");
}

// covers: OPS-483
#[test]
fn an_operator_is_not_invited_and_its_own_tokens_are_ended_on_purpose_only() {
    let host = Host::with_room(&[]);
    refused(
        &host.run(&["invite", "operator"]),
        1,
        &["operator of this host already", "chorus signin"],
    );
    host.run(&["token", "issue", "--agent", "alice", "--role", "operator"]).ok();
    refused(&host.run(&["invite", "alice"]), 1, &["chorus signin"]);
    let revoke = ["token", "revoke", "--member", "operator"];
    refused(&host.run(&revoke), 2, &["this one too", "chorus serve", "--yes"]);
    host.run(&["whoami"]).ok();
    let mut asked = chorus();
    asked.args(revoke).arg("--data").arg(host.data());
    let (mut asked, mut typed) = Going::at_a_terminal(&mut asked);
    typed.write_all(b"n\r").unwrap();
    assert_eq!(asked.child.wait().unwrap().code(), Some(1), "no is an answer, not a mistake");
    host.run(&["whoami"]).ok();
    host.run(&[&revoke[..], &["--yes"]].concat()).ok();
    refused(&host.run(&["whoami"]), 1, &["chorus signin"]);
}
