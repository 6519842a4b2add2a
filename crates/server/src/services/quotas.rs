//! What one member may take of a host: conversations and seats in a day, and bytes of files in all
//! (spec/operations.md, "Limits"). An operator runs the host and has no such limit.
//!
//! Conversations and seats are counted by the token buckets of [`crate::limits`]; a host that starts anew counts anew.
//! The bytes are those of the store, which are added up again once a minute.
//!
//! A workspace beside the host's own may have a quota for all that it stores, which holds for its operators too.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chorus_core::commands::Makes;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Timestamp};
use chorus_store::{Readers, Writer};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::config::limits::Limits;
use crate::limits::{Limits as Buckets, Made, Wait};

/// How often it is looked whether what the workspace stores has changed.
const EVERY: Duration = Duration::from_secs(1);
/// Bytes are added up again after this: files also go by themselves.
const AGAIN_MS: i64 = 60_000;
const MIB: u64 = 1024 * 1024;
/// What an entry of a log counts as, in bytes.
pub(super) const ENTRY: u64 = 1_024;

/// How much each may store, and has stored.
pub(crate) struct Quotas {
    /// In MiB; 0 is no limit.
    storage: u64,
    conversations: u32,
    seats: u32,
    stored: Mutex<HashMap<MemberKey, Stored>>,
    /// What the whole workspace may store, in MiB; 0 is no limit.
    workspace_storage: u64,
    /// What it stored when that was added up.
    workspace_stored: AtomicU64,
}

#[derive(Clone, Copy)]
struct Stored {
    bytes: u64,
    /// When it was added up.
    at: Timestamp,
}

impl Quotas {
    pub(crate) fn new(settings: &Limits, workspace_storage: u64) -> Self {
        Self {
            storage: settings.member_storage_mib,
            conversations: settings.conversations_per_day,
            seats: settings.seats_per_day,
            stored: Mutex::default(),
            workspace_storage,
            workspace_stored: AtomicU64::new(0),
        }
    }

    /// Adds up what the workspace stores, as often as that may have changed, until the host stops.
    pub(crate) async fn keep(
        self: Arc<Self>,
        readers: Readers,
        writer: Writer,
        mut stopped: watch::Receiver<bool>,
    ) {
        if self.workspace_storage == 0 {
            return;
        }
        let mut counted = None;
        loop {
            let now = (writer.stats().commits, self.workspace_stored.load(Ordering::Relaxed));
            // What was counted may have been refused after all.
            if counted != Some(now) {
                let readers = readers.clone();
                let stored = tokio::task::spawn_blocking(move || readers.stored()).await;
                match stored {
                    Ok(Ok(bytes)) => {
                        self.workspace_stored.store(bytes, Ordering::Relaxed);
                        counted = Some((now.0, bytes));
                    }
                    Ok(Err(why)) => tracing::debug!(%why, "what is stored could not be added up"),
                    Err(_) => return,
                }
            }
            if timeout(EVERY, stopped.wait_for(|stopped| *stopped)).await.is_ok() {
                return;
            }
        }
    }

    /// Why nothing more may be stored in the workspace, if that is so.
    pub(crate) fn why_full(&self) -> Option<String> {
        let (most, stored) =
            (self.workspace_storage, self.workspace_stored.load(Ordering::Relaxed));
        // Where there is no room for a message, it is full.
        let is_full = most > 0 && stored.saturating_add(ENTRY) > most.saturating_mul(MIB);
        is_full.then(|| {
            format!(
                "the workspace has used up its {most} MiB ([workspaces] storage_mib); whoever runs the host can \
                 raise that"
            )
        })
    }

    /// Counts what is about to be stored in the workspace, if there is room for it. It is added up again soon.
    pub(super) fn take_room(&self, bytes: u64) -> Result<(), Refusal> {
        let most = self.workspace_storage.saturating_mul(MIB);
        if most == 0 {
            return Ok(());
        }
        let refused = |why| Err(Refusal::new(Code::RateLimited, why));
        if let Some(why) = self.why_full() {
            return refused(why);
        }
        let before = self.workspace_stored.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > most {
            self.workspace_stored.fetch_sub(bytes, Ordering::Relaxed);
            let why = format!(
                "there is no room for it: the workspace may store {} MiB ([workspaces] storage_mib)",
                self.workspace_storage
            );
            return refused(why);
        }
        Ok(())
    }

    fn stored(&self) -> MutexGuard<'_, HashMap<MemberKey, Stored>> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what a member stores was added up lately.
    fn knows(&self, member: MemberKey, now: Timestamp) -> bool {
        let known = self.stored().get(&member).copied();
        known.is_some_and(|known| (0..AGAIN_MS).contains(&now.0.saturating_sub(known.at.0)))
    }

    fn learn(&self, member: MemberKey, bytes: u64, at: Timestamp) {
        self.stored().insert(member, Stored { bytes, at });
    }

    /// Counts a file that is about to be kept.
    fn store(&self, member: MemberKey, bytes: u64) -> Result<(), Refusal> {
        let most = self.storage.saturating_mul(MIB);
        let mut stored = self.stored();
        let Some(known) = stored.get_mut(&member) else { return Ok(()) };
        let next = known.bytes.saturating_add(bytes);
        if next > most {
            let what = format!(
                "the files of a member have at most {} MiB ([limits] member_storage_mib), and yours \
                 would have {} bytes",
                self.storage, next
            );
            return Err(Refusal::new(Code::RateLimited, what));
        }
        known.bytes = next;
        Ok(())
    }

    pub(super) fn give_back(&self, member: MemberKey, bytes: u64) {
        if let Some(known) = self.stored().get_mut(&member) {
            known.bytes = known.bytes.saturating_sub(bytes);
        }
    }
}

impl Quotas {
    /// Counts what a command makes that a member has only so much of in a day.
    /// Gives what it has counted: of what was not made nothing stays counted.
    pub(super) fn may_make(
        &self,
        by: By,
        speaks: bool,
        makes: impl FnOnce() -> Makes,
        limits: &Buckets,
        now: Timestamp,
    ) -> Result<Made, Refusal> {
        if speaks {
            self.take_room(ENTRY)?;
        }
        let mut made = Made { member: by.member, conversations: 0, seats: 0 };
        if by.authority == Authority::Operator {
            return Ok(made);
        }
        let makes = makes();
        if makes.conversations > 0 {
            let taken = limits.conversation(by.member, now);
            taken.map_err(|wait| too_many("conversations", self.conversations, wait))?;
            made.conversations = 1;
        }
        let seats = makes.seats;
        match limits.seats(seats, by.member, now) {
            Ok(()) => Ok(Made { seats, ..made }),
            Err(wait) => {
                limits.give_back(made);
                Err(too_many("seats for others", self.seats, wait))
            }
        }
    }

    /// Counts a file that is about to be kept, against what its member may store. `stored` adds up what that member has by
    /// now; it is polled only when that was not done lately.
    pub(super) async fn reserve(
        &self,
        by: By,
        bytes: usize,
        now: Timestamp,
        stored: impl Future<Output = Result<u64, Refusal>>,
    ) -> Result<Reserved<'_>, Refusal> {
        let (member, bytes) = (by.member, bytes as u64);
        self.take_room(bytes)?;
        if self.storage == 0 || by.authority == Authority::Operator {
            return Ok(Reserved { quotas: self, member, bytes: 0 });
        }
        if !self.knows(member, now) {
            self.learn(member, stored.await?, now);
        }
        self.store(member, bytes)?;
        Ok(Reserved { quotas: self, member, bytes })
    }
}

/// Bytes that count as stored, unless it comes to nothing.
pub(super) struct Reserved<'a> {
    quotas: &'a Quotas,
    member: MemberKey,
    bytes: u64,
}

impl Reserved<'_> {
    /// The file is being kept, whether anybody waits for that or not. Says what is to be given back should it be refused.
    pub(super) fn keep(mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.quotas.give_back(self.member, self.bytes);
    }
}

fn too_many(what: &str, most: u32, wait: Wait) -> Refusal {
    let seconds = wait.seconds();
    let setting = if what == "conversations" { "conversations_per_day" } else { "seats_per_day" };
    let message = format!(
        "a member makes at most {most} {what} in a day ([limits] {setting}); come again in {seconds} s"
    );
    Refusal::new(Code::RateLimited, message)
}
