//! What agents made of it: whoever was asked was told, and nobody answered twice.

use std::collections::HashMap;

use super::Seen;
use crate::crash::evidence::{Asked, Directed, Evidence, Line, Owed};

pub(super) fn check(evidence: &Evidence, seen: &Seen<'_>, wrong: &mut Vec<String>) {
    one_reply_each(evidence, seen, wrong);
    let verdict = Verdict { evidence, seen };
    let directed: HashMap<_, _> = evidence.directed.iter().map(|d| (d.event.as_str(), d)).collect();
    for said in evidence.said.iter().filter(|said| said.asked != Asked::Nobody) {
        // One whose answer was lost may be there too, and then it asks like any other.
        for line in seen.posts(&said.conversation, &said.text) {
            match directed.get(line.event.as_str()) {
                Some(directed) => verdict.each_was_told(directed, line, &said.asked, wrong),
                None => wrong.push(format!("nobody was told of {:?}", said.text)),
            }
        }
    }
}

/// One reply an event and member, and each to something that is there.
fn one_reply_each(evidence: &Evidence, seen: &Seen<'_>, wrong: &mut Vec<String>) {
    let mut times: HashMap<(&str, &str), usize> = HashMap::new();
    for reply in seen.replies.values().flatten() {
        let to = reply.line.in_reply_to.as_deref().unwrap_or_default();
        *times.entry((&reply.line.author, to)).or_default() += 1;
        match seen.events.get(to) {
            Some((log, line)) if log.conversation != reply.log.conversation => {
                wrong.push(format!("{} is answered in another place", line.event));
            }
            Some((_, line)) if line.seq >= reply.line.seq => {
                wrong.push(format!("{} is answered before it was said", line.event));
            }
            Some(_) => {}
            None => wrong.push(format!("{} answers what is not there", reply.line.event)),
        }
    }
    for ((agent, event), times) in times {
        if times > 1 {
            wrong.push(format!("{agent} answered {event} {times} times"));
        }
    }
    let posts = evidence.logs.iter().flat_map(|log| &log.lines).filter(|line| line.is_post());
    for line in posts.filter(|line| evidence.is_agent(&line.author)) {
        if line.in_reply_to.is_none() {
            wrong.push(format!("{} said something to nobody: {}", line.author, line.event));
        }
    }
}

struct Verdict<'a> {
    evidence: &'a Evidence,
    seen: &'a Seen<'a>,
}

impl Verdict<'_> {
    fn each_was_told(
        &self,
        directed: &Directed,
        line: &Line,
        asked: &Asked,
        wrong: &mut Vec<String>,
    ) {
        let event = &directed.event;
        // Who must not respond is told nothing, and has no receipt.
        let told = |owed: &&Owed| {
            self.evidence.is_agent(&owed.member) && owed.policy != "must_not_respond"
        };
        for owed in directed.owed.iter().filter(told) {
            if owed.state != "settled" {
                let Owed { member, reason, state, .. } = owed;
                wrong.push(format!("{event} ({reason}) is {state:?} for {member}"));
            }
        }
        match asked {
            Asked::Nobody => {}
            Asked::Agents(agents) => {
                for agent in agents {
                    let owed = directed.owed.iter().find(|owed| owed.member == *agent);
                    match owed {
                        Some(owed) if owed.reason == "mention" && owed.policy == "must_respond" => {
                            wrong.extend(self.unanswered(owed, line));
                        }
                        other => wrong.push(format!("{agent} was not asked {event}: {other:?}")),
                    }
                }
            }
            Asked::Role => wrong.extend(self.role_unanswered(directed, line)),
        }
    }

    /// Why the end of an obligation is none, when it is none.
    fn unanswered(&self, owed: &Owed, line: &Line) -> Option<String> {
        let agent = &owed.member;
        let answered = self.seen.replies(&line.event).iter().any(|r| r.line.author == *agent);
        let fine = match owed.disposition.as_deref() {
            Some("responded") => answered,
            // It was merged into a turn that answered another.
            Some("superseded") => !answered && self.answered_later(agent, line),
            Some("failed") => !answered && self.given_up(agent, &line.event),
            _ => false,
        };
        let how = owed.disposition.as_deref().unwrap_or(&owed.state);
        let said = if answered { "with" } else { "without" };
        (!fine).then(|| format!("{} for {agent} is {how:?} {said} an answer", line.event))
    }

    /// One of the role answers, itself or in a turn that answers what came with it, and nobody beside it.
    fn role_unanswered(&self, directed: &Directed, line: &Line) -> Option<String> {
        let event = &directed.event;
        let replies = self.seen.replies(event).len();
        if replies > 1 {
            return Some(format!("{event} asked one of a role and has {replies} answers"));
        }
        let by = |how: &str| {
            let mut of = directed.owed.iter().filter(|o| o.disposition.as_deref() == Some(how));
            of.next().map(|owed| owed.member.as_str())
        };
        let fine = match (by("responded"), by("superseded")) {
            (Some(agent), _) => replies == 1 || self.answered_later(agent, line),
            (None, Some(agent)) => replies == 0 && self.answered_later(agent, line),
            (None, None) => by("failed").is_some_and(|agent| self.given_up(agent, event)),
        };
        (!fine).then(|| format!("{event} asked one of a role: {:?}", directed.owed))
    }

    /// Whether the agent has answered something in the same place after this was said: what came together
    /// is one turn, with one answer to what presses most in it.
    fn answered_later(&self, agent: &str, line: &Line) -> bool {
        let Some((log, _)) = self.seen.events.get(line.event.as_str()) else { return false };
        let mut later = log.lines.iter().filter(|l| l.seq > line.seq && l.thread == line.thread);
        later.any(|l| l.author == agent && l.in_reply_to.is_some())
    }

    /// Whether it is known why the agent failed: its harness was killed in each of its turns.
    fn given_up(&self, agent: &str, event: &str) -> bool {
        self.evidence.given_up.iter().any(|(a, e)| a == agent && e == event)
    }
}
