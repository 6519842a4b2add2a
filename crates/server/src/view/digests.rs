//! Digests as they are shown: the stored counts, and the words of the log as they stand now.

use chorus_core::model::conversation::Conversation;
use chorus_core::model::digest::{self, Part};
use chorus_core::model::ids::Prefix;
use chorus_core::model::thread::Thread;
use chorus_core::state::directory::Directory;
use chorus_wire::rest::digests::{Count, Digest, Item};

use super::messages::Shown;
use super::{id, messages};

/// Longest beginning of a message, in characters.
const BEGINNING: usize = 200;

/// A message that a digest names, and why.
pub(crate) struct Named {
    pub kind: &'static str,
    pub shown: Shown,
}

pub(crate) fn digest(
    directory: &Directory,
    conversation: &Conversation,
    digest: &digest::Digest,
    part: &Part,
    named: &[Named],
    threads: &[(Thread, u32)],
    written: Option<String>,
) -> Digest {
    let member = id(directory, part.member);
    let authors = digest.authors.iter();
    let mut shown = Digest {
        id: digest_id(conversation, digest, &member),
        conversation: conversation.uid.show(Prefix::Conversation),
        title: conversation.settings.title.to_string(),
        member,
        after_seq: digest.after.0,
        through_seq: digest.through.0,
        first_at: digest.first_at.into(),
        created_at: digest.at.into(),
        policy: part.policy.into(),
        messages: digest.messages,
        authors: authors.map(|(m, n)| Count { id: id(directory, *m), messages: *n }).collect(),
        threads: threads
            .iter()
            .map(|(t, n)| Count { id: t.uid.show(Prefix::Thread), messages: *n })
            .collect(),
        items: named.iter().filter_map(|named| item(directory, named)).collect(),
        text: String::new(),
        written,
    };
    shown.text = text(&shown, threads);
    shown
}

/// None when the message was deleted since.
fn item(directory: &Directory, named: &Named) -> Option<Item> {
    let message = messages::message(directory, &named.shown);
    let text = message.text.filter(|text| !text.is_empty())?;
    Some(Item {
        event_id: message.event_id,
        author: message.author.id,
        created_at: message.created_at,
        kind: named.kind.to_owned(),
        text: one_line(&text),
    })
}

fn one_line(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(BEGINNING) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The same digest gives the same text, as long as what it names says the same.
fn text(shown: &Digest, threads: &[(Thread, u32)]) -> String {
    let counted = |all: &[Count]| {
        let each = all.iter().map(|one| format!("{} ({})", one.id, one.messages));
        each.collect::<Vec<_>>().join(", ")
    };
    let plural = if shown.messages == 1 { "" } else { "s" };
    let mut text = format!("{} message{plural} by {}", shown.messages, counted(&shown.authors));
    if !threads.is_empty() {
        let each = threads.iter().map(|(thread, n)| {
            format!("{} ({n}, {})", one_line(&thread.title), thread.status.name())
        });
        text.push_str(&format!("\nthreads: {}", each.collect::<Vec<_>>().join(", ")));
    }
    for (kind, head) in [("call", "for you"), ("ask", "asked"), ("status", "status")] {
        for item in shown.items.iter().filter(|item| item.kind == kind) {
            text.push_str(&format!("\n{head}: {}: {} [{}]", item.author, item.text, item.event_id));
        }
    }
    text
}

/// The public id of a conversation's digest for one member.
pub(crate) fn digest_id(
    conversation: &Conversation,
    digest: &digest::Digest,
    member: &str,
) -> String {
    let conversation = conversation.uid.show(Prefix::Conversation);
    format!("{conversation}:{}:{member}", digest.through)
}
