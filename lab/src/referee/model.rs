//! What must be true of a room, as a judgement over what was seen of it. No I/O and no chance.
//!
//! It is made of the pages of `spec/` alone: what a log looks like, how far a chain of agents' messages goes, how much agents say
//! without a person, and what may have become of an obligation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::ledger::Wrong;

/// From this hop on an agent's message obliges nobody (ATT-97).
const OBLIGES_NOBODY: u64 = 6;
/// From this hop on it is told to no agent (ATT-98).
const ENDS: u64 = 12;

/// One entry of a log, as far as the model looks at it.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    pub(super) event: String,
    pub(super) seq: u64,
    pub(super) kind: String,
    pub(super) author: String,
    pub(super) is_agent: bool,
    pub(super) text: String,
    pub(super) thread: Option<String>,
    pub(super) in_reply_to: Option<String>,
    pub(super) hop: u64,
    pub(super) is_chat: bool,
}

impl Entry {
    pub(super) fn of(event: &Value) -> Self {
        let own = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let message = &event["message"];
        Self {
            event: own(&event["event_id"]),
            seq: event["seq"].as_u64().unwrap_or_default(),
            kind: own(&event["type"]),
            author: own(&event["actor"]["id"]),
            is_agent: event["actor"]["kind"] == "agent",
            text: own(&message["text"]),
            thread: message["thread_id"]
                .as_str()
                .or(event["thread_id"].as_str())
                .map(str::to_owned),
            in_reply_to: message["in_reply_to"].as_str().map(str::to_owned),
            hop: message["hop"].as_u64().unwrap_or_default(),
            is_chat: message["kind"] == "chat",
        }
    }

    pub(super) fn is_post(&self) -> bool {
        self.kind == "message_posted"
    }
}

/// The log has no hole.
pub(super) fn whole(room: &str, log: &[Entry]) -> Result<(), Wrong> {
    let hole = log.iter().zip(1_u64..).find(|(entry, seq)| entry.seq != *seq);
    match hole {
        None => Ok(()),
        Some((entry, seq)) => {
            let seen = format!("entry {} of {room}", entry.seq);
            Err(Wrong::new(format!("entry {seq} comes next"), seen, &[&entry.event]))
        }
    }
}

/// Agents say no more than `budget` chat messages on a thread's line without a person, or a change of its status.
pub(super) fn within_budget(log: &[Entry], thread: &str, budget: usize) -> Result<(), Wrong> {
    let mut said: Vec<&str> = Vec::new();
    for entry in log.iter().filter(|entry| entry.thread.as_deref() == Some(thread)) {
        match (entry.is_post(), entry.is_agent) {
            (true, true) if entry.is_chat => said.push(&entry.event),
            (true, false) => said.clear(),
            (false, _) if entry.kind.starts_with("thread_") => said.clear(),
            // What a person says in place of what it said is a person's word, too.
            (false, false) if entry.kind == "message_edited" => said.clear(),
            _ => {}
        }
        if said.len() > budget {
            let seen = format!("{} messages of agents in a row", said.len());
            return Err(Wrong::new(format!("at most {budget} without a person"), seen, &said));
        }
    }
    Ok(())
}

/// Nobody answers an event twice in the same words.
pub(super) fn answered_once(log: &[Entry]) -> Vec<Wrong> {
    let mut answers: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for entry in log.iter().filter(|entry| entry.is_post() && entry.is_agent) {
        if let Some(to) = &entry.in_reply_to {
            answers.entry((to, &entry.author, &entry.text)).or_default().push(&entry.event);
        }
    }
    let twice = answers.into_iter().filter(|(_, events)| events.len() > 1);
    let wrong = twice.map(|((to, author, _), events)| {
        let seen = format!("{author} said the same {} times", events.len());
        Wrong::new(format!("{to} is answered once"), seen, &events)
    });
    wrong.collect()
}

/// What an event's attention says of its place in a chain, and of whom it was told to.
#[derive(Clone, Debug, Default)]
pub(super) struct Link {
    pub(super) event: String,
    pub(super) by_agent: bool,
    pub(super) hop: u64,
    /// The hop of what caused it, where something did.
    pub(super) cause_hop: Option<u64>,
    pub(super) told: Vec<Told>,
}

/// What became of one member's part in an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) member: String,
    pub(super) is_agent: bool,
    pub(super) policy: String,
    pub(super) reason: String,
    pub(super) state: String,
    pub(super) disposition: String,
    pub(super) is_put_off: bool,
}

impl Told {
    pub(super) fn of(told: &Value, agents: &BTreeSet<String>) -> Self {
        let own = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let receipt = &told["receipt"];
        Self {
            member: own(&told["member"]),
            is_agent: told["member"].as_str().is_some_and(|member| agents.contains(member)),
            policy: own(&told["policy"]),
            reason: own(&told["reason"]),
            state: own(&receipt["state"]),
            disposition: own(&receipt["disposition"]),
            is_put_off: receipt["deferred_until"].is_string(),
        }
    }

    pub(super) fn must(&self) -> bool {
        self.policy == "must_respond"
    }
}

/// An agent's message is one hop from its cause, obliges no agent from hop 6 on, and ends at 12.
pub(super) fn bounded(link: &Link) -> Result<(), Wrong> {
    let of = [link.event.as_str()];
    let wrong = |expected: String, seen: String| Err(Wrong::new(expected, seen, &of));
    if !link.by_agent {
        return match link.hop {
            0 => Ok(()),
            hop => wrong("a person's message has hop 0".to_owned(), format!("hop {hop}")),
        };
    }
    let expected = link.cause_hop.map_or(1, |cause| cause + 1);
    if link.hop != expected {
        return wrong(format!("hop {expected}"), format!("hop {}", link.hop));
    }
    // What moved on to somebody is the obligation of the first.
    let told = || link.told.iter().filter(|told| told.is_agent && told.reason != "escalated");
    if link.hop >= OBLIGES_NOBODY
        && let Some(told) = told().find(|told| told.must())
    {
        return wrong(format!("hop {} obliges nobody", link.hop), format!("{} must", told.member));
    }
    if link.hop >= ENDS
        && let Some(told) = told().next()
    {
        return wrong(
            format!("hop {} is told to no agent", link.hop),
            format!("{} was", told.member),
        );
    }
    Ok(())
}

/// Each obligation of an agent has ended, was handed on, or is open and listed.
///
/// `touched`: the message was edited, deleted, replied to or called done by a person, which may end what is owed for it.
/// `listed`: members in whose list of open deliveries it stands. `merged`: members that owe or have answered a later event
/// of the same line of talk, so that they may end this one as superseded by it.
pub(super) fn accounted(
    event: &str,
    told: &[Told],
    touched: bool,
    listed: &BTreeSet<String>,
    merged: &BTreeSet<String>,
) -> Vec<Wrong> {
    let owed = told.iter().filter(|told| told.is_agent && told.must());
    let wrong = owed.filter_map(|one| {
        let others = || told.iter().filter(|other| other.member != one.member);
        let handed_on =
            others().any(|other| other.reason == "escalated" || other.reason == "role_mention");
        let answered = others().any(|other| other.disposition == "responded");
        let fine = match (one.state.as_str(), one.disposition.as_str()) {
            ("settled", "responded" | "acknowledged") => true,
            ("settled", "deferred") => one.is_put_off || touched,
            ("settled", "superseded") => {
                touched || handed_on || answered || merged.contains(&one.member)
            }
            ("settled", _) => touched || handed_on,
            ("dead", _) => true,
            _ => touched || listed.contains(&one.member),
        };
        let seen = || {
            format!(
                "{} ({}): {} {}, nobody else was asked, and it is not listed",
                one.member, one.reason, one.state, one.disposition
            )
        };
        let expected = "what is owed has ended, moved on, or is listed";
        (!fine).then(|| Wrong::new(expected, seen(), &[event]))
    });
    wrong.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(seq: u64, author: &str, thread: Option<&str>) -> Entry {
        Entry {
            event: format!("evt_{seq}"),
            seq,
            kind: "message_posted".to_owned(),
            author: author.to_owned(),
            is_agent: author.starts_with("bot"),
            text: "It is fine.".to_owned(),
            thread: thread.map(str::to_owned),
            is_chat: true,
            ..Entry::default()
        }
    }

    fn told(member: &str, state: &str, disposition: &str) -> Told {
        Told {
            member: member.to_owned(),
            is_agent: member.starts_with("bot"),
            policy: "must_respond".to_owned(),
            reason: "mention".to_owned(),
            state: state.to_owned(),
            disposition: disposition.to_owned(),
            is_put_off: false,
        }
    }

    #[test]
    fn a_hole_in_a_log_is_seen() {
        let log = [post(1, "ann", None), post(2, "ann", None)];
        assert!(whole("ch_1", &log).is_ok() && whole("ch_1", &[]).is_ok());
        assert!(whole("ch_1", &[post(1, "ann", None), post(3, "ann", None)]).is_err());
        assert!(whole("ch_1", &[post(2, "ann", None)]).is_err());
    }

    #[test]
    fn agents_alone_are_counted_on_their_line() {
        let line = Some("th_1");
        let mut log = vec![post(1, "ann", line), post(2, "bot", line), post(3, "bot2", line)];
        assert!(within_budget(&log, "th_1", 2).is_ok());
        assert!(within_budget(&log, "th_1", 1).is_err());
        log.extend([post(4, "ann", line), post(5, "bot", line), post(6, "bot", None)]);
        assert!(within_budget(&log, "th_1", 2).is_ok(), "a person begins the count anew");
    }

    #[test]
    fn the_same_answer_twice_is_seen() {
        let answer =
            |seq, to: &str| Entry { in_reply_to: Some(to.to_owned()), ..post(seq, "bot", None) };
        assert_eq!(answered_once(&[answer(2, "evt_1"), answer(3, "evt_0")]), []);
        assert_eq!(answered_once(&[answer(2, "evt_1"), answer(3, "evt_1")]).len(), 1);
    }

    #[test]
    fn a_chain_is_bounded_by_its_hops() {
        let link = |hop, cause_hop, told: &[Told]| Link {
            event: "evt_1".to_owned(),
            by_agent: true,
            hop,
            cause_hop,
            told: told.to_vec(),
        };
        let must = [told("bot", "settled", "responded")];
        let person = [told("ann", "offered", "")];
        for (link, holds) in [
            (link(1, None, &must), true),
            (link(2, Some(1), &must), true),
            (link(2, None, &[]), false),
            (link(1, Some(1), &[]), false),
            (link(6, Some(5), &must), false),
            (link(6, Some(5), &person), true),
            (link(12, Some(11), &person), true),
        ] {
            assert_eq!(bounded(&link).is_ok(), holds, "{link:?}");
        }
        let may = [Told { policy: "may_respond".to_owned(), ..told("bot", "offered", "") }];
        assert!(bounded(&link(11, Some(10), &may)).is_ok());
        assert!(bounded(&link(12, Some(11), &may)).is_err());
    }

    #[test]
    fn what_is_owed_is_accounted_for() {
        let escalated = Told { reason: "escalated".to_owned(), ..told("ann", "offered", "") };
        let listed = BTreeSet::from(["bot".to_owned()]);
        let nobody = BTreeSet::new();
        let all = |one: Told| vec![one];
        for (told, touched, listed, holds) in [
            (all(told("bot", "settled", "responded")), false, &nobody, true),
            (all(told("bot", "settled", "ignored")), false, &nobody, false),
            (all(told("bot", "settled", "ignored")), true, &nobody, true),
            (vec![told("bot", "settled", "ignored"), escalated.clone()], false, &nobody, true),
            (all(told("bot", "settled", "deferred")), false, &nobody, false),
            (
                all(Told { is_put_off: true, ..told("bot", "settled", "deferred") }),
                false,
                &nobody,
                true,
            ),
            (all(told("bot", "settled", "superseded")), false, &nobody, false),
            (all(told("bot", "accepted", "")), false, &nobody, false),
            (all(told("bot", "accepted", "")), false, &listed, true),
            (all(told("bot", "dead", "")), false, &nobody, true),
            (all(told("ann", "offered", "")), false, &nobody, true),
        ] {
            let wrong = accounted("evt_1", &told, touched, listed, &nobody);
            assert_eq!(wrong.is_empty(), holds, "{told:?}");
        }
        let replaced = all(told("bot", "settled", "superseded"));
        assert!(accounted("evt_1", &replaced, false, &nobody, &listed).is_empty(), "it is merged");
    }
}
