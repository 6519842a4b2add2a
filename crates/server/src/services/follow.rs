//! Following a conversation: from where the caller left off to its head, and then live.
//!
//! Subscribe first, then read, then drop what is at or below what was read: nothing is missed between. A
//! follower that falls behind reads the log again from where it is (design section 3, "No cursor spans
//! conversations").

use std::collections::VecDeque;
use std::sync::Arc;

use chorus_core::model::conversation::Conversation;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{EventRef, Seq};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::ids;
use super::log::EventLog;
use crate::auth::Caller;
use crate::dispatch::feed::Live;

/// Entries read from the log at once.
pub(super) const PAGE: usize = 200;

/// One thing to be shown.
#[derive(Clone, veil::Redact)]
pub(crate) struct Item {
    /// Its seq, when it stands in the log.
    pub seq: Option<Seq>,
    pub name: String,
    #[redact(fixed = 3)]
    pub json: Arc<str>,
}

/// Something that is followed.
pub(crate) trait Followed: Send + 'static {
    /// The next thing to show; none when it is over: the host stops, the caller's token has ended, or it may no longer
    /// see what it follows. May be dropped while it waits.
    fn next(&mut self) -> impl Future<Output = Option<Item>> + Send;
    /// What can be shown without waiting.
    fn ready(&mut self) -> Option<Item>;
    /// Whether the caller may still follow; its token may have ended while nothing was said.
    fn still_valid(&self) -> bool;
}

pub(crate) struct Follower {
    log: Arc<EventLog>,
    caller: Caller,
    conversation: Arc<Conversation>,
    live: broadcast::Receiver<Live>,
    /// The newest entry shown.
    cursor: Seq,
    behind: bool,
    ready: VecDeque<Item>,
    /// [`ErasedEvents::times`](crate::dispatch::erased::ErasedEvents::times) when that was read.
    gone_times: u64,
    activity: bool,
}

impl EventLog {
    /// Begins to follow after `after`, or from now on. With `activity`, progress, typing and receipts too.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        caller: &Caller,
        conversation: &str,
        after: Option<u64>,
        activity: bool,
    ) -> Result<Follower, Refusal> {
        let place = self.reads.place(caller, ids::conversation(conversation)?).await?;
        if after.is_some_and(|after| after > place.head.seq.0) {
            let last = place.head.seq;
            return Err(Refusal::invalid(format!("after: the newest event is {last}")));
        }
        let live = self.feed.follow(place.conversation.key);
        Ok(Follower {
            log: self.clone(),
            caller: caller.clone(),
            live,
            // The head was read before the subscription: what came between is read now.
            cursor: after.map_or(place.head.seq, Seq),
            behind: true,
            ready: VecDeque::new(),
            gone_times: 0,
            conversation: place.conversation,
            activity,
        })
    }
}

impl Followed for Follower {
    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.ready() {
                return Some(item);
            }
            if self.behind {
                self.catch_up().await.ok()?;
                continue;
            }
            match self.live.recv().await {
                // It was encoded before it was erased: the log says what is left.
                Ok(Live::Event { seq, .. }) if self.is_gone(seq) => self.behind = true,
                Ok(Live::Event { seq, name, json, only }) if seq == self.cursor.next() => {
                    if !self.log.identity.still_valid(&self.caller) {
                        return None;
                    }
                    self.cursor = seq;
                    let viewer = self.caller.viewer();
                    if let (Some(only), Some(member)) = (only, viewer)
                        && !only.contains(&member)
                    {
                        continue;
                    }
                    return Some(Item { seq: Some(seq), name: name.to_owned(), json });
                }
                Ok(Live::Event { seq, .. }) if seq <= self.cursor => {}
                Ok(Live::Event { .. } | Live::Look) | Err(RecvError::Lagged(_)) => {
                    self.behind = true;
                }
                Ok(Live::Activity { name, json, only }) => {
                    if !self.log.identity.still_valid(&self.caller) {
                        return None;
                    }
                    let me = self.caller.by.member;
                    if self.activity && only.is_none_or(|only| only.contains(&me)) {
                        return Some(Item { seq: None, name: name.to_owned(), json });
                    }
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    fn still_valid(&self) -> bool {
        self.log.identity.still_valid(&self.caller)
    }

    fn ready(&mut self) -> Option<Item> {
        let first = self.ready.front()?.seq;
        if self.gone_times != self.log.gone.times() {
            // Something was erased since: it is read again, as it is now.
            self.ready.clear();
            self.cursor = Seq(first?.0 - 1);
            self.behind = true;
        }
        self.ready.pop_front()
    }
}

impl Follower {
    fn is_gone(&self, seq: Seq) -> bool {
        self.log.gone.holds(EventRef { conversation: self.conversation.key, seq })
    }

    async fn catch_up(&mut self) -> Result<(), Refusal> {
        if !self.log.identity.still_valid(&self.caller) {
            return Err(Refusal::not_found("member"));
        }
        self.gone_times = self.log.gone.times();
        let viewer = self.caller.viewer();
        let (logged, more, upto) =
            self.log.reads.logged(viewer, self.conversation.key, self.cursor, PAGE).await?;
        // Looked at after reading: who was shut out meanwhile is not shown what was said then.
        self.log.reads.place(&self.caller, self.conversation.uid).await?;
        self.cursor = upto;
        self.behind = more;
        for event in self.log.show_events(&logged) {
            if let Ok(json) = serde_json::to_string(&event) {
                let seq = Some(Seq(event.seq));
                self.ready.push_back(Item { seq, name: event.kind, json: json.into() });
            }
        }
        Ok(())
    }
}
