//! The format of a folder of chat: what was said, and apart from it what people have noted about it.
//!
//! Invariant: [`Heard`] is all that a decision may see. It is author, time, kind and text of a line; every
//! annotation goes into [`Noted`], which only the scores read.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Who nobody of the conversation is: somebody named who never spoke in it.
pub(crate) const STRANGER: usize = usize::MAX;

/// One line as those in the room heard it.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    /// Into [`Chat::authors`]; none on lines of the channel itself.
    pub author: Option<usize>,
    /// Milliseconds since the epoch; none where the log has no times.
    pub at: Option<i64>,
    /// A message or an action, and not a line of the system.
    pub said: bool,
    pub text: String,
}

/// What was noted about a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted {
    pub seq: u64,
    /// It may be scored.
    pub gold: bool,
    /// Whom it is directed at; none where that was not noted.
    pub to: Option<Vec<usize>>,
    /// The addressee is named at the start, or with `@`.
    pub explicit: bool,
    /// Lines it answers.
    pub answers: Vec<u64>,
    pub cluster: Option<i64>,
    pub acts: Vec<String>,
}

/// One conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chat {
    pub conv: String,
    pub authors: Vec<String>,
    pub bots: BTreeSet<usize>,
    pub heard: Vec<Heard>,
    pub noted: Vec<Noted>,
    /// Its times are good to the second.
    pub seconds: bool,
}

/// One line of a sample that was labelled, to be replayed where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Labelled {
    pub file: String,
    pub conv: String,
    pub seq: u64,
    pub label: String,
    pub weight: f64,
}

/// One file.
#[derive(Debug)]
pub(crate) struct Set {
    pub name: String,
    pub chats: Vec<Chat>,
    pub labelled: Vec<Labelled>,
}

/// Reads every `*.jsonl` of a folder, in the order of the names.
///
/// # Errors
/// A folder or file that cannot be read, and a line that is not of the format, with its place.
pub(crate) fn read(folder: &Path) -> Result<Vec<Set>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "jsonl"));
    files.sort();
    if files.is_empty() {
        return Err(format!("{}: no *.jsonl in it", folder.display()));
    }
    files.iter().map(|file| read_file(file)).collect()
}

fn read_file(file: &Path) -> Result<Set, String> {
    let name = file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    parse(&name, &text).map_err(|why| format!("{}:{why}", file.display()))
}

/// Reads the lines of a file.
pub(crate) fn parse(name: &str, text: &str) -> Result<Set, String> {
    let mut set = Set { name: name.to_owned(), chats: Vec::new(), labelled: Vec::new() };
    let mut by_conv: HashMap<String, usize> = HashMap::new();
    let mut lines: Vec<Vec<Value>> = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).map_err(|e| format!("{}: {e}", n + 1))?;
        let Some(conv) = value["conv"].as_str() else {
            return Err(format!("{}: a line names its conversation in `conv`", n + 1));
        };
        if value["label"].is_string() {
            set.labelled.push(labelled(&value));
            continue;
        }
        let at = *by_conv.entry(conv.to_owned()).or_insert_with(|| {
            lines.push(Vec::new());
            lines.len() - 1
        });
        lines[at].push(value);
    }
    set.chats = lines.iter().map(|lines| chat(lines)).collect();
    Ok(set)
}

fn labelled(value: &Value) -> Labelled {
    let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
    Labelled {
        file: text("file").trim_end_matches(".jsonl").to_owned(),
        conv: text("conv"),
        seq: value["seq"].as_u64().unwrap_or_default(),
        label: text("label"),
        weight: value["weight"].as_f64().unwrap_or(1.0),
    }
}

fn chat(lines: &[Value]) -> Chat {
    let mut chat = Chat::default();
    let mut keys: HashMap<&str, usize> = HashMap::new();
    for author in lines.iter().filter_map(|line| line["author"].as_str()) {
        keys.entry(author).or_insert_with(|| {
            chat.authors.push(author.to_owned());
            chat.authors.len() - 1
        });
    }
    for line in lines {
        let author = line["author"].as_str().and_then(|a| keys.get(a)).copied();
        if line["bot"] == true {
            chat.bots.extend(author);
        }
        chat.conv = line["conv"].as_str().unwrap_or_default().to_owned();
        chat.seconds = line["res"] == "sec";
        let kind = line["kind"].as_str().unwrap_or("msg");
        chat.heard.push(Heard {
            author,
            at: line["ts"].as_i64().map(|s| s.saturating_mul(1_000)),
            said: matches!(kind, "msg" | "action"),
            text: line["text"].as_str().unwrap_or_default().to_owned(),
        });
        chat.noted.push(noted(line, &keys));
    }
    chat
}

fn noted(line: &Value, keys: &HashMap<&str, usize>) -> Noted {
    let person =
        |name: &Value| name.as_str().and_then(|n| keys.get(n)).copied().unwrap_or(STRANGER);
    let list = |field: &str| line[field].as_array();
    let mut answers: Vec<u64> =
        list("reply_all").into_iter().flatten().filter_map(Value::as_u64).collect();
    answers.extend(line["reply_to"].as_u64().filter(|seq| !answers.contains(seq)));
    Noted {
        seq: line["seq"].as_u64().unwrap_or_default(),
        gold: line["gold"] == true,
        to: list("to").map(|to| to.iter().map(person).collect()),
        explicit: line["to_src"] == "explicit",
        answers,
        cluster: line["cluster"].as_i64(),
        acts: list("acts")
            .into_iter()
            .flatten()
            .filter_map(|act| act.as_str().map(str::to_owned))
            .collect(),
    }
}

impl Chat {
    /// The `n` most active authors who are no bots: they are taken for the agents.
    pub(crate) fn most_active(&self, n: usize) -> Vec<usize> {
        let mut said = vec![0usize; self.authors.len()];
        for author in self.heard.iter().filter(|h| h.said).filter_map(|h| h.author) {
            said[author] += 1;
        }
        let mut order: Vec<usize> = (0..said.len()).filter(|a| !self.bots.contains(a)).collect();
        order.sort_by_key(|a| (std::cmp::Reverse(said[*a]), *a));
        order.truncate(n);
        order
    }
}
