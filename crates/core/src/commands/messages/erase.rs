//! Erasure: the content of a message is removed in all its versions, and the log continues (design
//! section 3, "The log").

use std::collections::BTreeSet;

use crate::commands::context::{Context, Result};
use crate::commands::messages::Erased;
use crate::model::error::{Code, Refusal};
use crate::model::event::{Change, Reason};
use crate::model::ids::{EventRef, Seq, Uid};
use crate::model::limits;
use crate::state::facts::Recalled;

impl Context<'_> {
    /// Removes the content and logs that. Open deliveries end as with a deletion.
    pub(super) fn erase(&mut self, uid: Uid, reason: Reason) -> Result<Erased> {
        let (at, recalled) = self.erasable(uid)?;
        let mut events = self.unerased(at, &recalled)?;
        if events.is_empty() {
            return Ok(Erased { entry: self.entry(recalled.event)?, more: false });
        }
        let more = events.len() > limits::ROWS_PER_COMMAND;
        events.truncate(limits::ROWS_PER_COMMAND);
        self.supersede(at, &recalled, "erased")?;
        self.drop_approvals_of(at);
        self.drop_notes_of(at, &events)?;
        self.drop_lines_about(at.conversation);
        let change = Change::Erased { message: at.seq, reason, events: events.clone() };
        let mut draft = self.draft(self.drawn.uid, change);
        draft.thread = recalled.event.thread;
        draft.attention = crate::commands::messages::edit::hidden_as(&recalled.event);
        let room = self.room_mut(at.conversation);
        room.erase(at.seq, &events);
        let logged = room.log(draft);
        Ok(Erased { entry: self.publish(logged)?, more })
    }

    /// The message, if the caller may erase it: an operator may erase any, a person its own. An
    /// agent may not, because that would remove the evidence of what it was talked into.
    fn erasable(&mut self, uid: Uid) -> Result<(EventRef, Recalled)> {
        let mut at = match self.is_operator() {
            true => self.event_anywhere(uid, "message")?,
            false => self.event_by_uid(uid, "message")?,
        };
        let mut recalled = self.recall(at)?;
        let seq = self.message_seq(&recalled)?;
        if seq != at.seq {
            at.seq = seq;
            recalled = self.recall(at)?;
        }
        let own = recalled.event.actor == self.by.member && !self.me()?.is_agent();
        if !own && !self.is_operator() {
            return Err(Refusal::new(
                Code::Forbidden,
                "an operator may erase a message, or the person who wrote it",
            )
            .into());
        }
        Ok((at, recalled))
    }

    /// Removes members' notes on their deliveries of it, because they may repeat its content.
    fn drop_notes_of(&mut self, at: EventRef, versions: &[Seq]) -> Result<()> {
        for at in versions.iter().map(|seq| EventRef { seq: *seq, ..at }) {
            let receipt = self.recall_kept(at)?.and_then(|recalled| recalled.receipt);
            let open = self.room(at.conversation).open().get(&at.seq).or(receipt.as_ref());
            let noted = open.into_iter().flat_map(|o| &o.deliveries).filter(|d| d.note.is_some());
            for member in noted.map(|d| d.member).collect::<Vec<_>>() {
                self.amend(at, member, |delivery| delivery.note = None)?;
            }
        }
        Ok(())
    }

    /// The events that still carry content of the message, the message itself first.
    fn unerased(&mut self, at: EventRef, recalled: &Recalled) -> Result<Vec<Seq>> {
        let mut events: BTreeSet<Seq> = self.facts.versions(at)?.into_iter().collect();
        let room = self.room(at.conversation);
        events.extend(room.versions(at.seq));
        if !recalled.event.is_erased() {
            events.insert(at.seq);
        }
        events.retain(|seq| !room.is_going(*seq));
        Ok(events.into_iter().collect())
    }
}
