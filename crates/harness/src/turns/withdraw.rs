//! What the host takes back before it was answered: deletions, edits, obligations that moved.

use std::collections::BTreeSet;

use chorus_core::model::disposition::Disposition;
use chorus_core::model::ids::Timestamp;
use chorus_core::model::turn::REPLACED;

use super::arrive::{settle, settle_quietly};
use super::lane::Waiting;
use super::{Effect, Place, Turns};

impl Turns {
    /// The host has withdrawn an event: it is dropped wherever it is. A turn that is about it alone is
    /// stopped; one that is about more is begun again without it.
    pub(super) fn cancelled(&mut self, event: &str, reason: &str, out: &mut Vec<Effect>) {
        let was_claim = self.claims.remove(event).is_some();
        let was_held = self.held.remove(event).unwrap_or(false);
        let mut was_open = was_claim || was_held;
        for lane in self.lanes.values_mut() {
            let before = lane.waiting.len();
            lane.waiting.retain(|w| !w.is(event));
            was_open |= lane.waiting.len() < before;
            if lane.find_running(event).is_some() {
                was_open = true;
                if let Some(run) = &mut lane.running {
                    run.batch.retain(|w| !w.is(event));
                }
                let stopped = lane.stop();
                // The host has joined them by itself: that counts like a join of ours.
                if stopped.is_some() && reason == REPLACED {
                    lane.joined += 1;
                    lane.replaced = true;
                }
                out.extend(stopped.map(Effect::Stop));
            }
        }
        if was_open {
            out.push(settle_quietly(event, Disposition::Superseded, Some(reason)));
        }
        let conversations: BTreeSet<_> =
            self.lanes.keys().map(|place| place.conversation.clone()).collect();
        self.lanes.retain(|_, lane| !lane.is_idle());
        for conversation in conversations {
            self.give_up_held(&conversation, out);
        }
    }

    /// An edit before the answer takes the place of what it edits, and the window opens anew for it. In a
    /// turn under way it does the same by a restart; where no restart is left it goes to the next turn.
    pub(super) fn replace(
        &mut self,
        place: &Place,
        replaced: &str,
        edit: &Waiting,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) -> bool {
        let Some(lane) = self.lanes.get_mut(place) else { return false };
        let may_join = lane.may_join();
        let old = if let Some(old) = lane.find_waiting(replaced) {
            old
        } else if may_join && let Some(old) = lane.find_running(replaced) {
            old
        } else {
            return false;
        };
        old.delivery = edit.delivery.clone();
        old.changed = now;
        old.claimed |= edit.claimed;
        out.push(settle(replaced, Disposition::Superseded, Some("edited before the answer")));
        let event = &edit.delivery.event_id;
        if lane.find_running(event).is_some() {
            out.extend(lane.stop_to_join().map(Effect::Join));
        }
        true
    }
}
