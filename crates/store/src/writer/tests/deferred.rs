//! A batch is decided while the one before it is synced; what fails in a commit or its sync ends the writer.

use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex};

use chorus_core::model::error::Code;

use super::{Ground, person, post};
use crate::Place;

/// Syncs that can be held up, and made to fail.
#[derive(Default)]
pub(super) struct Syncs {
    state: Mutex<SyncState>,
    changed: Condvar,
}

#[derive(Default)]
struct SyncState {
    held: bool,
    fails: bool,
    /// One is being held up.
    waits: bool,
}

impl Syncs {
    pub(super) fn pass(&self) -> std::io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.waits = state.held;
        self.changed.notify_all();
        let state = self.changed.wait_while(state, |state| state.held).unwrap();
        if state.fails { Err(std::io::Error::other("the sync failed")) } else { Ok(()) }
    }

    fn set(&self, change: impl FnOnce(&mut SyncState)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }

    fn until_one_waits(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| !state.waits).unwrap());
    }
}

// covers: OPS-176
#[test]
fn next_batch_is_decided_during_a_sync_and_nothing_is_answered_or_read_before_it() {
    let ground = Ground::new();
    // PostgreSQL syncs within its commit.
    if matches!(ground.place, Place::Postgres(_)) {
        return;
    }
    let before = ground.writer.stats();
    ground.syncs.set(|syncs| syncs.held = true);
    let first = ground.submit_together(&["one", "two"]);
    ground.syncs.until_one_waits();
    let three = ground.submit(person(), post(ground.room, "three"), 50);
    let reader = std::thread::spawn({
        let (readers, room) = (ground.readers.clone(), ground.room);
        move || readers.conversation(room).unwrap().unwrap().key
    });
    // It waits in the next batch, and not in the queue any more.
    while ground.writer.stats().waiting > 0 {
        std::thread::yield_now();
    }
    assert!(first.iter().chain([&three]).all(|answer| answer.try_recv().is_err()));
    assert!(!reader.is_finished(), "it might show what a power cut undoes");
    let together = ground.readers.together();
    assert!(
        together.conversation(ground.room).unwrap().is_some(),
        "it is waited for once, at the end"
    );
    assert!(!together.is_settled());
    ground.syncs.set(|syncs| syncs.held = false);
    let seqs = first.iter().chain([&three]).map(|answer| answer.recv().unwrap().unwrap());
    let seqs: Vec<_> = seqs.map(|logged| logged.entry.event.seq.0).collect();
    assert!(seqs.is_sorted() && seqs.len() == 3, "{seqs:?}");
    reader.join().unwrap();
    assert_eq!(ground.writer.stats().commits - before.commits, 2);
    assert_eq!(ground.texts(), ["one", "two", "three"]);
}

// covers: OPS-176
#[test]
fn sync_that_fails_ends_the_writer_with_all_that_came_after_it() {
    let ground = Ground::new();
    if matches!(ground.place, Place::Postgres(_)) {
        return;
    }
    ground.syncs.set(|syncs| syncs.held = true);
    let first = ground.submit_together(&["one", "two"]);
    ground.syncs.until_one_waits();
    let three = ground.submit(person(), post(ground.room, "three"), 50);
    while ground.writer.stats().waiting > 0 {
        std::thread::yield_now();
    }
    ground.syncs.set(|syncs| *syncs = SyncState { fails: true, ..SyncState::default() });
    for answer in first.iter().chain([&three]) {
        assert_eq!(answer.recv().unwrap().unwrap_err().code, Code::OutcomeUnknown);
    }
    let after = ground.submit(person(), post(ground.room, "four"), 51).recv().unwrap();
    assert_eq!(after.unwrap_err().code, Code::Unavailable);
    assert!(ground.writer.health().reason.unwrap().contains("the sync failed"));
    assert!(ground.readers.conversation(ground.room).is_err(), "nobody knows what is on disk");
}

#[test]
fn a_commit_that_fails_ends_the_writer_and_is_never_tried_again() {
    let ground = Ground::new();
    ground.commit_fails.store(true, Ordering::SeqCst);
    let answers = ground.post_together(&["one", "two"]);
    let codes: Vec<_> = answers.iter().map(|a| a.as_ref().unwrap_err().code).collect();
    assert_eq!(codes, [Code::OutcomeUnknown, Code::OutcomeUnknown]);
    ground.commit_fails.store(false, Ordering::SeqCst);
    let after = ground.submit(person(), post(ground.room, "three"), 9).recv().unwrap();
    assert_eq!(after.unwrap_err().code, Code::Unavailable);
    let health = ground.writer.health();
    assert!(!health.ok);
    assert!(health.reason.unwrap().contains("the disk is gone"));
}
