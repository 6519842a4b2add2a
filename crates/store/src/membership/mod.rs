//! Which hosts of a database are up, and which of them owns which workspace.
//!
//! A workspace has one owner, which alone reads it into memory, decides and writes. *Leases are for
//! liveness, epochs for safety.* A host renews its lease in time, or others give it up: its id goes,
//! for good, and what it owned can be taken. Whoever takes a workspace raises its epoch, and every
//! transaction of an owner checks its epoch as it commits (`postgres::Postgres::commit`). So a host
//! that stood still, was cut off or was forgotten can write nothing more, whatever it believes; and
//! [`Lease::holds`] tells it not to answer either.
//!
//! All of it is rows (`rows`): no lock and no setting of a connection has a part in it.

mod lease;
mod process;
mod program;
mod rows;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use lease::Lease;
pub use program::writer;
pub use rows::{LiveHost, Owner};
use tokio::sync::{oneshot, watch};

use crate::Tenant;
use crate::db::{Db, Error, Result};
pub use crate::postgres::Epoch;
use crate::postgres::{Address, Postgres};

/// How long a host may be silent before others take over.
pub const LEASE: Duration = Duration::from_secs(5);
/// Renewals in the time of a lease.
const RENEWALS: u32 = 5;
/// Looks that were asked for come no closer than this.
const AT_MOST: Duration = Duration::from_millis(20);
/// Clocks this far apart are complained of, in milliseconds.
const APART_MS: i64 = 2_000;

/// What a host says of itself when it joins.
#[derive(Clone, Debug)]
pub struct Joining {
    /// Where other hosts reach it; empty for a program that serves nobody.
    pub peer: String,
    /// Where clients reach it.
    pub url: String,
    /// The fingerprint of the keys that it signs with.
    pub keys: Vec<u8>,
    pub lease: Duration,
}

/// What a host knows about all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// This host's id.
    pub me: String,
    /// All that have a lease, with this one.
    pub hosts: Vec<LiveHost>,
    /// Who owns the workspaces that somebody owns, by their keys.
    pub owners: Arc<BTreeMap<i64, Owner>>,
    /// Why it is not known how things are.
    pub trouble: Option<String>,
}

impl View {
    /// The live host that owns a workspace.
    pub fn owner(&self, workspace: i64) -> Option<&LiveHost> {
        self.host(self.owners.get(&workspace)?.host.as_deref()?)
    }

    /// A live host.
    pub fn host(&self, id: &str) -> Option<&LiveHost> {
        self.hosts.iter().find(|host| host.id == id)
    }

    /// The live host that owns a workspace, if it is another than this one.
    pub fn other_owner(&self, workspace: i64) -> Option<&LiveHost> {
        self.owner(workspace).filter(|owner| owner.id != self.me)
    }

    /// How many workspaces a host owns.
    pub fn owned_by(&self, host: &str) -> usize {
        self.owners.values().filter(|owner| owner.host.as_deref() == Some(host)).count()
    }

    /// Those whose owners were lost.
    pub fn orphans(&self) -> impl Iterator<Item = i64> {
        let is_lost =
            |owner: &Owner| owner.host.as_deref().is_some_and(|id| self.host(id).is_none());
        self.owners.iter().filter(move |(_, owner)| is_lost(owner)).map(|(key, _)| *key)
    }

    /// Whether a host that was there before this one signs with other keys. A program that serves
    /// nobody has none.
    fn others_sign(&self, keys: &[u8]) -> bool {
        let differs = |host: &LiveHost| !host.keys.is_empty() && host.keys != keys;
        !keys.is_empty() && self.hosts.iter().take_while(|host| host.id != self.me).any(differs)
    }

    /// Whether this host owns a workspace in this epoch.
    pub fn is_mine(&self, epoch: Epoch) -> bool {
        let owner = self.owners.get(&epoch.workspace);
        owner.is_some_and(|o| o.epoch == epoch.number && o.host.as_ref() == Some(&self.me))
    }
}

/// Why a host cannot join.
#[derive(Debug)]
pub enum JoinError {
    /// The hosts that are up sign with other keys, or the workspace was served with others last.
    OtherKeys,
    Database(Error),
}

impl From<Error> for JoinError {
    fn from(why: Error) -> Self {
        Self::Database(why)
    }
}

/// A workspace that this host has taken.
#[derive(Clone, Debug)]
pub struct Owned {
    pub epoch: Epoch,
    /// In which it was taken. It ends for good when others give this host up.
    pub lease: Arc<Lease>,
}

enum Order {
    Take(i64, oneshot::Sender<Result<Option<Owned>>>),
    Release(Epoch, oneshot::Sender<()>),
    Revoke(i64, oneshot::Sender<Result<()>>),
    Rekey(Vec<u8>, oneshot::Sender<Result<bool>>),
    Look,
    Retire(oneshot::Sender<()>),
}

/// This host among the hosts of its database: a thread of its own renews the lease, and looks how
/// things are. It leaves when it is told to, or this is dropped.
pub struct Membership {
    view: watch::Receiver<View>,
    /// A look was asked for and has not begun.
    asked: Arc<AtomicBool>,
    /// Until it has left.
    working: Mutex<Option<(Sender<Order>, JoinHandle<()>)>>,
}

impl Membership {
    /// Joins. A host is refused whose keys are not those of the hosts that are up.
    pub fn join(address: &Arc<Address>, joining: Joining) -> Result<Self, JoinError> {
        let db = Postgres::member(address)?;
        rows::make_tables(&db)?;
        if rows::has_host_of_before(&db)? {
            let why = "a host of an earlier version runs on it; stop all of those before you start this one";
            return Err(Error::Engine(why.to_owned()).into());
        }
        let apart = rows::ahead(&db, lease::unix_ms())?;
        if apart.abs() > APART_MS {
            tracing::warn!(
                ms = apart,
                "the database's clock differs from this machine's; leases go by the database's, deadlines by this \
                 one: keep both in step (NTP)"
            );
        }
        let mut member = Member::new(db, joining);
        member.rejoin()?;
        let (view, asked) = (member.view.subscribe(), member.asked.clone());
        let last = rows::keys(&member.db, Tenant::OWN)?;
        let served = last.is_some_and(|keys| keys != member.joining.keys);
        let differs = view.borrow().others_sign(&member.joining.keys);
        if differs || served && !member.joining.keys.is_empty() {
            rows::remove(&member.db, &member.me)?;
            return Err(JoinError::OtherKeys);
        }
        let (orders, ordered) = mpsc::channel();
        let thread = std::thread::Builder::new().name("lease".to_owned());
        let thread = thread
            .spawn(move || member.run(&ordered))
            .map_err(|why| Error::Engine(format!("no thread for the lease: {why}")))?;
        Ok(Self { view, asked, working: Mutex::new(Some((orders, thread))) })
    }

    /// How things are, and each change of it.
    pub fn view(&self) -> watch::Receiver<View> {
        self.view.clone()
    }

    /// Takes a workspace; none when a live host owns it. For each time that this gives an epoch,
    /// the one before it has passed.
    pub fn take(&self, workspace: i64) -> oneshot::Receiver<Result<Option<Owned>>> {
        let (reply, replied) = oneshot::channel();
        self.order(Order::Take(workspace, reply));
        replied
    }

    /// Hands a workspace over, of which nothing is written any more.
    pub fn release(&self, epoch: Epoch) -> oneshot::Receiver<()> {
        let (reply, replied) = oneshot::channel();
        self.order(Order::Release(epoch, reply));
        replied
    }

    /// Takes a workspace from whoever owns it, who writes nothing more; nobody owns it then.
    pub fn revoke(&self, workspace: i64) -> oneshot::Receiver<Result<()>> {
        let (reply, replied) = oneshot::channel();
        self.order(Order::Revoke(workspace, reply));
        replied
    }

    /// Signs with other keys from here on; false while other hosts are up, which do not have them.
    pub fn rekey(&self, keys: &[u8]) -> oneshot::Receiver<Result<bool>> {
        let (reply, replied) = oneshot::channel();
        self.order(Order::Rekey(keys.to_vec(), reply));
        replied
    }

    /// Looks how things are, before it is time.
    pub fn look(&self) {
        if !self.asked.swap(true, Ordering::AcqRel) {
            self.order(Order::Look);
        }
    }

    /// Serves nobody any more, and keeps what it owns until it gives it back: others wait for that.
    pub fn retire(&self) -> oneshot::Receiver<()> {
        let (reply, replied) = oneshot::channel();
        self.order(Order::Retire(reply));
        replied
    }

    /// Leaves the hosts: the lease ends, and nothing can be taken any more. Waits for the database.
    pub fn leave(&self) {
        let working = self.working.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((orders, thread)) = working else { return };
        drop(orders);
        if thread.join().is_err() {
            tracing::error!("the thread of the lease ended with a panic");
        }
    }

    fn order(&self, order: Order) {
        let working = self.working.lock().unwrap_or_else(PoisonError::into_inner);
        // If the thread has ended, whoever waits for a reply is told by its end.
        if let Some((orders, _)) = &*working {
            let _ = orders.send(order);
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The thread's own state.
struct Member {
    db: Postgres,
    joining: Joining,
    me: String,
    lease: Arc<Lease>,
    view: watch::Sender<View>,
    asked: Arc<AtomicBool>,
}

impl Member {
    fn new(db: Postgres, joining: Joining) -> Self {
        let (view, asked) = Default::default();
        Self { db, joining, me: String::new(), lease: Lease::ended(), view, asked }
    }

    fn run(mut self, ordered: &Receiver<Order>) {
        let every = self.joining.lease / RENEWALS;
        let mut looked = Instant::now();
        let mut next = looked + every;
        loop {
            match ordered.recv_timeout(next.saturating_duration_since(Instant::now())) {
                // However many ask for it, one look is for all of them.
                Ok(Order::Look) => next = next.min(looked + AT_MOST),
                Ok(order) => self.follow(order),
                Err(RecvTimeoutError::Timeout) => {
                    self.asked.store(false, Ordering::Release);
                    self.look();
                    looked = Instant::now();
                    next = looked + every;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.lease.end();
        if let Err(why) = rows::remove(&self.db, &self.me) {
            tracing::warn!(%why, "the host could not sign off; others take over when its lease ends");
        }
    }

    fn follow(&mut self, order: Order) {
        // Whoever asked may have gone.
        match order {
            Order::Take(workspace, reply) => drop(reply.send(self.take(workspace))),
            Order::Release(epoch, reply) => {
                if let Err(why) = rows::release(&self.db, epoch.workspace, epoch.number) {
                    tracing::warn!(%why, "the workspace could not be handed over");
                }
                self.look();
                let _ = reply.send(());
            }
            Order::Revoke(workspace, reply) => {
                let done = rows::revoke(&self.db, workspace).and_then(|()| self.see());
                let _ = reply.send(done);
            }
            Order::Rekey(keys, reply) => drop(reply.send(self.rekey(keys))),
            Order::Look => {}
            Order::Retire(reply) => {
                self.joining.peer = String::new();
                if let Err(why) = rows::retire(&self.db, &self.me) {
                    tracing::warn!(%why, "other hosts could not be told that this one stops");
                }
                self.look();
                let _ = reply.send(());
            }
        }
    }

    fn take(&mut self, workspace: i64) -> Result<Option<Owned>> {
        // A lease that has ended would give what is taken to the next at once.
        self.renew()?;
        // All workspaces of a deployment go by the keys of the hosts' own.
        let keys = if workspace == Tenant::OWN { &*self.joining.keys } else { &[] };
        let Some(owner) = rows::take(&self.db, workspace, &self.me, keys)? else {
            self.see()?;
            return Ok(None);
        };
        let epoch = Epoch { workspace, number: owner.epoch, batch: owner.batch };
        // Whoever is given the epoch finds it in what is known.
        let mut view = self.view.borrow().clone();
        Arc::make_mut(&mut view.owners).insert(workspace, owner);
        self.tell(view);
        Ok(Some(Owned { epoch, lease: self.lease.clone() }))
    }

    fn rekey(&mut self, keys: Vec<u8>) -> Result<bool> {
        if rows::hosts(&self.db)?.iter().any(|host| host.id != self.me && !host.peer.is_empty()) {
            return Ok(false);
        }
        rows::rekey(&self.db, Tenant::OWN, &self.me, &keys)?;
        self.joining.keys = keys;
        Ok(true)
    }

    /// Renews the lease, gives up hosts that did not, and tells what has changed.
    fn look(&mut self) {
        if self.db.is_lost()
            && let Err(why) = self.db.recover()
        {
            return self.trouble(&why);
        }
        if let Err(why) = self.renew().and_then(|()| self.see()) {
            self.trouble(&why);
        }
    }

    fn renew(&mut self) -> Result<()> {
        let asked = lease::now();
        if rows::renew(&self.db, &self.me, self.lease_ms())? {
            self.lease.renew(asked, self.joining.lease);
            return Ok(());
        }
        tracing::warn!("this host was given up: its lease had ended before it was renewed");
        self.rejoin()
    }

    /// Joins as a new host. Whatever this process owned before is another's.
    fn rejoin(&mut self) -> Result<()> {
        self.lease.end();
        self.lease = Lease::ended();
        let id = new_id()?;
        let asked = lease::now();
        let Joining { peer, url, keys, .. } = self.joining.clone();
        let (version, process) = (env!("CARGO_PKG_VERSION").to_owned(), process::own());
        let host =
            LiveHost { id: id.clone(), peer, url, version, joined_at: 0, left: 0, keys, process };
        rows::join(&self.db, &host, self.lease_ms())?;
        self.me = id;
        self.lease.renew(asked, self.joining.lease);
        self.see()
    }

    fn see(&mut self) -> Result<()> {
        let mut hosts = rows::hosts(&self.db)?;
        hosts.retain(|host| {
            let ended = host.id != self.me && process::has_ended(&host.process);
            let removed = match ended {
                true => rows::remove(&self.db, &host.id),
                false if host.left <= 0 && host.id != self.me => rows::give_up(&self.db, &host.id),
                false => return true,
            };
            // Whoever could not be removed is looked at again.
            removed.is_err()
        });
        let owners = Arc::new(rows::owners(&self.db)?);
        let mut view = View { me: self.me.clone(), hosts, owners, trouble: None };
        if view.others_sign(&self.joining.keys) {
            view.trouble = Some("another host signs with other keys".to_owned());
        }
        self.tell(view);
        Ok(())
    }

    fn trouble(&self, why: &Error) {
        let before = self.view.borrow().clone();
        self.tell(View { trouble: Some(why.to_string()), ..before });
    }

    fn tell(&self, view: View) {
        let is_news = |before: &View| {
            let bare = |view: &View| {
                let mut view = view.clone();
                view.hosts.iter_mut().for_each(|host| host.left = 0);
                view
            };
            bare(before) != bare(&view)
        };
        self.view.send_if_modified(|before| {
            let news = is_news(before);
            *before = view.clone();
            news
        });
    }

    fn lease_ms(&self) -> i64 {
        i64::try_from(self.joining.lease.as_millis()).unwrap_or(i64::MAX)
    }
}

/// A connection to the table of the workspaces beside the hosts' own, which is made where it is not there.
pub(crate) fn catalog(address: &Arc<Address>) -> Result<Postgres> {
    let db = Postgres::member(address)?;
    rows::make_tables(&db)?;
    Ok(db)
}

fn new_id() -> Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|why| Error::Engine(format!("no random bytes: {why}")))?;
    Ok(format!("hst_{:016x}", u64::from_be_bytes(bytes)))
}
