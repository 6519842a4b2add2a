//! A claim: the right to decide about an event, with a TTL. It is not a duty to reply (C2A
//! "Claims").
//!
//! Each addressee of an event holds an implicit claim on it: its delivery. The explicit claims
//! stored here are for events without an addressee: a role mention, or ambient talk that an agent
//! wants to answer.

use crate::model::ids::{MemberKey, Timestamp};
use crate::model::limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub holder: MemberKey,
    /// Increases with each new holder; messages from older holders are refused.
    pub fence: u32,
    pub expires: Timestamp,
    /// Another member may take the claim over until its holder has accepted the event.
    pub accepted: bool,
}

impl Claim {
    pub fn new(holder: MemberKey, fence: u32, accepted: bool, now: Timestamp) -> Self {
        Self { holder, fence, expires: now.plus(limits::CLAIM_TTL_MS), accepted }
    }

    /// A sign of life of the holder: the claim's TTL starts again at `now`.
    pub fn renew(&mut self, now: Timestamp) {
        self.expires = self.expires.max(now.plus(limits::CLAIM_TTL_MS));
    }

    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires
    }

    /// Whether this claim keeps `member` from the event.
    pub fn bars(&self, member: MemberKey, now: Timestamp) -> bool {
        self.holder != member && self.is_live(now)
    }
}
