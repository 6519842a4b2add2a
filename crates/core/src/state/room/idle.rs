//! Threads that have fallen silent (channels spec "Stimuli and wake-ups", `thread_idle_followup`).
//!
//! Whether a follow-up was sent to a thread is not stored separately. It follows from the stimuli:
//! the last one that woke the thread, one waiting in the queue, or one cancelled there since. So
//! nothing has to be repaired after a crash.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Room;
use crate::model::event::{Change, Event};
use crate::model::ids::{ThreadKey, Timestamp};
use crate::model::limits;
use crate::model::stimulus::{StimulusKind, StimulusState};
use crate::model::thread::{Thread, ThreadKind, ThreadStatus};

impl Room {
    /// Threads that are watched for silence, with the time at which each counts as silent.
    fn silences(&self) -> Vec<(Timestamp, &Arc<Thread>)> {
        let idle = self.conversation.settings.idle_followup;
        let Some(idle) = idle.filter(|_| !self.is_closed()) else { return Vec::new() };
        let asked = self.asked();
        let waited_for = |t: &&Arc<Thread>| {
            t.kind == ThreadKind::Conversation
                && t.status == ThreadStatus::Active
                && t.is_live()
                && !t.was_followed_up()
                && !asked.contains(&t.key)
        };
        let threads = self.threads.values().filter(waited_for);
        threads.map(|t| (t.updated_at.plus(idle), t)).collect()
    }

    /// Threads with a follow-up that is waiting, or was cancelled after the last activity.
    fn asked(&self) -> BTreeSet<ThreadKey> {
        let followups =
            self.stimuli.values().filter(|s| s.kind == StimulusKind::ThreadIdleFollowup);
        let asked = followups.filter_map(|s| {
            let (key, _) = s.thread?;
            let since = self.threads.get(&key)?.updated_at;
            let called_off = s.state == StimulusState::Cancelled && s.ended_at >= Some(since);
            (s.state.is_open() || called_off).then_some(key)
        });
        asked.collect()
    }

    /// Threads that have been silent long enough, the longest silent first.
    pub fn silent(&self, now: Timestamp) -> Vec<Arc<Thread>> {
        let mut silent = self.silences();
        silent.retain(|(at, _)| *at <= now);
        silent.sort_unstable_by_key(|(at, t)| (*at, t.key));
        silent.into_iter().map(|(_, t)| t.clone()).collect()
    }

    /// When the first of them will have been silent long enough.
    pub fn next_silence(&self) -> Option<Timestamp> {
        self.silences().into_iter().map(|(at, _)| at).min()
    }

    /// The silent threads were followed up as of `now`. Any that remain are looked at again some
    /// time later.
    pub fn silence_reviewed(&mut self, now: Timestamp) {
        let again = now.plus(limits::IDLE_FOLLOWUP_AGAIN_MS);
        self.silence_at = self.next_silence().map(|at| if at <= now { again } else { at });
    }

    /// An event in a thread postpones its silence, and it may be the first event in any thread. The
    /// known time is moved only when it is checked, so that a message does not pay for all other
    /// threads.
    pub(super) fn expect_silence(&mut self, event: &Event) {
        if matches!(event.change, Change::SettingsChanged(_)) {
            self.silence_at = self.next_silence();
        }
        let opens = matches!(event.change, Change::ThreadOpened(_));
        let idle = self.conversation.settings.idle_followup;
        let Some(idle) = idle.filter(|_| !self.is_closed()) else { return };
        if (opens || event.thread.is_some()) && self.silence_at.is_none() {
            self.silence_at = Some(event.at.plus(idle));
        }
    }
}

impl Thread {
    /// Whether the last message in it was a follow-up.
    fn was_followed_up(&self) -> bool {
        let spur = self.work.spur.filter(|s| s.kind == StimulusKind::ThreadIdleFollowup);
        spur.is_some_and(|s| s.thread_seq == self.last_seq)
    }
}
