//! The room that is made before, and what the transports show of it afterwards.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::door::Door;
use super::evidence::{Directed, Line, Log, Owed};
use super::people::Place;

pub(super) const PEOPLE: [&str; 5] = ["ada", "bo", "cleo", "dan", "eve"];
pub(super) const AGENTS: [&str; 3] = ["scout", "critic", "smith"];
pub(super) const ROLE: &str = "helpers";
const CHANNELS: [&str; 2] = ["ops", "parser"];
/// Events of one page.
const PAGE: usize = 200;

/// The operator's token, which the host leaves in its folder.
pub(crate) fn operator(data: &Path) -> Result<String, String> {
    let path = data.join("operator.token");
    let token = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(token.trim().to_owned())
}

/// Makes a member, and gives a token of it.
pub(crate) fn member(door: &mut Door, id: &str, kind: &str) -> Result<String, String> {
    let member = json!({ "id": id, "kind": kind, "token_role": "worker" });
    let made = door.must("POST", "/v1/members", &member)?;
    made["token"].as_str().map(str::to_owned).ok_or_else(|| format!("no token in {made}"))
}

/// Makes the role of all agents, and the channels with everybody in them and a thread each.
pub(super) fn furnish(door: &mut Door) -> Result<Vec<Place>, String> {
    door.must("POST", "/v1/roles", &json!({ "name": ROLE }))?;
    for agent in AGENTS {
        door.must("PUT", &format!("/v1/roles/{ROLE}/members/{agent}"), &Value::Null)?;
    }
    let everybody: Vec<_> = PEOPLE.iter().chain(&AGENTS).collect();
    let mut places = Vec::new();
    for title in CHANNELS {
        let channel = json!({ "title": title, "members": everybody, "replies": "line" });
        let channel = door.must("POST", "/v1/channels", &channel)?;
        let conversation = text(&channel, "id")?;
        let thread = json!({ "conversation": conversation, "title": format!("work on {title}") });
        let thread = text(&door.must("POST", "/v1/threads", &thread)?, "id")?;
        places.push(Place { conversation, thread });
    }
    Ok(places)
}

/// How the room came to rest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settled {
    /// From the last word until no agent had anything open.
    pub(super) took: Duration,
    /// Lines of talk on which agents had used their budget up and were let go on.
    pub(super) continued: usize,
}

/// Waits until no agent has anything open any more. Who runs the room lets agents go on that have paused:
/// until then what they owe there stays open.
pub(super) fn settle(
    door: &mut Door,
    agents: &[&str],
    patience: Duration,
) -> Result<Settled, String> {
    let began = Instant::now();
    let mut continued = 0;
    // Twice in a row: a settled delivery may have led to another.
    let mut quiet = 0;
    loop {
        continued += let_go_on(door)?;
        let mut open = Vec::new();
        for agent in agents {
            let path = format!("/v1/deliveries?state=open&member={agent}");
            let answer = door.must("GET", &path, &Value::Null)?;
            open.extend(answer["deliveries"].as_array().cloned().unwrap_or_default());
        }
        quiet = if open.is_empty() { quiet + 1 } else { 0 };
        if quiet == 2 {
            return Ok(Settled { took: began.elapsed(), continued });
        }
        if began.elapsed() > patience {
            let first = open.first().map(Value::to_string).unwrap_or_default();
            return Err(format!("{} deliveries are open still: {first} …", open.len()));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Gives a person's word on each line that waits for one; says how many there were.
fn let_go_on(door: &mut Door) -> Result<usize, String> {
    let answer = door.must("GET", "/v1/pauses", &Value::Null)?;
    let pauses = answer["pauses"].as_array().cloned().unwrap_or_default();
    for pause in &pauses {
        let line = match pause["thread_id"].as_str() {
            Some(thread) => format!("/v1/threads/{thread}/continue"),
            None => format!("/v1/channels/{}/continue", text(pause, "conversation")?),
        };
        door.must("POST", &line, &Value::Null)?;
    }
    Ok(pauses.len())
}

/// Deliveries that were given up.
pub(super) fn dead_letters(door: &mut Door) -> Result<Vec<Value>, String> {
    let answer = door.must("GET", "/v1/deliveries?state=dead", &Value::Null)?;
    Ok(answer["deliveries"].as_array().cloned().unwrap_or_default())
}

/// A conversation's whole log, page by page.
pub(super) fn log(door: &mut Door, conversation: &str) -> Result<Log, String> {
    let mut lines: Vec<Line> = Vec::new();
    loop {
        let after = lines.last().map_or(0, |line| line.seq);
        let path = format!("/v1/events?conversation={conversation}&after={after}&limit={PAGE}");
        let page = door.must("GET", &path, &Value::Null)?;
        lines.extend(page["events"].as_array().into_iter().flatten().map(line));
        let came_further = lines.last().is_some_and(|line| line.seq > after);
        if page["has_more"] != true || !came_further {
            break;
        }
    }
    let channel = door.must("GET", &format!("/v1/channels/{conversation}"), &Value::Null)?;
    let last_seq = channel["last_seq"].as_u64().ok_or("a channel has no last_seq")?;
    Ok(Log { conversation: conversation.to_owned(), last_seq, lines })
}

/// Who was told of a message, and what came of it.
pub(super) fn told(door: &mut Door, event: &str) -> Result<Directed, String> {
    let why = door.must("GET", &format!("/v1/events/{event}/attention"), &Value::Null)?;
    let field = |of: &Value, name: &str| of[name].as_str().unwrap_or_default().to_owned();
    let told = why["told"].as_array().into_iter().flatten().map(|told| Owed {
        member: field(told, "member"),
        reason: field(told, "reason"),
        policy: field(told, "policy"),
        state: field(&told["receipt"], "state"),
        disposition: told["receipt"]["disposition"].as_str().map(str::to_owned),
    });
    Ok(Directed { event: event.to_owned(), owed: told.collect() })
}

fn line(event: &Value) -> Line {
    let own = |value: &Value| value.as_str().map(str::to_owned);
    // An event about a message, a reaction say, shows that message as it was posted: it is no line of its own.
    let posted = event["type"] == "message_posted";
    let message = if posted { &event["message"] } else { &Value::Null };
    Line {
        event: own(&event["event_id"]).unwrap_or_default(),
        seq: event["seq"].as_u64().unwrap_or_default(),
        kind: own(&event["type"]).unwrap_or_default(),
        author: own(&event["actor"]["id"]).unwrap_or_default(),
        text: own(&message["text"]),
        thread: own(&message["thread_id"]),
        thread_seq: message["thread_seq"].as_u64(),
        in_reply_to: own(&message["in_reply_to"]),
    }
}

fn text(of: &Value, name: &str) -> Result<String, String> {
    of[name].as_str().map(str::to_owned).ok_or_else(|| format!("no {name} in {of}"))
}
