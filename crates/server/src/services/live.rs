//! Following everything that the caller may see, in one stream (ATT-480 to ATT-485).
//!
//! One subscription for all conversations, so that ten thousand cost no more than one while nothing is said. What is
//! shown of a conversation goes on from a seq that the follower was told ([`LiveFollower::hello`], `joined`): subscribe
//! first, then read, then drop what is at or below it. After a gap or a lag the log is read. Whether the caller may see a
//! conversation is remembered, and asked again where somebody took or gave up a seat, before anything else is shown.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use chorus_core::model::error::Refusal;
use chorus_core::model::ids::{ConversationKey, EventRef, Prefix, Seq, Uid};
use chorus_core::state::directory::Directory;
use chorus_wire::rest::live::LiveHeads;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until};

use super::follow::{Followed, Item, PAGE};
use super::log::EventLog;
use crate::auth::Caller;
use crate::dispatch::feed::{Everywhere, Live};
use crate::dispatch::lists::Lists;

/// Changed lists are told no more often than this: four times a second is as live as a list needs to be.
const HINT_EVERY: Duration = Duration::from_millis(250);

/// What the follower knows of a conversation that the caller may see.
struct Seen {
    uid: Uid,
    /// The newest entry shown, or that it was told of.
    cursor: Seq,
}

/// What is to be read next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Everything there is to be seen, after a lag.
    Everything,
    /// Whether the caller may see the conversation.
    Seats(ConversationKey),
    /// The log of one, after what was shown.
    Log(ConversationKey),
}

/// Entries of one log, read and not yet shown.
#[derive(Default)]
struct Read {
    of: Option<ConversationKey>,
    entries: VecDeque<(Seq, Item)>,
    /// [`ErasedEvents::times`](crate::dispatch::erased::ErasedEvents::times) when they were read.
    gone_times: u64,
}

/// Lists that changed and were not told of yet.
struct Changed {
    lists: Lists,
    told: Instant,
    directory: Arc<ArcSwap<Directory>>,
    /// The one that the follower knows.
    known: Arc<Directory>,
    moved: watch::Receiver<()>,
    has_moved: bool,
}

pub(crate) struct LiveFollower {
    log: Arc<EventLog>,
    caller: Caller,
    live: broadcast::Receiver<Everywhere>,
    seen: HashMap<ConversationKey, Seen>,
    /// Conversations that the caller may not see.
    hidden: HashSet<ConversationKey>,
    /// Nothing live is taken while there are any, so that what is shown stays in order.
    tasks: VecDeque<Task>,
    news: VecDeque<Item>,
    read: Read,
    changed: Changed,
}

impl EventLog {
    /// `GET /v1/live` as JSON: the conversations that the caller may see, and the ends of their logs.
    pub(crate) async fn heads(&self, caller: &Caller) -> Result<LiveHeads, Refusal> {
        caller.must_not_be_a_turn()?;
        let viewer = caller.viewer();
        let heads = self.reads.read(move |readers| readers.visible_heads(viewer)).await?;
        let heads = heads.into_iter();
        Ok(LiveHeads {
            heads: heads.map(|(_, uid, seq)| (uid.show(Prefix::Conversation), seq.0)).collect(),
        })
    }

    /// Begins to follow everything, from now on.
    pub(crate) async fn follow_everything(
        self: &Arc<Self>,
        caller: &Caller,
    ) -> Result<LiveFollower, Refusal> {
        caller.must_not_be_a_turn()?;
        let mut moved = self.directory_moved.clone();
        moved.mark_unchanged();
        let mut follower = LiveFollower {
            live: self.feed.follow_everywhere(),
            changed: Changed {
                lists: Lists::default(),
                told: Instant::now(),
                known: self.directory.load_full(),
                directory: self.directory.clone(),
                moved,
                has_moved: false,
            },
            log: self.clone(),
            caller: caller.clone(),
            seen: HashMap::new(),
            hidden: HashSet::new(),
            tasks: VecDeque::new(),
            news: VecDeque::new(),
            read: Read::default(),
        };
        // After the subscription: what comes between is above these heads, and shown.
        for (key, uid, head) in follower.visible().await? {
            follower.seen.insert(key, Seen { uid, cursor: head });
        }
        let hello = follower.hello();
        follower.news.push_back(hello);
        Ok(follower)
    }
}

impl Followed for LiveFollower {
    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.ready() {
                return Some(item);
            }
            if let Some(task) = self.tasks.front().copied() {
                if !self.still_valid() {
                    return None;
                }
                // It is only over once it is done: this may be dropped while it reads.
                if self.work(task).await.ok()? {
                    self.tasks.pop_front();
                }
                continue;
            }
            let hint = self.changed.is_any().then(|| self.changed.due());
            tokio::select! {
                said = self.live.recv() => match said {
                    Ok(said) => {
                        if !self.still_valid() {
                            return None;
                        }
                        self.take(said);
                    }
                    Err(RecvError::Lagged(_)) => self.look_everywhere(),
                    Err(RecvError::Closed) => return None,
                },
                moved = self.changed.moved.changed() => {
                    moved.ok()?;
                    if !self.still_valid() {
                        return None;
                    }
                    self.changed.has_moved = true;
                }
                () = sleep_until(hint.unwrap_or_else(Instant::now)), if hint.is_some() => {
                    self.news.extend(self.changed.tell());
                }
            }
        }
    }

    fn still_valid(&self) -> bool {
        self.log.identity.still_valid(&self.caller)
    }

    fn ready(&mut self) -> Option<Item> {
        if let Some(item) = self.news.pop_front() {
            return Some(item);
        }
        let (first, _) = self.read.entries.front()?;
        if self.read.gone_times != self.log.gone.times() {
            // Something was erased since: it is read again, as it is now.
            if let Some(key) = self.read.of
                && let Some(seen) = self.seen.get_mut(&key)
            {
                seen.cursor = Seq(first.0 - 1);
                self.tasks.push_front(Task::Log(key));
            }
            self.read.entries.clear();
        }
        self.read.entries.pop_front().map(|(_, item)| item)
    }
}

impl LiveFollower {
    fn take(&mut self, said: Everywhere) {
        match said {
            Everywhere::In(key, live) => match self.seen.get_mut(&key) {
                Some(seen) => {
                    let at = |seq| EventRef { conversation: key, seq };
                    let shown = show(live, seen, &self.caller, |seq| self.log.gone.holds(at(seq)));
                    match shown {
                        Shown::Item(item) => self.news.push_back(item),
                        Shown::InLog => self.tasks.push_back(Task::Log(key)),
                        Shown::Nothing => {}
                    }
                }
                None if self.hidden.contains(&key) => {}
                None => self.tasks.push_back(Task::Seats(key)),
            },
            Everywhere::Seats(key) => self.tasks.push_back(Task::Seats(key)),
            // What happens where the caller may not look is not hinted at.
            Everywhere::Changed(key, lists) => {
                if key.is_none_or(|key| self.seen.contains_key(&key)) {
                    self.changed.lists |= lists;
                }
            }
            Everywhere::Look => self.look_everywhere(),
        }
    }

    fn look_everywhere(&mut self) {
        self.tasks.push_back(Task::Everything);
        self.changed.lists |= Lists::ALL;
    }

    /// Does what is to be done; whether that was all of it.
    async fn work(&mut self, task: Task) -> Result<bool, Refusal> {
        match task {
            Task::Everything => {
                let visible = self.visible().await?;
                let keys: HashSet<_> = visible.iter().map(|(key, ..)| *key).collect();
                let left: Vec<_> =
                    self.seen.keys().filter(|key| !keys.contains(*key)).copied().collect();
                left.into_iter().for_each(|key| self.leave(key));
                self.hidden.clear();
                for (key, uid, head) in visible {
                    match self.seen.get(&key) {
                        Some(seen) if seen.cursor < head => self.tasks.push_back(Task::Log(key)),
                        Some(_) => {}
                        None => self.join(key, uid, head),
                    }
                }
                Ok(true)
            }
            Task::Seats(key) => {
                match self.log.reads.seen(&self.caller, key).await? {
                    Some(place) => self.join(key, place.conversation.uid, place.head.seq),
                    None => self.leave(key),
                }
                Ok(true)
            }
            Task::Log(key) => self.catch_up(key).await,
        }
    }

    async fn catch_up(&mut self, key: ConversationKey) -> Result<bool, Refusal> {
        let Some(cursor) = self.seen.get(&key).map(|seen| seen.cursor) else { return Ok(true) };
        self.read.gone_times = self.log.gone.times();
        let viewer = self.caller.viewer();
        let (logged, more, upto) = self.log.reads.logged(viewer, key, cursor, PAGE).await?;
        // Looked at after reading: who was shut out meanwhile is not shown what was said then.
        if self.log.reads.seen(&self.caller, key).await?.is_none() {
            self.leave(key);
            return Ok(true);
        }
        if let Some(seen) = self.seen.get_mut(&key) {
            seen.cursor = upto;
        }
        self.read.of = Some(key);
        for event in self.log.show_events(&logged) {
            if let Ok(json) = serde_json::to_string(&event) {
                let item = Item { seq: None, name: event.kind, json: json.into() };
                self.read.entries.push_back((Seq(event.seq), item));
            }
        }
        Ok(!more)
    }

    /// The caller may see this conversation, whose log is shown from here on.
    fn join(&mut self, key: ConversationKey, uid: Uid, head: Seq) {
        self.hidden.remove(&key);
        if self.seen.contains_key(&key) {
            return;
        }
        self.seen.insert(key, Seen { uid, cursor: head });
        self.news.push_back(moved("joined", uid, head));
        self.changed.lists |= Lists::CHANNELS;
    }

    /// The caller may not see it, or no longer. It is told how far it saw, and not how far the log goes.
    fn leave(&mut self, key: ConversationKey) {
        self.hidden.insert(key);
        if let Some(seen) = self.seen.remove(&key) {
            self.news.push_back(moved("left", seen.uid, seen.cursor));
            self.changed.lists |= Lists::CHANNELS;
        }
    }

    fn hello(&self) -> Item {
        let heads = self.seen.values();
        let heads: BTreeMap<_, _> =
            heads.map(|seen| (seen.uid.show(Prefix::Conversation), seen.cursor.0)).collect();
        news("hello", &json!(LiveHeads { heads }))
    }

    async fn visible(&self) -> Result<Vec<(ConversationKey, Uid, Seq)>, Refusal> {
        let viewer = self.caller.viewer();
        self.log.reads.read(move |readers| readers.visible_heads(viewer)).await
    }
}

impl Changed {
    fn is_any(&self) -> bool {
        self.has_moved || !self.lists.is_empty()
    }

    fn due(&self) -> Instant {
        self.told + HINT_EVERY
    }

    /// What is told now; nothing where the directories differ in nothing that is listed.
    fn tell(&mut self) -> Option<Item> {
        let mut lists = std::mem::take(&mut self.lists);
        if std::mem::take(&mut self.has_moved) {
            let now = self.directory.load_full();
            lists |= Lists::between(&self.known, &now);
            self.known = now;
        }
        self.told = Instant::now();
        let what: Vec<_> = lists.names().collect();
        (!what.is_empty()).then(|| news("changed", &json!({"what": what})))
    }
}

/// How something live is shown.
enum Shown {
    Item(Item),
    /// The log says it.
    InLog,
    Nothing,
}

fn show(live: Live, seen: &mut Seen, caller: &Caller, is_gone: impl Fn(Seq) -> bool) -> Shown {
    match live {
        Live::Look => Shown::InLog,
        Live::Event { seq, .. } if seq <= seen.cursor => Shown::Nothing,
        // A gap; or it was encoded before it was erased.
        Live::Event { seq, .. } if seq != seen.cursor.next() || is_gone(seq) => Shown::InLog,
        Live::Event { seq, name, json, only } => {
            seen.cursor = seq;
            let hidden = |member| only.is_some_and(|only| !only.contains(&member));
            match caller.viewer().is_some_and(hidden) {
                true => Shown::Nothing,
                false => Shown::Item(Item { seq: None, name: name.to_owned(), json }),
            }
        }
        Live::Activity { name, json, only } => {
            match only.is_none_or(|only| only.contains(&caller.by.member)) {
                true => Shown::Item(Item { seq: None, name: name.to_owned(), json }),
                false => Shown::Nothing,
            }
        }
    }
}

fn moved(name: &str, uid: Uid, head: Seq) -> Item {
    news(name, &json!({"conversation": uid.show(Prefix::Conversation), "head": head.0}))
}

fn news(name: &str, data: &serde_json::Value) -> Item {
    Item { seq: None, name: name.to_owned(), json: data.to_string().into() }
}
