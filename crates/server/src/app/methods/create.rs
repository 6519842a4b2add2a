//! `create_thread`: once under a key, however often it is asked for.

use std::sync::Arc;

use chorus_core::conversation::{Conversation, ConversationKind};
use chorus_core::error::{Code, Refusal};
use chorus_core::event::{EventRef, Idempotency};
use chorus_core::ids::{Prefix, Seq};
use chorus_core::limits;
use chorus_core::thread;
use chorus_wire::rest::threads::NewThread;
use chorus_wire::threads::{CreateThread, Created};

use crate::app::{App, idempotency};
use crate::auth::Caller;

type Found = (Arc<Conversation>, Arc<thread::Thread>);

impl App {
    pub(crate) async fn create_thread(
        &self,
        caller: &Caller,
        args: CreateThread,
    ) -> Result<Created, Refusal> {
        if args.title.trim().is_empty() {
            return Err(Refusal::invalid("title is empty: say in a line what the thread is about"));
        }
        if args.root_message_id.is_some() && args.channel_id.is_none() {
            return Err(Refusal::invalid("root_message_id goes with the channel_id it is in"));
        }
        let key = args.idempotency_key.as_deref();
        let once = key.map(|key| idempotency::of_thread(key, caller, &args)).transpose()?;
        // Two retries at once are one after the other, so that the second finds what the first made.
        let turn = match once {
            Some(_) => Some(self.creating.lock().await),
            None => None,
        };
        let channel = args.channel_id.clone();
        if let Some(once) = once
            && let Some(found) = self.created_before(caller, channel.as_deref(), once).await?
        {
            return Ok(created(found, true));
        }
        let new = NewThread {
            conversation: args.channel_id,
            root: args.root_message_id,
            title: Some(args.title),
            kind: args.kind,
            participants: args.participants,
            owner: None,
        };
        let found = self.open_thread_once(caller, new, once).await?;
        drop(turn);
        Ok(created(found, false))
    }

    /// The thread that this key made. In a channel it is looked for among the channel's newest; else each thread has a
    /// conversation of its own, and those of the caller are looked through that are younger than a key is kept.
    async fn created_before(
        &self,
        caller: &Caller,
        channel: Option<&str>,
        once: Idempotency,
    ) -> Result<Option<Found>, Refusal> {
        let (viewer, by) = (caller.viewer(), caller.by.member);
        let oldest = self.now().plus(-limits::IDEMPOTENCY_MS);
        let places = match channel {
            Some(id) => {
                let uid = crate::app::ids::conversation(id)?;
                vec![self.place(caller, uid).await?.conversation]
            }
            None => {
                let mut all = self.read(move |readers| readers.conversations(viewer)).await?;
                all.retain(|c| c.kind == ConversationKind::Thread && c.created_at >= oldest);
                all
            }
        };
        let found = self
            .read(move |readers| {
                for conversation in places {
                    for thread in readers.threads(conversation.key)? {
                        if thread.created_at < oldest {
                            continue;
                        }
                        let at =
                            EventRef { conversation: conversation.key, seq: Seq(thread.key.0) };
                        let Some(opening) = readers.entry_at(at)? else { continue };
                        let event = opening.entry.event;
                        let same =
                            event.idempotency.filter(|i| event.actor == by && i.key == once.key);
                        if let Some(before) = same {
                            let same = before.payload == once.payload;
                            return Ok(Some(((conversation, Arc::new(thread)), same)));
                        }
                    }
                }
                Ok(None)
            })
            .await?;
        match found {
            Some((found, true)) => Ok(Some(found)),
            Some((_, false)) => Err(Refusal::new(
                Code::IdempotencyConflict,
                "another thread was created under this idempotency key",
            )),
            None => Ok(None),
        }
    }
}

fn created((conversation, thread): Found, duplicate: bool) -> Created {
    Created {
        thread_id: thread.uid.show(Prefix::Thread),
        status: thread.status,
        created_at: thread.created_at,
        channel_id: conversation.uid.show(Prefix::Conversation),
        duplicate,
    }
}
