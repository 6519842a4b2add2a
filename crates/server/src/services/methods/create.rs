//! `create_thread`: once under a key, however often it is asked for.

use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Prefix;
use chorus_wire::rest::threads::NewThread;
use chorus_wire::threads::{CreateThread, Created};

use crate::auth::Caller;
use crate::services::{App, idempotency};

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
        let new = NewThread {
            conversation: args.channel_id,
            root: args.root_message_id,
            title: Some(args.title),
            kind: args.kind,
            participants: args.participants,
            owner: None,
        };
        let made = self.open_thread_once(caller, new, once).await?;
        Ok(Created {
            thread_id: made.thread.uid.show(Prefix::Thread),
            status: made.thread.status.into(),
            created_at: made.thread.created_at.into(),
            channel_id: made.conversation.uid.show(Prefix::Conversation),
            // A root has one thread, with or without a key.
            duplicate: once.is_some() && !made.now,
        })
    }
}
