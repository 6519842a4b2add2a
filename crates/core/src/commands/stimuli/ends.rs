//! Stimuli that end.

use crate::commands::context::Context;
use crate::model::ids::ConversationKey;
use crate::model::stimulus::{Stimulus, StimulusState};

impl Context<'_> {
    /// A stimulus has ended. If a schedule made it, the schedule records the outcome.
    pub(crate) fn end_stimulus(&mut self, key: ConversationKey, ended: Stimulus) {
        self.note_fired(key, &ended);
        self.room_mut(key).put_stimulus(ended);
        self.admit_held(key);
    }

    /// Cancels what has not been said, of all stimuli that `of` selects.
    pub(crate) fn cancel_stimuli(
        &mut self,
        key: ConversationKey,
        why: &str,
        of: impl Fn(&Stimulus) -> bool,
    ) {
        let open = self.room(key).stimuli().values().filter(|s| s.state.is_open() && of(s));
        for old in open.cloned().collect::<Vec<_>>() {
            let cancelled = self.cancelled(&old, why);
            self.end_stimulus(key, cancelled);
        }
    }

    pub(crate) fn cancelled(&self, old: &Stimulus, why: &str) -> Stimulus {
        let ended = old.ended(StimulusState::Cancelled, self.now);
        Stimulus { reason: Some(why.into()), ..ended }
    }
}
