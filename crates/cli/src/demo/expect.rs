//! What must come of a step, each as a check that says what was there instead.

use chorus_core::model::attention::Policy;
use chorus_wire::rest::attention::Why;
use chorus_wire::rest::events::Event;

use super::show::Check;
use crate::lines;

pub(super) fn told_only(why: &Why, member: &str, policy: Policy, reason: &str) -> Check {
    let ok = match why.told.as_slice() {
        [one] => {
            let told = &one.told;
            told.member == member && told.policy == policy && told.reason == reason
        }
        _ => false,
    };
    let what = format!("only {member} was told: {}, by {reason}", lines::spaced(policy.name()));
    Check::new(what, ok, || {
        let told: Vec<_> = why.told.iter().map(|one| lines::told(&one.told)).collect();
        if told.is_empty() { "nobody was told".to_owned() } else { told.join("; ") }
    })
}

/// Of all agents, `member` alone spoke, once, and its words contain all of `parts`.
pub(super) fn said_once(said: &[Event], member: &str, parts: &[&str]) -> Check {
    let ok = match said {
        [one] => one.actor.id == member && parts.iter().all(|part| text_of(one).contains(part)),
        _ => false,
    };
    Check::new(format!("{member} answered once, and nobody else spoke"), ok, || {
        let said = said.iter().map(|one| format!("{}: {:?}", one.actor.id, text_of(one)));
        let said: Vec<_> = said.collect();
        if said.is_empty() { "nobody spoke".to_owned() } else { said.join("; ") }
    })
}

pub(super) fn silent(said: &[Event]) -> Check {
    Check::new("no agent said a word", said.is_empty(), || {
        said.iter().map(|one| format!("{}: {:?}", one.actor.id, text_of(one))).collect()
    })
}

/// People read in their own time; nothing is sent to them and nothing is owed by them.
const PEOPLE: [&str; 3] = ["operator", "alice", "bob"];

/// Every agent that was told of these events is done with them, and nothing was given up.
pub(super) fn ended(all: &[&Why]) -> Check {
    let of = |why: &Why| {
        let open = why.told.iter().filter(|one| {
            let sent = one.told.mode.tells() && !PEOPLE.contains(&one.told.member.as_str());
            let settled = one.receipt.as_ref().is_some_and(|receipt| receipt.state == "settled");
            sent && !settled
        });
        open.map(|one| lines::outcome(one, why.created_at.0)).collect::<Vec<_>>()
    };
    let open: Vec<_> = all.iter().flat_map(|why| of(why)).collect();
    Check::new("nothing is owed for it any more", open.is_empty(), || open.join("; "))
}

pub(super) fn names(why: &Why) -> Vec<String> {
    why.told.iter().map(|told| told.told.member.clone()).collect()
}

pub(super) fn is_message_of(event: &Event, member: &str) -> bool {
    event.kind == "message_posted" && event.actor.id == member
}

pub(super) fn answers(event: &Event, asked: &str) -> bool {
    let reply = event.message.as_ref().and_then(|message| message.in_reply_to.as_deref());
    event.kind == "message_posted" && reply == Some(asked)
}

pub(super) fn reaction_on(event: &Event, message: &str) -> bool {
    event.kind == "reaction_set" && event.about.as_deref() == Some(message)
}

pub(super) fn text_of(event: &Event) -> String {
    event.message.as_ref().map(lines::said).unwrap_or_default()
}
