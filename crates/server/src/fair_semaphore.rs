//! How much may be under way at once, over all for whom it is done, and who is next.
//!
//! Fair: who has the least under way comes first, and of those who has waited longest since it was last given a place.
//! Beyond its first, what one has under way comes out of half of the places, so that many who hang leave room for the first
//! of anybody else.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// For whom something is done.
pub(crate) trait Key: Copy + Ord + Hash {}
impl<K: Copy + Ord + Hash> Key for K {}

#[derive(Clone)]
pub(crate) struct FairSemaphore<K: Key>(Arc<Shared<K>>);

struct Shared<K: Key> {
    most: usize,
    state: Mutex<State<K>>,
}

struct State<K: Key> {
    taken: usize,
    lines: HashMap<K, Line<K>>,
    /// Of each line in which somebody waits: how many it has under way, since when it waits for its turn, and whose it is.
    order: BTreeSet<(usize, u64, K)>,
    /// Counts for that: it goes up with each.
    count: u64,
}

/// What there is of one of them.
struct Line<K: Key> {
    under_way: usize,
    /// When it was last given a place, or began to wait.
    since: u64,
    waiting: VecDeque<oneshot::Sender<Place<K>>>,
}

/// A place, until it is dropped.
pub(crate) struct Place<K: Key> {
    of: Arc<Shared<K>>,
    whose: K,
}

impl<K: Key> FairSemaphore<K> {
    pub(crate) fn new(most: usize) -> Self {
        let state = State { taken: 0, lines: HashMap::new(), order: BTreeSet::new(), count: 0 };
        Self(Arc::new(Shared { most, state: Mutex::new(state) }))
    }

    /// A place, when it is this one's turn.
    pub(crate) async fn take(&self, whose: K) -> Place<K> {
        let got = {
            let mut state = self.0.lock();
            if state.may(whose, self.0.most) {
                state.give(whose);
                return Place { of: self.0.clone(), whose };
            }
            let (give, got) = oneshot::channel();
            state.change(whose, |line, count| {
                if line.waiting.is_empty() {
                    line.since = count;
                }
                line.waiting.push_back(give);
            });
            got
        };
        match got.await {
            Ok(place) => place,
            // Its sender is kept until it is used.
            Err(_) => std::future::pending().await,
        }
    }
}

impl<K: Key> State<K> {
    fn may(&self, whose: K, most: usize) -> bool {
        let has = self.lines.get(&whose).is_some_and(|line| line.under_way > 0);
        self.taken < if has { most / 2 } else { most }
    }

    fn give(&mut self, whose: K) {
        self.taken += 1;
        self.change(whose, |line, count| {
            (line.under_way, line.since) = (line.under_way + 1, count)
        });
    }

    fn give_back(&mut self, whose: K) {
        self.taken -= 1;
        self.change(whose, |line, _| line.under_way -= 1);
    }

    /// Who is next, and has the place already.
    fn next(&mut self, most: usize) -> Option<(K, oneshot::Sender<Place<K>>)> {
        loop {
            // Where the first may not, nobody may: those with none under way come before all others.
            let next = self.order.first().map(|(_, _, whose)| *whose);
            let whose = next.filter(|whose| self.may(*whose, most))?;
            let give = self.change(whose, |line, _| line.waiting.pop_front())?;
            // Who has gone meanwhile wants none.
            if !give.is_closed() {
                self.give(whose);
                return Some((whose, give));
            }
        }
    }

    /// Changes a line, and its place in the order with it.
    fn change<T>(&mut self, whose: K, change: impl FnOnce(&mut Line<K>, u64) -> T) -> T {
        self.count += 1;
        let empty = || Line { under_way: 0, since: 0, waiting: VecDeque::new() };
        let line = self.lines.entry(whose).or_insert_with(empty);
        let place =
            |line: &Line<K>| line.waiting.front().map(|_| (line.under_way, line.since, whose));
        if let Some(before) = place(line) {
            self.order.remove(&before);
        }
        let changed = change(line, self.count);
        self.order.extend(place(line));
        if line.under_way == 0 && line.waiting.is_empty() {
            self.lines.remove(&whose);
        }
        changed
    }
}

impl<K: Key> Shared<K> {
    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Key> Drop for Place<K> {
    fn drop(&mut self) {
        let next = {
            let mut state = self.of.lock();
            state.give_back(self.whose);
            state.next(self.of.most)
        };
        if let Some((whose, give)) = next {
            // Who has gone meanwhile gives it back by this.
            let _ = give.send(Self { of: self.of.clone(), whose });
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures_util::future::join_all;
    use tokio::task::yield_now;

    use super::*;

    /// A place that is there at once.
    async fn now(places: &FairSemaphore<u32>, n: u32) -> Option<Place<u32>> {
        tokio::time::timeout(Duration::from_millis(20), places.take(n)).await.ok()
    }

    // covers: WHK-39
    #[tokio::test]
    async fn a_thousand_endpoints_never_have_more_under_way_than_there_are_places() {
        let places = FairSemaphore::new(256);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let post = async |n: u32| {
            let _place = places.take(n).await;
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            for _ in 0..n % 7 {
                yield_now().await;
            }
            now.fetch_sub(1, Ordering::SeqCst);
        };
        join_all((0..4_000).map(|n| post(n % 1_000))).await;
        assert_eq!(most.into_inner(), 256, "and all of them are used");
        let state = places.0.lock();
        assert_eq!((state.taken, state.lines.len(), state.order.len()), (0, 0, 0));
    }

    // covers: WHK-39
    #[tokio::test]
    async fn those_who_hang_leave_room_for_others() {
        let places = FairSemaphore::new(8);
        let mut hung = Vec::new();
        for n in [1, 1, 1, 1, 1, 2, 2, 2] {
            hung.extend(now(&places, n).await);
        }
        assert_eq!(hung.len(), 5, "four of one, and the first of the other");
        let others = [now(&places, 3).await, now(&places, 4).await, now(&places, 5).await];
        assert!(others.iter().all(Option::is_some));
        assert!(now(&places, 6).await.is_none(), "there is no more");
        drop(others);
        assert!(now(&places, 6).await.is_some(), "what was waited for in vain is given back");
    }

    // covers: WHK-39
    #[tokio::test]
    async fn who_has_the_fewest_comes_first() {
        let places = FairSemaphore::new(2);
        let first = places.take(1).await;
        let second = places.take(2).await;
        let order = Mutex::new(Vec::new());
        let post = async |n: u32| {
            let _place = places.take(n).await;
            order.lock().unwrap().push(n);
            yield_now().await;
        };
        let waiting = join_all([1, 1, 2, 3, 4].map(post));
        let drive = async {
            yield_now().await;
            drop(first);
            for _ in 0..50 {
                yield_now().await;
            }
            drop(second);
        };
        tokio::join!(waiting, drive);
        let order = order.into_inner().unwrap();
        assert_eq!(order, [1, 3, 4, 1, 2], "each in its turn, and last who has one under way");
    }
}
