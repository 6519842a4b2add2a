//! Threads: opened, listed, handed over, moved through their statuses (design section 5, "Threads").

use std::sync::Arc;

use arc_swap::ArcSwap;
use chorus_core::commands::threads::{ChangeThread, ThreadState};
use chorus_core::model::activity;
use chorus_core::model::budget::Budgets;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::error::Refusal;
use chorus_core::model::event::{Idempotency, Message, MessageKind};
use chorus_core::model::ids::{EventRef, MemberKey, Seq, Uid};
use chorus_core::model::requests::{Home, OpenThread};
use chorus_core::model::thread::{self, ThreadStatus};
use chorus_core::state::directory::Directory;
use chorus_store::Readers;
use chorus_wire::canonical;
use chorus_wire::rest::threads::{ListThreads, NewThread, Thread, ThreadPatch, Threads};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::answered::unseen;
use super::commands::Commands;
use super::ids;
use super::reads::Reads;
use crate::auth::Caller;
use crate::view::conversations;

/// Longest reason of a change of status, in bytes.
const REASON_BYTES: usize = 1024;

/// A thread that was asked for.
pub(super) struct Opened {
    pub conversation: Arc<Conversation>,
    pub thread: Arc<thread::Thread>,
    /// Not before.
    pub now: bool,
}

/// What is to be different about a thread.
pub(super) struct Change {
    pub status: Option<ThreadStatus>,
    pub owner: Option<Option<MemberKey>>,
    pub reason: String,
    pub summary: Option<String>,
    /// Beside the reason, for programs. Where it is given, if only an empty object, the thread says so.
    pub metadata: Option<Box<RawValue>>,
}

/// Threads and the work in them.
pub(crate) struct ThreadService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) budgets: Budgets,
    pub(super) directory: Arc<ArcSwap<Directory>>,
}

impl ThreadService {
    /// `POST /v1/threads`. Without a conversation a new one is made, which only its participants see.
    pub(crate) async fn open_thread(
        &self,
        caller: &Caller,
        new: NewThread,
    ) -> Result<Thread, Refusal> {
        let made = self.open_thread_once(caller, new, None).await?;
        self.show_thread(&made.conversation, &made.thread).await
    }

    /// As [`App::open_thread`], under a key of its creator where there is one.
    pub(super) async fn open_thread_once(
        &self,
        caller: &Caller,
        new: NewThread,
        idempotency: Option<Idempotency>,
    ) -> Result<Opened, Refusal> {
        caller.must_not_be_a_turn()?;
        if new.root.is_some() && new.conversation.is_none() {
            return Err(Refusal::invalid("root goes with the conversation that the message is in"));
        }
        // One about a message is called by that.
        let title = new.title.as_deref().map_or("", str::trim);
        if title.is_empty() && new.root.is_none() {
            let why =
                "give the thread a title, or the message that it is about (conversation and root)";
            return Err(Refusal::invalid(why));
        }
        let (participants, owner) = {
            let directory = self.directory.load();
            let owner = new
                .owner
                .as_deref()
                .map(|id| ids::member_for(&directory, caller, id))
                .transpose()?;
            (ids::members_for(&directory, caller, &new.participants)?, owner.map(|m| m.key))
        };
        let home = match new.conversation.as_deref() {
            Some(id) => Home::In(ids::conversation(id)?),
            None => self.own_home(idempotency).await?,
        };
        let opening = OpenThread {
            home,
            root: new.root.as_deref().map(ids::event).transpose()?,
            title: title.to_owned(),
            kind: new.kind.unwrap_or_default().0,
            owner,
            participants,
            idempotency,
        };
        let ThreadState { conversation, thread, opened } =
            self.commands.submit(caller.by, opening).await?;
        Ok(Opened { conversation, thread, now: opened })
    }

    /// Where a thread without a place is: what was made under its key has its home, and counts against no quota again.
    async fn own_home(&self, once: Option<Idempotency>) -> Result<Home, Refusal> {
        let Some(uid) = once.map(|once| once.thread()) else { return Ok(Home::Own) };
        let made = self.reads.read(move |readers| thread_at_home(readers, uid)).await?;
        Ok(made.map_or(Home::Own, |(conversation, _)| Home::In(conversation.uid)))
    }

    pub(crate) async fn change_thread(
        &self,
        caller: &Caller,
        id: &str,
        patch: ThreadPatch,
    ) -> Result<Thread, Refusal> {
        caller.must_not_be_a_turn()?;
        let owner = match patch.owner {
            Some(Some(id)) => Some(Some(ids::member_for(&self.directory.load(), caller, &id)?.key)),
            Some(None) => Some(None),
            None => None,
        };
        let change = Change {
            status: patch.status.map(|named| named.0),
            owner,
            reason: patch.reason.unwrap_or_default(),
            summary: patch.summary,
            metadata: None,
        };
        let (thread, conversation) = self.move_thread(caller, id, change).await?;
        self.show_thread(&conversation, &thread).await
    }

    pub(super) async fn move_thread(
        &self,
        caller: &Caller,
        id: &str,
        change: Change,
    ) -> Result<(Arc<thread::Thread>, Arc<Conversation>), Refusal> {
        let Change { status, owner, reason, summary, metadata } = change;
        if reason.len() > REASON_BYTES {
            return Err(Refusal::invalid(format!("a reason has at most {REASON_BYTES} bytes")));
        }
        let thread = ids::thread(id)?;
        // Who gives no reason has nothing to say to those who read the thread.
        let note = match status.filter(|_| !reason.trim().is_empty() || metadata.is_some()) {
            Some(status) => Some(note(status, &reason, metadata.as_deref())?),
            None => None,
        };
        let (reason, summary) = (reason.into(), summary.map(Into::into));
        let command = ChangeThread { thread, status, owner, reason, summary, note };
        let ThreadState { conversation, thread, .. } =
            self.commands.submit(caller.by, command).await?;
        Ok((thread, conversation))
    }

    pub(crate) async fn thread(&self, caller: &Caller, id: &str) -> Result<Thread, Refusal> {
        let uid = ids::thread(id)?;
        let found = self.reads.read(move |readers| thread_at_home(readers, uid)).await?;
        let (conversation, thread) = found.ok_or_else(|| Refusal::not_found("thread"))?;
        let seen = self.reads.place(caller, conversation.uid).await;
        seen.map_err(|why| unseen(why, Refusal::not_found("thread")))?;
        self.show_thread(&conversation, &thread).await
    }

    /// The threads of one conversation, or of all the caller may see.
    pub(crate) async fn threads(
        &self,
        caller: &Caller,
        query: ListThreads,
    ) -> Result<Threads, Refusal> {
        let conversations = match query.conversation.as_deref() {
            Some(id) => vec![self.reads.place(caller, ids::conversation(id)?).await?.conversation],
            None => {
                caller.must_not_be_a_turn()?;
                let viewer = caller.viewer();
                self.reads.read(move |readers| readers.conversations(viewer)).await?
            }
        };
        let found =
            self.reads
                .read(move |readers| {
                    let mut found = Vec::new();
                    for conversation in conversations {
                        for thread in readers.threads(conversation.key)? {
                            let root = match thread.root {
                                Some(seq) => readers
                                    .uid_of(EventRef { conversation: conversation.key, seq })?,
                                None => None,
                            };
                            found.push((conversation.clone(), thread, root));
                        }
                    }
                    Ok(found)
                })
                .await?;
        let directory = self.directory.load();
        let wanted = found.iter().filter(|(_, t, _)| query.status.is_none_or(|s| s == t.status));
        let show =
            |(conversation, thread, root): &(Arc<Conversation>, thread::Thread, Option<Uid>)| {
                conversations::thread(&directory, &self.budgets, conversation, thread, *root)
            };
        Ok(Threads { threads: wanted.map(show).collect() })
    }

    pub(super) async fn show_thread(
        &self,
        conversation: &Conversation,
        thread: &thread::Thread,
    ) -> Result<Thread, Refusal> {
        let (key, root): (_, Option<Seq>) = (conversation.key, thread.root);
        let root = match root {
            Some(seq) => {
                self.reads.read(move |r| r.uid_of(EventRef { conversation: key, seq })).await?
            }
            None => None,
        };
        let directory = self.directory.load();
        Ok(conversations::thread(&directory, &self.budgets, conversation, thread, root))
    }
}

/// What the thread says of its new status, to whoever reads or waits for its messages.
fn note(
    status: ThreadStatus,
    reason: &str,
    metadata: Option<&RawValue>,
) -> Result<Message, Refusal> {
    let mut fields: Map<String, Value> = match metadata {
        Some(raw) => serde_json::from_str(raw.get())
            .map_err(|_| Refusal::invalid("metadata must be a JSON object"))?,
        None => Map::new(),
    };
    fields.insert("event_type".to_owned(), activity::status_type(status).into());
    fields.insert("status".to_owned(), status.name().into());
    let raw = to_raw_value(&fields).map_err(|e| Refusal::invalid(format!("metadata: {e}")))?;
    let text = match reason.trim() {
        "" => format!("The thread is {}.", status.name()),
        reason => reason.to_owned(),
    };
    Ok(Message {
        kind: MessageKind::System,
        text: text.into(),
        metadata: Some(canonical::metadata(&raw)?.into()),
        ..Message::default()
    })
}

/// A thread by its public id, with the conversation it is in.
pub(super) fn thread_at_home(
    readers: &Readers,
    uid: Uid,
) -> Result<Option<(Arc<Conversation>, thread::Thread)>, chorus_store::db::Error> {
    let Some((key, thread)) = readers.thread(uid)? else { return Ok(None) };
    let home = readers.conversation_by_key(key)?;
    Ok(home.map(|conversation| (conversation, thread)))
}
