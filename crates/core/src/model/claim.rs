//! A claim: the right to decide about an event, with a TTL. It is not a duty to reply (C2A "Claims").
//!
//! Each addressee of an event holds an implicit claim on it: its delivery. An explicit one, kept here, is
//! for events without an addressee: a role mention, or ambient talk an agent wants to answer.

use crate::model::ids::{MemberKey, Timestamp};
use crate::model::limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub holder: MemberKey,
    /// Rises with each new holder; what an older holder says is refused.
    pub fence: u32,
    pub expires: Timestamp,
    /// Until its holder has accepted the event, another may take the claim over.
    pub accepted: bool,
}

impl Claim {
    pub fn new(holder: MemberKey, fence: u32, accepted: bool, now: Timestamp) -> Self {
        Self { holder, fence, expires: now.plus(limits::CLAIM_TTL_MS), accepted }
    }

    /// A sign of life of the holder; the claim lives on from `now`.
    pub fn renew(&mut self, now: Timestamp) {
        self.expires = self.expires.max(now.plus(limits::CLAIM_TTL_MS));
    }

    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires
    }

    /// Whether `member` is kept from the event by this claim.
    pub fn bars(&self, member: MemberKey, now: Timestamp) -> bool {
        self.holder != member && self.is_live(now)
    }
}
