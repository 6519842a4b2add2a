//! The open events of a room: closing, reopening, and marking them to be written.

use std::sync::Arc;

use crate::model::cursor::ReadCursor;
use crate::model::delivery::{Delivery, Open, State};
use crate::model::digest::{Digest, Tally, Written};
use crate::model::disposition::Disposition;
use crate::model::event::Event;
use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp};
use crate::model::message_state::MessageState;
use crate::state::directory::Directory;
use crate::state::room::{Room, TAIL};

/// Messages whose edits, deletions and reactions a room remembers.
const MESSAGES: usize = 4_096;

impl Open {
    /// The deliveries that an event opens for the agents it notifies; none when it notifies no
    /// agent.
    pub fn of(event: &Event, directory: &Directory) -> Option<Self> {
        let attention = event.attention.as_ref()?;
        let told = attention.told.iter().filter(|t| t.decision.mode.tells());
        let deliveries: Vec<_> =
            told.filter(|t| directory.is_agent(t.member)).map(Delivery::new).collect();
        (!deliveries.is_empty()).then(|| Self::with(event, attention.clone(), deliveries))
    }
}

impl Room {
    /// An open event, to be changed. The next speaker about its subject may change as a result, so
    /// it is arbitrated at the end of the command.
    pub fn open_mut(&mut self, seq: Seq) -> Option<&mut Open> {
        let open = self.open.get_mut(&seq)?;
        open.subject.into_iter().for_each(|subject| self.turns.note(subject));
        Some(open)
    }

    /// An open event, to record that a run of it began or is alive. Nothing depends on that, and it
    /// needs no row.
    pub fn open_run(&mut self, seq: Seq) -> Option<&mut Open> {
        self.open.get_mut(&seq)
    }

    /// An open event, to be changed. Its row is written with this batch.
    pub fn stored_mut(&mut self, seq: Seq) -> Option<&mut Open> {
        self.must_store(seq);
        self.open_mut(seq)
    }

    /// A member's delivery of an open event, to be changed. The event's row is written with this
    /// batch.
    pub fn delivery_mut(&mut self, seq: Seq, member: MemberKey) -> Option<&mut Delivery> {
        let open = self.open.get_mut(&seq)?;
        open.subject.into_iter().for_each(|subject| self.turns.note(subject));
        let delivery = open.deliveries.iter_mut().find(|d| d.member == member)?;
        open.stored = true;
        self.fresh.remove(&seq);
        self.dirty.pending.insert(seq);
        Some(delivery)
    }

    /// Adds an event for which somebody owes something. It has no row until it needs one.
    pub fn open_event(&mut self, mut open: Open) {
        self.file(&mut open);
        if !open.stored {
            self.fresh.insert(open.seq);
        }
        self.open.insert(open.seq, open);
    }

    /// Restores an open event from its row: what was in somebody's hands is offered again.
    pub(super) fn stand(&mut self, mut open: Open, now: Timestamp) {
        open.stored = true;
        self.file(&mut open);
        open.deliveries.iter_mut().for_each(|delivery| delivery.interrupt(now));
        open.set_back(now);
        self.open.insert(open.seq, open);
    }

    /// Requires the open event's row to be written with this batch.
    pub fn must_store(&mut self, seq: Seq) {
        if let Some(open) = self.open.get_mut(&seq) {
            open.stored = true;
            self.fresh.remove(&seq);
            self.dirty.pending.insert(seq);
        }
    }

    /// Requires the rows of all open events to be written with this batch. Returns whether there
    /// are any.
    pub fn store_all_open(&mut self) -> bool {
        let Self { open, fresh, dirty, .. } = self;
        for open in open.values_mut() {
            open.stored = true;
            fresh.remove(&open.seq);
            dirty.pending.insert(open.seq);
        }
        !open.is_empty()
    }

    /// The clock was set back to `now`: open events continue from that time and get their rows.
    /// Returns the ones that this changes.
    pub fn set_back(&mut self, now: Timestamp) -> Vec<Seq> {
        let set_back = |open: &mut Open| open.set_back(now).then_some(open.seq);
        let changed: Vec<Seq> = self.open.values_mut().filter_map(set_back).collect();
        for seq in &changed {
            self.stored_mut(*seq);
        }
        changed
    }

    /// Closes the event, because nobody owes anything for it any more: its receipt is written, and
    /// its row is deleted.
    pub fn close(&mut self, seq: Seq) {
        let Some(open) = self.open.remove(&seq) else { return };
        self.unfile(&open);
        self.fresh.remove(&seq);
        self.dirty.pending.remove(&seq);
        self.dirty.receipts.push(open.clone());
        self.keep_closed(open);
    }

    /// Remembers how an event ended, while it is recent.
    pub fn keep_closed(&mut self, open: Open) {
        self.closed.retain(|o| o.seq != open.seq);
        if self.closed.len() == TAIL {
            self.closed.pop_front();
        }
        self.closed.push_back(open);
    }

    /// Reopens a closed event: its receipt is deleted, and it gets a row.
    pub fn reopen(&mut self, mut open: Open) {
        self.closed.retain(|o| o.seq != open.seq);
        self.dirty.receipts.retain(|o| o.seq != open.seq);
        open.stored = true;
        self.file(&mut open);
        self.dirty.reopened.insert(open.seq);
        self.dirty.pending.insert(open.seq);
        self.open.insert(open.seq, open);
    }

    /// Records how the member's run ended, after its answer. Nothing depends on that, and it needs
    /// no row.
    pub fn end_run(&mut self, seq: Seq, member: MemberKey) {
        let open = match self.open.contains_key(&seq) {
            true => self.open_run(seq),
            false => self.closed.iter_mut().rev().find(|open| open.seq == seq),
        };
        if let Some(delivery) = open.and_then(|open| open.delivery_mut(member)) {
            delivery.over = !delivery.is_open();
        }
    }

    /// Changes the receipt of a closed event that is still remembered.
    pub fn amend_receipt(&mut self, seq: Seq, change: impl FnOnce(&mut Open)) {
        let Some(open) = self.closed.iter_mut().rev().find(|o| o.seq == seq) else { return };
        change(open);
        let open = open.clone();
        self.dirty.receipts.retain(|o| o.seq != seq);
        self.dirty.receipts.push(open);
    }

    /// Remembers the state of a message, as read from the log. The number of remembered states is
    /// bounded: a room with nothing to write can forget them all and read them again.
    pub fn learn(&mut self, seq: Seq, state: &MessageState) {
        if self.messages.len() >= MESSAGES && !self.is_dirty() {
            self.messages.clear();
        }
        self.messages.entry(seq).or_insert_with(|| state.clone());
    }

    /// Forgets the states of messages, to read them again. Unwritten ones remain.
    pub fn forget_messages(&mut self) {
        self.messages.retain(|seq, _| self.dirty.messages.contains(seq));
    }

    /// Adds a digest, if there is one. The log is now covered up to its head, and the tally begins
    /// there.
    pub fn add_digest(&mut self, digest: Option<Arc<Digest>>) {
        self.tally = Tally::from(self.head.seq);
        self.dirty.digested = true;
        self.dirty.digests.extend(digest);
    }

    pub fn add_written(&mut self, written: Written) {
        self.dirty.written.push(written);
    }

    pub fn set_cursor(&mut self, member: MemberKey, thread: Option<ThreadKey>, cursor: ReadCursor) {
        self.cursors.insert((member, thread), cursor);
        self.dirty.cursors.insert((member, thread));
    }

    /// The canonical thread of a root message.
    pub fn thread_of_root(&self, root: Seq) -> Option<ThreadKey> {
        self.roots.get(&root).copied()
    }
}

impl Open {
    /// Withdraws the offers to all other members, because one member has accepted. Returns the
    /// previous deliveries.
    pub fn withdraw_others(&mut self, holder: MemberKey, now: Timestamp) -> Vec<Delivery> {
        let of_role = |d: &Delivery| {
            use crate::model::attention::Rule::{Claimed, RoleMention};
            matches!(d.decision.rule, RoleMention | Claimed)
        };
        let others = self.deliveries.iter_mut();
        let asked = others.filter(|d| d.member != holder && d.is_open() && of_role(d));
        asked.map(|d| end(d, now)).collect()
    }

    /// Ends everything open and all dead letters, because the event was replaced. Returns the
    /// previous deliveries.
    pub fn supersede_all(&mut self, now: Timestamp) -> Vec<Delivery> {
        let open = self.deliveries.iter_mut().filter(|d| d.is_open() || d.is_dead());
        open.map(|d| end(d, now)).collect()
    }
}

fn end(delivery: &mut Delivery, now: Timestamp) -> Delivery {
    let before = delivery.clone();
    delivery.next_fence();
    delivery.state = State::Settled { disposition: Disposition::Superseded, at: now };
    before
}
