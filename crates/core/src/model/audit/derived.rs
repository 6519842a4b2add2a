//! Entries that no command states itself: the host's own side effects.

use super::{Action, Record};
use crate::model::caller::By;
use crate::model::error::Code;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, Timestamp};
use crate::model::wake::Wake;

/// The kind of a duplicate.
pub(super) const POST: &str = "post";
const STIMULUS: &str = "stimulus";

impl Record {
    /// A turn was granted to a member, to answer this event.
    pub fn granted(at: Timestamp, event: EventRef, member: MemberKey) -> Self {
        let record = Self::new(at, &By::host(), Action::GrantTurn);
        Self { event: Some(event), member: Some(member), ..record }
    }

    /// A turn for this event was passed on, because its member did not take it up.
    pub fn expired(at: Timestamp, event: EventRef, member: MemberKey) -> Self {
        Self { act: Action::ExpireTurn, ..Self::granted(at, event, member) }
    }

    /// A stimulus was replaced by a newer one about the same subject.
    pub fn replaced(at: Timestamp, conversation: ConversationKey) -> Self {
        let record = Self::new(at, &By::host(), Action::Deduplicate);
        let event = EventRef { conversation, seq: Seq::default() };
        Self { event: Some(event), name: Some(STIMULUS.into()), ..record }
    }

    /// A repair, in a conversation and at an event if it concerned one.
    pub fn repaired(at: Timestamp, place: Option<EventRef>, part: &str) -> Self {
        let record = Self::new(at, &By::host(), Action::Repair);
        Self { event: place, name: Some(part.into()), ..record }
    }

    /// A wake ended.
    pub fn woken(at: Timestamp, wake: &Wake) -> Self {
        let record = Self::new(at, &By::host(), Action::EndWake);
        let name = wake.outcome.map(|outcome| outcome.name().into());
        let (session, member) = (Some(wake.session), Some(wake.member));
        Self { session, member, subject: Some(wake.uid), name, ..record }
    }

    /// An event whose deliveries have all ended.
    pub fn settled(at: Timestamp, event: EventRef, digest: [u8; 16]) -> Self {
        let record = Self::new(at, &By::host(), Action::Settle);
        Self { event: Some(event), digest: Some(digest), ..record }
    }
}

/// Whether the code refuses an agent that does not have the turn.
pub(super) fn is_of_turns(code: Code) -> bool {
    matches!(code, Code::TurnHeldByOther | Code::ReplyBudgetSpent | Code::RateLimited)
}
