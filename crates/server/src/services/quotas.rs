//! What one member may take of a host: conversations and seats in a day, and bytes of files in all
//! (spec/operations.md, "Limits"). An operator runs the host and has no such limit.
//!
//! Conversations and seats are counted by the token buckets of [`crate::limits`]; a host that starts anew counts anew.
//! The bytes are those of the store, which are added up again once a minute.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chorus_core::commands::Command;
use chorus_core::model::caller::{Authority, By};
use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::{MemberKey, Timestamp};
use chorus_core::state::directory::Directory;

use crate::config::limits::Limits;
use crate::limits::{Limits as Buckets, Made, Wait};

/// Bytes are added up again after this: files also go by themselves.
const AGAIN_MS: i64 = 60_000;
const MIB: u64 = 1024 * 1024;

/// How much each may store, and has stored.
pub(crate) struct Quotas {
    /// In MiB; 0 is no limit.
    storage: u64,
    conversations: u32,
    seats: u32,
    stored: Mutex<HashMap<MemberKey, Stored>>,
}

#[derive(Clone, Copy)]
struct Stored {
    bytes: u64,
    /// When it was added up.
    at: Timestamp,
}

impl Quotas {
    pub(crate) fn new(settings: &Limits) -> Self {
        Self {
            storage: settings.member_storage_mib,
            conversations: settings.conversations_per_day,
            seats: settings.seats_per_day,
            stored: Mutex::default(),
        }
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
    pub(super) fn may_make<C: Command>(
        &self,
        by: By,
        command: &C,
        limits: &Buckets,
        directory: &Directory,
        now: Timestamp,
    ) -> Result<Made, Refusal> {
        let mut made = Made { member: by.member, conversations: 0, seats: 0 };
        if by.authority == Authority::Operator {
            return Ok(made);
        }
        let makes = command.makes(by.member, directory);
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
