//! Who may send a file now. A place is for whoever sends: one whose sender is silent goes to the next who needs it, so
//! that slow senders hold up nobody; and no member has more than a few.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chorus_core::error::{Code, Refusal};
use chorus_core::ids::MemberKey;
use tokio::sync::Notify;

/// Files that come in at once, each of them on disk while it does: at most 512 MiB, and as many open files.
const ALL: usize = 128;
/// Of one member.
const EACH: usize = 16;
/// Who has sent nothing for so long gives its place to whoever needs one.
const SILENT: Duration = Duration::from_millis(500);
/// How often it is looked for a place while there is none.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The files that come in.
#[derive(Default)]
pub(super) struct Coming {
    next: AtomicU64,
    places: Arc<Mutex<HashMap<u64, Sender>>>,
}

struct Sender {
    member: MemberKey,
    heard: Instant,
    cut_off: Arc<Notify>,
}

/// A place, until it is dropped.
pub(super) struct Place {
    id: u64,
    cut_off: Arc<Notify>,
    places: Arc<Mutex<HashMap<u64, Sender>>>,
}

fn lock(places: &Mutex<HashMap<u64, Sender>>) -> MutexGuard<'_, HashMap<u64, Sender>> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Coming {
    /// Waits for a place; at most `patience`. Who has as many as it may is refused at once.
    pub(super) async fn place(
        &self,
        member: MemberKey,
        patience: Duration,
    ) -> Result<Place, Refusal> {
        let began = Instant::now();
        loop {
            if let Some(place) = self.try_place(member)? {
                return Ok(place);
            }
            if began.elapsed() >= patience {
                let what = format!("{ALL} files come in, as many as may be at once; try again");
                return Err(Refusal::new(Code::Unavailable, what));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn try_place(&self, member: MemberKey) -> Result<Option<Place>, Refusal> {
        let mut places = lock(&self.places);
        if places.values().filter(|sender| sender.member == member).count() >= EACH {
            let what =
                format!("a member sends at most {EACH} files at once; wait until one is there");
            return Err(Refusal::new(Code::RateLimited, what));
        }
        if places.len() >= ALL {
            let silent = places.iter().filter(|(_, sender)| sender.heard.elapsed() >= SILENT);
            let Some(id) = silent.min_by_key(|(_, sender)| sender.heard).map(|(id, _)| *id) else {
                return Ok(None);
            };
            if let Some(sender) = places.remove(&id) {
                sender.cut_off.notify_one();
            }
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let cut_off = Arc::new(Notify::new());
        let sender = Sender { member, heard: Instant::now(), cut_off: cut_off.clone() };
        places.insert(id, sender);
        Ok(Some(Place { id, cut_off, places: self.places.clone() }))
    }
}

impl Place {
    /// Something has come.
    pub(super) fn heard(&self) {
        if let Some(sender) = lock(&self.places).get_mut(&self.id) {
            sender.heard = Instant::now();
        }
    }

    /// Returns when another needs the place.
    pub(super) async fn cut_off(&self) -> Refusal {
        self.cut_off.notified().await;
        let what = "others needed the place while nothing came of the file; send it at once";
        Refusal::new(Code::RateLimited, what)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.places).remove(&self.id);
    }
}
