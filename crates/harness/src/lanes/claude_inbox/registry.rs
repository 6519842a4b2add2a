//! Claude Code's own files about its sessions: `sessions/PID.json` and its key, and the transcripts.
//!
//! They are no published format. Invariant: what is missing or different here means that we know less, and never that
//! something arrived.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chorus_wire::time;
use serde_json::Value;

use crate::lanes::outcome::CLOCKS;

/// The end of a transcript that is searched for a message: many turns.
const TRANSCRIPT_BYTES: u64 = 4 * 1024 * 1024;

/// A session as its process has registered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Registered {
    pub process: u32,
    pub session: Option<String>,
    pub socket: Option<PathBuf>,
    /// None if it does not say.
    pub busy: Option<bool>,
    /// Since when it is so.
    pub since: SystemTime,
}

/// The session of this process, or the one with this id.
pub(super) fn find(
    config: &Path,
    process: Option<u32>,
    session: Option<&str>,
) -> Option<Registered> {
    let folder = config.join("sessions");
    let own = process.and_then(|id| read(&folder.join(format!("{id}.json"))));
    own.or_else(|| {
        let files = fs::read_dir(&folder).ok()?.flatten().map(|file| file.path());
        let registered = files.filter(|path| path.extension().is_some_and(|e| e == "json"));
        let mut registered = registered.filter_map(|path| read(&path));
        registered.find(|entry| session.is_some() && entry.session.as_deref() == session)
    })
}

/// The token that messages of other sessions begin with.
pub(super) fn token(config: &Path, process: u32) -> Option<String> {
    let prefix = format!("{process}.");
    let files = fs::read_dir(config.join("sessions")).ok()?.flatten();
    let key = files.map(|file| file.path()).find(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        name.starts_with(&prefix) && name.ends_with(".key")
    })?;
    let key: Value = serde_json::from_slice(&fs::read(key).ok()?).ok()?;
    key["peerToken"].as_str().map(str::to_owned)
}

/// The transcript of a session.
pub(super) fn transcript(config: &Path, session: &str) -> Option<PathBuf> {
    let projects = fs::read_dir(config.join("projects")).ok()?.flatten();
    let mut files = projects.map(|project| project.path().join(format!("{session}.jsonl")));
    files.find(|file| file.exists())
}

/// Whether the transcript has this message, put into the queue or read since then.
pub(super) fn has_message(transcript: &Path, prompt: &str, since: Option<SystemTime>) -> bool {
    let Some(text) = tail(transcript) else { return false };
    let since = since.map(|since| millis(since - CLOCKS)).unwrap_or_default();
    text.lines().any(|line| {
        let Ok(entry) = serde_json::from_str::<Value>(line) else { return false };
        let at = entry["timestamp"].as_str().and_then(time::parse);
        if at.is_none_or(|at| at.0 < since) {
            return false;
        }
        let said = match entry["type"].as_str() {
            Some("queue-operation") if entry["operation"] == "enqueue" => &entry["content"],
            Some("user") => &entry["message"]["content"],
            _ => return false,
        };
        said.as_str().is_some_and(|said| said.contains(prompt.trim()))
    })
}

fn tail(transcript: &Path) -> Option<String> {
    let mut file = fs::File::open(transcript).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TRANSCRIPT_BYTES))).ok()?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn read(file: &Path) -> Option<Registered> {
    let entry: Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let since = entry["statusUpdatedAt"].as_u64().unwrap_or_default();
    Some(Registered {
        process: u32::try_from(entry["pid"].as_u64()?).ok()?,
        session: entry["sessionId"].as_str().map(str::to_owned),
        socket: entry["messagingSocketPath"].as_str().map(PathBuf::from),
        busy: entry["status"].as_str().map(|status| status == "busy"),
        since: UNIX_EPOCH + Duration::from_millis(since),
    })
}

fn millis(at: SystemTime) -> i64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_session_is_found_by_its_process_or_its_id() {
        let config = tempfile::tempdir().unwrap();
        let folder = config.path().join("sessions");
        fs::create_dir(&folder).unwrap();
        let entry = r#"{"pid":12,"sessionId":"s-1","messagingSocketPath":"/s","status":"idle","statusUpdatedAt":5}"#;
        fs::write(folder.join("12.json"), entry).unwrap();
        fs::write(folder.join("13.json"), "{").unwrap();
        fs::write(folder.join("12.abc.key"), r#"{"peerToken":"tok"}"#).unwrap();
        let found = find(config.path(), Some(12), None).unwrap();
        assert_eq!((found.socket, found.busy), (Some("/s".into()), Some(false)));
        assert_eq!(find(config.path(), Some(99), Some("s-1")).unwrap().process, 12);
        assert_eq!(find(config.path(), Some(13), Some("s-2")), None);
        assert_eq!(find(config.path(), None, None), None);
        assert_eq!(token(config.path(), 12).as_deref(), Some("tok"));
        assert_eq!(token(config.path(), 1), None);
    }

    #[test]
    fn a_message_is_in_the_transcript_once_it_is_queued_or_read() {
        let config = tempfile::tempdir().unwrap();
        let project = config.path().join("projects/-work");
        fs::create_dir_all(&project).unwrap();
        let lines = concat!(
            r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-11-27T14:42:36.001Z","content":"read th_1"}"#,
            "\nhalf a li\n",
            r#"{"type":"user","timestamp":"2026-11-27T14:42:40.000Z","message":{"content":"Another session sent:\nread th_2\n\nThis"}}"#,
            "\n",
            r#"{"type":"assistant","timestamp":"2026-11-27T14:42:41.000Z","message":{"content":"read th_3"}}"#,
        );
        fs::write(project.join("s-1.jsonl"), lines).unwrap();
        let file = transcript(config.path(), "s-1").unwrap();
        assert!(has_message(&file, "read th_1\n", None) && has_message(&file, "read th_2", None));
        assert!(!has_message(&file, "read th_3", None));
        let at = UNIX_EPOCH + Duration::from_millis(1_795_790_556_050);
        assert!(has_message(&file, "read th_1", Some(at)), "within what clocks differ");
        assert!(
            !has_message(&file, "read th_1", Some(at + Duration::from_secs(1))),
            "an older wake's"
        );
        assert_eq!(transcript(config.path(), "s-2"), None);
    }
}
