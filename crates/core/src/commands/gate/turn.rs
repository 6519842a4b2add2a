//! The one gate of turns: a command that comes with a turn is looked at here before it is run, so that no command can
//! forget it (design section 5, "One holder, one fence").
//!
//! A turn names the fence it holds. Once the right to answer has moved on, or the turn was withdrawn, nothing is
//! changed in it any more, whichever transport the call comes through. Reading is never refused.

use crate::commands::command::{Command, InTurn};
use crate::commands::context::{Context, Result};
use crate::model::caller::TurnRef;
use crate::model::claim::Claim;
use crate::model::delivery::{Delivery, Open};
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{EventRef, MemberKey};

impl Context<'_> {
    /// Refuses what is asked in a turn that is its caller's no more. What the same command gave before is given instead:
    /// the sender may not have heard of it.
    pub(crate) fn pass_gate<C: Command>(&mut self, command: &C) -> Result<Option<C::Output>> {
        let Some(turn) = self.by.turn else { return Ok(None) };
        if C::IN_TURN == InTurn::Reads {
            return Ok(None);
        }
        let Some(why) = self.stale(turn)? else { return Ok(None) };
        if why == ENDED && C::IN_TURN == InTurn::AfterEnd {
            return Ok(None);
        }
        match command.given_before(self)? {
            Some(given) => Ok(Some(given)),
            None => Err(Refusal::new(Code::StaleTurn, why).into()),
        }
    }

    /// Why the turn is its caller's no more, if it is not.
    fn stale(&mut self, turn: TurnRef) -> Result<Option<&'static str>> {
        let at = EventRef { conversation: turn.conversation, seq: turn.seq };
        let me = self.by.member;
        self.load(at.conversation)?;
        let receipt = match self.room(at.conversation).open.contains_key(&at.seq) {
            true => None,
            false => self.recall_kept(at)?.and_then(|recalled| recalled.receipt),
        };
        let open = self.room(at.conversation).open.get(&at.seq).or(receipt.as_ref());
        let Some(open) = open else { return Ok(None) };
        if is_older(turn, held_fence(Some(open), me)) {
            return Ok(Some(TAKEN_BACK));
        }
        let mine = open.delivery(me);
        if mine.and_then(Delivery::disposition) == Some(Disposition::Superseded) {
            return Ok(Some(WITHDRAWN));
        }
        let Some(mine) = mine else { return Ok(None) };
        // Of attempts that were delivered one by one, one run has the word.
        if turn.attempt > 0 && mine.voice > 0 && mine.voice != turn.attempt {
            return Ok(Some(ANOTHER_ATTEMPT));
        }
        let ended = matches!(mine.disposition(), Some(Disposition::Failed | Disposition::Ignored));
        Ok((mine.over || turn.attempt > 0 && ended).then_some(ENDED))
    }
}

/// Why a turn is refused whose fence is not the newest.
pub(crate) const TAKEN_BACK: &str = "this turn was taken back; a newer one has the right to answer";
/// Why a turn is refused that was withdrawn.
pub(crate) const WITHDRAWN: &str = "the event was edited, merged or withdrawn";

/// Why a turn is refused when another attempt at the same delivery was heard first.
pub(crate) const ANOTHER_ATTEMPT: &str = "another attempt at this delivery has answered";

/// Why a turn is refused whose run has said how it ended.
const ENDED: &str = "this turn has ended";

/// The fence that a member holds of an event: its claim's or its delivery's, the newer of the two.
pub(crate) fn held_fence(open: Option<&Open>, member: MemberKey) -> Option<u32> {
    let claim = open.and_then(|o| o.claim).filter(|c| c.holder == member);
    let delivery = open.and_then(|o| o.delivery(member));
    claim.map(|c: Claim| c.fence).max(delivery.map(|d| d.fence))
}

pub(crate) fn is_older(turn: TurnRef, held: Option<u32>) -> bool {
    held.is_some_and(|held| turn.fence < held)
}
