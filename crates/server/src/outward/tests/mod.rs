//! Addresses in all their spellings, and what bad neighbours do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod address;
