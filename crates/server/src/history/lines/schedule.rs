//! What is to be said in a conversation at set times. It is paused when it is read again.

use std::borrow::Cow;

use chorus_core::codec;
use chorus_core::model::ids::Prefix;
use chorus_core::model::schedule;
use chorus_store::history::{Part, Reading};
use serde::{Deserialize, Serialize};

use super::{Import, Kind, Line, OfConversation, Out, Written};
use crate::history::error::Bad;
use crate::history::field::{Bytes, id};

#[derive(Serialize, Deserialize)]
pub(in crate::history) struct Schedule<'a> {
    conversation: u64,
    id: Cow<'a, str>,
    title: Cow<'a, str>,
    /// All of it, packed.
    state: Bytes,
}

impl Schedule<'_> {
    fn read(&self) -> Result<schedule::Schedule, String> {
        codec::read_schedule(&self.state.0).map_err(|_| "a schedule cannot be read".to_owned())
    }
}

impl OfConversation for Schedule<'_> {
    fn export(out: &mut Out<'_>, _: &Reading, part: &Part) -> Written {
        for s in &part.schedules {
            out.put(&Line::Schedule(Schedule {
                conversation: part.conversation.key.0,
                id: s.uid.show(Prefix::Schedule).into(),
                title: (&*s.title).into(),
                state: Bytes(codec::schedule(s)),
            }))?;
        }
        Ok(())
    }
}

impl Kind for Schedule<'_> {
    fn check(&self) -> Result<(), String> {
        self.read().map(drop)
    }

    fn import(self, import: &mut Import) -> Result<(), Bad> {
        let part = import.part(self.conversation)?;
        let schedule = self.read()?;
        if schedule.uid != id(Prefix::Schedule, &self.id)? {
            return Err("its id is another than that of its state".into());
        }
        part.schedules.push(schedule);
        Ok(())
    }
}
