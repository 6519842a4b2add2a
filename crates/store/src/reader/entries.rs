//! Pages of a log, each event with the data for showing it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use chorus_core::codec::Coded;
use chorus_core::model::conversation::Conversation;
use chorus_core::model::event::{Change, Event, Message, MessageKind};
use chorus_core::model::ids::{ConversationKey, EventRef, Seq, ThreadKey, Uid};
use chorus_core::model::message_state::MessageState;
use chorus_core::model::offer::Entry;
use chorus_core::model::thread::Thread;
use chorus_core::state::facts::Recalled;

use crate::db::{Db, Result, Row, Value};
use crate::row::maybe_uid;
use crate::{conversation, event, message, thread};

/// Most entries of one page: reads are bounded.
const PAGE: usize = 1_000;
/// The code of [`Change::Posted`].
const POSTED: u8 = 5;

/// An event with its present state.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    pub entry: Entry,
    /// Edits, deletion and reactions of it, when it is a message.
    pub state: MessageState,
    /// A message's newest content. None for other events and for a deleted message.
    pub content: Option<Message>,
}

/// Selects events of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    All,
    Messages,
    /// Messages of one thread, without its root, which comes before it.
    Thread(ThreadKey),
    /// Actions in one thread: status changes, and messages other than plain talk.
    Acts(ThreadKey),
    /// Candidates for the feed: main-timeline messages that answer none, openings of threads,
    /// promotions.
    Feed,
}

/// Where a page begins, and its direction. Its entries always come oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    After(Seq),
    Before(Seq),
    /// The end of the log, backwards.
    Newest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub conversation: ConversationKey,
    pub line: Line,
    pub start: Start,
    /// At most 1,000.
    pub limit: usize,
}

pub(super) fn page(
    db: &dyn Db,
    workspace: i64,
    page: &Page,
) -> Result<Option<(Vec<StoredEntry>, bool)>> {
    let Some(conversation) = conversation::get(db, workspace, page.conversation)? else {
        return Ok(None);
    };
    let limit = page.limit.min(PAGE);
    let (bound, backwards) = match page.start {
        Start::After(seq) => (seq.0, false),
        Start::Before(seq) => (seq.0, true),
        Start::Newest => (i64::MAX as u64, true),
    };
    let at = (workspace, page.conversation, Seq(bound));
    let mut rows = rows(db, at, page.line, backwards, limit as u64 + 1)?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    if backwards {
        rows.reverse();
    }
    let mut shown = Shown::new(db, workspace, Arc::new(conversation));
    let entries = rows.into_iter().map(|row| shown.entry(row)).collect::<Result<_>>()?;
    Ok(Some((entries, more)))
}

/// At most `limit` actions of a thread after a seq, for a decision.
pub(crate) fn acts(
    db: &dyn Db,
    workspace: i64,
    key: ConversationKey,
    thread: ThreadKey,
    after: Seq,
    limit: usize,
) -> Result<Vec<Recalled>> {
    let found = rows(db, (workspace, key, after), Line::Acts(thread), false, limit as u64)?;
    let recalled =
        |row: Found| Recalled { event: Arc::new(row.event), message: row.state, receipt: None };
    Ok(found.into_iter().map(recalled).collect())
}

fn rows(
    db: &dyn Db,
    (workspace, key, bound): (i64, ConversationKey, Seq),
    line: Line,
    backwards: bool,
    limit: u64,
) -> Result<Vec<Found>> {
    let talk = [MessageKind::Chat.code()];
    let mut values: Vec<Value<'_>> = vec![workspace.into(), key.0.into(), bound.0.into()];
    match line {
        Line::All | Line::Feed => {}
        Line::Messages => values.push(POSTED.into()),
        Line::Thread(thread) => {
            values.push(thread.0.into());
            values.push(POSTED.into());
        }
        Line::Acts(thread) => {
            values.push(thread.0.into());
            values.push((&talk).into());
        }
    }
    values.push(limit.into());
    db.all(statement(line, backwards), &values, read)
}

pub(super) fn one(db: &dyn Db, workspace: i64, at: EventRef) -> Result<Option<StoredEntry>> {
    let Some(conversation) = conversation::get(db, workspace, at.conversation)? else {
        return Ok(None);
    };
    let values = [workspace.into(), at.conversation.0.into(), (at.seq.0 - 1).into(), 1u64.into()];
    let found = db.one(statement(Line::All, false), &values, read)?;
    let mut shown = Shown::new(db, workspace, Arc::new(conversation));
    found.filter(|row| row.event.seq == at.seq).map(|row| shown.entry(row)).transpose()
}

/// The codes of [`Change::Posted`], [`Change::ThreadOpened`] and [`Change::Promoted`].
const FEED: &str =
    "AND (e.kind = 16 OR (e.kind IN (5, 10) AND e.thread IS NULL AND e.reply_to IS NULL))";

/// The codes of [`Change::ThreadStatus`] and [`Change::Posted`]. A message's kind is the first byte
/// of its body.
const ACTS: &str =
    "AND e.thread = $4 AND (e.kind = 11 OR (e.kind = 5 AND substr(e.body, 1, 1) <> $5))";

/// A row with its joins.
struct Found {
    event: Event,
    state: MessageState,
    reply_to: Option<Uid>,
}

fn read(row: &dyn Row) -> Result<Found> {
    let joined = event::EVENT.columns.len();
    Ok(Found {
        event: event::checked(row)?,
        state: message::read(row, joined)?,
        reply_to: maybe_uid(row, joined + 4)?,
    })
}

/// The ten statements, built once.
fn statement(line: Line, backwards: bool) -> &'static str {
    static MADE: [OnceLock<String>; 10] = [const { OnceLock::new() }; 10];
    let (kind, of, limit) = match line {
        Line::All => (0, "", "$4"),
        Line::Messages => (1, "AND e.kind = $4", "$5"),
        Line::Thread(_) => (2, "AND e.thread = $4 AND e.kind = $5", "$6"),
        Line::Feed => (3, FEED, "$4"),
        Line::Acts(_) => (4, ACTS, "$6"),
    };
    let (than, order) = if backwards { ("<", "DESC") } else { (">", "ASC") };
    MADE[kind * 2 + usize::from(backwards)].get_or_init(|| {
        format!(
            "SELECT {columns}, m.latest, m.edited_at, m.deleted_at, m.reactions, r.uid
            FROM event e
            LEFT JOIN message m ON m.workspace = e.workspace
                AND m.conversation = e.conversation AND m.seq = e.seq
            LEFT JOIN event r ON r.workspace = e.workspace
                AND r.conversation = e.conversation AND r.seq = e.reply_to
            WHERE e.workspace = $1 AND e.conversation = $2 AND e.seq {than} $3 {of}
            ORDER BY e.seq {order} LIMIT {limit}",
            columns = event::EVENT.columns_of("e"),
        )
    })
}

/// Caches the threads and ids of one conversation while its entries are built.
struct Shown<'a> {
    db: &'a dyn Db,
    workspace: i64,
    conversation: Arc<Conversation>,
    threads: HashMap<ThreadKey, Option<Arc<Thread>>>,
}

impl<'a> Shown<'a> {
    fn new(db: &'a dyn Db, workspace: i64, conversation: Arc<Conversation>) -> Self {
        Self { db, workspace, conversation, threads: HashMap::new() }
    }

    fn entry(&mut self, row: Found) -> Result<StoredEntry> {
        let Found { event, state, reply_to } = row;
        let about = match event.change.about() {
            Some(message) => self.event(message)?.map(|e| e.uid),
            None => None,
        };
        let content = match (&event.change, state.deleted_at, state.latest) {
            (Change::Posted(_), None, Some(latest)) => {
                self.event(latest)?.and_then(|e| e.change.message().cloned())
            }
            (Change::Posted(message), None, None) => Some(message.clone()),
            _ => None,
        };
        let thread = match event.thread {
            Some(key) => self.thread(key)?,
            None => None,
        };
        let conversation = self.conversation.clone();
        let entry = Entry { conversation, thread, event: Arc::new(event), reply_to, about };
        Ok(StoredEntry { entry, state, content })
    }

    fn event(&self, seq: Seq) -> Result<Option<Event>> {
        let conversation = self.conversation.key;
        event::get(self.db, self.workspace, EventRef { conversation, seq })
    }

    fn thread(&mut self, key: ThreadKey) -> Result<Option<Arc<Thread>>> {
        if let Some(known) = self.threads.get(&key) {
            return Ok(known.clone());
        }
        let found = thread::get(self.db, self.workspace, self.conversation.key, key)?.map(Arc::new);
        self.threads.insert(key, found.clone());
        Ok(found)
    }
}
