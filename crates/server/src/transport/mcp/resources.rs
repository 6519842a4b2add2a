//! Channels, threads and their transcripts as resources, by URI; and being told when one has news.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{Prefix, Uid};
use chorus_wire::rest::messages::ListMessages;
use chorus_wire::rest::threads::ListThreads;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::Asking;
use crate::services::App;
use crate::services::alike::{GETS_THREAD, READS};
use crate::services::follow::{Followed, Follower};

/// Resources of one page of the list.
const PAGE: usize = 200;
/// Messages of a transcript: the newest.
const TRANSCRIPT: u32 = 200;
const JSON: &str = "application/json";
/// Between two looks at one caller's list: it is read whole, and who makes many threads makes everybody look.
const REST: Duration = Duration::from_secs(1);

/// What a URI names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    what: What,
    transcript: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Channel(Uid),
    Thread(Uid),
}

impl Named {
    pub(super) fn read(uri: &str) -> Option<Self> {
        let (kind, rest) = uri.strip_prefix("chorus://")?.split_once('/')?;
        let (id, transcript) = match rest.split_once('/') {
            None => (rest, false),
            Some((id, "transcript")) => (id, true),
            Some(_) => return None,
        };
        let what = match kind {
            "channels" => What::Channel(Uid::read(Prefix::Conversation, id)?),
            "threads" => What::Thread(Uid::read(Prefix::Thread, id)?),
            _ => return None,
        };
        Some(Self { what, transcript })
    }

    fn thread(self) -> Option<String> {
        match self.what {
            What::Thread(uid) => Some(uid.show(Prefix::Thread)),
            What::Channel(_) => None,
        }
    }
}

/// What the caller may see, as far as the address and a turn's token let it look.
async fn all(app: &App, asking: &Asking) -> Result<Vec<Resource>, ErrorData> {
    let mut all = Vec::new();
    let only = asking.within.or(asking.caller.turn.map(|turn| turn.conversation));
    let (channels, conversation) = match only {
        Some(uid) => {
            let id = uid.show(Prefix::Conversation);
            let channel = app.channels.channel(&asking.caller, &id).await.map_err(refused)?;
            (vec![(channel.id, channel.title)], Some(id))
        }
        None => {
            let seen = app
                .channels
                .channels(&asking.caller, Default::default())
                .await
                .map_err(refused)?
                .channels;
            (seen.into_iter().map(|c| (c.id, c.title)).collect(), None)
        }
    };
    for (id, title) in channels {
        all.push(entry(&format!("chorus://channels/{id}"), title));
    }
    let query = ListThreads { conversation, status: None };
    let threads = app.threads.threads(&asking.caller, query).await.map_err(refused)?.threads;
    for thread in threads {
        all.push(entry(&format!("chorus://threads/{}", thread.id), thread.title));
    }
    Ok(all)
}

/// One page of them.
pub(super) fn page(
    all: Vec<Resource>,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let from: usize = match cursor {
        None => 0,
        Some(text) => {
            text.parse().map_err(|_| ErrorData::invalid_params("no such cursor", None))?
        }
    };
    let more = all.len() > from.saturating_add(PAGE);
    let page: Vec<_> = all.into_iter().skip(from).take(PAGE).collect();
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = more.then(|| (from + PAGE).to_string());
    Ok(result)
}

/// Titles are somebody's words: the name is the URI's end, which is ours.
fn entry(uri: &str, title: String) -> Resource {
    let name = uri.rsplit('/').next().unwrap_or_default().to_owned();
    Resource::new(uri, name).with_title(title).with_mime_type(JSON)
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, about: &str| {
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(JSON)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template("chorus://channels/{channel_id}", "channel", "A channel: title, purpose, members"),
        template(
            "chorus://channels/{channel_id}/transcript",
            "channel transcript",
            "The newest messages of a channel, oldest first",
        ),
        template("chorus://threads/{thread_id}", "thread", "A thread: title, status, participants"),
        template(
            "chorus://threads/{thread_id}/transcript",
            "thread transcript",
            "The newest messages of a thread, oldest first",
        ),
    ])
}

pub(super) async fn read(
    app: &App,
    asking: &Asking,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let (named, home) = found(app, asking, uri).await?;
    let conversation = home.show(Prefix::Conversation);
    let caller = &asking.caller;
    // What a tool reads too.
    let likes = match (named.transcript, named.thread()) {
        (true, _) => &READS[..],
        (false, Some(_)) => &GETS_THREAD[..],
        (false, None) => &[],
    };
    let place = match named.thread() {
        Some(thread) => ("thread_id".to_owned(), thread.into()),
        None => ("conversation".to_owned(), conversation.as_str().into()),
    };
    app.approvals.may_do(caller, likes, [place].into_iter().collect()).await.map_err(refused)?;
    let text = match (named.transcript, named.thread()) {
        (false, Some(thread)) => json(&app.threads.thread(caller, &thread).await.map_err(refused)?),
        (false, None) => json(&app.channels.channel(caller, &conversation).await.map_err(refused)?),
        (true, thread) => {
            let limit = Some(TRANSCRIPT);
            let query = ListMessages { conversation, thread, limit, ..ListMessages::default() };
            json(&app.messages.messages(caller, query).await.map_err(refused)?)
        }
    }?;
    let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// A resource that the caller may see, and the conversation it is of.
async fn found(app: &App, asking: &Asking, uri: &str) -> Result<(Named, Uid), ErrorData> {
    let unknown = || ErrorData::resource_not_found("there is no such resource", None);
    let told = |refusal: Refusal| match refusal.code {
        Code::NotFound | Code::Forbidden => unknown(),
        _ => refused(refusal),
    };
    let named = Named::read(uri).ok_or_else(unknown)?;
    let home = match named.what {
        What::Channel(uid) => uid,
        What::Thread(_) => {
            let id = named.thread().unwrap_or_default();
            app.methods.home_of_thread(&id).await.map_err(told)?
        }
    };
    if asking.within.is_some_and(|channel| channel != home) {
        return Err(unknown());
    }
    app.reads.place(&asking.caller, home).await.map_err(told)?;
    Ok((named, home))
}

/// News of one resource.
pub(super) struct News {
    follower: Follower,
    thread: Option<String>,
}

impl News {
    pub(super) async fn of(app: &Arc<App>, asking: &Asking, uri: &str) -> Result<Self, ErrorData> {
        let (named, home) = found(app, asking, uri).await?;
        let id = home.show(Prefix::Conversation);
        let follower = app.log.follow(&asking.caller, &id, None, false).await.map_err(refused)?;
        Ok(Self { follower, thread: named.thread() })
    }

    /// Returns when there are some; none when there will never be any.
    pub(super) async fn next(&mut self) -> Option<()> {
        loop {
            let item = self.follower.next().await?;
            if self.thread.as_ref().is_none_or(|thread| item.json.contains(thread)) {
                // What else is ready is told with it.
                while self.follower.ready().is_some() {}
                return Some(());
            }
        }
    }
}

/// News of the list itself, which is compared with what it was: nobody is told of what they may not see.
pub(super) struct Changes {
    app: Arc<App>,
    asking: Asking,
    moved: watch::Receiver<()>,
    known: u64,
    /// When it may be looked at again.
    again: Instant,
}

impl Changes {
    /// The list, and what tells of its changes from then on.
    pub(super) async fn since(
        app: &Arc<App>,
        asking: &Asking,
    ) -> Result<(Vec<Resource>, Self), ErrorData> {
        // Before it is read: what changes meanwhile is looked at once more.
        let mut moved = app.shared.lists.clone();
        moved.mark_unchanged();
        let all = all(app, asking).await?;
        // What the session is told does not outlive the session.
        let asking = Asking { session: None, ..asking.clone() };
        let (app, known) = (app.clone(), digest(&all));
        Ok((all, Self { app, asking, moved, known, again: Instant::now() }))
    }

    /// For who was not given the list: what moved since before it was read may be news.
    pub(super) fn not_given(mut self, before: &watch::Receiver<()>) -> Self {
        if before.has_changed().unwrap_or(false) {
            self.known = !self.known;
            self.moved.mark_changed();
        }
        self
    }

    /// Returns when it has changed; none when the caller will not be told any more.
    pub(super) async fn next(&mut self) -> Option<()> {
        loop {
            self.moved.changed().await.ok()?;
            // What else comes meanwhile is told with it.
            sleep_until(self.again).await;
            self.moved.mark_unchanged();
            if !self.app.identity.still_valid(&self.asking.caller) {
                return None;
            }
            let now = digest(&all(&self.app, &self.asking).await.ok()?);
            self.again = Instant::now() + REST;
            if now != self.known {
                self.known = now;
                return Some(());
            }
        }
    }
}

/// It is only compared with others of the same process.
fn digest(all: &[Resource]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for resource in all {
        (&resource.uri, &resource.title).hash(&mut hasher);
    }
    hasher.finish()
}

fn json<T: Serialize>(value: &T) -> Result<String, ErrorData> {
    serde_json::to_string(value).map_err(|e| super::mistake::mistake(&e))
}

pub(super) fn refused(refusal: Refusal) -> ErrorData {
    match refusal.code {
        Code::Internal | Code::OutcomeUnknown | Code::Unavailable => {
            ErrorData::internal_error(refusal.message, None)
        }
        Code::NotFound => ErrorData::resource_not_found(refusal.message, None),
        _ => ErrorData::invalid_params(refusal.message, None),
    }
}
