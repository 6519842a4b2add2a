//! What Gemini CLI writes of its sessions: `~/.gemini/tmp/PROJECT/chats/session-*.jsonl`, a record a line.
//!
//! It has no interface to ask a session in a terminal, so this is the proof of keys and of `resume`. Invariant: what is
//! missing or different here means that we know less, and never that something arrived.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chorus_wire::time;
use serde_json::Value;
use tokio::time::sleep;

use super::outcome::{CLOCKS, Found, Turn, TurnEnd, same_text};

const LOOK: Duration = Duration::from_millis(100);
/// A longer chat is not read.
const CHAT_BYTES: u64 = 32 * 1024 * 1024;

/// One record of a chat.
struct Said {
    by_user: bool,
    at: SystemTime,
    text: String,
    /// Gemini goes on after this: it has called tools.
    calls: bool,
}

/// Looks for a message that may have been sent since then.
pub(super) fn look_up(home: &Path, prompt: &str, since: SystemTime) -> Found {
    match find(home, prompt, since) {
        Some(turn) => Found::There { evidence: "the chat has the prompt".to_owned(), turn },
        None => Found::Absent,
    }
}

/// Waits until a chat has the prompt. Does not end by itself.
pub(super) async fn sees(home: &Path, prompt: &str, since: SystemTime) -> (String, Turn) {
    loop {
        if let Some(turn) = find(home, prompt, since) {
            return ("the chat has the prompt".to_owned(), turn);
        }
        sleep(LOOK).await;
    }
}

/// Waits until Gemini has answered the prompt without calling another tool. A turn that fails leaves no record, so the
/// runner ends this with the program.
pub(super) async fn watch_end(home: &Path, prompt: &str, turn: &Turn) -> TurnEnd {
    let since = turn.since.unwrap_or(UNIX_EPOCH);
    loop {
        for (_, said) in chats(home, since) {
            let asked = said.iter().rposition(|said| is_ours(said, prompt, since));
            let answers = asked.map(|asked| &said[asked + 1..]).unwrap_or_default();
            let answer = answers.iter().rev().find(|said| !said.by_user);
            if let Some(answer) = answer.filter(|answer| !answer.calls && !answer.text.is_empty()) {
                return TurnEnd::completed("the chat has the answer", &answer.text);
            }
        }
        sleep(LOOK * 5).await;
    }
}

fn find(home: &Path, prompt: &str, since: SystemTime) -> Option<Turn> {
    let mut chats = chats(home, since);
    let found = chats.find(|(_, said)| said.iter().any(|said| is_ours(said, prompt, since)));
    found.map(|(session, _)| Turn { id: None, session: Some(session), since: Some(since) })
}

fn is_ours(said: &Said, prompt: &str, since: SystemTime) -> bool {
    // As an argument the prompt has each `@` escaped.
    let plain = said.text.replace("\\@", "@");
    said.by_user && said.at + CLOCKS >= since && same_text(&plain, prompt)
}

/// The chats that were written to since then, by their session.
fn chats(home: &Path, since: SystemTime) -> impl Iterator<Item = (String, Vec<Said>)> {
    let projects = fs::read_dir(home.join(".gemini/tmp")).into_iter().flatten().flatten();
    let files = projects.flat_map(|project| {
        fs::read_dir(project.path().join("chats")).into_iter().flatten().flatten()
    });
    let recent = files.filter(move |file| {
        let data = file.metadata().ok().filter(|data| data.len() <= CHAT_BYTES);
        data.and_then(|data| data.modified().ok()).is_some_and(|at| at + CLOCKS >= since)
    });
    recent.filter_map(|file| chat(file.path()))
}

fn chat(file: PathBuf) -> Option<(String, Vec<Said>)> {
    let text = fs::read_to_string(file).ok()?;
    let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let session = records.next()?["sessionId"].as_str()?.to_owned();
    let said = records.filter_map(|record| {
        let by_user = match record["type"].as_str()? {
            "user" => true,
            "gemini" => false,
            _ => return None,
        };
        let at = u64::try_from(time::parse(record["timestamp"].as_str()?)?.0).ok()?;
        let text = match &record["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => return None,
        };
        let calls = record["toolCalls"].as_array().is_some_and(|calls| !calls.is_empty());
        Some(Said { by_user, at: UNIX_EPOCH + Duration::from_millis(at), text, calls })
    });
    Some((session, said.collect()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn a_chat_shows_the_prompt_and_its_answer() {
        let home = tempfile::tempdir().unwrap();
        let chats = home.path().join(".gemini/tmp/project/chats");
        fs::create_dir_all(&chats).unwrap();
        let lines = concat!(
            r#"{"sessionId":"g-1","kind":"main"}"#,
            "\n",
            r#"{"type":"user","timestamp":"2026-11-27T14:43:46.331Z","content":[{"text":"read th_1\n"}]}"#,
            "\n{\"$set\":{}}\nhalf a li\n",
            r#"{"type":"gemini","timestamp":"2026-11-27T14:43:46.514Z","content":"","toolCalls":[{}]}"#,
            "\n",
            r#"{"type":"user","timestamp":"2026-11-27T14:43:46.515Z","content":[{"functionResponse":{}}]}"#,
            "\n",
        );
        fs::write(chats.join("session-1.jsonl"), lines).unwrap();
        let since = UNIX_EPOCH + Duration::from_millis(1_795_790_626_300);
        let (_, turn) = sees(home.path(), "read th_1", since).await;
        assert_eq!(turn.session.as_deref(), Some("g-1"));
        assert_eq!(look_up(home.path(), "read th_2", since), Found::Absent);
        let later = since + Duration::from_secs(1);
        assert_eq!(look_up(home.path(), "read th_1", later), Found::Absent, "an older one");
        let answer = r#"{"type":"gemini","timestamp":"2026-11-27T14:43:46.530Z","content":"done"}"#;
        fs::write(chats.join("session-1.jsonl"), format!("{lines}{answer}\n")).unwrap();
        assert_eq!(watch_end(home.path(), "read th_1", &turn).await.last, "done");
    }
}
