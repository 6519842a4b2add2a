//! Addresses in all their spellings, and what bad neighbours do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod address;
mod backoff;
mod names;
mod neighbour;
mod neighbours;
mod signature;
mod statuses;
