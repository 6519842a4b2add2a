//! Conversations and memberships.

pub(crate) mod conversation;
pub(crate) mod leave;
pub(crate) mod seat;
