//! The open events of a room: closed, opened again, and marked to be written.

use std::sync::Arc;

use crate::model::cursor::ReadCursor;
use crate::model::delivery::{Delivery, Open, State};
use crate::model::digest::{Digest, Written};
use crate::model::disposition::Disposition;
use crate::model::event::Event;
use crate::model::ids::{MemberKey, Seq, ThreadKey, Timestamp};
use crate::model::message_state::MessageState;
use crate::state::directory::Directory;
use crate::state::room::{Room, TAIL};

/// Messages whose edits, deletions and reactions a room remembers.
const MESSAGES: usize = 4_096;

impl Open {
    /// What an event opens for the agents it is told to; none when it is told to no agent.
    pub fn of(event: &Event, directory: &Directory) -> Option<Self> {
        let attention = event.attention.as_ref()?;
        let told = attention.told.iter().filter(|t| t.decision.mode.tells());
        let deliveries: Vec<_> =
            told.filter(|t| directory.is_agent(t.member)).map(Delivery::new).collect();
        (!deliveries.is_empty()).then(|| Self::with(event, attention.clone(), deliveries))
    }
}

impl Room {
    /// An open event, to be changed. Who waits to speak about its subject may be another after that, or nobody: it is
    /// arbitrated at the end of the command.
    pub fn open_mut(&mut self, seq: Seq) -> Option<&mut Open> {
        let open = self.open.get_mut(&seq)?;
        self.unlike.insert(seq);
        open.subject.into_iter().for_each(|subject| self.turns.note(subject));
        Some(open)
    }

    /// An open event, to note that a run of it began, or lives: nobody waits for that, and it needs no row.
    pub fn open_run(&mut self, seq: Seq) -> Option<&mut Open> {
        let open = self.open.get_mut(&seq)?;
        self.unlike.insert(seq);
        Some(open)
    }

    /// Takes in an event that somebody owes something for. It has no row until it must.
    pub fn open_event(&mut self, mut open: Open) {
        self.file(&mut open);
        if !open.stored {
            self.fresh.insert(open.seq);
        }
        self.unlike.insert(open.seq);
        self.open.insert(open.seq, open);
    }

    /// The open event's row must be written with this batch.
    pub fn must_store(&mut self, seq: Seq) {
        if let Some(open) = self.open.get_mut(&seq) {
            open.stored = true;
            self.fresh.remove(&seq);
            self.dirty.pending.insert(seq);
        }
    }

    /// Everything that is open and is not as its row says gets its row: another host may go on with it.
    pub fn store_changed(&mut self) {
        for seq in std::mem::take(&mut self.unlike) {
            match self.open.get(&seq) {
                None => drop(self.written.remove(&seq)),
                Some(open) if self.written.get(&seq) == Some(open) => {}
                Some(_) => {
                    self.must_store(seq);
                    self.written.extend(self.open.get(&seq).map(|open| (seq, open.clone())));
                }
            }
        }
        debug_assert_eq!(self.written, self.open, "all that is open was handed out to be changed");
    }

    /// Whether something that is open may be other than its row.
    pub fn differs_from_rows(&self) -> bool {
        !self.unlike.is_empty()
    }

    /// What the rows of open events say is not known: each is written again.
    pub fn forget_written(&mut self) {
        self.written.clear();
        self.unlike.extend(self.open.keys().copied());
    }

    /// Takes over which keys were sent before, from the same room as it was at an earlier time.
    pub fn take_sent(&mut self, earlier: &mut Self) {
        let newer = std::mem::replace(&mut self.sent, std::mem::take(&mut earlier.sent));
        self.sent.forget(self.head.base);
        for (at, key) in newer.order {
            if let Some(seq) = newer.by_key.get(&key) {
                self.sent.put(key, *seq, at);
            }
        }
    }

    /// Nobody owes anything for it any more: its receipt is written, and its row goes.
    pub fn close(&mut self, seq: Seq) {
        let Some(open) = self.open.remove(&seq) else { return };
        self.unlike.insert(seq);
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

    /// A closed event is opened again: its receipt goes, and it gets a row.
    pub fn reopen(&mut self, mut open: Open) {
        self.closed.retain(|o| o.seq != open.seq);
        self.dirty.receipts.retain(|o| o.seq != open.seq);
        open.stored = true;
        self.file(&mut open);
        self.dirty.reopened.insert(open.seq);
        self.dirty.pending.insert(open.seq);
        self.unlike.insert(open.seq);
        self.open.insert(open.seq, open);
    }

    /// The member's run has said how it ended, after its answer: nothing waits for that, and it needs no row.
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

    /// Remembers what became of a message, as the log has it. What is remembered is bounded: a room with
    /// nothing to write can forget it all and read it again.
    pub fn learn(&mut self, seq: Seq, state: &MessageState) {
        if self.messages.len() >= MESSAGES && !self.is_dirty() {
            self.messages.clear();
        }
        self.messages.entry(seq).or_insert_with(|| state.clone());
    }

    /// The log is accounted for up to where the tally begins; there may be a digest to be written.
    pub fn add_digest(&mut self, digest: Option<Arc<Digest>>) {
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
    /// One member has it: those who were only asked whether they would take it are asked no more. Returns
    /// the deliveries as they were.
    pub fn withdraw_others(&mut self, holder: MemberKey, now: Timestamp) -> Vec<Delivery> {
        let of_role = |d: &Delivery| {
            use crate::model::attention::Rule::{Claimed, RoleMention};
            matches!(d.decision.rule, RoleMention | Claimed)
        };
        let others = self.deliveries.iter_mut();
        let asked = others.filter(|d| d.member != holder && d.is_open() && of_role(d));
        asked.map(|d| end(d, now)).collect()
    }

    /// Ends all that is open, and all dead letters, because the event was replaced. Returns the deliveries as they were.
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
