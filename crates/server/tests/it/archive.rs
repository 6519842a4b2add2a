//! Where what is old goes: the files of the archive, and exports of what is left.

use std::fs;
use std::path::{Path, PathBuf};

use chorus_core::model::conversation::Keep;
use chorus_server::history::{Signing, export, import};
use reqwest::Method;
use serde_json::{Value, json};

use crate::retention::{DAY, days, set, show, sound, texts};
use crate::test_host::{START, TestHost, place, verify};

/// The files of the archive, by name, each with its lines.
fn archived(folder: &Path) -> Vec<(String, Vec<Value>)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (path.file_name().unwrap().to_string_lossy().into_owned(), lines)
    };
    files.iter().map(read).collect()
}

fn seqs(files: &[(String, Vec<Value>)]) -> Vec<u64> {
    let lines = files.iter().flat_map(|(_, lines)| lines);
    lines.filter_map(|line| line["event"]["seq"].as_u64()).collect()
}

// covers: OPS-132
#[tokio::test]
async fn removed_messages_are_archived_first_and_once() {
    let archive = tempfile::tempdir().unwrap();
    let keep = |archive: &Path| {
        let archive = archive.to_owned();
        move |config: &mut chorus_server::Config| {
            config.settings.retention.keep = Keep::Days(1);
            config.settings.retention.archive_dir = Some(archive);
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let host = TestHost::open_with(folder, START, keep(archive.path())).await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "first").await;
    let secret = host.say(&ann, &room, "hunter2-is-my-password").await;
    let ours = archive.path().join(&room);

    // The host ended after it had written a file, and before it dropped what is in it.
    fs::create_dir_all(&ours).unwrap();
    fs::write(ours.join("000000000001-000000000003.jsonl"), "hunter2-is-my-password").unwrap();
    fs::write(ours.join("000000000001-000000000009.jsonl.partial"), "{").unwrap();
    let path = format!("/v1/messages/{}/erase", secret["message_id"].as_str().unwrap());
    host.post(&ann, &path, json!({"reason": "secret"})).await.ok();
    days(&host, 2).await;
    let ann = host.token("ann").await;

    let base = show(&host, &room).await["base_seq"].as_u64().unwrap();
    assert_eq!(base, host.length(&room).await, "all of it was old");
    let files = archived(&ours);
    let name = format!("000000000001-{base:012}.jsonl");
    assert_eq!(files.iter().map(|(name, _)| name).collect::<Vec<_>>(), [&name]);
    assert_eq!(seqs(&files), (1..=base).collect::<Vec<_>>());
    let text = fs::read_to_string(ours.join(&name)).unwrap();
    assert!(text.contains("\"text\":\"first\"") && !text.contains("hunter2"), "{text}");
    assert!(text.contains("\"id\":\"ann\""), "it says who spoke");
    let (_, lines) = &files[0];
    assert_eq!(lines.last().unwrap()["head"]["seq"], json!(base));

    // The next stretch follows from it.
    host.say(&ann, &room, "second").await;
    days(&host, 2).await;
    let files = archived(&ours);
    assert_eq!(files.len(), 2);
    assert_eq!(seqs(&files), (1..=base + 1).collect::<Vec<_>>());
    let next = files[1].1.iter().find(|line| line.get("base").is_some()).unwrap();
    assert_eq!(next["base"]["hash"], files[0].1.last().unwrap()["head"]["hash"]);
    sound(host).await;
}

// covers: OPS-133
#[tokio::test]
async fn message_that_cannot_be_archived_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let archive = place.path().join("archive");
    fs::write(&archive, "a file stands where the folder belongs").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let host = TestHost::open_with(folder, START, |config| {
        config.settings.retention.archive_dir = Some(archive.clone());
    })
    .await;
    let room = host.room(&["bot"]).await;
    let ann = host.token("ann").await;
    host.say(&ann, &room, "long ago").await;
    set(&host, &room, json!({"keep": "1d"})).await;
    assert_eq!(host.metric("chorus_retention_failing").await, 0);
    days(&host, 2).await;
    let ann = host.token("ann").await;
    assert_eq!(host.metric("chorus_retention_failing").await, 1);
    assert_eq!(show(&host, &room).await.get("base_seq"), None);
    let page = host.get(&ann, &format!("/v1/messages?conversation={room}")).await.ok();
    assert_eq!(texts(&page), ["long ago"]);
    fs::remove_file(&archive).unwrap();
    host.running.drop_old().await;
    assert_eq!(host.metric("chorus_retention_failing").await, 0);
    assert!(show(&host, &room).await["base_seq"].is_u64());
    assert_eq!(archived(&archive.join(&room)).len(), 1);
    sound(host).await;
}

// covers: OPS-134
#[tokio::test]
async fn a_trimmed_conversation_is_exported_and_imported_and_goes_on() {
    let host = TestHost::open().await;
    let room = host.room(&["bot", "other"]).await;
    let (ann, op) = (host.token("ann").await, host.operator());
    let bot = host.token("bot").await;
    let said = host.say(&ann, &room, "to be edited, deleted and reacted to").await;
    let message = format!("/v1/messages/{}", said["event_id"].as_str().unwrap());
    let secret = host.say(&ann, &room, "hunter2-is-my-password").await;
    let root = host.say(&ann, &room, "root").await;
    let thread = json!({"conversation": room, "root": root["event_id"], "title": "done soon"});
    let thread = host.post(&ann, "/v1/threads", thread).await.ok();
    let new = json!({"conversation": room, "thread": thread["id"], "text": "in it", "idempotency_key": "in"});
    host.post(&ann, "/v1/messages", new).await.ok();
    let done = format!("/v1/threads/{}", thread["id"].as_str().unwrap());
    host.send(&ann, Method::PATCH, &done, Some(json!({"status": "closed"}))).await.ok();
    host.post(&op, &format!("/v1/channels/{room}/leave"), json!({"member": "other"})).await.ok();
    // An agent's words without a person, which are counted over the base.
    host.say(&bot, &room, "I go on").await;
    set(&host, &room, json!({"keep": "10d"})).await;
    host.pass(9 * DAY).await;
    let (ann, bot) = (host.token("ann").await, host.token("bot").await);
    // About what will be gone, by events that stay.
    host.send(&ann, Method::PATCH, &message, Some(json!({"text": "edited"}))).await.ok();
    let agree = format!("{message}/reactions/agree");
    host.send(&op, Method::PUT, &agree, Some(json!({}))).await.ok();
    host.send(&ann, Method::DELETE, &message, None).await.ok();
    let erase = format!("/v1/messages/{}/erase", secret["message_id"].as_str().unwrap());
    host.post(&op, &erase, json!({"reason": "secret"})).await.ok();
    host.say(&bot, &room, "and on").await;
    days(&host, 2).await;
    let base = show(&host, &room).await;
    assert!(base["base_seq"].as_u64().unwrap() >= root["seq"].as_u64().unwrap(), "{base}");
    let log = host.get(&op, &format!("/v1/events?conversation={room}&after=0")).await.ok();
    let kinds: Vec<_> =
        log["events"].as_array().unwrap().iter().map(|e| e["type"].as_str().unwrap()).collect();
    let about = ["message_edited", "reaction_set", "message_deleted", "message_erased"];
    assert_eq!(kinds, [&about[..], &["message_posted"]].concat());
    assert!(log["events"][0].get("about").is_none());
    let kept = host.get(&op, "/v1/channels").await.ok();
    let now = host.clock_now();
    let folder = sound(host).await;

    let sign = Signing::open(&folder.path().join("keys")).unwrap();
    let mut lines = Vec::new();
    export(&place(folder.path()), &sign, now, None, &mut lines).unwrap();
    let folders = tempfile::tempdir().unwrap();
    let imported = tempfile::TempDir::new_in(folders.path()).unwrap();
    let data = imported.path().to_owned();
    fs::remove_dir(&data).unwrap();
    import(&mut &lines[..], &place(&data), None, now).unwrap();
    assert_eq!(verify(&data).problems, []);
    let mut again = Vec::new();
    export(&place(&data), &sign, now, None, &mut again).unwrap();
    assert_eq!(again, lines, "what was imported is what was exported");

    // A base that is not the one the log follows from is refused.
    let text = String::from_utf8(lines).unwrap();
    let hash = text.split("\"base\":").nth(1).unwrap().split("\"hash\":\"").nth(1).unwrap();
    let hash = hash.split('"').next().unwrap();
    let other =
        text.replacen(hash, &"A".repeat(43).to_string().clone(), 1).replacen("A\"", "A=\"", 1);
    let wrong = import(&mut other.as_bytes(), &place(&folders.path().join("wrong")), None, now);
    assert!(wrong.unwrap_err().to_string().contains("hash"));

    let host = TestHost::open_in(imported, now).await;
    assert_eq!(host.get(&host.operator(), "/v1/channels").await.ok(), kept);
    let ann = host.token("ann").await;
    let next = host.say(&ann, &room, "and on it goes").await;
    assert_eq!(next["seq"].as_u64().unwrap(), base["last_seq"].as_u64().unwrap() + 1);
    sound(host).await;
}
