//! Deliveries, their receipts, and why a member was told.

use chorus_core::model::attention::{Attention, Rule};
use chorus_core::model::delivery::{self, Open, State};
use chorus_core::model::event::Event;
use chorus_core::model::flow::{self, Clues};
use chorus_core::model::ids::{Prefix, Timestamp, Uid};
use chorus_core::state::directory::Directory;
use chorus_wire::attention::entry::Told;
use chorus_wire::rest::attention::{Bounds, Flow, Nobody, Receipt, ToldReceipt, Why};
use chorus_wire::rest::claims::Claim;
use chorus_wire::rest::deliveries::{self, Delivery};

use super::{id, members};

pub(crate) fn receipt(delivery: &delivery::Delivery) -> Receipt {
    let (state, settled_at) = match delivery.state {
        State::Waiting => ("waiting", None),
        State::Offered { .. } => ("offered", None),
        State::Accepted { .. } => ("accepted", None),
        State::Settled { at, .. } => ("settled", Some(at)),
        State::Dead { at } => ("dead", Some(at)),
        State::Deferred { .. } => ("deferred", None),
    };
    Receipt {
        state: state.to_owned(),
        attempt: delivery.attempt,
        fence: delivery.fence,
        offered_at: delivery.offered_at.map(Into::into),
        accepted_at: delivery.accepted_at.map(Into::into),
        retrieved_at: delivery.retrieved_at.map(Into::into),
        settled_at: settled_at.map(Into::into),
        deferred_until: delivery.clock.until.map(Into::into),
        disposition: delivery.disposition().map(Into::into),
        note: delivery.note.as_deref().map(str::to_owned),
        stands_still_since: delivery.clock.withheld.filter(|_| delivery.is_open()).map(Into::into),
    }
}

pub(crate) fn delivery(
    directory: &Directory,
    conversation: Uid,
    open: &Open,
    delivery: &delivery::Delivery,
) -> Delivery {
    let event_id = open.uid.show(Prefix::Event);
    let member = id(directory, delivery.member);
    let overdue = delivery.is_overdue();
    let left = open.left().filter(|m| overdue && *m != delivery.member);
    Delivery {
        id: deliveries::id(&event_id, &member),
        event_id,
        conversation: conversation.show(Prefix::Conversation),
        member,
        author: id(directory, open.author),
        created_at: open.at.into(),
        due_at: delivery.deadline(open.at).filter(|_| delivery.is_open()).map(Into::into),
        overdue,
        moved_from: left.map(|m| id(directory, m)).collect(),
        directedness: delivery.decision.directedness.into(),
        policy: delivery.decision.policy.into(),
        mode: delivery.decision.mode.into(),
        reason: delivery.decision.rule.name().to_owned(),
        receipt: receipt(delivery),
    }
}

pub(crate) fn claim(
    directory: &Directory,
    event: Uid,
    conversation: Uid,
    claim: &chorus_core::model::claim::Claim,
) -> Claim {
    Claim {
        event_id: event.show(Prefix::Event),
        conversation: conversation.show(Prefix::Conversation),
        holder: id(directory, claim.holder),
        fence: claim.fence,
        expires_at: claim.expires.into(),
        accepted: claim.accepted,
        turn_token: None,
    }
}

/// Who was told of an event and what came of it: those it was decided for, then those it moved to later.
pub(crate) fn why(
    directory: &Directory,
    conversation: Uid,
    event: &Event,
    cause: Option<Uid>,
    open: Option<&Open>,
    paused: bool,
    now: Timestamp,
) -> Option<Why> {
    let attention = event.attention.as_ref()?;
    let deliveries = open.map_or(&[][..], |o| &o.deliveries);
    let mut told: Vec<_> = attention
        .told
        .iter()
        .zip(members::told(directory, &attention.told))
        .map(|(core, told)| {
            let of = deliveries.iter().find(|d| d.member == core.member);
            // It was told for another reason, and owes the answer since it moved on to it.
            if let Some(moved) = of.filter(|d| d.decision.rule == Rule::Escalated) {
                return as_delivered(directory, moved);
            }
            ToldReceipt { told, deadline_ms: core.decision.deadline_ms, receipt: of.map(receipt) }
        })
        .collect();
    let later = deliveries.iter().filter(|d| attention.told.iter().all(|t| t.member != d.member));
    told.extend(later.map(|d| as_delivered(directory, d)));
    let claim = open.and_then(|o| o.claim).filter(|c| c.is_live(now));
    Some(Why {
        wakes: Vec::new(),
        event_id: event.uid.show(Prefix::Event),
        conversation: conversation.show(Prefix::Conversation),
        seq: event.seq.0,
        author: id(directory, event.actor),
        created_at: event.at.into(),
        intent: attention.intent.into(),
        rest: attention.rest.into(),
        newest_version: None,
        hop: event.hop,
        cause: cause.map(|uid| uid.show(Prefix::Event)),
        claimed_by: claim.map(|c| id(directory, c.holder)),
        paused,
        flow: flow(directory, attention),
        nobody: nobody(attention),
        bounds: None,
        told,
    })
}

/// Whom the flow of talk means, where it was asked.
pub(crate) fn flow(directory: &Directory, attention: &Attention) -> Option<Flow> {
    let guess = attention.meant.filter(|meant| meant.because != Clues::NONE);
    guess.map(|meant| Flow {
        member: id(directory, meant.member),
        confidence: meant.confidence,
        because: names(meant.because),
        against: names(meant.against),
    })
}

pub(crate) fn nobody(attention: &Attention) -> Option<Nobody> {
    attention.nobody.map(|nobody| Nobody {
        confidence: nobody.confidence,
        because: names(nobody.because),
        against: names(nobody.against),
    })
}

fn as_delivered(directory: &Directory, delivery: &delivery::Delivery) -> ToldReceipt {
    let decision = &delivery.decision;
    ToldReceipt {
        told: Told {
            member: id(directory, delivery.member),
            directedness: decision.directedness.into(),
            policy: decision.policy.into(),
            mode: decision.mode.into(),
            reason: decision.rule.name().to_owned(),
            priority: decision.priority.into(),
        },
        deadline_ms: decision.deadline_ms,
        receipt: Some(receipt(delivery)),
    }
}

/// The same with the bounds of guesses, where one was made.
pub(crate) fn with_bounds(why: Why, flow: flow::Settings) -> Why {
    let flow::Settings { sure, likely, perhaps, .. } = flow;
    let guessed = why.flow.is_some() || why.nobody.is_some();
    Why { bounds: guessed.then_some(Bounds { sure, likely, perhaps }), ..why }
}

fn names(clues: Clues) -> Vec<String> {
    clues.iter().map(|clue| clue.name().to_owned()).collect()
}
