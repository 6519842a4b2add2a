//! The queue itself: admission, replacement, and holding stimuli until there is room.
//!
//! Invariant: the queue never holds more than the channel allows, and a stimulus that the host made
//! for a completed action is never lost.

use std::sync::Arc;

use crate::commands::context::{Context, Result};
use crate::model::error::{Code, Refusal};
use crate::model::ids::{ConversationKey, ThreadKey, Timestamp};
use crate::model::limits;
use crate::model::stimulus::{Rules, Stimulus, StimulusState, queue};

/// Stimuli that a newer one replaces, and their final states.
type Replaced = Vec<(StimulusState, Arc<Stimulus>)>;

impl Context<'_> {
    /// Queues a stimulus in place of those about the same subject. When the queue is full, only as
    /// a replacement.
    pub(crate) fn enqueue(&mut self, key: ConversationKey, new: Stimulus) -> Result<Arc<Stimulus>> {
        let old = self.about_the_same(key, &new);
        if !self.has_place(key, &old) && !self.goes_past_the_cap(key, &new) {
            let most = self.stimulus_rules(key).pending;
            let why = format!("{most} stimuli of this channel wait already");
            return Err(Refusal::new(Code::RateLimited, why).into());
        }
        Ok(self.put_in_line(key, new, old))
    }

    /// Queues a stimulus that the host made for an action. If the queue is full, it is held.
    pub(crate) fn enqueue_made(&mut self, key: ConversationKey, new: Stimulus) -> Result<()> {
        let old = self.about_the_same(key, &new);
        let state = match self.has_place(key, &old) {
            true => StimulusState::Pending,
            false => {
                self.check_may_hold(key)?;
                StimulusState::Held
            }
        };
        self.put_in_line(key, Stimulus { state, ..new }, old);
        Ok(())
    }

    /// Whether a stimulus that the host makes now would be dispatched eventually.
    pub(super) fn check_may_hold(&self, key: ConversationKey) -> Result<()> {
        let most = limits::STIMULI_HELD;
        if self.has_place(key, &Replaced::new())
            || queue::held(self.room(key).stimuli()).count() < most
        {
            return Ok(());
        }
        let why = format!("the queue of the channel is full, and {most} wait to be put there");
        Err(Refusal::new(Code::RateLimited, why).into())
    }

    /// Moves held stimuli into the queue as far as there is room, oldest first.
    pub(super) fn admit_held(&mut self, key: ConversationKey) {
        let Some(room) = self.ws.rooms.get(&key) else { return };
        let mut held: Vec<_> = queue::held(room.stimuli()).cloned().collect();
        if held.is_empty() {
            return;
        }
        held.sort_by_key(|s| (s.created_at, s.uid));
        let most = usize::from(self.stimulus_rules(key).pending);
        let free = most.saturating_sub(queue::waiting(self.room(key).stimuli()));
        for stimulus in held.into_iter().take(free) {
            let queued = Stimulus { state: StimulusState::Pending, ..(*stimulus).clone() };
            self.put_in_line(key, queued, Replaced::new());
        }
    }

    fn put_in_line(
        &mut self,
        key: ConversationKey,
        mut new: Stimulus,
        old: Replaced,
    ) -> Arc<Stimulus> {
        for (state, old) in old {
            // It keeps its place in the queue. Otherwise repeated requests would wait for ever.
            new.created_at = new.created_at.min(old.created_at);
            let ended = Stimulus { by: Some(new.uid), ..old.ended(state, self.now) };
            self.note_fired(key, &ended);
            self.room_mut(key).replace_stimulus(ended);
        }
        if self.thread_to_continue(key, &new).is_none() {
            new.due_at = new.created_at.max(self.opens_at(key));
        }
        self.room_mut(key).put_stimulus(new.clone());
        Arc::new(new)
    }

    /// Waiting stimuli about the same subject as the new one.
    fn about_the_same(&self, key: ConversationKey, new: &Stimulus) -> Replaced {
        let waits =
            |s: &&Arc<Stimulus>| matches!(s.state, StimulusState::Pending | StimulusState::Held);
        let all = self.room(key).stimuli().values().filter(waits);
        all.filter_map(|s| Some((s.replaced_by(new)?, s.clone()))).collect()
    }

    /// Whether the queue has room once these are replaced.
    fn has_place(&self, key: ConversationKey, old: &Replaced) -> bool {
        let most = usize::from(self.stimulus_rules(key).pending);
        let free = old.iter().filter(|(_, s)| s.state.is_queued()).count();
        queue::waiting(self.room(key).stimuli()) < most + free
    }

    /// Whether it continues a live initiative. Such a stimulus runs at once, whatever else waits.
    /// Their number is bounded by what a channel may let wait.
    fn goes_past_the_cap(&self, key: ConversationKey, new: &Stimulus) -> bool {
        let room = self.room(key);
        new.thread.is_none()
            && self.thread_to_continue(key, new).is_some()
            && queue::waiting(room.stimuli()) < limits::STIMULI_PENDING
    }

    /// The thread that it continues: its own, otherwise its initiative's live one. If none, it
    /// opens a subject.
    pub(super) fn thread_to_continue(
        &self,
        key: ConversationKey,
        stimulus: &Stimulus,
    ) -> Option<ThreadKey> {
        let live = || {
            let initiative = stimulus.initiative_key.as_deref()?;
            self.room(key).live_thread_of(initiative).map(|thread| thread.key)
        };
        stimulus.thread.map(|(thread, _)| thread).or_else(live)
    }

    /// Until when it must wait, if it opens a subject and none may be opened now.
    pub(super) fn waits_until(&self, key: ConversationKey, of: &Stimulus) -> Option<Timestamp> {
        let opens = self.thread_to_continue(key, of).is_none();
        opens.then(|| self.opens_at(key)).filter(|at| *at > self.now)
    }

    fn stimulus_rules(&self, key: ConversationKey) -> Rules {
        self.room(key).conversation().settings.stimuli.unwrap_or_default()
    }

    fn opens_at(&self, key: ConversationKey) -> Timestamp {
        let room = self.room(key);
        queue::opens_at(room.stimuli(), self.stimulus_rules(key), room.threads().values(), self.now)
    }

    /// Recomputes the times of waiting stimuli after a change in when subjects may be opened, or in
    /// whether an initiative is live.
    pub(crate) fn arrange_stimuli(&mut self, key: ConversationKey) {
        let opens_at = self.opens_at(key);
        let pending = self.room(key).stimuli().values();
        let moved = pending
            .filter(|s| s.state == StimulusState::Pending && s.thread.is_none())
            .map(|s| {
                let due_at = match self.thread_to_continue(key, s) {
                    Some(_) => s.due_at.min(self.now),
                    None => s.created_at.max(opens_at),
                };
                Stimulus { due_at, ..(**s).clone() }
            })
            .filter(|s| {
                self.room(key).stimuli().get(&s.uid).is_some_and(|old| old.due_at != s.due_at)
            });
        for stimulus in moved.collect::<Vec<_>>() {
            self.room_mut(key).put_stimulus(stimulus);
        }
    }
}
