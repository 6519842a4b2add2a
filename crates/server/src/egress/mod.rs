//! The way out: one POST to an address that somebody else chose.
//!
//! Such an address is not to be trusted. It is checked as it was typed ([`check_url`]), and every address its name
//! resolves to is checked again at each connection (`resolver`), which is made to none but those: what the name
//! says at the next look-up is of no use to anybody. No redirect is followed and no proxy asked, and whatever is
//! at the other end costs bounded time and memory (`client`). When to try again is [`backoff`]'s, and [`signature`]
//! lets the other side know who posted.

mod address;
mod backoff;
mod client;
mod resolver;
pub mod signature;

pub(crate) use address::{Allowed, check_url, is_local};
pub(crate) use backoff::backoff;
#[cfg(test)]
pub(crate) use client::Why;
pub(crate) use client::{Answer, Egress};
#[cfg(test)]
pub(crate) use signature::Unsigned;
pub(crate) use signature::{Secret, sign, verify};

use chorus_core::model::ids::{MemberKey, Uid};

/// To whom the host posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum To {
    Endpoint(MemberKey),
    /// The services that deliver to an inbox.
    Inbox(Uid),
    /// An agent for hire, or whoever has hired one.
    Agent(Uid),
}

#[cfg(test)]
mod tests;
