//! What must hold in the end, read through the doors as anybody reads.

use std::collections::{HashMap, HashSet};
use std::fmt;

use futures_util::{StreamExt, stream};
use serde_json::Value;

use crate::house::House;
use crate::people::{Left, Said};

/// Questions to the host at the same time.
const ASKED: usize = 32;

#[derive(Default)]
pub(crate) struct Verdict {
    messages: usize,
    edited: usize,
    erased: usize,
    owed: usize,
    answered: usize,
    overdue: usize,
    open: usize,
    replies: usize,
    pub(crate) wrong: Vec<String>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, edited, erased, owed, answered, overdue, open, replies, .. } = self;
        write!(
            f,
            "{messages} messages ({edited} edited, {erased} erased), {replies} replies; {owed} answers owed: \
             {answered} settled, {overdue} overdue, {open} open"
        )
    }
}

impl Verdict {
    pub(crate) fn must_have_seen(&self, messages: u64) {
        let least = messages as usize / 200;
        for (what, count) in [
            ("edits", self.edited),
            ("erasures", self.erased),
            ("obligations", self.owed),
            ("answers", self.answered),
            ("replies", self.replies),
        ] {
            assert!(count >= least, "only {count} {what} in {messages} messages");
        }
    }
}

pub(crate) async fn judge(house: &House, said: &[Said]) -> Verdict {
    let mut verdict = Verdict { messages: said.len(), ..Verdict::default() };
    let mut logs: HashMap<String, Vec<Value>> = HashMap::new();
    let rooms: HashSet<&String> = said.iter().map(|said| &said.room).collect();
    for room in rooms {
        logs.insert(room.clone(), log(house, room).await);
    }
    every_message_once(said, &logs, &mut verdict);
    nobody_answered_twice(&logs, &mut verdict);
    nothing_owed_forgotten(house, said, &mut verdict).await;
    verdict
}

/// All messages of a room, and of its threads.
async fn log(house: &House, room: &str) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let path = format!("/v1/messages?conversation={room}&after_seq={after}&limit=200");
        let mut page = house.must(house.operator(), "GET", &path, None).await;
        let messages = page["messages"].as_array_mut().map(std::mem::take).unwrap_or_default();
        after = messages.last().map_or(after, |m| m["seq"].as_u64().unwrap());
        all.extend(messages);
        if page["has_more"] != Value::Bool(true) {
            return all;
        }
    }
}

/// Each acknowledged message stands once, at its place, as it was last left; and no person said more.
fn every_message_once(said: &[Said], logs: &HashMap<String, Vec<Value>>, verdict: &mut Verdict) {
    let mut found: HashMap<&str, Vec<&Value>> = HashMap::new();
    let mut by_people = 0;
    for message in logs.values().flatten() {
        found.entry(message["event_id"].as_str().unwrap_or_default()).or_default().push(message);
        by_people += usize::from(message["author"]["kind"] == "human");
    }
    if by_people != said.len() {
        verdict.wrong.push(format!("{by_people} messages of people, and {} answered", said.len()));
    }
    for said in said {
        let Some([message]) = found.get(&*said.event).map(Vec::as_slice) else {
            verdict.wrong.push(format!("{} is there {:?}", said.event, found.get(&*said.event)));
            continue;
        };
        let text = match said.left {
            Left::Standing => Some(&*said.text),
            Left::Deleted | Left::Erased => None,
        };
        verdict.edited += usize::from(!message["edited_at"].is_null());
        verdict.erased += usize::from(said.left == Left::Erased);
        if message["text"].as_str() != text || message["seq"] != said.seq {
            verdict.wrong.push(format!("{said:?} is {message}"));
        }
    }
}

/// An agent answers an event once, however often it was offered.
fn nobody_answered_twice(logs: &HashMap<String, Vec<Value>>, verdict: &mut Verdict) {
    let mut answered = HashSet::new();
    for message in logs.values().flatten() {
        let (author, to) = (&message["author"]["id"], &message["in_reply_to"]);
        if message["author"]["kind"] != "agent" || to.is_null() {
            continue;
        }
        verdict.replies += 1;
        if !answered.insert((author.to_string(), to.to_string())) {
            verdict.wrong.push(format!("{author} answered {to} twice"));
        }
    }
}

/// Whatever somebody had to answer came to an end, or stands in the list of what is open or overdue.
async fn nothing_owed_forgotten(house: &House, said: &[Said], verdict: &mut Verdict) {
    let mut listed = HashSet::new();
    for state in ["open", "dead"] {
        for agent in said.iter().flat_map(|said| &said.owed).collect::<HashSet<_>>() {
            let path = format!("/v1/deliveries?state={state}&member={agent}");
            let all = house.must(house.operator(), "GET", &path, None).await;
            for delivery in all["deliveries"].as_array().into_iter().flatten() {
                listed.insert(delivery["id"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    let whys =
        stream::iter(said.iter().filter(|said| !said.owed.is_empty())).map(|said| async move {
            let path = format!("/v1/events/{}/attention", said.event);
            (said, house.must(house.operator(), "GET", &path, None).await)
        });
    let mut whys = whys.buffer_unordered(ASKED);
    while let Some((said, why)) = whys.next().await {
        for member in &said.owed {
            verdict.owed += 1;
            let told = why["told"].as_array().into_iter().flatten();
            let mut receipt =
                told.filter(|told| told["member"] == **member).map(|told| &told["receipt"]);
            let state = receipt.next_back().and_then(|receipt| receipt["state"].as_str());
            let in_list = listed.contains(&format!("{}:{member}", said.event));
            match state {
                Some("settled") => verdict.answered += 1,
                Some("dead") if in_list => verdict.overdue += 1,
                Some("waiting" | "offered" | "accepted") if in_list => verdict.open += 1,
                other => verdict.wrong.push(format!("{member} owes {}: {other:?}", said.event)),
            }
        }
    }
}
