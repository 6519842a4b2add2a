//! Rooms that are read from their rows again, because others changed them or they were dropped here.

use std::collections::BTreeMap;

use chorus_core::model::delivery::Open;
use chorus_core::model::ids::{ConversationKey, Seq, Timestamp};

use super::super::Run;
use crate::db::Error;

impl Run {
    /// Loads a room that others have changed, and hands on what that means here; `before` is how its events stood.
    pub(super) fn load_again(
        &mut self,
        key: ConversationKey,
        before: BTreeMap<Seq, Open>,
        now: Timestamp,
    ) -> Result<(), Error> {
        if !self.load_room(key, now)? {
            return Ok(());
        }
        let open = self.workspace.room(key).map(|room| room.open().keys()).into_iter().flatten();
        let mut stood: BTreeMap<_, _> = open.map(|seq| (*seq, None)).collect();
        stood.extend(before.into_iter().map(|(seq, open)| (seq, Some(open))));
        let handed = self.with_facts(now, |ws, facts| ws.hand_on(facts, key, &stood, now));
        handed.map_err(|why| Error::Engine(why.why))
    }

    /// Loads the rooms that were dropped, and says whether there were any. What they say was offered to sessions of this
    /// host is not handed out again: an agent may be at work on it, and the offer has its number. Sessions must ask for
    /// what they are owed (`Effect::Anything`), which makes each offer a new attempt.
    pub(super) fn load_missing(&mut self, now: Timestamp) -> Result<bool, Error> {
        self.wake_rested(now);
        let mut loaded = false;
        while let Some(key) = self.missing.first().copied() {
            if self.workspace.room(key).is_none() {
                loaded |= self.load_room(key, now)?;
            }
            self.missing.remove(&key);
        }
        Ok(loaded)
    }

    /// False where there is none, or it cannot be read.
    fn load_room(&mut self, key: ConversationKey, now: Timestamp) -> Result<bool, Error> {
        match self.with_facts(now, |_, facts| facts.load(key)) {
            Ok(Some(room)) => {
                self.ages.grew(1);
                self.workspace.admit(room);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(Error::Corrupt(why)) => {
                self.rest(key, &why, now);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}
