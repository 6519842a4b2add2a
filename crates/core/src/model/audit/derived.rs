//! Entries that no command leaves by itself: what the host does beside one.

use super::{Action, Record};
use crate::model::caller::By;
use crate::model::error::Code;
use crate::model::ids::{ConversationKey, EventRef, MemberKey, Seq, Timestamp};

/// What a duplicate was of.
pub(super) const POST: &str = "post";
const STIMULUS: &str = "stimulus";

impl Record {
    /// Of a turn that was granted: to whom, to answer what.
    pub fn granted(at: Timestamp, event: EventRef, member: MemberKey) -> Self {
        let record = Self::new(at, &By::host(), Action::GrantTurn);
        Self { event: Some(event), member: Some(member), ..record }
    }

    /// Of a turn that went on from a member that did not take it up, to answer what.
    pub fn expired(at: Timestamp, event: EventRef, member: MemberKey) -> Self {
        Self { act: Action::ExpireTurn, ..Self::granted(at, event, member) }
    }

    /// Of a stimulus that a newer one about the same has replaced.
    pub fn replaced(at: Timestamp, conversation: ConversationKey) -> Self {
        let record = Self::new(at, &By::host(), Action::Deduplicate);
        let event = EventRef { conversation, seq: Seq::default() };
        Self { event: Some(event), name: Some(STIMULUS.into()), ..record }
    }

    /// Of something that was mended, of a conversation if it was, at an event if it was about one.
    pub fn repaired(at: Timestamp, place: Option<EventRef>, part: &str) -> Self {
        let record = Self::new(at, &By::host(), Action::Repair);
        Self { event: place, name: Some(part.into()), ..record }
    }

    /// Of an event whose deliveries have all come to an end.
    pub fn settled(at: Timestamp, event: EventRef, digest: [u8; 16]) -> Self {
        let record = Self::new(at, &By::host(), Action::Settle);
        Self { event: Some(event), digest: Some(digest), ..record }
    }
}

/// What an agent is refused with whose turn it is not.
pub(super) fn is_of_turns(code: Code) -> bool {
    matches!(code, Code::TurnHeldByOther | Code::ReplyBudgetSpent | Code::RateLimited)
}
