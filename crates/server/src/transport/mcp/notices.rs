//! What a session is told unasked: that a resource it subscribed to has news, or that its list has changed.
//!
//! It outlives the session's tasks. What comes while the session sleeps, or while nobody listens, is kept, each thing
//! once, and told as soon as somebody listens.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rmcp::ErrorData;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer};
use tokio::task::JoinHandle;

use super::resources::{Changes, News};

/// Resources that one session may subscribe to.
pub(super) const SUBSCRIPTIONS: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Told {
    List,
    Of(String),
}

#[derive(Default)]
pub(super) struct Notices(Mutex<Kept>);

pub(super) struct Listening(Arc<Notices>);

impl Drop for Listening {
    fn drop(&mut self) {
        let mut kept = self.0.lock();
        kept.listening = kept.listening.saturating_sub(1);
    }
}

#[derive(Default)]
struct Kept {
    /// Who tells the client, while the session is awake.
    peer: Option<Peer<RoleServer>>,
    waiting: BTreeSet<Told>,
    /// Streams of the client that are open for it.
    listening: u32,
    /// Who waits for news of each resource.
    resources: HashMap<String, JoinHandle<()>>,
    /// Who waits for changes of the list that the session was given.
    list: Option<JoinHandle<()>>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.resources.values().chain(&self.list).for_each(JoinHandle::abort);
    }
}

impl Notices {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session is awake.
    pub(super) fn wake(self: &Arc<Self>, peer: Peer<RoleServer>) {
        self.lock().peer = Some(peer);
        self.catch_up();
    }

    /// The client listens for as long as this is held.
    pub(super) fn listen(self: &Arc<Self>) -> Listening {
        self.lock().listening += 1;
        self.catch_up();
        Listening(self.clone())
    }

    /// Tells what came before.
    fn catch_up(self: &Arc<Self>) {
        let waiting = {
            let mut kept = self.lock();
            match kept.peer.is_some() && kept.listening > 0 {
                true => std::mem::take(&mut kept.waiting),
                false => return,
            }
        };
        if !waiting.is_empty() {
            let notices = self.clone();
            tokio::spawn(async move {
                for told in waiting {
                    notices.tell(told).await;
                }
            });
        }
    }

    /// The session's tasks end.
    pub(super) fn sleep(&self) {
        self.lock().peer = None;
    }

    pub(super) fn subscribe(
        self: &Arc<Self>,
        uri: String,
        mut news: News,
    ) -> Result<(), ErrorData> {
        let mut kept = self.lock();
        kept.resources.retain(|_, task| !task.is_finished());
        if kept.resources.len() >= SUBSCRIPTIONS && !kept.resources.contains_key(&uri) {
            let most = format!("a session subscribes to at most {SUBSCRIPTIONS} resources");
            return Err(ErrorData::invalid_params(most, None));
        }
        let (notices, about) = (Arc::downgrade(self), uri.clone());
        let task = tokio::spawn(async move {
            while news.next().await.is_some() {
                if !tell(&notices, Told::Of(about.clone())).await {
                    return;
                }
            }
        });
        if let Some(before) = kept.resources.insert(uri, task) {
            before.abort();
        }
        Ok(())
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        let mut kept = self.lock();
        kept.waiting.remove(&Told::Of(uri.to_owned()));
        if let Some(task) = kept.resources.remove(uri) {
            task.abort();
        }
    }

    /// The list was given once more: it is that one whose changes are told.
    pub(super) fn follow_list(self: &Arc<Self>, mut changes: Changes) {
        let notices = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            while changes.next().await.is_some() {
                if !tell(&notices, Told::List).await {
                    return;
                }
            }
        });
        let mut kept = self.lock();
        kept.waiting.remove(&Told::List);
        if let Some(before) = kept.list.replace(task) {
            before.abort();
        }
    }

    async fn tell(&self, told: Told) {
        let peer = {
            let kept = self.lock();
            kept.peer.clone().filter(|_| kept.listening > 0)
        };
        let sent = match (&peer, &told) {
            (None, _) => false,
            (Some(peer), Told::List) => peer.notify_resource_list_changed().await.is_ok(),
            (Some(peer), Told::Of(uri)) => {
                let param = ResourceUpdatedNotificationParam::new(uri.clone());
                peer.notify_resource_updated(param).await.is_ok()
            }
        };
        if !sent {
            self.lock().waiting.insert(told);
        }
    }
}

/// Whether the session is still there.
async fn tell(notices: &Weak<Notices>, told: Told) -> bool {
    match notices.upgrade() {
        Some(notices) => {
            notices.tell(told).await;
            true
        }
        None => false,
    }
}
