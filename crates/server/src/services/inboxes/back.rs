//! What the way back to services elsewhere reads and notes.

use chorus_core::commands::inboxes::{NoteTrouble, SweepCallbacks};
use chorus_core::model::caller::By;
use chorus_core::model::error::Refusal;
use chorus_core::model::event::Message;
use chorus_core::model::ids::{ConversationKey, Prefix, Seq, Uid};
use chorus_core::model::inbox::{Inbox, Remote, Trouble};
use chorus_store::{Line, Page, Start, StoredEntry};

use crate::services::inboxes::InboxService;

/// Messages read at once.
const PAGE: usize = 16;
/// The same trouble is noted once in so long.
const TROUBLE_MS: i64 = 60_000;

impl InboxService {
    /// The channel elsewhere that a conversation is, if it is one.
    pub(crate) async fn remote(&self, key: ConversationKey) -> Result<Option<Remote>, Refusal> {
        self.reads.read(move |readers| readers.remote(key)).await
    }

    /// The conversations in which something is still to be sent.
    pub(crate) async fn owing(&self) -> Result<Vec<ConversationKey>, Refusal> {
        self.reads.read(|readers| readers.owing()).await
    }

    /// The next messages of a conversation after one.
    pub(crate) async fn messages_after(
        &self,
        key: ConversationKey,
        after: Seq,
    ) -> Result<Vec<StoredEntry>, Refusal> {
        let start = Start::After(after);
        let page = Page { conversation: key, line: Line::Messages, start, limit: PAGE };
        let read = self.reads.read(move |readers| readers.entries(&page)).await?;
        Ok(read.map(|(entries, _)| entries).unwrap_or_default())
    }

    /// What a message says now; nothing when it was deleted or erased.
    pub(crate) async fn said(&self, event: Uid) -> Result<Option<Message>, Refusal> {
        let stored = self.reads.read(move |readers| readers.entry(event)).await?;
        Ok(stored
            .filter(|stored| !stored.entry.event.is_erased())
            .and_then(|stored| stored.content))
    }

    /// Something could not be sent back: its inbox shows it.
    pub(crate) async fn note_trouble(&self, inbox: &Inbox, what: String) {
        tracing::debug!(inbox = %inbox.uid.show(Prefix::Inbox), "not sent back");
        let now = self.clock.now();
        let known = |t: &Trouble| *t.what == *what && now.since(t.at) < TROUBLE_MS;
        let current = self.directory.load().inboxes.get(&inbox.uid).cloned();
        if current.is_some_and(|inbox| inbox.trouble.as_ref().is_some_and(known)) {
            return;
        }
        let trouble = NoteTrouble { inbox: inbox.uid, what: what.into() };
        if let Err(refusal) = self.commands.submit(By::host(), trouble).await {
            tracing::warn!(%refusal, "that something could not be sent back could not be noted");
        }
    }

    /// Drops callbacks that are over.
    pub(crate) async fn sweep_callbacks(&self) {
        if let Err(refusal) = self.commands.submit(By::host(), SweepCallbacks).await {
            tracing::warn!(%refusal, "callbacks that are over could not be dropped");
        }
    }
}
