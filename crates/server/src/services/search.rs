//! Searching what was said (spec/channels.md, "Search").
//!
//! The index says where; the log says what stands there now, and whether the caller is shown it. So nothing that was
//! edited away, deleted or erased is ever found, however far the index is behind.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use chorus_core::language::search::{Query, snippet};
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{ConversationKey, EventRef, MemberKey, Timestamp};
use chorus_core::state::directory::Directory;
use chorus_store::Readers;
use chorus_store::db::Error;
use chorus_store::search::{Ask, Search as Index, Window};
use chorus_wire::rest::search::{Found, Scope, Search};
use tokio::time::timeout;

use super::clock::HostClock;
use super::commands::Commands;
use super::ids;
use super::pages::{is_shown, limit, posted};
use super::reads::Reads;
use crate::auth::Caller;
use crate::indexer::Hints;
use crate::view;
use crate::view::search::FoundMessage;

/// How long a search waits for the index to have what was said just before.
const CATCH_UP: Duration = Duration::from_millis(100);
/// How long an erasure waits for the index to have forgotten.
const FORGET: Duration = Duration::from_secs(5);
/// Windows of the index that one answer looks through.
const WINDOWS: usize = 4;

/// The index, and who keeps it.
pub(crate) struct Searching {
    pub index: Index,
    pub hints: Arc<Hints>,
}

/// What is looked for, with everything known about it.
struct Look {
    query: Query,
    viewer: Option<MemberKey>,
    author: Option<MemberKey>,
    only: Option<ConversationKey>,
    scope: Scope,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    now: Timestamp,
    limit: usize,
}

/// Where a page begins: in the window that begins there, after so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cursor {
    top: Option<i64>,
    skip: usize,
}

/// Search over messages.
pub(crate) struct SearchService {
    pub(super) commands: Arc<Commands>,
    pub(super) reads: Arc<Reads>,
    pub(super) clock: Arc<HostClock>,
    pub(super) directory: Arc<ArcSwap<Directory>>,
    pub(super) searching: Arc<Searching>,
}

impl SearchService {
    /// `GET /v1/search`.
    pub(crate) async fn search(&self, caller: &Caller, asked: Search) -> Result<Found, Refusal> {
        let query = Query::read(&asked.q)?;
        let author = match asked.author.as_deref() {
            Some(id) => Some(ids::member_for(&self.directory.load(), caller, id)?.key),
            None => None,
        };
        let named = asked.conversation.as_deref().map(ids::conversation).transpose()?;
        // A turn's token is for one conversation.
        let only = match named.or(caller.turn.map(|turn| turn.conversation)) {
            Some(uid) => Some(self.reads.place(caller, uid).await?.conversation.key),
            None => None,
        };
        let cursor = match asked.after.as_deref() {
            Some(text) => {
                Cursor::read(text).ok_or_else(|| Refusal::invalid("after is `next` of a page"))?
            }
            None => Cursor::default(),
        };
        let look = Look {
            query,
            viewer: caller.viewer(),
            author,
            only,
            scope: asked.scope.unwrap_or_default(),
            since: asked.since.map(|t| t.0),
            until: asked.until.map(|t| t.0),
            now: self.clock.now(),
            limit: limit(asked.limit)?,
        };
        // What was answered a moment ago may not have been hinted at.
        let told = timeout(CATCH_UP, self.commands.caught_up()).await;
        let is_told = told.is_ok_and(|told| told.is_ok());
        let behind = !(self.searching.hints.caught_up(CATCH_UP).await && is_told);
        let (index, hints) = (self.searching.index.clone(), self.searching.hints.clone());
        let (hits, next) = self
            .reads
            .read(move |readers| {
                let among = look.among(readers)?;
                look.through(readers, &among, cursor, |ask| {
                    index.find(ask).map_err(|why| match why {
                        // It is derived: what is damaged is made anew, and asking again then helps.
                        Error::Corrupt(why) => {
                            hints.make_anew();
                            Error::Engine(why)
                        }
                        other => other,
                    })
                })
            })
            .await?;
        let directory = self.directory.load();
        let hits = hits.iter().map(|hit| view::search::hit(&directory, hit)).collect();
        Ok(Found { hits, next: next.map(|next| next.to_string()), behind })
    }

    /// Takes what an erased message said out of the index. One that cannot be written now does so before it goes on.
    pub(super) async fn forget(&self, at: EventRef) {
        let going = self.searching.hints.forget(at);
        if !matches!(timeout(FORGET, going).await, Ok(Ok(()))) {
            tracing::warn!("the index of search has not forgotten an erased message yet");
        }
    }
}

impl Look {
    /// A page, and where the next begins.
    fn through(
        &self,
        readers: &Readers,
        among: &HashSet<ConversationKey>,
        mut cursor: Cursor,
        find: impl Fn(&Ask<'_>) -> Result<Window, Error>,
    ) -> Result<(Vec<FoundMessage>, Option<Cursor>), Error> {
        let mut hits = Vec::new();
        for _ in 0..WINDOWS {
            let window = find(&Ask {
                query: &self.query,
                among,
                author: self.author,
                from: self.since,
                until: self.until,
                top: cursor.top,
                now: self.now,
            })?;
            for (n, at) in window.hits.iter().enumerate().skip(cursor.skip) {
                if hits.len() == self.limit {
                    return Ok((hits, Some(Cursor { top: window.top, skip: n })));
                }
                hits.extend(self.hit(readers, *at)?);
            }
            match window.below {
                None => return Ok((hits, None)),
                Some(below) => cursor = Cursor { top: Some(below), skip: 0 },
            }
        }
        Ok((hits, Some(cursor)))
    }

    /// The conversations that are searched: what the caller may see, of the kinds that are meant.
    fn among(&self, readers: &Readers) -> Result<HashSet<ConversationKey>, Error> {
        if let Some(only) = self.only {
            return Ok([only].into());
        }
        let visible = readers.visible(self.viewer)?.into_iter();
        Ok(visible.filter(|(_, kind)| self.scope.holds(*kind)).map(|(key, _)| key).collect())
    }

    /// The message there as it is now, if it is still what is looked for.
    fn hit(&self, readers: &Readers, at: EventRef) -> Result<Option<FoundMessage>, Error> {
        let Some(stored) = readers.entry_at(at)? else { return Ok(None) };
        let event = &stored.entry.event;
        let is_meant = is_shown(self.viewer, &stored)
            && event.only().is_none()
            && self.author.is_none_or(|author| author == event.actor)
            && self.since.is_none_or(|since| event.at >= since)
            && self.until.is_none_or(|until| event.at < until);
        let Some(content) = stored.content.as_ref().filter(|_| is_meant) else { return Ok(None) };
        let Some(snippet) = snippet(&self.query, &content.text) else { return Ok(None) };
        let conversation = stored.entry.conversation.clone();
        Ok(posted(stored).map(|shown| FoundMessage { conversation, shown, snippet }))
    }
}

impl Cursor {
    fn read(text: &str) -> Option<Self> {
        let (top, skip) = text.split_once('.')?;
        let top = i64::from_str_radix(top, 16).ok().filter(|top| *top >= 0)?;
        Some(Self { top: Some(top), skip: skip.parse().ok()? })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x}.{}", self.top.unwrap_or(i64::MAX), self.skip)
    }
}
