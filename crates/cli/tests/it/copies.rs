//! Backups and what is made of them, through the commands.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::cli::{chorus, run};
use crate::host::Host;

fn on(data: &Path, arguments: &[&str]) -> Command {
    let mut command = chorus();
    command.args(arguments).arg("--data").arg(data);
    command
}

/// The code of the envelope of a command that fails.
fn refused(command: &mut Command) -> String {
    let ran = run(command.arg("--json"));
    assert_ne!(ran.code, 0, "{}", ran.out);
    ran.json()["error"]["code"].as_str().unwrap().to_owned()
}

// covers: OPS-30, OPS-33, OPS-34
#[test]
fn a_host_is_backed_up_while_it_runs_and_lives_again_elsewhere() {
    let mut host = Host::with_room(&["scout"]);
    let posted = host.post("before the backup");
    let folder = tempfile::tempdir().unwrap();
    let (plain, keyed) = (folder.path().join("plain.db"), folder.path().join("keyed.db"));
    let made = host.json(&["backup", plain.to_str().unwrap()]);
    assert_eq!((&made["conversations"], &made["keys"]), (&1.into(), &Value::Array(Vec::new())));
    let made = host.json(&["backup", keyed.to_str().unwrap(), "--with-keys"]);
    assert_eq!(made["keys"].as_array().unwrap().len(), 2);
    for file in [&plain, &keyed] {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let secret = fs::read(host.data().join("keys/turn.key")).unwrap();
    let holds = |file: &Path| fs::read(file).unwrap().windows(32).any(|w| w == secret);
    assert!(!holds(&plain) && holds(&keyed), "keys only where they were asked for");
    let left = fs::read_dir(host.data()).unwrap().map(|e| e.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().contains("partial")));
    host.post("after the backup");
    let token = fs::read_to_string(host.data().join("operator.token")).unwrap();
    host.kill();

    for (file, honoured) in [(&plain, false), (&keyed, true)] {
        fs::remove_dir_all(host.data()).unwrap();
        let restored = run(on(&host.data(), &["restore", "--json"]).arg(file)).ok().json();
        assert_eq!(restored["events"], made["events"]);
        host.serve();
        let old = run(&mut on(&host.data(), &["agents", "--token", token.trim()]));
        assert_eq!(old.code == 0, honoured, "{}{}", old.out, old.err);
        let again = host.post("in another life");
        assert_ne!(again["event_id"], posted["event_id"]);
        let why = host.json(&["why", posted["event_id"].as_str().unwrap()]);
        assert_eq!(why["event_id"], posted["event_id"]);
        host.run(&["doctor"]).ok();
        host.kill();
    }
}

#[test]
fn a_folder_without_a_host_is_backed_up_too() {
    let mut host = Host::with_room(&[]);
    host.post("hello");
    host.kill();
    let folder = tempfile::tempdir().unwrap();
    let made = host.json(&["backup", folder.path().to_str().unwrap()]);
    let name = made["path"].as_str().unwrap().to_owned();
    assert!(name.ends_with("Z.db"), "{name}");
    let data = folder.path().join("again");
    run(on(&data, &["restore"]).arg(&name)).ok();
    run(&mut on(&data, &["doctor"])).ok();
}

// covers: OPS-32
#[test]
fn copies_that_cannot_be_made_or_used_are_refused_and_leave_nothing() {
    let host = Host::with_room(&["scout"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup.db");
    let worker =
        host.run(&["token", "issue", "--agent", "scout", "--role", "orchestrator"]).ok().out;
    let backup = |file: &Path| {
        let mut command = on(&host.data(), &["backup"]);
        command.arg(file);
        command
    };
    assert_eq!(refused(backup(&file).args(["--token", worker.trim()])), "INSUFFICIENT_AUTHORITY");
    assert_eq!(refused(&mut backup(&folder.path().join("no/such/file"))), "NOT_FOUND");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    run(&mut backup(&file)).ok();
    assert_eq!(refused(&mut backup(&file)), "CONFLICT");
    assert_eq!(refused(on(&host.data(), &["restore"]).arg(&file)), "CONFLICT");
    let new = folder.path().join("new");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(refused(on(&new, &["restore"]).arg(&file)), "VALIDATION_ERROR");
    assert_eq!(refused(on(&new, &["restore"]).arg(folder.path().join("none"))), "NOT_FOUND");
    assert_eq!(
        refused(on(&new, &["restore", "--url", "http://127.0.0.1:1"]).arg(&file)),
        "VALIDATION_ERROR"
    );
    assert!(!new.exists());
    assert_eq!(refused(&mut on(&folder.path().join("none"), &["backup", "x"])), "CONFLICT");
    assert!(!folder.path().join("none").exists());
    host.post("nothing of it has harmed the host");
}

/// A room with a bit of everything that a log can hold.
fn lived_in() -> Host {
    let host = Host::with_room(&["scout", "critic"]);
    let asked = host.post("@scout what about café \u{1f600}?\nSecond line");
    let id = asked["event_id"].as_str().unwrap().to_owned();
    host.json(&["react", &id, "agree", "--as", "bob"]);
    host.json(&["edit", &id, "@critic rather you?", "--as", "alice"]);
    let gone = host.post("this will be deleted");
    host.json(&["delete", gone["event_id"].as_str().unwrap(), "--as", "alice"]);
    let secret = host.post("this will be erased");
    host.json(&["erase", secret["event_id"].as_str().unwrap(), "--reason", "secret", "--yes"]);
    host.json(&["role", "create", "reviewers"]);
    host.json(&["role", "add", "reviewers", "critic"]);
    host.json(&["thread", "create", "a thread", "--channel", "#ops"]);
    host.json(&["channel", "create", "empty"]);
    host.json(&["member", "pause", "critic"]);
    for n in 0..20 {
        host.post(&format!("message {n}"));
    }
    host
}

fn body(export: &Path) -> String {
    let text = fs::read_to_string(export).unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    let end = rest.trim_end().rfind('\n').unwrap();
    rest[..=end].to_owned()
}

// covers: OPS-35, OPS-36, OPS-38
#[test]
fn an_export_lives_again_with_the_same_ids_and_nothing_else() {
    let mut host = lived_in();
    let folder = tempfile::tempdir().unwrap();
    let (first, second, third) = (
        folder.path().join("1.jsonl"),
        folder.path().join("2.jsonl"),
        folder.path().join("3.jsonl"),
    );
    let made = host.json(&["export", first.to_str().unwrap()]);
    assert_eq!(made["conversations"], 2);
    assert_eq!(fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&first).unwrap();
    for secret in [
        fs::read_to_string(host.data().join("operator.token")).unwrap(),
        fs::read_to_string(host.data().join("keys/signing.pem")).unwrap(),
    ] {
        assert!(!text.contains(secret.trim()));
    }
    assert!(text.contains("rather you?"), "a program that only reads finds the words");
    assert!(!text.contains("this will be erased") && text.contains("message_erased"));
    host.kill();
    // Without a host it says the same, and a second folder of it does too.
    host.json(&["export", second.to_str().unwrap()]);
    assert_eq!(body(&first), body(&second));
    let data = folder.path().join("again");
    let import = |from: &Path, key: &str| {
        let mut command = on(&data, &["import", "--signed-by", key]);
        command.arg(from);
        command
    };
    assert_eq!(refused(&mut import(&first, "AAAA")), "VALIDATION_ERROR");
    run(&mut import(&first, made["key"].as_str().unwrap())).ok();
    run(&mut on(&data, &["doctor"])).ok();
    run(on(&data, &["export"]).arg(&third)).ok();
    assert_eq!(body(&first), body(&third));

    let old = fs::read_to_string(host.data().join("operator.token")).unwrap();
    fs::remove_dir_all(host.data()).unwrap();
    fs::rename(&data, host.data()).unwrap();
    host.serve();
    assert_ne!(run(&mut on(&host.data(), &["agents", "--token", old.trim()])).code, 0);
    let owed = host.json(&["mail", "--agent", "critic"]);
    assert_eq!(owed["open"], Value::Array(Vec::new()), "nobody is woken by a history");
    let agents = host.json(&["agents"]);
    let paused = |id: &str| {
        let all = agents["agents"].as_array().unwrap();
        all.iter().any(|agent| agent["id"] == id && agent["paused"].is_object())
    };
    assert!(paused("critic") && !paused("scout"), "{agents}");
    host.post("@scout and here it goes on?");
    host.run(&["doctor"]).ok();
}

// covers: OPS-37
#[test]
fn an_export_that_was_cut_or_changed_is_refused_with_its_line() {
    let host = lived_in();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("export.jsonl");
    host.json(&["export", file.to_str().unwrap()]);
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let count = lines.len();
    let at = |what: &str| lines.iter().position(|l| l.contains(what)).unwrap();
    let event = at("message 7");
    let joined = |change: &dyn Fn(usize, &str) -> Option<String>| -> String {
        lines.iter().enumerate().filter_map(|(n, l)| change(n, l)).collect()
    };
    let without = |n: usize| joined(&|m, l| (m != n).then(|| l.to_owned()));
    let with = |n: usize, from: &str, to: &str| {
        assert!(lines[n].contains(from), "{}", lines[n]);
        joined(&|m, l| Some(if m == n { l.replacen(from, to, 1) } else { l.to_owned() }))
    };
    let swapped = joined(&|m, _| {
        Some(
            lines[if m == event {
                m + 1
            } else if m == event + 1 {
                event
            } else {
                m
            }]
            .to_owned(),
        )
    });
    let member = at("\"member\"");
    let head = at("{\"head\"");
    // What is wrong, and the line that is named (counted from 1).
    let cases: Vec<(String, usize, &str)> = vec![
        (String::new(), 1, "cut short"),
        (without(0), 1, "begins with its header"),
        (whole[..whole.len() / 2].to_owned(), 0, "cut short"),
        (whole[..whole.len() - 1].to_owned(), count, "cut short"),
        (without(count - 1), count, "cut short"),
        (without(event), event + 1, "should be"),
        (without(head), 0, "head"),
        (without(member), member + 1, "out of order"),
        (swapped, event + 1, "should be"),
        (with(event, "\"at\":1", "\"at\":2"), event + 1, "does not follow"),
        (with(event, "\"actor\":2", "\"actor\":3"), event + 1, "does not follow"),
        (with(event, "\"body\":\"A", "\"body\":\"B"), event + 1, ""),
        (with(event, "message 7", "message 8"), count, "not those that were exported"),
        (with(member, "\"display_name\":\"", "\"display_name\":\"Mr "), count, "not those"),
        (with(head, "\"hash\":\"", "\"hash\":\"AAAA"), head + 1, "bytes where"),
        (with(0, "\"workspace\":\"default", "\"workspace\":\"other"), count, "signature"),
        (with(count - 1, "\"signature\":\"", "\"signature\":\"AAAA"), count, "bytes where"),
        (with(count - 1, "\"events\":", "\"events\":1"), count, "counts"),
        (with(0, "\"format\":3", "\"format\":5"), 1, "newer program"),
        (with(0, "\"format\":3", "\"format\":0"), 1, "newer program"),
        // An older one is read; this was signed as another.
        (with(0, "\"format\":3", "\"format\":2"), count, "signature"),
        (format!("{whole}{}", lines[event]), count, "behind the end"),
        (with(event, "{\"event\"", "{\"evening\""), event + 1, "no line of an export"),
    ];
    let data = folder.path().join("new");
    for (text, line, expected) in cases {
        fs::write(&file, &text).unwrap();
        let ran = run(on(&data, &["import", "--json"]).arg(&file));
        assert_eq!(ran.code, 1, "{expected}: {}", ran.out);
        let error = ran.json()["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert_eq!(error["code"], "VALIDATION_ERROR", "{message}");
        assert!(message.contains(expected), "{expected:?} is not in {message:?}");
        let named = line == 0 || message.contains(&format!("line {line}: "));
        assert!(named, "line {line} is not named in {message:?}");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1, "nothing is left of it");
    }
    fs::write(&file, &whole).unwrap();
    assert_eq!(refused(on(&host.data(), &["import"]).arg(&file)), "CONFLICT");
    run(on(&data, &["import"]).arg(&file)).ok();
}

// covers: OPS-175
#[test]
fn all_workspaces_are_backed_up_and_restored_together() {
    let host = Host::with_room(&[]);
    for name in ["acme", "globex"] {
        host.run(&["workspace", "create", name]).ok();
    }
    let inside = |data: &Path, name: &str, arguments: &[&str]| {
        let folder = data.join("workspaces").join(name);
        run(&mut on(&folder, arguments))
    };
    inside(&host.data(), "acme", &["channel", "create", "general"]).ok();
    inside(&host.data(), "acme", &["post", "#general", "in acme"]).ok();
    host.post("in the own one");
    host.run(&["workspace", "suspend", "globex"]).ok();
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("all");
    let refused = host.run(&["backup", made.to_str().unwrap(), "--all"]);
    // One that is shut is read from its folder.
    let said = refused.ok().out;
    assert!(
        said.contains("default.db") && said.contains("acme.db") && said.contains("globex.db"),
        "{said}"
    );
    let new = folder.path().join("new");
    let restored = run(on(&new, &["restore", "--json"]).arg(&made)).ok().json();
    assert_eq!(restored["workspaces"].as_array().unwrap().len(), 3);
    for name in ["acme", "globex"] {
        assert!(new.join("workspaces").join(name).join("chorus.db").is_file());
    }
    let exported = folder.path().join("acme.jsonl");
    inside(&new, "acme", &["export", exported.to_str().unwrap()]).ok();
    assert!(fs::read_to_string(&exported).unwrap().contains("in acme"));
    // One that is damaged, and nothing is restored.
    fs::write(made.join("globex.db"), b"no backup").unwrap();
    let other = folder.path().join("other");
    let refused = run(on(&other, &["restore"]).arg(&made));
    assert!(refused.code == 1 && refused.err.contains("nothing was restored"), "{}", refused.err);
    assert!(!other.exists());
}
