//! `chorus doctor --repair` over a folder that was broken: refused while a host runs, killed and begun again, done once.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::cli::{Ran, chorus, run};
use crate::host::Host;

fn repair(data: &Path, more: &[&str]) -> Ran {
    run(chorus().args(["doctor", "--repair", "--data"]).arg(data).args(more))
}

fn damage(data: &Path, sql: &str) {
    Connection::open(data.join("chorus.db")).unwrap().execute_batch(sql).unwrap();
}

fn repaired(ran: Ran) -> Vec<String> {
    let repaired = ran.json()["repaired"].clone();
    let parts = repaired.as_array().unwrap().iter();
    parts.map(|repair| repair["part"].as_str().unwrap().to_owned()).collect()
}

// covers: CHN-200, CHN-205, CHN-206
#[test]
fn a_folder_that_was_broken_is_mended_once_and_only_without_a_host() {
    let mut host = Host::with_room(&["scout"]);
    let root = host.post("what of the deploy?")["event_id"].as_str().unwrap().to_owned();
    host.json(&["thread", "create", "deploy", "--channel", "#ops", "--root", &root]);
    let refused = repair(&host.data(), &["--json"]);
    assert_eq!(refused.code, 1);
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("in use by another running host"), "{message}");
    host.stop();
    let ran = repair(&host.data(), &["--json"]).ok().json();
    assert_eq!((&ran["ok"], &ran["repaired"]), (&json!(true), &json!([])));

    damage(
        &host.data(),
        "UPDATE thread SET title = 'other'; UPDATE conversation SET purpose = 'x'",
    );
    let doctor = run(chorus().args(["doctor", "--json", "--data"]).arg(host.data()));
    assert_eq!((doctor.code, doctor.json().get("repaired")), (1, None), "it only looks");
    let ran = repair(&host.data(), &["--json"]).ok();
    let first = ran.json()["repaired"][0].clone();
    assert_eq!(first["conversation"], 1, "{first}");
    assert!(first["what"].as_str().is_some_and(|what| !what.is_empty()), "{first}");
    assert_eq!(repaired(ran), ["conversation", "thread"]);
    let again = repair(&host.data(), &[]).ok().out;
    assert!(again.contains("nothing to mend") && again.contains("all is well"), "{again}");

    damage(
        &host.data(),
        "UPDATE thread SET title = 'other'; UPDATE event SET at = at + 1 WHERE seq = 2",
    );
    let ran = repair(&host.data(), &["--json"]);
    assert_eq!(ran.code, 1, "a log that is damaged is only named");
    assert_eq!(ran.json()["repaired"], json!([]));
    assert!(ran.json()["problems"].to_string().contains("hash"), "{}", ran.out);
    damage(&host.data(), "UPDATE event SET at = at - 1 WHERE seq = 2");
    let text = repair(&host.data(), &[]).ok().out;
    assert!(text.contains("mended: ") && text.contains("thread: its title"), "{text}");
    host.serve();
    let threads = host.json(&["thread", "list", "#ops"]);
    assert_eq!(threads["threads"][0]["title"], "deploy");
    let audit: Vec<Value> = host
        .run(&["audit", "--json"])
        .ok()
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(audit.iter().any(|entry| entry.to_string().contains("repaired")), "{audit:?}");
}

// covers: CHN-201
#[test]
fn a_repair_that_is_killed_can_be_begun_again() {
    let mut host = Host::with_room(&[]);
    for n in 0..30 {
        host.json(&["channel", "create", &format!("room{n}"), "alice"]);
    }
    host.stop();
    damage(&host.data(), "UPDATE conversation SET purpose = 'x'; DELETE FROM roster");
    for wait_us in [0, 500, 2_000, 5_000, 10_000, 20_000] {
        let mut command = chorus();
        command.args(["doctor", "--repair", "--data"]).arg(host.data());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut going = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(wait_us));
        going.kill().unwrap();
        going.wait().unwrap();
    }
    repair(&host.data(), &[]).ok();
    assert_eq!(repair(&host.data(), &["--json"]).ok().json()["repaired"], json!([]));
    host.serve();
    assert_eq!(host.json(&["channel", "list"])["channels"].as_array().unwrap().len(), 31);
}
