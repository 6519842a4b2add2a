//! What is under way to one connection: offers that wait, and those that it has not acknowledged.
//!
//! No I/O in here. Offers made while the session was away come first, then those that come live; at most
//! [`limits::UNACKED_PER_CONNECTION`] are unacknowledged at any time. Of each event one offer waits, the first of its
//! fence, and none once it is acknowledged. What is unacknowledged is offered again at once, whatever waits.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use chorus_core::model::ids::Uid;
use chorus_core::model::limits;
use chorus_core::model::offer::Offer;
use hashlink::LruCache;

use crate::dispatch::connections::{BACKLOG, Outgoing};
use crate::traces::Span;

/// An offer that was not acknowledged for so long has been made again, or its harness answers nothing; either
/// way it no longer keeps others back.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(30);

/// Events remembered for having been offered more than once.
const AGAIN: usize = 1024;

pub(super) struct Outbound {
    /// What the session was owed when it came, oldest first.
    pub backlog: VecDeque<Offer>,
    /// What came live and waits for room.
    waiting: VecDeque<Outgoing>,
    /// What is offered again while it is unacknowledged, and so needs no room.
    repeats: VecDeque<Outgoing>,
    /// Offers were dropped.
    pub behind: bool,
    /// What the session was owed when it came was not asked for in full: what comes live waits for that.
    rest: bool,
    /// Events that are not sent again to a harness that takes none twice, the newest.
    once: LruCache<Uid, ()>,
    unacknowledged: HashMap<Uid, (u16, Instant, Option<Span>)>,
    /// Events that were offered more than once, and the attempt that was sent last.
    again: LruCache<Uid, u16>,
}

impl Outbound {
    /// Of a new connection, which has yet to be told what its session is owed.
    pub(super) fn new() -> Self {
        Self {
            backlog: VecDeque::new(),
            waiting: VecDeque::new(),
            repeats: VecDeque::new(),
            behind: false,
            rest: true,
            once: LruCache::new(AGAIN),
            unacknowledged: HashMap::new(),
            again: LruCache::new(AGAIN),
        }
    }

    /// Whether what the session was owed when it came has been asked for, so that what comes live is newer.
    pub(super) fn is_up_to_date(&self) -> bool {
        !self.rest
    }

    /// What is owed was asked for; whether there is more of it.
    pub(super) fn caught_up(&mut self, more: bool) {
        (self.rest, self.behind) = (more, false);
    }

    /// Whether the event was sent on this connection before, and is not to be again.
    pub(super) fn was_sent(&self, event: Uid) -> bool {
        self.once.peek(&event).is_some()
    }

    pub(super) fn has_room(&self) -> bool {
        self.unacknowledged.len() < limits::UNACKED_PER_CONNECTION
    }

    /// Whether nothing is under way, so that what is owed can be asked for without asking twice.
    pub(super) fn is_idle(&self) -> bool {
        let waits = !self.backlog.is_empty() || !self.waiting.is_empty();
        self.unacknowledged.is_empty() && !waits
    }

    /// Whether it takes more of what comes live.
    pub(super) fn takes_more(&self) -> bool {
        self.is_up_to_date() && self.waiting.len() < BACKLOG
    }

    /// Takes an offer that came live, until there is room for it.
    pub(super) fn hold(&mut self, outgoing: Outgoing) {
        let event = outgoing.offer.entry.event.uid;
        if self.unacknowledged.contains_key(&event) {
            return put(&mut self.repeats, outgoing);
        }
        match self.backlog.iter_mut().find(|offer| offer.entry.event.uid == event) {
            Some(waits) if waits.fence == outgoing.offer.fence => {}
            Some(waits) => *waits = outgoing.offer,
            None => put(&mut self.waiting, outgoing),
        }
    }

    /// What came live and may be sent now.
    pub(super) fn next(&mut self) -> Option<Outgoing> {
        match self.repeats.pop_front() {
            None if self.has_room() => self.waiting.pop_front(),
            repeat => repeat,
        }
    }

    /// Whether a later attempt was sent already: a session that connects while something is said to it is
    /// offered it live and with what it is owed, in either order.
    pub(super) fn is_stale(&self, event: Uid, attempt: u16) -> bool {
        self.again.peek(&event).is_some_and(|sent| attempt < *sent)
    }

    /// It was sent.
    pub(super) fn told(&mut self, event: Uid, attempt: u16) {
        if attempt > 1 {
            self.again.insert(event, attempt);
        }
    }

    /// It is not to be sent on this connection again.
    pub(super) fn once(&mut self, event: Uid) {
        self.once.insert(event, ());
    }

    /// It was sent, and is to be answered. `span` goes on until it is answered, withdrawn or forgotten.
    pub(super) fn sent(&mut self, event: Uid, attempt: u16, now: Instant, span: Option<Span>) {
        self.told(event, attempt);
        self.unacknowledged.insert(event, (attempt, now, span));
    }

    /// The harness answered an attempt; whether it was under way.
    pub(super) fn answered(&mut self, event: Uid, attempt: u16) -> bool {
        self.recall(event);
        let known = self.unacknowledged.get(&event).is_some_and(|(a, ..)| *a == attempt);
        if known {
            self.unacknowledged.remove(&event);
        }
        known
    }

    /// The host withdrew it; no answer is needed any more.
    pub(super) fn withdrawn(&mut self, event: Uid) {
        self.unacknowledged.remove(&event);
        self.recall(event);
    }

    /// What waits of it is not sent any more.
    fn recall(&mut self, event: Uid) {
        self.backlog.retain(|offer| offer.entry.event.uid != event);
        self.waiting.retain(|waits| waits.offer.entry.event.uid != event);
        self.repeats.retain(|waits| waits.offer.entry.event.uid != event);
    }

    pub(super) fn forget_old(&mut self, now: Instant) {
        self.unacknowledged.retain(|_, (_, at, _)| now.duration_since(*at) < FORGOTTEN_AFTER);
    }
}

/// Puts an offer behind the others, or in the place of one of its event that counts no more. One that was not sent is
/// not repeated.
fn put(queue: &mut VecDeque<Outgoing>, outgoing: Outgoing) {
    let event = outgoing.offer.entry.event.uid;
    match queue.iter_mut().find(|waits| waits.offer.entry.event.uid == event) {
        Some(waits) if waits.offer.fence == outgoing.offer.fence => {}
        Some(waits) => *waits = outgoing,
        None => queue.push_back(outgoing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_that_comes_after_a_later_one_is_not_sent() {
        let (mut outbound, now) = (Outbound::new(), Instant::now());
        outbound.caught_up(false);
        outbound.sent(Uid(1), 2, now, None);
        assert!(outbound.answered(Uid(1), 2));
        assert!(outbound.is_stale(Uid(1), 1) && !outbound.is_stale(Uid(1), 3));
        outbound.sent(Uid(2), 1, now, None);
        assert!(!outbound.is_stale(Uid(2), 1));
    }

    // covers: ATT-11
    #[test]
    fn thirty_two_are_under_way_and_an_answer_makes_room() {
        let (mut outbound, now) = (Outbound::new(), Instant::now());
        outbound.caught_up(false);
        for n in 0..limits::UNACKED_PER_CONNECTION as u128 {
            assert!(outbound.has_room());
            outbound.sent(Uid(n), 1, now, None);
        }
        assert!(!outbound.has_room());
        assert!(!outbound.answered(Uid(3), 2), "another attempt is another request");
        assert!(outbound.answered(Uid(3), 1));
        assert!(!outbound.answered(Uid(3), 1), "answered once");
        assert!(outbound.has_room());
        outbound.sent(Uid(3), 2, now, None);
        outbound.withdrawn(Uid(4));
        assert!(outbound.has_room());
        outbound.forget_old(now + FORGOTTEN_AFTER);
        assert!(outbound.is_idle());
    }
}
