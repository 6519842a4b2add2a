//! Real clients held against the transports of Chorus: what the official conformance suite calls, a scripted model that
//! drives agents' own programs, and (in `tests`) the clients themselves.

pub mod fixture;
pub mod kit;
pub mod model;
