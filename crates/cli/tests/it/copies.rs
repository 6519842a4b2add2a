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
