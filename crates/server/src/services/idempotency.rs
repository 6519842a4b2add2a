//! What makes two sends one: the same key of the same sender in the same place, with the same payload (threads
//! spec section 7).

use std::collections::BTreeSet;

use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Idempotency, MessageKind};
use chorus_core::model::requests::{Audience, Post};
use chorus_wire::limits::KEY_BYTES;
use chorus_wire::threads::CreateThread;
use sha2::{Digest, Sha256};

use crate::auth::Caller;

/// Two sends are one when place, sender, key and payload are the same.
pub(super) fn idempotency(key: &str, caller: &Caller, post: &Post) -> Result<Idempotency, Refusal> {
    check_key(key)?;
    let mut place = Hasher::default();
    place.put(&post.thread.unwrap_or(post.conversation).0.to_be_bytes());
    place.put(&caller.by.member.0.to_be_bytes());
    place.put(key.as_bytes());

    let mut payload = Hasher::default();
    let message = &post.message;
    payload.put(message.text.as_bytes());
    for text in [&message.parts, &message.metadata, &message.source] {
        payload.put_option(text.as_deref().map(str::as_bytes));
    }
    payload.put_option(post.in_reply_to.map(|uid| uid.0.to_be_bytes()).as_ref().map(|b| &b[..]));
    payload.put_option(post.recipient.map(|m| m.0.to_be_bytes()).as_ref().map(|b| &b[..]));
    for member in &post.mentions {
        payload.put(&member.0.to_be_bytes());
    }
    payload.put_option(post.directedness.map(|d| d.name().as_bytes()));
    // Nothing for what most are, so that keys of older versions still fit.
    if message.kind != MessageKind::Chat {
        payload.put(message.kind.name().as_bytes());
    }
    if let Audience::Only(only) = &post.audience {
        payload.put(b"only");
        for member in only {
            payload.put(&member.0.to_be_bytes());
        }
    }
    if !post.left_out.is_empty() {
        payload.put(b"not_to");
        for member in &post.left_out {
            payload.put(&member.0.to_be_bytes());
        }
    }
    Ok(Idempotency { key: place.end(), payload: payload.end() })
}

/// Two threads are one when place, creator, key and payload are the same: the thread's id is the hash of the first three.
/// Participants are named in any order.
pub(super) fn of_thread(
    key: &str,
    caller: &Caller,
    args: &CreateThread,
) -> Result<Idempotency, Refusal> {
    check_key(key)?;
    let mut place = Hasher::default();
    place.put(b"create_thread");
    place.put_option(args.channel_id.as_deref().map(str::as_bytes));
    place.put(&caller.by.member.0.to_be_bytes());
    place.put(key.as_bytes());

    let mut payload = Hasher::default();
    payload.put(args.title.as_bytes());
    payload.put(args.kind.unwrap_or_default().name().as_bytes());
    payload.put_option(args.root_message_id.as_deref().map(str::as_bytes));
    let participants: BTreeSet<_> = args.participants.iter().collect();
    for participant in participants {
        payload.put(participant.as_bytes());
    }
    Ok(Idempotency { key: place.end(), payload: payload.end() })
}

fn check_key(key: &str) -> Result<(), Refusal> {
    if key.is_empty() || key.len() > KEY_BYTES {
        return Err(Refusal::invalid(format!("an idempotency key has 1 to {KEY_BYTES} bytes")));
    }
    Ok(())
}

/// SHA-256 over fields with their lengths, so that they cannot run into each other; the first 16 bytes.
#[derive(Default)]
struct Hasher(Sha256);

impl Hasher {
    fn put(&mut self, field: &[u8]) {
        self.0.update((field.len() as u64).to_be_bytes());
        self.0.update(field);
    }

    fn put_option(&mut self, field: Option<&[u8]>) {
        self.0.update([u8::from(field.is_some())]);
        self.put(field.unwrap_or_default());
    }

    fn end(self) -> [u8; 16] {
        let mut out = [0; 16];
        out.copy_from_slice(&self.0.finalize()[..16]);
        out
    }
}
