//! A folder and an export that commit f53d0a2 wrote, with rows of every kind: today's program opens the folder,
//! finds nothing wrong, and exports the same bytes (`tests/data/f53d0a2/README.md`).

use std::path::{Path, PathBuf};
use std::process::Command;

use chorus_core::model::ids::{Timestamp, Uid};
use chorus_server::history::{Signing, export, import};
use chorus_server::{Place, verify};
use chorus_store::{ManualClock, Options};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::test_host::{TestHost, place};

/// When the export was made, a minute after the folder's host had stopped.
const EXPORTED_AT: Timestamp = Timestamp(1_795_510_331_698);
/// How many of the folder's events the program that wrote it showed the operator, in how many conversations.
const SHOWN: (usize, usize) = (3_484, 14);

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/f53d0a2").join(name)
}

pub(crate) fn unzipped(name: &str) -> Vec<u8> {
    let unzipped = Command::new("gzip").arg("-dc").arg(data(name)).output().unwrap();
    assert!(unzipped.status.success(), "gzip: {}", String::from_utf8_lossy(&unzipped.stderr));
    unzipped.stdout
}

fn old_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(data("folder.tar.gz")).arg("-C").arg(folder.path());
    assert!(tar.status().unwrap().success());
    folder
}

/// Brings the schema of the old folder up to date, as a start does; nothing else happens in it.
fn migrated() -> TempDir {
    let folder = old_folder();
    let clock = std::sync::Arc::new(ManualClock::new(EXPORTED_AT));
    let options = Options { clock, may_begin: false, ..Options::new(folder.path(), Uid(1)) };
    drop(chorus_store::open(options).unwrap());
    folder
}

fn sign(folder: &Path) -> Signing {
    Signing::open(&folder.join("keys")).unwrap()
}

fn exported(place: &Place, sign: &Signing) -> Vec<u8> {
    let mut lines = Vec::new();
    export(place, sign, EXPORTED_AT, None, &mut lines).unwrap();
    lines
}

fn lines(bytes: &[u8]) -> Vec<&str> {
    std::str::from_utf8(bytes).unwrap().lines().collect()
}

/// Fails with the first line that differs, and not with two megabytes.
fn assert_same(was: &[&str], is: &[&str]) {
    let differs = was.iter().zip(is).position(|(was, is)| was != is);
    if let Some(at) = differs {
        panic!("line {} was\n{}\nand is\n{}", at + 1, was[at], is[at]);
    }
    assert_eq!(was.len(), is.len(), "lines");
}

#[test]
fn old_folder_passes_the_doctor_and_exports_the_same_bytes() {
    let folder = migrated();
    let here = Place::folder(folder.path());
    let report = verify(&here, folder.path(), None).unwrap();
    let found = json!({
        "ok": report.is_clean(),
        "conversations": report.conversations,
        "events": report.events,
        "problems": report.problems.iter().map(|p| &*p.what).collect::<Vec<_>>(),
    });
    let was: Value = serde_json::from_slice(&std::fs::read(data("doctor.json")).unwrap()).unwrap();
    assert_eq!(found, was);

    let (was, is) = (unzipped("export.jsonl.gz"), exported(&here, &sign(folder.path())));
    assert_same(&lines(&was), &lines(&is));
    assert!(was == is, "every byte, the signature's too");
}

/// What is not in the lines that an import changes: the header and the signature over it are of the moment.
fn without_signature(line: &str) -> Value {
    let mut line: Value = serde_json::from_str(line).unwrap();
    if let Some(end) = line["end"].as_object_mut() {
        end.remove("signature");
    }
    line
}

#[test]
fn old_export_is_imported_and_differs_in_paused_schedules_only() {
    let keys = old_folder();
    let was = unzipped("export.jsonl.gz");
    let imported = |lines: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        import(&mut &lines[..], &place(&data), None, EXPORTED_AT).unwrap();
        let report = verify(&place(&data), &data, None).unwrap();
        assert!(report.is_clean(), "{:?}", report.problems);
        exported(&place(&data), &sign(keys.path()))
    };
    let once = imported(&was);
    let moved = std::fs::read(data("imported.jsonl")).unwrap();
    let mut moved = lines(&moved).into_iter();
    let (was, is) = (lines(&was), lines(&once));
    assert_eq!(was.len(), is.len(), "lines");
    for (was, is) in was.into_iter().zip(is) {
        if was.starts_with(r#"{"schedule""#) || was.starts_with(r#"{"end""#) {
            assert_eq!(without_signature(moved.next().unwrap()), without_signature(is));
        } else {
            assert_eq!(was, is);
        }
    }
    assert_eq!(moved.next(), None);
    assert!(imported(&once) == once, "what was imported comes out of an import as it went in");
}

#[tokio::test]
async fn a_host_serves_an_old_folder_and_leaves_it_whole() {
    let host =
        TestHost::open_with(old_folder(), EXPORTED_AT, |config| config.database = None).await;
    let op = host.operator();
    let channels = host.get(&op, "/v1/channels").await.ok()["channels"].clone();
    let channels = channels.as_array().unwrap();
    let mut shown = 0;
    for channel in channels {
        let (id, mut after) = (channel["id"].as_str().unwrap(), 0);
        loop {
            let path = format!("/v1/events?conversation={id}&after={after}&limit=200");
            let page = host.get(&op, &path).await.ok()["events"].clone();
            let Some(last) = page.as_array().unwrap().last() else { break };
            after = last["seq"].as_u64().unwrap();
            let at =
                |e: &Value| chorus_wire::time::parse(e["created_at"].as_str().unwrap()).unwrap();
            shown += page.as_array().unwrap().iter().filter(|e| at(e) < EXPORTED_AT).count();
        }
    }
    assert_eq!((shown, channels.len()), SHOWN);
    let TestHost { running, folder, .. } = host;
    running.stop().await;
    let report = verify(&Place::folder(folder.path()), folder.path(), None).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
}
