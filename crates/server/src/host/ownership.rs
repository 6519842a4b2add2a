//! Owning the workspace on a database that several hosts may use: taking it when nobody has it, serving it, passing
//! requests on to whoever has it, and letting it go when it is another's.

use std::sync::Arc;
use std::time::Duration;

use chorus_store::Tenant;
use chorus_store::membership::{Epoch, Membership, Owned};
use chorus_store::sqlite::Folder;
use tokio::sync::watch;
use tokio::time::Instant;

use super::checked::Storage;
use super::context::HostContext;
use super::serving::Serving;
use super::{OPERATOR_FILE, StartError};
use crate::auth::write_private;
use crate::cluster::{Location, Peer};

/// How often a host that owns nothing looks by itself whether it can.
const LOOK: Duration = Duration::from_millis(500);
/// How long a start waits for a workspace that it can neither have nor reach: several leases.
const START: Duration = Duration::from_secs(20);
/// Rest after the workspace could not be served here, in which another host can take it.
const REST: Duration = Duration::from_secs(5);
/// How often it is looked whether the writer has ended by itself.
const WRITER_CHECK: Duration = Duration::from_millis(250);
/// How often it looks meanwhile.
const SOON: Duration = Duration::from_millis(20);
/// How long a host that stops waits for another to take over, so that its own clients are passed on.
const HAND_OVER: Duration = Duration::from_secs(3);

pub(super) struct Ownership {
    pub(super) context: HostContext,
    pub(super) serving: watch::Sender<Option<Arc<Serving>>>,
    /// The host stops, and takes nothing any more.
    pub(super) ends: watch::Sender<bool>,
}

/// How a look at the hosts ended.
enum Looked {
    /// This host has the workspace from here on.
    Taken(Owned),
    /// Another one has it.
    Elsewhere(Arc<Peer>),
    /// Nobody can be asked, for now.
    Nobody,
}

impl Ownership {
    fn membership(&self) -> Option<&Membership> {
        self.context.cluster.membership()
    }

    /// The data folder, if nobody else has it any more.
    pub(super) fn folder(self) -> Option<Folder> {
        self.context.folder.and_then(Arc::into_inner)
    }

    /// At the start: serves the workspace, or finds the host that does.
    pub(super) async fn begin(&self, storage: Storage) -> Result<(), StartError> {
        if self.membership().is_none() {
            let serving = self.context.serve(storage, None).await?;
            self.open(serving);
            return Ok(());
        }
        let began = Instant::now();
        loop {
            if began.elapsed() > START {
                return Err(StartError::Owned(self.context.cluster.why_nowhere()));
            }
            match self.look().await {
                Looked::Taken(owned) => {
                    let epoch = owned.epoch;
                    match self.context.serve(storage, Some(owned)).await {
                        Ok(serving) => {
                            self.open(serving);
                            return Ok(());
                        }
                        Err(why) => {
                            self.release(epoch).await;
                            return Err(why);
                        }
                    }
                }
                Looked::Elsewhere(peer) => {
                    // One that was killed is there until its lease ends.
                    if let Some(access) = self.context.cluster.access(&peer, None).await {
                        let path = self.context.config.data.join(OPERATOR_FILE);
                        if !access.token.is_empty() && !path.exists() {
                            let written = write_private(&path, access.token.as_bytes());
                            written.map_err(|why| StartError::File { path, why })?;
                        }
                        return Ok(());
                    }
                    self.context.cluster.look();
                }
                Looked::Nobody => {}
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn open(&self, serving: Arc<Serving>) {
        serving.open(&self.context.cluster);
        self.serving.send_replace(Some(serving));
    }

    /// Looks who owns the workspace, takes it where nobody does, and says where requests go.
    async fn look(&self) -> Looked {
        let Some(membership) = self.membership() else { return Looked::Nobody };
        let view = membership.view().borrow().clone();
        let cluster = &self.context.cluster;
        if let Some(owner) = view.other_owner(Tenant::OWN) {
            let Some(peer) = Peer::of(owner) else {
                cluster.set(Location::Nowhere("it is being worked on by a program".into()));
                return Looked::Nobody;
            };
            let peer = Arc::new(peer);
            let is_known =
                matches!(&*cluster.place().borrow(), Location::Elsewhere(now) if *now == peer);
            if !is_known {
                tracing::info!(host = peer.id, url = peer.url, "another host serves the workspace");
                cluster.set(Location::Elsewhere(peer.clone()));
            }
            return Looked::Elsewhere(peer);
        }
        cluster.set(Location::Nowhere("no host has it yet".into()));
        if *self.ends.borrow() {
            return Looked::Nobody;
        }
        match membership.take(Tenant::OWN).await {
            Ok(Ok(Some(owned))) => Looked::Taken(owned),
            Ok(Ok(None)) => Looked::Nobody,
            Ok(Err(why)) => {
                tracing::warn!(%why, "it could not be asked who owns the workspace");
                Looked::Nobody
            }
            Err(_) => Looked::Nobody,
        }
    }

    /// Keeps on until the host stops.
    pub(super) async fn run(self: Arc<Self>) {
        let Some(membership) = self.membership() else { return };
        let mut stopped = self.ends.subscribe();
        let mut view = membership.view();
        loop {
            view.borrow_and_update();
            let serving = self.serving.borrow().clone();
            if let Some(serving) = serving {
                let Some(epoch) = serving.epoch else { return };
                tokio::select! {
                    _ = stopped.wait_for(|ends| *ends) => return,
                    _ = view.wait_for(|view| !view.is_mine(epoch)) => {
                        tracing::warn!("another host owns the workspace; this one lets it go");
                    }
                    why = ended(&serving) => {
                        tracing::warn!(why, "the workspace is opened anew");
                    }
                }
                self.let_go(&serving).await;
                continue;
            }
            let rest = match self.look().await {
                Looked::Taken(owned) => match self.take_up(&owned).await {
                    Ok(()) => continue,
                    Err(why) => {
                        tracing::error!(%why, "the workspace cannot be served by this host");
                        self.context.cluster.set(Location::Nowhere(why.to_string().into()));
                        self.release(owned.epoch).await;
                        REST
                    }
                },
                Looked::Elsewhere(_) | Looked::Nobody => LOOK,
            };
            tokio::select! {
                _ = stopped.wait_for(|ends| *ends) => return,
                _ = view.changed(), if rest == LOOK => {}
                () = tokio::time::sleep(rest) => {}
            }
        }
    }

    async fn take_up(&self, owned: &Owned) -> Result<(), StartError> {
        tracing::info!(epoch = owned.epoch.number, "this host serves the workspace");
        let storage = Storage::of(&self.context.config)?;
        let serving = self.context.serve(storage, Some(owned.clone())).await?;
        self.open(serving);
        Ok(())
    }

    /// The workspace is another's, or cannot be written: whoever is connected comes back to its next owner.
    async fn let_go(&self, serving: &Serving) {
        self.context.cluster.set(Location::Nowhere("its host has changed".into()));
        serving.drain(Duration::ZERO).await;
        serving.end().await;
        self.serving.send_replace(None);
        if let Some(epoch) = serving.epoch {
            self.release(epoch).await;
        }
    }

    /// Lets go of the services, which know the hosts, which know where the services are.
    pub(super) fn forget(&self) {
        self.context.cluster.set(Location::Nowhere("the host is stopping".into()));
        self.serving.send_replace(None);
    }

    async fn release(&self, epoch: Epoch) {
        if let Some(membership) = self.membership() {
            // It ends with the lease at the latest.
            let _ = membership.release(epoch).await;
        }
    }

    /// Has the others send nothing more, and choose this host for nothing. A database that is away keeps nobody from
    /// stopping.
    pub(super) async fn retire(&self) {
        let Some(membership) = self.membership() else { return };
        let _ = tokio::time::timeout(LOOK, membership.retire()).await;
        self.context.cluster.tell_others().await;
    }

    /// Where other hosts are up: lets one of them take over before this one stops. False where there are none.
    pub(super) async fn hand_over(&self, drain: Duration) -> bool {
        let (Some(membership), cluster) = (self.membership(), &self.context.cluster) else {
            return false;
        };
        let has_others = cluster.has_others();
        let Some(serving) = self.serving.borrow().clone().filter(|_| has_others) else {
            return false;
        };
        tracing::info!("the workspace is handed over");
        cluster.set(Location::Nowhere("it is handed over to another host".into()));
        serving.drain(drain).await;
        serving.end().await;
        self.serving.send_replace(None);
        if let Some(epoch) = serving.epoch {
            self.release(epoch).await;
        }
        cluster.tell_others().await;
        let mut view = membership.view();
        let taken = tokio::time::timeout(HAND_OVER, async {
            while view.borrow_and_update().other_owner(Tenant::OWN).is_none() {
                membership.look();
                let _ = tokio::time::timeout(SOON, view.changed()).await;
            }
        });
        let taken = taken.await;
        if taken.is_ok() {
            // Whoever still waits at this host is passed on.
            self.look().await;
        }
        true
    }
}

/// Returns when the writer has ended by itself, and why.
pub(super) async fn ended(serving: &Serving) -> String {
    loop {
        if let Some(why) = serving.writer.ended() {
            return why;
        }
        tokio::time::sleep(WRITER_CHECK).await;
    }
}
