//! The methods of the threads protocol (`spec/threads.md`): the same threads, messages and cursors as everywhere,
//! in that protocol's fields. A message's seq is its place in its thread.

mod create;
mod summarize;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use chorus_core::commands::{conversations, directory};
use chorus_core::model::caller::Authority;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::event::MessageKind;
use chorus_core::model::ids::{ConversationKey, EventRef, Prefix, Seq, Uid};
use chorus_core::model::{activity, thread};
use chorus_core::state::directory::Directory;
use chorus_store::Readers;
use chorus_store::db::Error;
use chorus_wire::limits::MAX_WAIT_SECONDS;
use chorus_wire::threads::{
    AckRead, Acked, Cursor, GetThread, Messages, PostMessage, Posted, ReadMessages, SCHEMA_VERSION,
    StatusUpdated, Thread, UpdateThreadStatus,
};
use serde_json::value::{RawValue, Value, to_raw_value};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use super::clock::HostClock;
use super::commands::Commands;
use super::digests::Scribe;
use super::identity::Identity;
use super::ids;
use super::names::Names;
use super::pages::{self, NOBODY, Page, Range, limit};
use super::posts::{OutgoingMessage, PostService};
use super::reads::{self, Known, Reads};
use super::threads::{Change, ThreadService, thread_at_home};
use crate::auth::Caller;
use crate::dispatch::feed::{Feed, Live};
use crate::view::messages::message_id;
use crate::view::{id, threads as view};

/// The methods of the `threads` protocol.
pub(crate) struct ThreadMethods {
    pub(super) feed: Arc<Feed>,
    pub(super) commands: Arc<Commands>,
    pub(super) identity: Arc<Identity>,
    pub(super) reads: Arc<Reads>,
    pub(super) threads: Arc<ThreadService>,
    pub(super) names: Arc<Names>,
    pub(super) posts: Arc<PostService>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) homes: Known<Uid>,
    pub(super) summaries: Arc<Scribe>,
    pub(super) workspace_id: Arc<str>,
}

impl ThreadMethods {
    pub(crate) async fn get_thread(
        &self,
        caller: &Caller,
        args: GetThread,
    ) -> Result<Thread, Refusal> {
        let (conversation, thread) = self.thread_seen(caller, &args.thread_id).await?;
        let cursor = self.thread_cursor(caller, &conversation, &thread).await?;
        let directory = self.directory.load();
        Ok(Thread {
            thread_id: thread.uid.show(Prefix::Thread),
            workspace_id: self.workspace_id.to_string(),
            channel_id: conversation.uid.show(Prefix::Conversation),
            title: thread.title.to_string(),
            kind: thread.kind.into(),
            status: thread.status.into(),
            participants: thread.participants.iter().map(|m| id(&directory, *m)).collect(),
            last_seq: thread.last_seq,
            created_at: thread.created_at.into(),
            updated_at: thread.updated_at.into(),
            cursor: Some(cursor),
        })
    }

    async fn thread_cursor(
        &self,
        caller: &Caller,
        conversation: &Conversation,
        thread: &thread::Thread,
    ) -> Result<Cursor, Refusal> {
        let (key, of, member) = (conversation.key, thread.key, caller.by.member);
        let (mark, unread, acked) = self
            .reads
            .read(move |readers| {
                let (mark, unread) = readers.unread_in_thread(key, of, member)?;
                let at = readers.seq_in_thread(key, of, mark.read.0)?;
                let acked = readers.uid_of(EventRef { conversation: key, seq: at })?;
                Ok((mark, unread, acked))
            })
            .await?;
        Ok(Cursor {
            agent_id: id(&self.directory.load(), member),
            last_read_seq: mark.read.0,
            last_acked_message_id: acked.filter(|_| mark.read.0 > 0).map(message_id),
            unread,
        })
    }

    pub(crate) async fn post_message(
        &self,
        caller: &Caller,
        args: PostMessage,
    ) -> Result<Posted, Refusal> {
        let caller = self.identity.in_turn(caller, args.turn.as_deref())?;
        let caller = self.in_own_session(caller).await?;
        let event_type = check_message(&caller, &args)?;
        let home = self.home(ids::thread(&args.thread_id)?).await?;
        let letter = OutgoingMessage::to_thread(home.show(Prefix::Conversation), args);
        let sent = self.posts.send(&caller, letter, false).await;
        // A thread that the caller may not see is as unknown as one that does not exist.
        let (entry, duplicate, redacted) = sent.map_err(|refusal| {
            let hidden = refusal == Refusal::not_found("conversation");
            if hidden { Refusal::not_found("thread") } else { refusal }
        })?;
        let unknown_names = self.names.unknown_names(&caller, &entry).await;
        let event = &entry.event;
        Ok(Posted {
            message_id: message_id(event.uid),
            seq: event.thread_seq,
            thread_status: entry.thread.as_ref().map(|t| t.status).unwrap_or_default().into(),
            created_at: event.at.into(),
            duplicate,
            event_registered: event_type.as_deref().map(activity::is_registered),
            redacted,
            unknown_names,
        })
    }

    pub(crate) async fn read_messages(
        &self,
        caller: &Caller,
        args: ReadMessages,
    ) -> Result<Messages, Refusal> {
        let limit = limit(args.limit)?;
        let since = args.since_seq;
        let wait = args.wait_seconds.unwrap_or(0);
        // Who does not wait has all of it with one read.
        let first = move |readers: &Readers, home: &Conversation, thread: &thread::Thread| {
            let at_once = wait == 0 && since.is_none_or(|seq| seq <= thread.last_seq);
            let page = || messages_since(readers, home.key, thread, since, limit);
            at_once.then(page).transpose()
        };
        let (conversation, thread, first) =
            self.thread_with(caller, &args.thread_id, first).await?;
        if let Some(page) = first {
            return Ok(self.shown(&thread, since, page));
        }
        if since.is_some_and(|seq| seq > thread.last_seq) {
            let last = thread.last_seq;
            return Err(Refusal::invalid(format!("since_seq: the newest seq is {last}")));
        }
        if wait > MAX_WAIT_SECONDS {
            return Err(Refusal::invalid(format!("wait_seconds is at most {MAX_WAIT_SECONDS}")));
        }
        let until = Instant::now() + Duration::from_secs(wait.into());
        let mut news = News::of(&self.feed, &conversation, &args.thread_id);
        loop {
            let (key, of) = (conversation.key, thread.clone());
            let read = move |readers: &Readers| messages_since(readers, key, &of, since, limit);
            let page = self.reads.read(read).await?;
            if !page.shown.is_empty() || !news.come(until).await {
                return Ok(self.shown(&thread, since, page));
            }
            if !self.identity.still_valid(caller) {
                return Err(Refusal::new(Code::Unauthorized, "the token has ended"));
            }
            // After the news: who was shut out meanwhile is not shown what was said then.
            self.reads.place(caller, conversation.uid).await?;
        }
    }

    fn shown(&self, thread: &thread::Thread, since: Option<u64>, page: Page) -> Messages {
        let directory = self.directory.load();
        let show = |shown| view::message(&directory, thread.uid, shown);
        let messages: Vec<_> = page.shown.iter().map(show).collect();
        let next_seq = messages.last().map_or(since.unwrap_or(0), |message| message.seq);
        Messages { messages, next_seq, has_more: page.more }
    }

    pub(crate) async fn ack_read(&self, caller: &Caller, args: AckRead) -> Result<Acked, Refusal> {
        caller.must_not_be_a_turn()?;
        let uid = ids::thread(&args.thread_id)?;
        let read = Seq(args.last_read_seq);
        self.commands.submit(caller.by, conversations::AckThread { thread: uid, read }).await?;
        let (conversation, thread) = self.thread_seen(caller, &args.thread_id).await?;
        let cursor = self.thread_cursor(caller, &conversation, &thread).await?;
        Ok(Acked {
            ok: true,
            updated_at: self.clock.now().into(),
            last_read_seq: cursor.last_read_seq,
            last_acked_message_id: cursor.last_acked_message_id,
            unread: cursor.unread,
        })
    }

    pub(crate) async fn update_thread_status(
        &self,
        caller: &Caller,
        args: UpdateThreadStatus,
    ) -> Result<StatusUpdated, Refusal> {
        caller.must_not_be_a_turn()?;
        let caller = self.in_own_session(caller.clone()).await?;
        let change = Change {
            status: Some(args.status.0),
            owner: None,
            reason: args.reason.unwrap_or_default(),
            summary: None,
            metadata: Some(args.metadata.unwrap_or_else(nothing)),
        };
        let (thread, _) = self.threads.move_thread(&caller, &args.thread_id, change).await?;
        Ok(StatusUpdated {
            thread_id: thread.uid.show(Prefix::Thread),
            status: thread.status.into(),
            updated_at: thread.updated_at.into(),
        })
    }

    /// The session that the token names is what it is said in, whether or not it ever connected.
    async fn in_own_session(&self, mut caller: Caller) -> Result<Caller, Refusal> {
        let Some(uid) = caller.session.filter(|_| caller.by.session.is_none()) else {
            return Ok(caller);
        };
        let session = self.commands.change(caller.by, directory::KnowSession { uid }).await?;
        caller.by.session = Some(session.key);
        Ok(caller)
    }

    /// A conversation that the caller may see, by its public id.
    pub(crate) async fn seen(&self, caller: &Caller, id: &str) -> Result<Uid, Refusal> {
        let uid = ids::conversation(id)?;
        self.reads.place(caller, uid).await.map(|_| uid)
    }

    /// A thread that the caller may see, with the conversation it is in.
    async fn thread_seen(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<(Arc<Conversation>, thread::Thread), Refusal> {
        let (conversation, thread, ()) = self.thread_with(caller, id, |_, _, _| Ok(())).await?;
        Ok((conversation, thread))
    }

    /// The same with what is read of it at once.
    async fn thread_with<T: Send + 'static>(
        &self,
        caller: &Caller,
        id: &str,
        more: impl FnOnce(&Readers, &Conversation, &thread::Thread) -> Result<T, Error> + Send + 'static,
    ) -> Result<(Arc<Conversation>, thread::Thread, T), Refusal> {
        let (uid, viewer) = (ids::thread(id)?, caller.viewer());
        let read = move |readers: &Readers| {
            let Some((home, thread)) = thread_at_home(readers, uid)? else { return Ok(None) };
            let seen = match reads::may_see(readers, viewer, home.key)? {
                true => Some(more(readers, &home, &thread)?),
                false => None,
            };
            Ok(Some((home, thread, seen)))
        };
        let unknown = || Refusal::not_found("thread");
        let (home, thread, seen) = self.reads.read(read).await?.ok_or_else(unknown)?;
        reads::in_turn(caller, home.uid)?;
        Ok((home, thread, seen.ok_or_else(unknown)?))
    }

    /// The conversation of a thread, by its public id.
    pub(crate) async fn home_of_thread(&self, id: &str) -> Result<Uid, Refusal> {
        self.home(ids::thread(id)?).await
    }

    /// The conversation of an event or message, by its public id.
    pub(crate) async fn home_of_event(&self, id: &str) -> Result<Uid, Refusal> {
        let uid = ids::event(id)?;
        let found = self
            .reads
            .read(move |readers| {
                let Some(at) = readers.event_ref(uid)? else { return Ok(None) };
                readers.conversation_by_key(at.conversation)
            })
            .await?;
        Ok(found.ok_or_else(|| Refusal::not_found("event"))?.uid)
    }

    /// The conversation of a thread. Whether the caller may see it is core's to say, where it is posted to.
    async fn home(&self, thread: Uid) -> Result<Uid, Refusal> {
        if let Some(known) = self.homes.get(thread) {
            return Ok(known);
        }
        let found = self.reads.read(move |readers| thread_at_home(readers, thread)).await?;
        let (conversation, _) = found.ok_or_else(|| Refusal::not_found("thread"))?;
        self.homes.put(thread, conversation.uid);
        Ok(conversation.uid)
    }
}

/// Messages of a thread after a seq of it, or all from its root on: what everybody is shown. The others have no seq,
/// and whoever reads on with the last seq would be given them again.
fn messages_since(
    readers: &Readers,
    key: ConversationKey,
    thread: &thread::Thread,
    since: Option<u64>,
    limit: usize,
) -> Result<Page, Error> {
    let root = match since {
        None => pages::root(readers, key, thread.key)?,
        Some(_) => None,
    };
    let left = limit - usize::from(root.is_some());
    let mut page = match left {
        // There is room for the root alone.
        0 => Page { shown: Vec::new(), more: thread.last_seq > 0 },
        left => {
            let after = readers.seq_in_thread(key, thread.key, since.unwrap_or(0))?;
            let of = (key, Some(thread.key));
            pages::page(readers, Some(NOBODY), of, Range::After(after), left)?
        }
    };
    page.shown.splice(0..0, root);
    Ok(page)
}

/// Waits for messages of a thread. It follows the feed, and costs nothing while nothing is said.
struct News {
    live: broadcast::Receiver<Live>,
    thread: String,
}

impl News {
    /// Begin before the log is read, so that nothing is missed between.
    fn of(feed: &Feed, conversation: &Conversation, thread: &str) -> Self {
        Self { live: feed.follow(conversation.key), thread: thread.to_owned() }
    }

    /// Whether there may be something; not when the time is over, or the host stops.
    async fn come(&mut self, until: Instant) -> bool {
        loop {
            match tokio::time::timeout_at(until, self.live.recv()).await {
                Ok(Ok(Live::Event { json, .. })) if !json.contains(&self.thread) => {}
                Ok(Ok(Live::Activity { .. })) => {}
                Ok(Ok(Live::Event { .. } | Live::Look) | Err(RecvError::Lagged(_))) => return true,
                Ok(Err(RecvError::Closed)) | Err(_) => return false,
            }
        }
    }
}

/// An empty object.
fn nothing() -> Box<RawValue> {
    to_raw_value(&serde_json::Map::new()).unwrap_or_default()
}

/// What only this protocol asks of a message; gives an event's type.
fn check_message(caller: &Caller, args: &PostMessage) -> Result<Option<String>, Refusal> {
    if args.schema_version != SCHEMA_VERSION {
        let given = args.schema_version;
        return Err(Refusal::invalid(format!(
            "schema_version {given} is unknown; this host has {SCHEMA_VERSION}"
        )));
    }
    match args.kind.0 {
        MessageKind::Chat => Ok(None),
        MessageKind::Event => event_type(args.metadata.as_deref()).map(Some),
        MessageKind::System if caller.authority() >= Authority::Orchestrator => Ok(None),
        MessageKind::System => Err(Refusal::new(
            Code::InsufficientAuthority,
            "a message of kind system needs an operator's or orchestrator's token",
        )),
    }
}

/// The type that an event's metadata must have.
fn event_type(metadata: Option<&RawValue>) -> Result<String, Refusal> {
    let metadata = metadata.and_then(|text| serde_json::from_str(text.get()).ok());
    let metadata: serde_json::Map<String, Value> = metadata
        .ok_or_else(|| Refusal::invalid("an event has metadata, an object with event_type"))?;
    let event_type = match metadata.get("event_type") {
        Some(Value::String(text)) if (1..=EVENT_TYPE_BYTES).contains(&text.len()) => text.clone(),
        _ => {
            let why = format!(
                "metadata.event_type of an event is a text of 1 to {EVENT_TYPE_BYTES} bytes"
            );
            return Err(Refusal::invalid(why));
        }
    };
    let version = metadata.get("event_version").filter(|version| !version.is_null());
    let version = version.map(|version| version.as_u64().unwrap_or_default());
    if version.is_some_and(|version| !(1..=u64::from(u32::MAX)).contains(&version)) {
        return Err(Refusal::invalid("metadata.event_version is a whole number from 1"));
    }
    Ok(event_type)
}

/// Longest type of an event, in bytes.
const EVENT_TYPE_BYTES: usize = 64;
