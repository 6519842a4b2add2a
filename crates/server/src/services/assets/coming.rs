//! Who may send a file now. A place is for whoever sends: one whose sender falls behind the least rate goes to the next
//! who needs it, so that slow senders hold up nobody; and no member has more than a few.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chorus_core::model::error::{Code, Refusal};
use chorus_core::model::ids::MemberKey;
use tokio::sync::Notify;

/// Files that come in at once, each of them on disk while it does: at most 512 MiB, and as many open files.
const ALL: usize = 128;
/// Of one member.
const EACH: usize = 16;
/// Bytes in a second at which a file is to come when places are needed. All places are held at 2 MiB/s.
const LEAST_RATE: u32 = 16 * 1024;
/// Who is so far behind that gives its place to whoever needs one.
const BEHIND: Duration = Duration::from_millis(500);
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
    /// Until when its bytes would have lasted at the least rate. What comes faster is not saved up.
    lasts: Instant,
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
    /// Waits for a place; at most `timeouts`. Who has as many as it may is refused at once.
    pub(super) async fn place(
        &self,
        member: MemberKey,
        timeouts: Duration,
    ) -> Result<Place, Refusal> {
        let began = Instant::now();
        loop {
            if let Some(place) = self.try_place(member, Instant::now())? {
                return Ok(place);
            }
            if began.elapsed() >= timeouts {
                let what = format!("{ALL} files come in, as many as may be at once; try again");
                return Err(Refusal::new(Code::Unavailable, what));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn try_place(&self, member: MemberKey, now: Instant) -> Result<Option<Place>, Refusal> {
        let mut places = lock(&self.places);
        if places.values().filter(|sender| sender.member == member).count() >= EACH {
            let what =
                format!("a member sends at most {EACH} files at once; wait until one is there");
            return Err(Refusal::new(Code::RateLimited, what));
        }
        if places.len() >= ALL {
            let behind = |sender: &Sender| now.duration_since(sender.lasts) >= BEHIND;
            let slow = places.iter().filter(|(_, sender)| behind(sender));
            let Some(id) = slow.min_by_key(|(_, sender)| sender.lasts).map(|(id, _)| *id) else {
                return Ok(None);
            };
            if let Some(sender) = places.remove(&id) {
                sender.cut_off.notify_one();
            }
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let cut_off = Arc::new(Notify::new());
        let sender = Sender { member, lasts: now, cut_off: cut_off.clone() };
        places.insert(id, sender);
        Ok(Some(Place { id, cut_off, places: self.places.clone() }))
    }
}

impl Place {
    /// So much has come by now.
    pub(super) fn heard(&self, bytes: usize, now: Instant) {
        let lasts = Duration::from_secs(bytes as u64) / LEAST_RATE;
        if let Some(sender) = lock(&self.places).get_mut(&self.id) {
            sender.lasts = (sender.lasts + lasts).min(now);
        }
    }

    /// Returns when another needs the place.
    pub(super) async fn cut_off(&self) -> Refusal {
        self.cut_off.notified().await;
        let what = format!(
            "others needed the place, and the file came slower than {} KiB/s; send it at once",
            LEAST_RATE / 1024
        );
        Refusal::new(Code::RateLimited, what)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.places).remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    // covers: OPS-450
    #[test]
    fn a_trickle_holds_no_place_that_another_needs() {
        let (coming, began) = (Coming::default(), Instant::now());
        let of = |n: usize| MemberKey((n / EACH) as u32 + 1);
        let places: Vec<_> =
            (0..ALL).map(|n| coming.try_place(of(n), began).unwrap().unwrap()).collect();
        let newcomer = || coming.try_place(MemberKey(99), began + BEHIND).unwrap();
        // Whoever comes at the least rate stays, however small the pieces.
        let tenth = BEHIND / 10;
        for n in 1..=10 {
            let now = began + tenth * n;
            places.iter().for_each(|place| place.heard(LEAST_RATE as usize / 20, now));
        }
        assert!(newcomer().is_none());
        // A byte now and then does not.
        let slow = Coming::default();
        let slow_places: Vec<_> =
            (0..ALL).map(|n| slow.try_place(of(n), began).unwrap().unwrap()).collect();
        for n in 1..=10 {
            slow_places.iter().for_each(|place| place.heard(1, began + tenth * n));
        }
        assert!(slow.try_place(MemberKey(99), began + BEHIND / 2).unwrap().is_none());
        assert!(slow.try_place(MemberKey(99), began + BEHIND + tenth).unwrap().is_some());
    }
}
