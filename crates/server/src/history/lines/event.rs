//! An event of a conversation's log. What it says stands packed in `body`, which is what was hashed,
//! and for messages in `message` too, for people who only read.

use std::borrow::Cow;
use std::sync::Arc;

use chorus_core::codec;
use chorus_core::model::event::{self, Idempotency};
use chorus_core::model::ids::{
    ConversationKey, EventRef, MemberKey, Prefix, Seq, SessionKey, ThreadKey, Timestamp,
};
use chorus_store::history::{Erased, Part, Reading};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfConversation, Out, Written};
use crate::history::error::{Bad, ExportError};
use crate::history::field::{Bytes, id};

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Event<'a> {
    conversation: u64,
    seq: u64,
    id: Cow<'a, str>,
    at: i64,
    actor: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    thread_seq: u64,
    kind: Cow<'a, str>,
    code: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply_to: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<(u64, u64)>,
    hop: u8,
    /// The hashes of the idempotency key and of what was sent under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idempotency: Option<(Bytes, Bytes)>,
    /// Who was told and why, packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<Bytes>,
    content_hash: Bytes,
    hash: Bytes,
    /// None when what it said was erased; a later event says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<Bytes>,
    body: Bytes,
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    message: Option<Message<'a>>,
}

/// A message's content to be read; `body` is what counts.
#[derive(Serialize)]
struct Message<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl<'a> Event<'a> {
    pub(in crate::history) fn of(e: &'a event::Event) -> Self {
        let message = e.change.message().filter(|_| !e.is_erased()).map(|m| Message {
            text: &m.text,
            parts: m.parts.as_deref(),
            metadata: m.metadata.as_deref(),
            source: m.source.as_deref(),
        });
        Self {
            conversation: e.conversation.0,
            seq: e.seq.0,
            id: e.uid.show(Prefix::Event).into(),
            at: e.at.0,
            actor: e.actor.0,
            session: e.session.map(|s| s.0),
            thread: e.thread.map(|t| t.0),
            thread_seq: e.thread_seq,
            kind: e.change.name().into(),
            code: e.change.code(),
            reply_to: e.reply_to.map(|s| s.0),
            cause: e.cause.map(|c| (c.conversation.0, c.seq.0)),
            hop: e.hop,
            idempotency: e.idempotency.map(|i| (Bytes::of(&i.key), Bytes::of(&i.payload))),
            told: e.attention.as_deref().map(|a| Bytes(codec::attention(a))),
            content_hash: Bytes::of(&e.content_hash),
            hash: Bytes::of(&e.hash),
            salt: e.salt.as_ref().map(|salt| Bytes::of(salt)),
            body: Bytes(codec::body(&e.change)),
            message,
        }
    }

    fn read(&self) -> Result<event::Event, String> {
        let damaged = |what: &str| format!("{what} cannot be read");
        let told = self.told.as_ref().map(|told| codec::read_attention(&told.0)).transpose();
        let idempotency = self.idempotency.as_ref();
        let idempotency = idempotency.map(|(key, payload)| {
            Ok::<_, String>(Idempotency { key: key.array()?, payload: payload.array()? })
        });
        let cause = |(c, seq)| EventRef { conversation: ConversationKey(c), seq: Seq(seq) };
        Ok(event::Event {
            conversation: ConversationKey(self.conversation),
            seq: Seq(self.seq),
            uid: id(Prefix::Event, &self.id)?,
            at: Timestamp(self.at),
            actor: MemberKey(self.actor),
            session: self.session.map(SessionKey),
            thread: self.thread.map(ThreadKey),
            thread_seq: self.thread_seq,
            reply_to: self.reply_to.map(Seq),
            cause: self.cause.map(cause),
            hop: self.hop,
            idempotency: idempotency.transpose()?,
            attention: told.map_err(|_| damaged("who was told"))?.map(Arc::new),
            change: codec::read_body(self.code, &self.body.0).map_err(|_| damaged("its body"))?,
            salt: self.salt.as_ref().map(Bytes::array).transpose()?,
            content_hash: self.content_hash.array()?,
            hash: self.hash.array()?,
        })
    }
}

impl OfConversation for Event<'_> {
    fn export(out: &mut Out<'_>, reading: &Reading, part: &Part) -> Written {
        let (mut after, mut erased) = (part.head.base, Erased::default());
        loop {
            let page = reading.events(part, after)?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for e in &page {
                erased.see(e);
                out.put(&Line::Event(Event::of(e)))?;
            }
        }
        match erased.unsaid() {
            Some(_) => Err(ExportError::Meanwhile),
            None => Ok(()),
        }
    }
}

impl Kind for Event<'_> {
    fn check(&self) -> Result<(), String> {
        self.read().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        import.part(self.conversation)?;
        Ok(import.writing.event(self.read()?)?)
    }
}
