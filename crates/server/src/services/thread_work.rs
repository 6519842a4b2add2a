//! How the work of a thread stands, and the channel's feed.

use chorus_core::commands::Command;
use chorus_core::commands::threads::{ChangeWork, Promote as PromoteMessage, ThreadState};
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::Seq;
use chorus_core::model::thread::work::{Binding, Report, WorkChange};
use chorus_core::state::directory::Directory;
use chorus_store::FeedEntry;
use chorus_wire::rest::feed::{Entry, Feed, ReadFeed};
use chorus_wire::rest::thread_work::{self, Promote, WorkPatch};
use chorus_wire::rest::threads::Thread;

use super::ids;
use super::pages::{self, fit, limit, posted};
use super::threads::ThreadService;
use crate::auth::Caller;
use crate::view::feed;

impl ThreadService {
    /// With a turn's token too: who does the work says how it stands.
    pub(crate) async fn change_work(
        &self,
        caller: &Caller,
        id: &str,
        patch: WorkPatch,
    ) -> Result<Thread, Refusal> {
        let thread = ids::thread(id)?;
        let change = Box::new(change(&self.directory.load(), patch)?);
        self.shown_thread(caller, ChangeWork { thread, change }).await
    }

    pub(crate) async fn promote(
        &self,
        caller: &Caller,
        id: &str,
        promote: Promote,
    ) -> Result<Thread, Refusal> {
        let (message, note) = (ids::event(id)?, promote.note.map(Into::into));
        self.shown_thread(caller, PromoteMessage { message, note }).await
    }

    async fn shown_thread<C>(&self, caller: &Caller, command: C) -> Result<Thread, Refusal>
    where
        C: Command<Output = ThreadState>,
    {
        let ThreadState { conversation, thread, .. } =
            self.commands.submit(caller.by, command).await?;
        self.show_thread(&conversation, &thread).await
    }

    /// `GET /v1/channels/{id}/feed`, newest first.
    pub(crate) async fn feed(
        &self,
        caller: &Caller,
        id: &str,
        query: ReadFeed,
    ) -> Result<Feed, Refusal> {
        let place = self.reads.place(caller, ids::conversation(id)?).await?;
        let (key, limit) = (place.conversation.key, limit(query.limit)?);
        let before = query.before.map(|seq| Seq(seq.min(i64::MAX as u64)));
        let (mut found, mut next) =
            self.reads.read(move |readers| readers.feed(key, before, limit)).await?;
        // Newest first.
        let bytes = |found: &FeedEntry| {
            pages::bytes(&found.stored) + found.promoted.as_ref().map_or(0, pages::bytes)
        };
        if fit(&mut found, true, bytes) {
            next = found.last().map(|last| last.stored.entry.event.seq);
        }
        let directory = self.directory.load();
        let show = |found: &FeedEntry| -> Entry {
            let message = found.promoted.clone().unwrap_or_else(|| found.stored.clone());
            feed::entry(&directory, &self.budgets, found, posted(message).as_ref())
        };
        Ok(Feed { entries: found.iter().map(show).collect(), next: next.map(|seq| seq.0) })
    }
}

fn change(directory: &Directory, patch: WorkPatch) -> Result<WorkChange, Refusal> {
    let owner_session = match patch.owner_session {
        Some(Some(id)) => {
            let session = directory.session_by_uid(ids::session(&id)?);
            Some(Some(session.ok_or_else(|| Refusal::not_found("session"))?.key))
        }
        Some(None) => Some(None),
        None => None,
    };
    let bindings = |all: Vec<thread_work::Binding>| {
        all.into_iter().map(|b| Binding { kind: b.kind.0, id: b.id.into() }).collect()
    };
    Ok(WorkChange {
        status: patch.status.map(|named| named.0),
        topic_kind: patch.topic_kind.map(|kind| kind.map(Into::into)),
        owner_session,
        initiative_key: patch.initiative_key.map(|key| key.map(Into::into)),
        bind: bindings(patch.bind),
        unbind: bindings(patch.unbind),
        progress: patch.progress.map(|report| Report {
            key: report.key.into(),
            text: report.text.into(),
            percent: report.percent,
        }),
        forget: patch.forget.into_iter().map(Into::into).collect(),
        spur: None,
    })
}
