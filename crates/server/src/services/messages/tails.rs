//! Hot tails: the newest messages of rooms that are read again and again, kept as the bytes that are sent, so
//! that reading 50 of them costs a copy (design section 3, "The store").
//!
//! A tail is good only while the writer has committed nothing to its room and nobody's name has changed; it
//! is looked at before every use and is gone with the first edit, deletion, erasure, reaction or change of a
//! seat. What it keeps is what each reader of the room sees alike: a room with an ephemeral message among its
//! newest is read from the log. Who asks has been found to be a reader since the tail was made.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use axum::body::Bytes;
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{ConversationKey, MemberKey, Uid};
use chorus_core::model::member::Member;
use chorus_core::state::directory::Directory;
use chorus_wire::rest::messages::ListMessages;

use super::MessageService;
use crate::auth::Caller;
use crate::services::pages::{NOBODY, PAGE_BYTES, Page, Range, limit};
use crate::services::{answered, ids};
use crate::view::{conversations, messages};

/// Messages of one tail: whoever follows by asking has its cursor among them.
const MESSAGES: usize = 256;
/// Reads of a room, without a write between, until its tail is made: making it costs what five of them do.
const READS: u8 = 4;
/// Bytes of all tails together; past it they are made anew.
const BYTES: usize = 64 * 1024 * 1024;

/// Bytes of a page that is made of a tail: messages in full, of which a page of the log has [`PAGE_BYTES`] of content.
const TAIL_PAGE_BYTES: usize = 2 * PAGE_BYTES;

/// The tails there are.
#[derive(Default)]
pub(crate) struct Tails(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    tails: HashMap<Uid, Arc<Tail>>,
    bytes: usize,
    /// How often rooms without a tail were read lately.
    reads: HashMap<Uid, u8>,
}

/// The newest messages of one room, encoded.
struct Tail {
    key: ConversationKey,
    stamp: u64,
    /// Whose names stand in it.
    members: Arc<Vec<Arc<Member>>>,
    /// Each message's seq, and where its bytes end.
    ends: Vec<(u64, usize)>,
    /// The messages, each followed by a comma.
    text: String,
    /// It begins with the room's first message.
    whole: bool,
    /// What each page ends with: up to where the log was dropped, if it was.
    end: String,
    /// Who was found to be a reader.
    readers: RwLock<HashSet<MemberKey>>,
}

impl MessageService {
    /// As [`App::messages`], encoded.
    pub(crate) async fn messages_json(
        &self,
        caller: &Caller,
        query: ListMessages,
    ) -> Result<Bytes, Refusal> {
        let plain = query.thread.is_none() && caller.turn.is_none();
        let room = ids::conversation(&query.conversation).ok().filter(|_| plain);
        let tail = room.and_then(|room| self.tails.get(room));
        // Only a tail that is good now can admit who is found to be a reader below.
        let tail = tail.filter(|tail| {
            tail.stamp == self.readers.stamp(tail.key) && tail.names(&self.directory.load())
        });
        let page = tail.as_ref().filter(|tail| tail.knows(caller)).and_then(|tail| {
            let range = Range::of(query.after_seq, query.before_seq).ok()?;
            tail.page(range, limit(query.limit).ok()?)
        });
        if let Some(page) = page {
            return Ok(page);
        }
        let messages = self.messages(caller, query).await?;
        match (tail, room) {
            (Some(tail), _) => tail.admit(caller),
            (None, Some(room)) if self.tails.is_hot(room) => self.keep(caller, room).await?,
            _ => {}
        }
        let json = serde_json::to_vec(&messages).map_err(|e| unencodable(&e))?;
        Ok(json.into())
    }

    /// Makes the room's tail.
    async fn keep(&self, caller: &Caller, room: Uid) -> Result<(), Refusal> {
        let key = self.reads.place(caller, room).await?.conversation.key;
        // What is read from here on is at least as new as this.
        let (stamp, directory) = (self.readers.stamp(key), self.directory.load().clone());
        let place = self.reads.place(caller, room).await?;
        let Page { shown, more } =
            self.reads.page(None, &place.conversation, None, Range::Newest, MESSAGES).await?;
        if !shown.iter().all(|shown| shown.event.is_shown_to(NOBODY)) {
            return Ok(());
        }
        let (mut ends, mut text) = (Vec::with_capacity(shown.len()), String::new());
        for shown in &shown {
            let message = serde_json::to_string(&messages::message(&directory, shown));
            text.push_str(&message.map_err(|e| unencodable(&e))?);
            text.push(',');
            ends.push((shown.event.seq.0, text.len()));
        }
        let (members, whole, readers) = (directory.members.clone(), !more, RwLock::default());
        let base = conversations::base_seq(place.head);
        let end = base.map_or_else(String::new, |base| format!(r#","base_seq":{base}"#));
        let tail = Tail { key, stamp, members, ends, text, whole, end, readers };
        tail.admit(caller);
        // Others are given it without a read.
        answered::settle(&self.readers).await?;
        self.tails.put(room, tail);
        Ok(())
    }
}

impl Tails {
    fn get(&self, room: Uid) -> Option<Arc<Tail>> {
        self.lock().tails.get(&room).cloned()
    }

    /// Whether a room without a good tail has been read often enough to get one.
    fn is_hot(&self, room: Uid) -> bool {
        let mut kept = self.lock();
        if kept.reads.len() > 10_000 {
            kept.reads.clear();
        }
        let reads = kept.reads.entry(room).or_default();
        *reads += 1;
        let hot = *reads >= READS;
        if hot {
            kept.reads.remove(&room);
        }
        hot
    }

    fn put(&self, room: Uid, tail: Tail) {
        let mut kept = self.lock();
        let size = tail.text.len();
        if kept.bytes + size > BYTES {
            *kept = Kept::default();
        }
        kept.bytes += size;
        if let Some(old) = kept.tails.insert(room, Arc::new(tail)) {
            kept.bytes -= old.text.len();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tail {
    /// Whether the names in it are those of the directory.
    fn names(&self, directory: &Directory) -> bool {
        Arc::ptr_eq(&self.members, &directory.members)
    }

    fn knows(&self, caller: &Caller) -> bool {
        let readers = self.readers.read().unwrap_or_else(PoisonError::into_inner);
        // Who has no seats to be asked for sees all.
        caller.viewer().is_none_or(|member| readers.contains(&member))
    }

    fn admit(&self, caller: &Caller) {
        let mut readers = self.readers.write().unwrap_or_else(PoisonError::into_inner);
        readers.extend(caller.viewer());
    }

    /// The page, when all of it is here.
    fn page(&self, range: Range, limit: usize) -> Option<Bytes> {
        let count = self.ends.len();
        let oldest = self.ends.first().map_or(0, |(seq, _)| *seq);
        let backwards = |end: usize| {
            let first = end.saturating_sub(limit);
            let here = self.whole || end >= limit;
            here.then_some((first, end, first > 0 || !self.whole))
        };
        let (first, end, more) = match range {
            Range::After(seq) => {
                let first = self.ends.partition_point(|(other, _)| *other <= seq.0);
                let end = count.min(first + limit);
                let here = self.whole || seq.0 + 1 >= oldest && count > 0;
                here.then_some((first, end, end < count))?
            }
            Range::Before(seq) => backwards(self.ends.partition_point(|(s, _)| *s < seq.0))?,
            Range::Newest => backwards(count)?,
        };
        let at = |index: usize| index.checked_sub(1).map_or(0, |last| self.ends[last].1);
        let messages = &self.text[at(first)..at(end)];
        if messages.len() > TAIL_PAGE_BYTES {
            return None;
        }
        let mut out = String::with_capacity(messages.len() + 70);
        out.push_str(r#"{"messages":["#);
        out.push_str(messages.strip_suffix(',').unwrap_or(messages));
        // Writing into a string does not fail.
        let end = &self.end;
        let _ = write!(out, r#"],"has_more":{more}{end}}}"#);
        Some(out.into())
    }
}

fn unencodable(why: &serde_json::Error) -> Refusal {
    Refusal::new(Code::Internal, format!("an answer is no JSON: {why}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use chorus_core::model::ids::Seq;

    use super::*;

    /// Messages with the seqs 10, 12, … 28.
    fn tail(whole: bool) -> Tail {
        let (mut ends, mut text) = (Vec::new(), String::new());
        for seq in (10..30).step_by(2) {
            text.push_str(&format!("{seq},"));
            ends.push((seq, text.len()));
        }
        let key = ConversationKey(1);
        let (members, readers) = (Arc::default(), RwLock::default());
        Tail { key, stamp: 0, members, ends, text, whole, end: String::new(), readers }
    }

    #[test]
    fn a_page_is_what_the_log_would_give_or_nothing() {
        let page = |whole: bool, range: Range, limit: usize| {
            let page = tail(whole).page(range, limit)?;
            Some(String::from_utf8(page.to_vec()).unwrap())
        };
        let after = |seq| Range::After(Seq(seq));
        let before = |seq| Range::Before(Seq(seq));
        for (whole, range, limit, expected) in [
            (false, after(24), 5, Some(r#"{"messages":[26,28],"has_more":false}"#)),
            (false, after(23), 2, Some(r#"{"messages":[24,26],"has_more":true}"#)),
            (false, after(9), 1, Some(r#"{"messages":[10],"has_more":true}"#)),
            (false, after(8), 1, None),
            (true, after(0), 1, Some(r#"{"messages":[10],"has_more":true}"#)),
            (false, after(28), 5, Some(r#"{"messages":[],"has_more":false}"#)),
            (false, Range::Newest, 2, Some(r#"{"messages":[26,28],"has_more":true}"#)),
            (false, Range::Newest, 10, Some("more: true")),
            (true, Range::Newest, 10, Some("more: false")),
            (false, Range::Newest, 11, None),
            (false, before(14), 2, Some(r#"{"messages":[10,12],"has_more":true}"#)),
            (true, before(14), 2, Some(r#"{"messages":[10,12],"has_more":false}"#)),
            (false, before(14), 3, None),
            (true, before(14), 3, Some(r#"{"messages":[10,12],"has_more":false}"#)),
        ] {
            let found = page(whole, range, limit);
            match expected {
                Some("more: true") => assert!(found.unwrap().ends_with("28],\"has_more\":true}")),
                Some("more: false") => assert!(found.unwrap().ends_with("28],\"has_more\":false}")),
                expected => assert_eq!(found.as_deref(), expected, "{whole} {range:?} {limit}"),
            }
        }
    }
}
