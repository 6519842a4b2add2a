//! The judgement over the rooms of the drive, once everybody is still.

use std::collections::{BTreeSet, HashMap};

use super::{BUDGET, DRIVE, Stage, counted};
use crate::referee::ledger::Wrong;
use crate::referee::model::{
    Entry, Link, Told, accounted, answered_once, bounded, whole, within_budget,
};
use crate::referee::rules::{
    ACCOUNTED, BUDGET as CHAIN, DURABLE, HOP, NOT_TWICE, NOTHING, ONCE, SOUND,
};

pub(super) async fn judge(stage: &Stage) -> Result<(), String> {
    let mut logs = HashMap::new();
    for room in stage.rooms() {
        let log: Vec<_> = stage.house.log(room).await?.iter().map(Entry::of).collect();
        stage.ledger.judge(DURABLE, DRIVE, whole(room, &log));
        logs.insert(room.clone(), log);
    }
    durable(stage, &logs);
    for log in logs.values() {
        let twice = answered_once(log);
        if twice.is_empty() {
            stage.ledger.judge(ONCE, DRIVE, Ok(()));
        }
        twice.into_iter().for_each(|wrong| stage.ledger.judge(ONCE, DRIVE, Err(wrong)));
    }
    let line = &logs[&stage.line];
    stage.ledger.judge(CHAIN, DRIVE, within_budget(line, &stage.workflow, BUDGET));
    obligations(stage, &logs).await?;
    sound(stage)
}

/// What was acknowledged is there once, with the seq it was given; what was refused is nowhere.
fn durable(stage: &Stage, logs: &HashMap<String, Vec<Entry>>) {
    let done = stage.done();
    for posted in &done.posted {
        let log = logs.get(&posted.room).map(Vec::as_slice).unwrap_or_default();
        let entry = log.iter().find(|entry| entry.event == posted.event);
        let seen = match entry {
            Some(entry) if entry.seq == posted.seq && entry.author == posted.by => None,
            Some(entry) => Some(format!("seq {} by {}", entry.seq, entry.author)),
            None => Some("it is not in the log".to_owned()),
        };
        let expected = format!("{} says it with seq {}", posted.by, posted.seq);
        let verdict = seen.map_or(Ok(()), |seen| Err(Wrong::new(expected, seen, &[&posted.event])));
        stage.ledger.judge(DURABLE, DRIVE, verdict);
    }
    for wrong in &done.doubled {
        stage.ledger.judge(NOT_TWICE, DRIVE, Err(wrong.clone()));
    }
    // Each question has a number that no other has, so that two of one text are one post made twice.
    let untouched = logs.values().flatten().filter(|e| e.is_post() && !e.is_agent);
    let texts = counted(untouched.map(|entry| entry.text.as_str()).filter(|text| !text.is_empty()));
    let twice: Vec<_> = texts.iter().filter(|(_, count)| **count > 1).collect();
    let verdict = match twice.first() {
        None => Ok(()),
        Some((text, count)) => {
            Err(Wrong::new("each post is in the log once", format!("{text:?} {count} times"), &[]))
        }
    };
    stage.ledger.judge(NOT_TWICE, DRIVE, verdict);
    for entry in logs.values().flatten().filter(|entry| entry.is_post()) {
        let said = format!("{}: {}", entry.author, entry.text);
        if done.refused.contains(&entry.text) || done.refused.contains(&said) {
            let wrong = Wrong::new("what was refused was not said", said, &[&entry.event]);
            stage.ledger.judge(NOTHING, DRIVE, Err(wrong));
        }
    }
    stage.ledger.count("refused messages in the free drive", done.refused.len() as u64);
    stage.ledger.count("posts in the free drive", done.posted.len() as u64);
}

/// Each chain is bounded, and each obligation has ended, was handed on, or is listed.
async fn obligations(stage: &Stage, logs: &HashMap<String, Vec<Entry>>) -> Result<(), String> {
    let agents: BTreeSet<_> = stage.agents.iter().map(|agent| agent.id.clone()).collect();
    let posts = || logs.values().flatten().filter(|entry| entry.is_post());
    let hops: HashMap<_, _> = posts().map(|entry| (entry.event.as_str(), entry.hop)).collect();
    let touched = stage.done().touched.clone();
    let mut judged = Vec::new();
    for (conversation, entry) in logs.iter().flat_map(|(id, log)| log.iter().map(move |e| (id, e)))
    {
        if entry.is_post() {
            let why = stage.house.attention(&entry.event).await?;
            let told = why["told"].as_array().into_iter().flatten();
            let told: Vec<_> = told.map(|told| Told::of(told, &agents)).collect();
            judged.push((conversation, entry, why, told));
        }
    }
    for (conversation, entry, why, told) in &judged {
        let cause = why["cause"].as_str();
        let cause_hop = cause.and_then(|cause| hops.get(cause).copied());
        // What is caused by an entry that is no message (an edit, say) has the hop of the message that it is about.
        if cause.is_none() || cause_hop.is_some() {
            let hop = why["hop"].as_u64().unwrap_or_default();
            let (event, by_agent) = (entry.event.clone(), entry.is_agent);
            let link = Link { event, by_agent, hop, cause_hop, told: told.clone() };
            stage.ledger.judge(HOP, DRIVE, bounded(&link));
        }
        if told.iter().any(|told| told.is_agent && told.policy == "must_respond") {
            let listed = listed(stage, &entry.event, told).await?;
            let later = judged.iter().filter(|(there, other, ..)| {
                there == conversation && other.thread == entry.thread && other.seq > entry.seq
            });
            let later = later.flat_map(|(_, _, _, told)| told);
            let merged = later.filter(|told| told.must() || told.disposition == "responded");
            let merged = merged.map(|told| told.member.clone()).collect();
            let touched = touched.contains(&entry.event);
            let wrong = accounted(&entry.event, told, touched, &listed, &merged);
            stage.ledger.count("obligations in the free drive", 1);
            if wrong.is_empty() {
                stage.ledger.judge(ACCOUNTED, DRIVE, Ok(()));
            }
            wrong.into_iter().for_each(|wrong| stage.ledger.judge(ACCOUNTED, DRIVE, Err(wrong)));
        }
    }
    Ok(())
}

/// Deliveries that one answer lists.
const LISTED: usize = 1_000;

/// Those of an event's members in whose open deliveries it stands.
async fn listed(stage: &Stage, event: &str, told: &[Told]) -> Result<BTreeSet<String>, String> {
    let mut listed = BTreeSet::new();
    for one in told.iter().filter(|one| one.is_agent && one.state != "settled") {
        let path = format!("/v1/deliveries?state=open&member={}", one.member);
        let open = stage.house.get(&stage.house.operator, &path).await?;
        let open = open["deliveries"].as_array().map(Vec::as_slice).unwrap_or_default();
        // A list that is full says nothing of what it does not show.
        if open.len() >= LISTED || open.iter().any(|delivery| delivery["event_id"] == event) {
            listed.insert(one.member.clone());
        }
    }
    Ok(listed)
}

/// The doctor finds nothing, neither while it runs nor after a last kill.
fn sound(stage: &Stage) -> Result<(), String> {
    let mut checks = vec![("while the host runs", stage.house.doctor())];
    stage.house.kill()?;
    checks.push(("after a kill", stage.house.doctor()));
    stage.house.start()?;
    stage.house.stop()?;
    checks.push(("after it was stopped", stage.house.doctor()));
    for (when, found) in checks {
        let wrong = |found| Wrong::new(format!("the doctor finds nothing {when}"), found, &[]);
        stage.ledger.judge(SOUND, DRIVE, found.map_err(wrong));
    }
    Ok(())
}
