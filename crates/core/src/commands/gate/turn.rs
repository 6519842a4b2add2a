//! The gate for turns: every command that comes with a turn is checked here before it runs, so that
//! no command can forget the check (design section 5, "One holder, one fence").
//!
//! A turn names the fence it holds. Once the right to answer has moved on or the turn was
//! withdrawn, nothing can be changed in it, on any transport. Reading is never refused.

use crate::commands::command::{Command, InTurn};
use crate::commands::context::{Context, Result};
use crate::model::caller::TurnRef;
use crate::model::claim::Claim;
use crate::model::delivery::{Delivery, Open};
use crate::model::disposition::Disposition;
use crate::model::error::{Code, Refusal};
use crate::model::ids::{EventRef, MemberKey};

impl Context<'_> {
    /// Refuses a command in a turn that its caller no longer holds. If the same command ran before,
    /// its earlier result is returned instead, because the sender may not have received it.
    pub(crate) fn pass_gate<C: Command>(&mut self, command: &C) -> Result<Option<C::Output>> {
        let Some(why) = self.refused_in_turn(C::IN_TURN)? else { return Ok(None) };
        match command.given_before(self)? {
            Some(given) => Ok(Some(given)),
            None => Err(Refusal::new(Code::StaleTurn, why).into()),
        }
    }

    /// Why such a command is refused in the caller's turn; none if it is not.
    fn refused_in_turn(&mut self, what: InTurn) -> Result<Option<&'static str>> {
        let Some(turn) = self.by.turn.filter(|_| what != InTurn::Reads) else { return Ok(None) };
        let why = self.stale(turn)?;
        Ok(why.filter(|why| *why != ENDED || what != InTurn::AfterEnd))
    }

    /// Why the caller no longer holds the turn; none if it does.
    fn stale(&mut self, turn: TurnRef) -> Result<Option<&'static str>> {
        let at = EventRef { conversation: turn.conversation, seq: turn.seq };
        let me = self.by.member;
        self.load(at.conversation)?;
        let receipt = match self.room(at.conversation).open().contains_key(&at.seq) {
            true => None,
            false => self.recall_kept(at)?.and_then(|recalled| recalled.receipt),
        };
        let open = self.room(at.conversation).open().get(&at.seq).or(receipt.as_ref());
        let Some(open) = open else { return Ok(None) };
        if is_older(turn, held_fence(Some(open), me)) {
            return Ok(Some(TAKEN_BACK));
        }
        let mine = open.delivery(me);
        if mine.and_then(Delivery::disposition) == Some(Disposition::Superseded) {
            return Ok(Some(WITHDRAWN));
        }
        let Some(mine) = mine else { return Ok(None) };
        // Of several attempts that were delivered separately, only one run may speak.
        if turn.attempt > 0 && mine.voice > 0 && mine.voice != turn.attempt {
            return Ok(Some(ANOTHER_ATTEMPT));
        }
        let ended = matches!(mine.disposition(), Some(Disposition::Failed | Disposition::Ignored));
        Ok((mine.over || turn.attempt > 0 && ended).then_some(ENDED))
    }
}

/// Refusal of a turn whose fence is not the newest.
pub(crate) const TAKEN_BACK: &str = "this turn was taken back; a newer one has the right to answer";
/// Refusal of a turn that was withdrawn.
pub(crate) const WITHDRAWN: &str = "the event was edited, merged or withdrawn";

/// Refusal of a turn when another attempt of the same delivery has answered first.
pub(crate) const ANOTHER_ATTEMPT: &str = "another attempt at this delivery has answered";

/// Refusal of a turn whose run has reported its end.
const ENDED: &str = "this turn has ended";

/// The fence that a member holds for an event: of its claim or its delivery, whichever is newer.
pub(crate) fn held_fence(open: Option<&Open>, member: MemberKey) -> Option<u32> {
    let claim = open.and_then(|o| o.claim).filter(|c| c.holder == member);
    let delivery = open.and_then(|o| o.delivery(member));
    claim.map(|c: Claim| c.fence).max(delivery.map(|d| d.fence))
}

pub(crate) fn is_older(turn: TurnRef, held: Option<u32>) -> bool {
    held.is_some_and(|held| turn.fence < held)
}
