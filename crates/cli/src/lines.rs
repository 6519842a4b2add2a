//! One line for each event, and the account of who was told of it: the same words in `post`, `tail`, `why`
//! and the demo.

use std::collections::HashMap;

use chorus_core::model::attention::{Directedness, Policy};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::wake::ReportResult;
use chorus_wire::rest::attention::{Bounds, Receipt, Told, ToldReceipt, UnknownName, Why};
use chorus_wire::rest::events::Event;
use chorus_wire::rest::messages::Message;
use chorus_wire::rest::wakes::{Wake, WakeAttempt};

use crate::print::{clock, date, line, short, span, table};
use crate::printer::{Printer, Shade};
use crate::short_ids;

/// Rows at the end of a program's screen that are shown.
const LAST_ROWS: usize = 4;
/// Longest text shown on one line, in characters.
const TEXT: usize = 2_000;

/// An event as one line: when, where, who, what, and its id where that is of use.
pub(crate) fn event(print: &Printer, titles: &HashMap<String, String>, event: &Event) -> String {
    let place = titles.get(&event.conversation).unwrap_or(&event.conversation);
    // What `chorus why` wants to know; other events are told to nobody.
    let id = match event.kind.as_str() {
        "message_posted" | "message_edited" => {
            print.shade(Shade::Dim, &format!(" {}", short_ids::shown(&event.event_id)))
        }
        _ => String::new(),
    };
    format!(
        "{} {} {}",
        print.shade(Shade::Dim, &clock(event.created_at.0)),
        print.shade(Shade::Cyan, place),
        deed(print, event),
    ) + &id
}

/// What was done, by whom.
pub(crate) fn deed(print: &Printer, event: &Event) -> String {
    let who = print.shade(Shade::Bold, &line(&event.actor.id));
    let about = || event.message.as_ref().map(about).unwrap_or_default();
    let member = event.member.as_deref().map(line).unwrap_or_default();
    let title = event.title.as_deref().map(line).unwrap_or_default();
    let signal = match (&event.glyph, event.signal) {
        (Some(glyph), Some(signal)) => format!("{} {}", line(glyph), signal.name()),
        (None, Some(signal)) => signal.name().to_owned(),
        _ => String::new(),
    };
    match event.kind.as_str() {
        "message_posted" => {
            let Some(message) = &event.message else { return format!("{who}: …") };
            format!("{who}: {}", said(message))
        }
        "message_edited" => {
            let text = event.message.as_ref().map(said).unwrap_or_default();
            format!("{who} edited: {text}")
        }
        "message_deleted" => format!("{who} deleted a message"),
        "message_erased" => {
            let reason = event.reason.as_deref().unwrap_or_default();
            format!("{who} erased a message ({})", line(reason))
        }
        "reaction_set" => {
            let detail = event.detail.as_deref().map(|detail| format!(" ({})", line(detail)));
            format!("{who} {signal}{} {}", detail.unwrap_or_default(), about())
        }
        "reaction_cleared" => format!("{who} took back {signal} {}", about()),
        "member_joined" => format!("{who} added {member}"),
        "member_withdrew" if event.actor.id == member => format!("{who} left until it is named"),
        "member_withdrew" => format!("{who} asked {member} to leave"),
        "member_left" => format!("{who} removed {member}"),
        "conversation_created" => format!("{who} made this conversation {title}"),
        "settings_changed" => format!("{who} changed the settings of {title}"),
        "thread_opened" if title.is_empty() => format!("{who} opened a thread"),
        "thread_opened" => format!("{who} opened the thread {title}"),
        "thread_status_changed" => {
            let status = event.status.map_or("?", |status| status.name());
            let reason = event.reason.as_deref().filter(|reason| !reason.is_empty());
            let reason = reason.map(|reason| format!(": {}", line(reason))).unwrap_or_default();
            format!("{who} set the thread to {status}{reason}")
        }
        "thread_owner_changed" if member.is_empty() => {
            format!("{who} took the thread's owner away")
        }
        "thread_owner_changed" => format!("{who} made {member} the thread's owner"),
        "thread_work_changed" => format!("{who} {}", work(event)),
        "promoted" if event.message.is_none() => {
            let text = event.detail.as_deref().map(line).unwrap_or_default();
            format!("{who} says what came of the thread: {text}")
        }
        "promoted" => format!("{who} shows all {}", about()),
        "continued" => format!("{who} lets the agents go on"),
        other => format!("{who} {}", line(other)),
    }
}

/// What is different in a thread's work.
fn work(event: &Event) -> String {
    let Some(work) = &event.work else { return "changed the thread's work".to_owned() };
    match (&work.progress, work.status) {
        (Some(progress), _) => {
            let percent = progress.percent.map(|percent| format!(" ({percent} %)"));
            let (key, text) = (line(&progress.key), line(&progress.text));
            format!("is at {key}{}: {text}", percent.unwrap_or_default())
        }
        (None, Some(status)) => format!("set the thread's work to {}", status.name()),
        (None, None) => "changed the thread's work".to_owned(),
    }
}

/// A message's text as one line, or what stands in its place.
pub(crate) fn said(message: &Message) -> String {
    if message.deleted_at.is_some() {
        return "(deleted)".to_owned();
    }
    match (&message.text, &message.content) {
        (Some(text), _) if !text.is_empty() => short(text, TEXT),
        (_, Some(parts)) => format!("({} parts)", parts.len()),
        _ => String::new(),
    }
}

fn about(message: &Message) -> String {
    format!("on {}: {:?}", line(&message.author.id), short(&said(message), 60))
}

/// One told member in a sentence: `scout: must respond, immediate (to me, by mention)`.
pub(crate) fn told(told: &Told) -> String {
    format!(
        "{}: {}, {} ({}, by {})",
        line(&told.member),
        spaced(told.policy.name()),
        spaced(told.mode.name()),
        spaced(told.directedness.name()),
        line(&told.reason)
    )
}

/// Who is told, each on a line of its own, or that nobody is.
pub(crate) fn told_lines(all: &[&Told]) -> String {
    if all.is_empty() {
        return "\n  told nobody".to_owned();
    }
    all.iter().map(|one| format!("\n  told {}", told(one))).collect()
}

/// Names that fit nobody, each on a line of its own.
pub(crate) fn unknown_names(names: &[UnknownName]) -> String {
    names.iter().map(|unknown| format!("\n  {}", line(&unknown.message))).collect()
}

/// Who is told, as a table; or that nobody is, and why not.
pub(crate) fn told_table(all: &[Told], rest: Directedness) -> String {
    let rows: Vec<_> = all.iter().map(told_row).collect();
    let table = table("", &["MEMBER", "DIRECTEDNESS", "POLICY", "MODE", "BECAUSE"], &rows);
    format!("{table}{}", the_rest(rest, all.is_empty()))
}

fn told_row(told: &Told) -> Vec<String> {
    vec![
        line(&told.member),
        told.directedness.name().to_owned(),
        told.policy.name().to_owned(),
        told.mode.name().to_owned(),
        line(&told.reason),
    ]
}

/// What everybody else was given.
pub(crate) fn the_rest(rest: Directedness, nobody: bool) -> String {
    let all = if nobody { "everybody" } else { "everybody else" };
    let why = match rest {
        Directedness::ToOther => "somebody else is meant",
        _ => "nobody is addressed",
    };
    format!("{all}: {}, {}, not told ({why})", rest.name(), Policy::MustNotRespond.name())
}

/// The whole account of one event.
pub(crate) fn why(why: &Why) -> String {
    let rows: Vec<_> = why
        .told
        .iter()
        .map(|one| {
            let mut row = told_row(&one.told);
            row.push(outcome(one, why.created_at.0));
            row
        })
        .collect();
    let mut text = format!(
        "{} by {} at {}: intent {}, hop {}\n",
        short_ids::shown(&why.event_id),
        line(&why.author),
        clock(why.created_at.0),
        why.intent.name(),
        why.hop
    );
    if let Some(cause) = &why.cause {
        text.push_str(&format!("said in the turn of {}\n", short_ids::shown(cause)));
    }
    if let Some(flow) = &why.flow {
        let member = line(&flow.member);
        text.push_str(&guess(&member, flow.confidence, &flow.because, &flow.against));
    }
    if let Some(nobody) = &why.nobody {
        let member = "nobody in particular";
        text.push_str(&guess(member, nobody.confidence, &nobody.because, &nobody.against));
    }
    if let Some(bounds) = &why.bounds {
        let Bounds { sure, likely, perhaps } = bounds;
        text.push_str(&format!(
            "an agent must answer from {sure} % on, is shown it from {likely} %, and is told of it from {perhaps} %\n"
        ));
    }
    text.push_str(&table(
        "",
        &["MEMBER", "DIRECTEDNESS", "POLICY", "MODE", "BECAUSE", "WHAT CAME OF IT"],
        &rows,
    ));
    text.push_str(&the_rest(why.rest.0, why.told.is_empty()));
    if let Some(holder) = &why.claimed_by {
        text.push_str(&format!("\nclaimed by {}", line(holder)));
    }
    for one in &why.wakes {
        text.push_str(&format!("\n{}", wake(one)));
    }
    text
}

/// `probably for scout, 84 %: answer, exchange; against it: lately`.
fn guess(member: &str, confidence: u8, because: &[String], against: &[String]) -> String {
    let mut text = format!("probably for {member}, {confidence} %");
    for (word, rules) in [(": ", because), ("; against it: ", against)] {
        if !rules.is_empty() {
            text.push_str(word);
            text.push_str(&rules.join(", "));
        }
    }
    text.push('\n');
    text
}

/// What came of a delivery: `responded after 1.2 s, attempt 1`.
pub(crate) fn outcome(told: &ToldReceipt, since: Timestamp) -> String {
    match &told.receipt {
        Some(receipt) if receipt.state == "waiting" && is_for_person(told) => {
            format!("waits for {} to answer", line(&told.told.member))
        }
        Some(receipt) => receipt_words(receipt, since),
        None if told.told.mode.tells() => "no receipt: a person reads it".to_owned(),
        None => "not sent".to_owned(),
    }
}

/// Whether a person owes the answer: to people it comes from who did not give it, and they have no deadline.
fn is_for_person(told: &ToldReceipt) -> bool {
    told.told.policy == Policy::MustRespond && told.deadline_ms.is_none()
}

fn receipt_words(receipt: &Receipt, since: Timestamp) -> String {
    let after = |time: Option<Timestamp>| match time {
        Some(time) => format!(" after {}", span(time.since(since).max(0))),
        None => String::new(),
    };
    let attempt = match receipt.attempt {
        0 | 1 => String::new(),
        n => format!(", attempt {n}"),
    };
    let what = match (receipt.disposition, receipt.state.as_str()) {
        (Some(disposition), "settled") => {
            format!("{}{}", disposition.name(), after(receipt.settled_at.map(|t| t.0)))
        }
        (_, "waiting") => "waits for the agent".to_owned(),
        (_, "offered") => format!("offered{}", after(receipt.offered_at.map(|t| t.0))),
        (_, "accepted") => format!("accepted{}, at work", after(receipt.accepted_at.map(|t| t.0))),
        (_, "dead") => "dead letter".to_owned(),
        (_, "deferred") => match receipt.deferred_until {
            Some(until) => format!("deferred until {}", date(until.0)),
            None => "deferred".to_owned(),
        },
        (_, other) => line(other),
    };
    let note = receipt.note.as_deref().map(|note| format!(": {}", line(note)));
    format!("{what}{attempt}{}", note.unwrap_or_default())
}

/// How an agent was woken: `wake of scout: running; pty failed (no_prompt), resume confirmed (turn 7)`.
pub(crate) fn wake(wake: &Wake) -> String {
    let mut text = format!("wake of {}: {}", line(&wake.member), line(&wake.state));
    if let Some(outcome) = &wake.outcome {
        text.push_str(&format!(" ({})", spaced(&line(outcome))));
    }
    let tried: Vec<_> = wake.attempts.iter().map(attempt).collect();
    if !tried.is_empty() {
        text.push_str(&format!("; {}", tried.join(", ")));
    }
    if let Some(until) = wake.deferred_until {
        let why = match &*wake.state {
            "deferred" => "its terminal waits for a person, it is tried again",
            // It was woken about this often enough.
            _ => "it is tried",
        };
        text.push_str(&format!("; {why} at {}", clock(until.0)));
    }
    if let Some(lines) = &wake.lines {
        let rows: Vec<_> = lines.lines().map(str::trim).filter(|row| !row.is_empty()).collect();
        let last = rows[rows.len().saturating_sub(LAST_ROWS)..].join(" | ");
        text.push_str(&format!("\n  its last words: {}", short(&last, 400)));
    }
    text
}

fn attempt(attempt: &WakeAttempt) -> String {
    let mut text = format!("{} {}", attempt.lane.name(), attempt.result.name());
    let words = |word: &Option<String>| word.as_deref().map(|word| spaced(&line(word)));
    let (evidence, why) = (words(&attempt.evidence), words(&attempt.why));
    match (*attempt.result, evidence, why) {
        // Why those before it were not taken.
        (ReportResult::Confirmed, Some(evidence), Some(why)) => {
            text.push_str(&format!(" ({evidence}; not by {why})"));
        }
        (_, evidence, why) => {
            let why = why.or(evidence).map(|why| format!(" ({why})"));
            text.push_str(&why.unwrap_or_default());
        }
    }
    text
}

/// A word of the protocol as prose.
pub(crate) fn spaced(word: &str) -> String {
    word.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // covers: ATT-404
    #[test]
    fn what_a_person_owes_waits_for_that_person() {
        let told = |member: &str, deadline: Option<u32>| -> ToldReceipt {
            let told = json!({
                "member": member, "directedness": "to_me", "policy": "must_respond",
                "mode": "buffered", "reason": "escalated", "priority": "high",
                "deadline_ms": deadline,
                "receipt": {"state": "waiting", "attempt": 0, "fence": 2},
            });
            serde_json::from_value(told).expect("a receipt")
        };
        let words = |told: ToldReceipt| outcome(&told, Timestamp(0));
        assert_eq!(words(told("alice", None)), "waits for alice to answer");
        assert_eq!(words(told("scout", Some(300_000))), "waits for the agent");
    }

    // covers: ATT-404
    #[test]
    fn a_thread_without_a_title_is_named_without_one() {
        let event = json!({
            "event_id": "evt_1", "conversation": "ch_1", "seq": 1, "type": "thread_opened",
            "actor": {"id": "scout", "kind": "agent", "display_name": "Scout"},
            "created_at": "2026-01-01T00:00:00Z", "title": "",
        });
        let event: Event = serde_json::from_value(event).expect("an event");
        let print = Printer::new(false);
        assert_eq!(deed(&print, &event), "scout opened a thread");
    }
}
