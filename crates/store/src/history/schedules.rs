//! The schedules of a conversation, in an import.

use chorus_core::model::schedule::Schedule;
use chorus_core::state::room::Room;

use super::{Writing, Written, unfit};
use crate::schedule;

impl Writing {
    /// A schedule of the conversation that has just ended. An import wakes nobody: schedules stay
    /// paused until a person resumes them.
    pub(super) fn schedule(&self, room: &Room, of: &Schedule) -> Written {
        for member in of.targets.iter().chain([&of.source, &of.maker]) {
            self.known(*member)?;
        }
        if let Some((key, uid)) = of.thread
            && room.thread(key).is_none_or(|thread| thread.uid != uid)
        {
            return unfit("a schedule continues a thread that does not exist");
        }
        let resting = Schedule { paused: true, next_at: None, ..of.clone() };
        schedule::put(self.db()?, self.tenant.key, room.key(), &resting)?;
        Ok(())
    }
}
