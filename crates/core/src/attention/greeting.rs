//! First contact: a person greets an agent and expects to be greeted back.
//!
//! A courtesy normally gets only a reaction, which would leave a person's very first message
//! without an answer. Only a person's words count, so that two agents do not greet each other for
//! ever.

use super::incoming::IncomingMessage;
use crate::model::attention::{Intent, Rule};
use crate::model::event::Event;
use crate::model::ids::MemberKey;
use crate::model::limits;
use crate::state::directory::Directory;
use crate::state::room::Room;

/// Whether the rule says that the message itself addresses the member. A reply continues a talk, so
/// it does not count.
pub(super) fn is_addressed(rule: Rule) -> bool {
    matches!(rule, Rule::DirectMessage | Rule::Recipient | Rule::Mention)
}

/// Whether a person says a courtesy to an agent, and neither has spoken to the other within
/// [`limits::FIRST_WORDS_MS`] among the room's newest events.
pub(super) fn are(
    room: &Room,
    directory: &Directory,
    said: &IncomingMessage<'_>,
    agent: MemberKey,
) -> bool {
    if said.intent != Intent::Social || said.by_agent || !directory.is_agent(agent) {
        return false;
    }
    let person = said.author.key;
    let mut before = room.tail().iter().rev().filter(|event| event.seq < said.seq);
    !before.any(|event| {
        said.at.since(event.at) <= limits::FIRST_WORDS_MS
            && (spoke_to(event, person, agent) || spoke_to(event, agent, person))
    })
}

/// Whether it is a message from one to the other.
fn spoke_to(event: &Event, from: MemberKey, to: MemberKey) -> bool {
    let Some(attention) = event.attention.as_deref().filter(|_| event.actor == from) else {
        return false;
    };
    let told = || attention.told.iter().any(|t| t.member == to && t.decision.is_to_me());
    event.change.message().is_some() && (attention.meant.is_some_and(|m| m.member == to) || told())
}
