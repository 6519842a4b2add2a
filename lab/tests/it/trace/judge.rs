//! What must hold in the end, read over the transports as anybody reads.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::house::House;
use super::people::{Left, People, Said};
use super::rare::Rare;

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
    ephemeral: usize,
    digests: usize,
    carried: usize,
    denied: usize,
    /// Events of each type.
    kinds: BTreeMap<String, usize>,
    pub(crate) wrong: Vec<String>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, edited, erased, owed, answered, overdue, open, replies, .. } = self;
        write!(
            f,
            "{messages} messages ({edited} edited, {erased} erased), {replies} replies; {owed} answers owed: \
             {answered} settled, {overdue} overdue, {open} open; {} ephemeral, {} digests, {} approved, {} denied; {:?}",
            self.ephemeral, self.digests, self.carried, self.denied, self.kinds
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
        let rare = messages as usize / 5_000;
        let of_kind = |kind: &str| self.kinds.get(kind).copied().unwrap_or_default();
        for (what, count) in [
            ("ephemeral messages", self.ephemeral),
            ("digests", self.digests),
            ("approved messages", self.carried),
            ("denied messages", self.denied),
            ("withdrawals", of_kind("member_withdrew")),
            ("words to go on", of_kind("continued")),
            ("erased", of_kind("message_erased")),
            ("deleted", of_kind("message_deleted")),
            ("edited", of_kind("message_edited")),
            ("reactions", of_kind("reaction_set")),
        ] {
            assert!(count >= rare.max(1), "only {count} {what} in {messages} messages");
        }
    }
}

pub(crate) async fn judge(house: &House, people: &People, rare: &Rare) -> Verdict {
    let said = &people.plan().said;
    let auditor = people.auditor();
    let mut verdict = Verdict { messages: said.len(), ..Verdict::default() };
    let mut logs: HashMap<String, Vec<Value>> = HashMap::new();
    let rooms: HashSet<&String> = said.iter().map(|said| &said.room).collect();
    for room in rooms {
        logs.insert(room.clone(), log(house, auditor, room).await);
        kinds(house, auditor, room, &mut verdict).await;
    }
    for room in people.rooms() {
        let seen = log(house, house.operator(), room).await;
        shown_to_few(said, room, &seen, &mut verdict);
    }
    carried_once(rare, &logs, &mut verdict);
    for (room, token) in people.followed() {
        digests_in_a_row(house, &room, &token, &mut verdict).await;
    }
    every_message_once(said, &logs, &mut verdict);
    nobody_answered_twice(&logs, &mut verdict);
    nothing_owed_forgotten(house, auditor, said, &mut verdict).await;
    verdict
}

/// All messages of a room, and of its threads.
async fn log(house: &House, token: &str, room: &str) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let path = format!("/v1/messages?conversation={room}&after_seq={after}&limit=200");
        let mut page = house.must(token, "GET", &path, None).await;
        let messages = page["messages"].as_array_mut().map(std::mem::take).unwrap_or_default();
        after = messages.last().map_or(after, |m| m["seq"].as_u64().unwrap());
        all.extend(messages);
        if page["has_more"] != Value::Bool(true) {
            return all;
        }
    }
}

/// What happened, by type.
async fn kinds(house: &House, token: &str, room: &str, verdict: &mut Verdict) {
    let mut after = 0;
    loop {
        let path = format!("/v1/events?conversation={room}&after={after}&limit=200");
        let page = house.must(token, "GET", &path, None).await;
        for event in page["events"].as_array().into_iter().flatten() {
            let kind = event["type"].as_str().unwrap().to_owned();
            *verdict.kinds.entry(kind).or_default() += 1;
            after = event["seq"].as_u64().unwrap();
        }
        if page["has_more"] != Value::Bool(true) {
            return;
        }
    }
}

/// Who is not named by an ephemeral message does not see it.
fn shown_to_few(said: &[Said], room: &str, seen: &[Value], verdict: &mut Verdict) {
    let shown: HashSet<_> = seen.iter().filter_map(|m| m["event_id"].as_str()).collect();
    for said in said.iter().filter(|said| said.room == room) {
        verdict.ephemeral += usize::from(said.ephemeral);
        if said.ephemeral == shown.contains(&*said.event) {
            verdict.wrong.push(format!("{said:?} is shown to everybody, or to nobody"));
        }
    }
}

/// What a person approved stands once; what was denied, or forgotten, nowhere.
fn carried_once(rare: &Rare, logs: &HashMap<String, Vec<Value>>, verdict: &mut Verdict) {
    let mut found: HashMap<&str, usize> = HashMap::new();
    for text in logs.values().flatten().filter_map(|message| message["text"].as_str()) {
        // An agent's other words wait too where its turn is of something private.
        if text.starts_with("I am to pass on") || rare.decided.contains_key(text) {
            *found.entry(text).or_default() += 1;
        }
    }
    for (text, approved) in &rare.decided {
        let times = found.remove(&**text).unwrap_or_default();
        if times != usize::from(*approved) {
            verdict.wrong.push(format!("{text:?}, approved: {approved}, stands {times} times"));
        }
        verdict.carried += times;
        verdict.denied += usize::from(!approved);
    }
    for text in found.keys() {
        verdict.wrong.push(format!("nobody was asked for {text:?}"));
    }
}

/// A follower's digests account for the log in stretches that follow each other.
async fn digests_in_a_row(house: &House, room: &str, token: &str, verdict: &mut Verdict) {
    let mut before = u64::MAX >> 1;
    loop {
        let path = format!("/v1/digests?conversation={room}&before={before}&limit=100");
        let page = house.must(token, "GET", &path, None).await;
        let digests = page["digests"].as_array().cloned().unwrap_or_default();
        if digests.is_empty() {
            return;
        }
        for digest in digests {
            let (after, through) = (&digest["after_seq"], &digest["through_seq"]);
            let [after, through] = [after, through].map(|seq| seq.as_u64().unwrap());
            if after >= through || through >= before {
                verdict.wrong.push(format!("digests overlap before {before}: {digest}"));
            }
            (before, verdict.digests) = (after + 1, verdict.digests + 1);
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
async fn nothing_owed_forgotten(
    house: &House,
    auditor: &str,
    said: &[Said],
    verdict: &mut Verdict,
) {
    let mut listed = HashSet::new();
    for state in ["open", "dead"] {
        for agent in said.iter().flat_map(|said| &said.owed).collect::<HashSet<_>>() {
            let path = format!("/v1/deliveries?state={state}&member={agent}");
            let all = house.must(auditor, "GET", &path, None).await;
            for delivery in all["deliveries"].as_array().into_iter().flatten() {
                listed.insert(delivery["id"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    let whys =
        stream::iter(said.iter().filter(|said| !said.owed.is_empty())).map(|said| async move {
            let path = format!("/v1/events/{}/attention", said.event);
            (said, house.must(auditor, "GET", &path, None).await)
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
                Some("waiting" | "offered" | "accepted" | "deferred") if in_list => {
                    verdict.open += 1
                }
                other => verdict.wrong.push(format!("{member} owes {}: {other:?}", said.event)),
            }
        }
    }
}
