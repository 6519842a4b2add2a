//! Disks and folders on a bad day: each found, named, with nothing half-written and the rest unharmed.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use chorus_testing::eventually_blocking;
use serde_json::Value;

use crate::cli::{Ran, chorus, run};
use crate::host::Host;

/// A file system of a few megabytes of its own, when this machine lets us have one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at);
        if mount.status().is_ok_and(|status| status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!(
            "no right to mount a file system: only the writer's own tests look at a full disk"
        );
        None
    }

    /// A file of all the space that is left.
    fn fill(&self) -> PathBuf {
        let filler = self.0.join("filler");
        let mut file = fs::File::create(&filler).unwrap();
        while file.write_all(&[7; 4_096]).is_ok() {}
        filler
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// What `/readyz` answers: its status line and its body.
fn ready(host: &Host) -> String {
    let address = host.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn serve(data: &Path) -> Ran {
    run(chorus().args(["serve", "--json", "--listen", "127.0.0.1:0", "--data"]).arg(data))
}

fn doctor(data: &Path) -> Ran {
    run(chorus().args(["doctor", "--json", "--data"]).arg(data))
}

fn texts(host: &Host, channel: &str) -> Vec<String> {
    let ran = host.run(&["tail", channel, "--since", "0", "--json", "--follow", "false"]).ok();
    let events = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter_map(|e| Some(e["message"]["text"].as_str()?.to_owned())).collect()
}

// covers: OPS-40, OPS-41
#[test]
fn a_full_disk_refuses_posts_until_there_is_space_and_loses_none() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&folder.path().join("disk"), "size=24m") else { return };
    let host = Host::with_room_in(disk.0.join("data"), &["scout"]);
    let mut answered = vec!["@scout first?".to_owned()];
    host.post(&answered[0]);
    // Everything that is left, and then one by one until the host finds no space itself.
    let filler = disk.fill();
    let refusal = (0..2_000).find_map(|n| {
        let text = format!("number {n} {}", "x".repeat(2_000));
        let ran = host.run(&["post", "#ops", &text, "--as", "alice", "--json"]);
        if ran.code == 0 {
            answered.push(text);
            return None;
        }
        Some(ran.json()["error"].clone())
    });
    let refusal = refusal.expect("the disk is full at some time");
    assert_eq!(refusal["code"], "UNAVAILABLE", "{refusal}");
    assert!(refusal["message"].as_str().unwrap().contains("disk is full"), "{refusal}");
    let not_ready = ready(&host);
    assert!(not_ready.starts_with("HTTP/1.1 503") && not_ready.contains("full"), "{not_ready}");
    assert_eq!(texts(&host, "#ops"), answered, "reading goes on, and nothing refused is there");
    // A backup has no space either, and leaves nothing that would take more.
    let backup = folder.path().join("backup.db");
    let ran = host.run(&["backup", backup.to_str().unwrap(), "--json"]);
    assert_eq!(ran.json()["error"]["code"], "UNAVAILABLE", "{}", ran.out);
    assert!(!backup.exists() && !host.data().join("backup.partial").exists());

    fs::remove_file(&filler).unwrap();
    eventually_blocking("there is space again", || ready(&host).starts_with("HTTP/1.1 200"));
    answered.push("and on it goes".to_owned());
    host.post("and on it goes");
    assert_eq!(texts(&host, "#ops"), answered);
    host.run(&["doctor"]).ok();
    drop(host);
}

// covers: OPS-446
#[test]
fn a_host_that_starts_on_a_full_disk_serves_what_it_has_and_goes_on_when_there_is_space() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&folder.path().join("disk"), "size=24m") else { return };
    let mut host = Host::with_room_in(disk.0.join("data"), &["scout"]);
    let mut said = vec!["@scout first?".to_owned()];
    let first = host.post(&said[0])["event_id"].as_str().unwrap().to_owned();
    for was_killed in [false, true] {
        match was_killed {
            true => host.kill(),
            false => host.stop(),
        }
        let filler = disk.fill();
        host.serve();
        let not_ready = ready(&host);
        assert!(not_ready.starts_with("HTTP/1.1 503") && not_ready.contains("full"), "{not_ready}");
        // A command beside it finds it, and is answered.
        assert_eq!(texts(&host, "#ops"), said);
        assert_eq!(host.json(&["why", &first])["event_id"], first.as_str());
        let ran = host.run(&["post", "#ops", "now?", "--as", "alice", "--json"]);
        assert_eq!(ran.json()["error"]["code"], "UNAVAILABLE", "{}", ran.out);

        fs::remove_file(&filler).unwrap();
        eventually_blocking("there is space again", || ready(&host).starts_with("HTTP/1.1 200"));
        said.push(format!("and on it goes, {was_killed}"));
        host.post(said.last().unwrap());
        assert_eq!(texts(&host, "#ops"), said);
        host.run(&["doctor"]).ok();
    }
    drop(host);
}

// covers: OPS-446
#[test]
fn a_folder_that_became_read_only_is_named_and_can_be_examined() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&folder.path().join("disk"), "size=24m") else { return };
    let mut host = Host::with_room_in(disk.0.join("data"), &[]);
    host.post("hello");
    host.stop();
    let mut remount = Command::new("mount");
    assert!(remount.args(["-o", "remount,ro"]).arg(&disk.0).status().unwrap().success());
    let ran = serve(&host.data());
    assert_eq!(ran.code, 1);
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("Read-only") && message.contains("disk/data"), "{message}");
    let report = doctor(&host.data());
    assert_eq!((report.code, &report.json()["ok"]), (0, &Value::Bool(true)), "{}", report.out);
    drop(host);
}

// covers: OPS-440
#[test]
fn one_byte_of_the_write_ahead_log_ends_no_history_unseen() {
    let mut host = Host::with_room(&[]);
    let said: Vec<_> = (0..40).map(|n| format!("number {n} {}", "x".repeat(500))).collect();
    said.iter().for_each(|text| drop(host.post(text)));
    host.kill();
    let log = host.data().join("chorus.db-wal");
    let mut bytes = fs::read(&log).unwrap();
    let middle = bytes.len() * 3 / 4;
    bytes[middle] ^= 1;
    fs::write(&log, &bytes).unwrap();
    let refused = serve(&host.data());
    assert_eq!(refused.code, 1);
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    for word in
        ["ends before it should", "entries", "doctor --repair", host.data().to_str().unwrap()]
    {
        assert!(message.contains(word), "{word:?} is not in {message:?}");
    }
    let found = doctor(&host.data());
    assert_eq!(found.code, 1);
    assert!(
        found.json()["problems"].to_string().contains("ends before it should"),
        "{}",
        found.out
    );

    let repair = ["doctor", "--repair", "--json"];
    let mended = host.run(&repair).ok().json();
    assert_eq!(mended["repaired"][0]["part"], "log_end", "{mended}");
    host.serve();
    let left = texts(&host, "#ops");
    assert!(!left.is_empty() && left.len() < said.len(), "{}", left.len());
    assert_eq!(left[..], said[..left.len()], "what is there is what was said first");
    host.post("and on it goes");
    host.run(&["doctor"]).ok();
}

// covers: OPS-42
#[test]
fn a_folder_that_cannot_be_written_or_is_not_what_it_was_is_named_and_left_alone() {
    let mut host = Host::with_room(&[]);
    host.post("hello");
    host.kill();
    let whole = fs::read(host.data().join("chorus.db")).unwrap();
    let database = host.data().join("chorus.db");
    // What was written last is in the log beside it; without that it is a database of its own.
    let refused = |expected: &str| {
        let ran = serve(&host.data());
        assert_eq!(ran.code, 1, "{expected}: {}", ran.out);
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(expected), "{expected:?} is not in {message:?}");
        assert!(message.contains(host.data().to_str().unwrap()), "{message}");
    };
    let keys = host.data().join("keys");
    fs::rename(&keys, host.data().join("elsewhere")).unwrap();
    refused("keys");
    assert!(!keys.exists(), "no new ones are made in their place");
    fs::rename(host.data().join("elsewhere"), &keys).unwrap();
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", database.display()));
    }
    fs::write(&database, b"").unwrap();
    refused("is empty");
    fs::remove_file(&database).unwrap();
    refused("is gone");
    assert!(!database.exists(), "no empty one is made in its place");
    fs::write(&database, b"once upon a time, there was a database").unwrap();
    refused("not a database");
    if whole.len() > 8_192 {
        fs::write(&database, &whole[..whole.len() / 2]).unwrap();
        refused("is truncated");
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("disk");
    if let Some(disk) = SmallDisk::mount(&at, "size=4m,ro") {
        let ran = serve(&disk.0.join("data"));
        assert_eq!(ran.code, 1);
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("Read-only") && message.contains("disk/data"), "{message}");
    }
}

// covers: OPS-43
#[test]
fn a_damaged_conversation_is_named_and_not_served_and_the_others_are() {
    let mut host = Host::with_room(&["scout"]);
    host.json(&["channel", "create", "other", "alice", "scout"]);
    host.json(&["post", "#other", "@scout the needle in the haystack?", "--as", "alice"]);
    host.post("all is well here");
    host.stop();
    // Everything in one file, so that what is damaged is not in the log beside it.
    let folder = tempfile::tempdir().unwrap();
    let backup = folder.path().join("backup.db");
    host.json(&["backup", backup.to_str().unwrap()]);
    fs::remove_dir_all(host.data()).unwrap();
    host.json(&["restore", backup.to_str().unwrap()]);
    let database = host.data().join("chorus.db");
    let bytes = fs::read(&database).unwrap();
    let needle = b"needle";
    let at = bytes.windows(needle.len()).position(|w| w == needle).unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&database).unwrap();
    file.seek(SeekFrom::Start(at as u64)).unwrap();
    file.write_all(b"N").unwrap();
    drop(file);

    let found = doctor(&host.data());
    assert_eq!(found.code, 1);
    let problems = found.json()["problems"].clone();
    assert_eq!(problems[0]["conversation"], 2, "{problems}");
    let id = &*problems[0]["conversation_id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("ch_"), "{problems}");
    assert!(problems[0]["event_id"].as_str().unwrap().starts_with("evt_"), "{problems}");
    let told = run(chorus().args(["doctor", "--data"]).arg(host.data()));
    assert!(told.out.contains(id), "{}", told.out);
    host.serve();
    assert_eq!(texts(&host, "#ops"), ["all is well here"]);
    host.post("and goes on to be");
    for command in [
        &["tail", "#other", "--since", "0", "--json", "--follow", "false"][..],
        &["post", "#other", "is it here?", "--as", "alice", "--json"],
    ] {
        let ran = host.run(command);
        assert_eq!(ran.code, 1, "{}", ran.out);
        let error = ran.json()["error"].clone();
        assert_eq!(error["code"], "UNAVAILABLE", "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("conversation 2") || message.contains(id), "{error}");
    }
    let again = doctor(&host.data()).json()["problems"].clone();
    assert_eq!(again.as_array().unwrap().len(), problems.as_array().unwrap().len());
}

// covers: OPS-32
#[test]
fn a_backup_that_is_killed_leaves_nothing_that_looks_whole() {
    let host = Host::with_room(&[]);
    for n in 0..20 {
        host.post(&format!("{n} {}", "x".repeat(50_000)));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup.db");
    let data = folder.path().join("new");
    for wait_us in [0, 2_000, 8_000, 20_000, 40_000] {
        let mut command = chorus();
        command.arg("backup").arg(&file).arg("--data").arg(host.data());
        let mut going = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(wait_us));
        going.kill().unwrap();
        going.wait().unwrap();
        let partial = folder.path().join("backup.db.partial");
        if partial.exists() {
            let ran = run(chorus().arg("restore").arg(&partial).arg("--data").arg(&data));
            // Killed between the last check and the name, it is whole.
            assert!(ran.code == 1 || doctor(&data).code == 0, "{}", ran.err);
            let _ = fs::remove_dir_all(&data);
        }
        let _ = fs::remove_file(&file);
    }
    host.json(&["backup", file.to_str().unwrap()]);
    run(chorus().arg("restore").arg(&file).arg("--data").arg(&data)).ok();
    host.run(&["doctor"]).ok();
}

// covers: OPS-477
#[test]
fn what_a_host_does_not_start_without_the_doctor_misses_too() {
    let mut host = Host::with_room(&[]);
    host.stop();
    let keys = host.data().join("keys");
    let elsewhere = host.data().join("elsewhere");
    fs::rename(&keys, &elsewhere).unwrap();
    let found = doctor(&host.data());
    assert_eq!(found.code, 1);
    assert!(found.json()["problems"].to_string().contains("keys are not in"), "{}", found.out);
    assert!(!keys.exists(), "it makes none");
    fs::rename(&elsewhere, &keys).unwrap();
    let signing = keys.join("signing.pem");
    let whole = fs::read(&signing).unwrap();
    fs::write(&signing, &whole[..whole.len() / 2]).unwrap();
    let found = doctor(&host.data());
    assert_eq!(found.code, 1);
    assert!(found.json()["problems"].to_string().contains("signing.pem"), "{}", found.out);
    fs::write(&signing, &whole).unwrap();
    assert_eq!(doctor(&host.data()).code, 0);
}
