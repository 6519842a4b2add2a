//! A delivery as it is POSTed to an agent's connection string (webhook spec section 2; `spec/webhook.md`).

use chorus_core::model::endpoint::Endpoint;
use chorus_core::model::ids::Prefix;
use chorus_core::model::offer::Offer;
use chorus_core::state::directory::Directory;
use chorus_wire::attention::channel::ChannelDelivery;
use chorus_wire::part::Part;
use chorus_wire::webhook::{
    Attention, Channel, Delivery, Extension, Knock, McpServer, McpServers, Message, Reminder,
    ReminderKind, Sender, Thread,
};

use super::state::SERVICE;
use super::thought::Thought;
use crate::auth::callback::{Callback, DELIVERY_MS, Purpose};
use crate::auth::{Stem, Turn};
use crate::dispatch::frames;
use crate::dispatch::webhook::handles::Handles;
use crate::view::messages;

/// Bytes of a payload beside its text, as a rule.
const FRAME: usize = 2_048;

/// The body of the POST for the newest message of a thought, with those before it.
pub(super) fn encode(
    host: &Handles,
    endpoint: &Endpoint,
    thought: &Thought,
    turn: Option<ChannelDelivery>,
) -> Option<Vec<u8>> {
    let newest = thought.newest()?;
    let earlier = thought.pieces().filter(|piece| piece.id != newest.id);
    let offer = &newest.item;
    let (entry, decision) = (&offer.entry, &offer.decision);
    let (event, conversation) = (&entry.event, &entry.conversation);
    let (directory, now) = (host.directory.load(), host.clock.now());
    let callback = Callback {
        purpose: Purpose::Delivery,
        // It ends with the string that it is sent to.
        turn: frames::turn(offer, Stem::Endpoint { epoch: endpoint.epoch }, now.plus(DELIVERY_MS)),
        attempt: offer.attempt,
        epoch: endpoint.epoch,
    };
    let bearer = host.auth.write_bearer(callback, Turn::expiry(now, callback.turn.expires));
    let attention = event.attention.as_deref();
    let told = frames::those_told(attention, &directory);
    let (audience, audience_more) = told.others(offer.member);
    let channel = conversation.uid.show(Prefix::Conversation);
    let knock =
        (!decision.mode.shows_content()).then(|| frames::knock(entry, decision, &directory));
    let author = messages::speaker(&directory, conversation, event);
    let place = Channel {
        id: channel.clone(),
        name: some(&conversation.settings.title),
        service: Some(SERVICE.to_owned()),
        context: context(host, conversation),
    };
    let mcp = Some(McpServers::One(McpServer {
        url: format!("{}/mcp/{channel}", host.public_url),
        headers: [("Authorization".to_owned(), format!("Bearer {bearer}"))].into(),
    }));
    if offer.reminds {
        return serde_json::to_vec(&Reminder {
            kind: ReminderKind::Reminder,
            channel: place,
            event_id: event.uid.show(Prefix::Event),
            callback: host.callbacks.callback_url(&callback),
            mcp,
            chorus: Some(Extension {
                attempt: offer.attempt,
                hop: event.hop,
                created_at: Some(event.at.into()),
                ..Extension::default()
            }),
        })
        .ok();
    }
    let body = Delivery {
        message: match &knock {
            // Nothing that anybody wrote: who wants the content pulls it.
            Some(knock) => Message {
                id: event.uid.show(Prefix::Event),
                sender: author.display_name.clone().into_owned(),
                content: knock.topic.clone().into_owned(),
            },
            None => message(offer, &newest.text, &directory),
        },
        channel: place,
        callback: host.callbacks.callback_url(&callback),
        mcp,
        chorus: Some(Extension {
            attempt: offer.attempt,
            hop: event.hop,
            sender: Some(Sender { id: author.id.into_owned(), kind: author.kind }),
            attention: Some(Attention {
                directedness: decision.directedness.into(),
                policy: decision.policy.into(),
                intent: attention
                    .map_or(chorus_core::model::attention::Intent::Statement, |a| a.intent)
                    .into(),
                mode: decision.mode.into(),
                priority: decision.priority.into(),
                reason: decision.rule.name().to_owned(),
                deadline_ms: decision.deadline_ms,
            }),
            thread: entry.thread.as_ref().map(|thread| Thread {
                id: thread.uid.show(Prefix::Thread),
                sequence: (event.thread_seq > 0).then_some(event.thread_seq),
            }),
            in_reply_to: frames::answers(entry).map(|uid| uid.show(Prefix::Event)),
            created_at: Some(event.at.into()),
            audience: audience.into_iter().map(Into::into).collect(),
            audience_more,
            knock: knock.as_ref().map(|k| Knock { pull_with: k.pull_with.clone().into_owned() }),
            parts: if knock.is_none() { parts(offer) } else { Vec::new() },
            earlier: earlier.map(|f| message(&f.item, &f.text, &directory)).collect(),
            supersedes: thought.replaces.iter().map(|uid| uid.show(Prefix::Event)).collect(),
            turn,
            test: false,
        }),
    };
    // Grown once: most of a payload is what every payload has.
    let mut out = Vec::with_capacity(FRAME + newest.text.len());
    serde_json::to_writer(&mut out, &body).ok()?;
    Some(out)
}

fn message(offer: &Offer, text: &str, directory: &Directory) -> Message {
    let event = &offer.entry.event;
    Message {
        id: event.uid.show(Prefix::Event),
        sender: messages::speaker(directory, &offer.entry.conversation, event)
            .display_name
            .into_owned(),
        content: frames::reaction(&event.change).unwrap_or_else(|| text.to_owned()),
    }
}

/// Content that is more than one text.
fn parts(offer: &Offer) -> Vec<Part> {
    let message = offer.entry.event.change.message();
    let parts = message.and_then(|m| m.parts.as_deref());
    parts.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

/// What the channel is for; chosen by members, like its name.
fn context(
    host: &Handles,
    conversation: &chorus_core::model::conversation::Conversation,
) -> Option<String> {
    let settings = &conversation.settings;
    let what = [&*settings.description, &*settings.purpose];
    let what: Vec<_> = what.into_iter().filter(|text| !text.is_empty()).collect();
    let kind = conversation.kind.name();
    let workspace = &host.workspace_name;
    Some(match what.is_empty() {
        true => format!("A {kind} of the workspace {workspace}."),
        false => format!("A {kind} of the workspace {workspace}. {}", what.join(" ")),
    })
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
