//! A lane: the events of one place, waiting or in a turn, and when the next turn of it begins.

use chorus_core::model::attention::{Intent, Mode, Priority};
use chorus_core::model::ids::Timestamp;
use chorus_core::model::limits::RUN_JOINS;
use chorus_wire::attention::deliver::Deliver;

#[derive(Default)]
pub(super) struct Lane {
    /// In the order of their arrival.
    pub waiting: Vec<Waiting>,
    pub running: Option<Run>,
    /// How often the turn was stopped and begun again for what joined it.
    pub joined: u8,
    /// The host has stopped the turn for a newer message, which is yet to come or to begin.
    pub replaced: bool,
}

/// A delivery on its way into a turn.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub delivery: Deliver,
    /// When the first wording of it came.
    pub arrived: Timestamp,
    /// When it was last edited or offered in another wording.
    pub changed: Timestamp,
    /// Its author has turned to something else: the window over it is closed.
    pub closed: bool,
    /// Turns begun for it.
    pub attempts: u32,
    /// Runs of it that ended without an answer.
    pub silences: u8,
    /// It waits at least until then: a pause before another attempt, or for the host to offer it again.
    pub not_before: Timestamp,
    /// It comes from the journal and the host has not offered it again yet.
    pub recovered: bool,
    /// A run of it was begun before, by this process or the one before it.
    pub ran: bool,
    /// It is held by a claim that silence gives back.
    pub claimed: bool,
}

/// The turn of a lane.
pub(super) struct Run {
    pub turn: u64,
    pub batch: Vec<Waiting>,
    /// It is being stopped, to be begun again or because nothing is left of it.
    pub stopping: bool,
    /// It is stopped for good, since something of it was withdrawn.
    pub withdrawn: bool,
    /// It has said something that others see: nothing joins it any more.
    pub seen: bool,
}

impl Waiting {
    pub(super) fn new(delivery: Deliver, now: Timestamp) -> Self {
        Self {
            delivery,
            arrived: now,
            changed: now,
            closed: false,
            attempts: 0,
            silences: 0,
            not_before: Timestamp(i64::MIN),
            recovered: false,
            ran: false,
            claimed: false,
        }
    }

    pub(super) fn is(&self, event: &str) -> bool {
        self.delivery.event_id == event
    }
}

impl Lane {
    /// Whether the lane can be forgotten.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.running.is_none() && !self.replaced
    }

    pub(super) fn find_waiting(&mut self, event: &str) -> Option<&mut Waiting> {
        self.waiting.iter_mut().find(|w| w.is(event))
    }

    pub(super) fn find_running(&mut self, event: &str) -> Option<&mut Waiting> {
        self.running.as_mut()?.batch.iter_mut().find(|w| w.is(event))
    }

    /// Whether this belongs to what the turn under way is about: a further fragment of an author of it, or
    /// something that cancels current work or presses too much to wait for its end.
    pub(super) fn joins_turn(&self, delivery: &Deliver) -> bool {
        let Some(run) = &self.running else { return false };
        let is_by_author = run.batch.iter().any(|w| w.delivery.author.id == delivery.author.id);
        let fragment = is_by_author && !names_other(delivery);
        let cancels = delivery.attention.intent == Some(Intent::Cancel.into());
        let presses = delivery.attention.priority == Priority::Urgent;
        let interrupts = delivery.injection.mode == Mode::Immediate && (cancels || presses);
        fragment || interrupts
    }

    /// Whether the turn under way may be begun again with what came: it has said nothing that others see, and was
    /// begun again less than twice.
    pub(super) fn may_join(&self) -> bool {
        let Some(run) = &self.running else { return false };
        !run.seen && (run.stopping || self.joined < RUN_JOINS)
    }

    /// Marks the turn as being stopped, since something of it was withdrawn; gives its id when it has to be told.
    pub(super) fn stop(&mut self) -> Option<u64> {
        let run = self.running.as_mut().filter(|run| !run.withdrawn)?;
        (run.stopping, run.withdrawn) = (true, true);
        Some(run.turn)
    }

    /// Marks it as being stopped for what joins it, which is counted.
    pub(super) fn stop_to_join(&mut self) -> Option<u64> {
        let run = self.running.as_mut().filter(|run| !run.stopping)?;
        run.stopping = true;
        self.joined += 1;
        Some(run.turn)
    }
}

/// Whether the fragment names somebody besides the recipient, so that it belongs to no earlier thought.
pub(super) fn names_other(delivery: &Deliver) -> bool {
    let key = &delivery.reliability.idempotency_key;
    let Some((_, me)) = key.split_once(':') else { return false };
    delivery.target.mentions.iter().any(|member| member != me)
}
